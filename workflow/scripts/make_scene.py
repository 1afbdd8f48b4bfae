"""Make the scene of an environment from its recordings."""

from icl_core.artifacts import read_table, write_table
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Read the recordings, write the scene."""
    scene, schemas = stage.recordings("scene"), stage.recordings("reader").SCHEMAS
    tables = {name: read_table(stage.input[name], schemas[name]) for name in schemas}
    settings = stage.build(scene.Settings, "scene")
    made = scene.make_scene(tables, stage.settings["folder"], settings)
    write_table(stage.output[0], made, stage.provenance())


if __name__ == "__main__":
    run(main)
