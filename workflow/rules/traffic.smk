"""Where recorded traffic lies, and which experiments need it."""


def recordings_settings(environment, *keys):
    """Some of what the configuration says of an environment's recordings."""
    told = {**CONFIG.environments[environment], "folder": recordings_folder(environment)}
    return {key: told[key] for key in keys}


def world_arguments(experiment):
    """What an experiment's world is made with, its recorded traffic included."""
    return experiment.world | {"scene": path for path in scenes([experiment])}


def scene(wildcards):
    """The recorded traffic that an experiment's environment needs; of most, none."""
    return scenes([CONFIG.experiments[wildcards.experiment]])


def scenes(experiments):
    """The same for several experiments."""
    driving = sorted({e.environment for e in experiments if e.driving})
    return [f"{RECORDINGS}/{environment}/scene.parquet" for environment in driving]


def recordings_folder(environment):
    """Where an environment's CSV files lie: the user's folder, or the simulation's."""
    given = CONFIG.environments[environment]["recordings"]
    return given or f"{RECORDINGS}/{environment}/csv"


def recording_files(environment):
    """What the readers read: the user's own files one by one, or the simulation's folder.

    The rules ask for it when they are read, so files that are not there stop the run at once.
    """
    given = CONFIG.environments[environment]
    if given["recordings"] is None:
        return recordings_folder(environment)
    from icl_core.demonstrations.recordings import exid_reader, highd_reader

    files = {"highd": highd_reader.highd_files, "exid": exid_reader.exid_files}[environment]
    return [str(path) for path in checked(files, given["recordings"], given["numbers"])]


def recording_tables(environment):
    """The outputs of the readers."""
    names = ("tracks", "vehicles", "recordings")
    return {name: f"{RECORDINGS}/{environment}/{name}.parquet" for name in names}
