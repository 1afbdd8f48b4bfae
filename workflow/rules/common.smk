"""What the rules share: the configuration, paths, input functions and digests."""

import os
import re
import sys
from pathlib import Path

import yaml
from icl_core.configuration import resolve, stage_settings
from icl_core.errors import InputError
from workflow.lib.finished import METRICS_OF_RUN, only_finished
from workflow.lib.stale_locks import clear_stale_locks

ROOT = Path(workflow.basedir)
SCRIPTS = ROOT / "workflow" / "scripts"

# Jobs inherit this. The package is used from here, and a job keeps to its one core: sums in
# another order would give other last bits.
os.environ.update(
    PYTHONPATH=os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
    **{f"{library}_NUM_THREADS": "1" for library in ("OMP", "MKL", "OPENBLAS", "NUMEXPR")},
)


def checked(action, *arguments):
    """Run a check; what the user can mend is told in one line, without a traceback."""
    try:
        return action(*arguments)
    except InputError as error:
        # A WorkflowError would be told with this file's lines, which are not at fault.
        sys.exit(f"error: {error}")


def check_demonstrations(experiments):
    """Read the user's own demonstrations now: a wrong file must stop the run before any training."""
    for experiment in experiments:
        # The scene that a driving world needs is not there yet: there, the job checks the file.
        if experiment.demonstrations_file and not experiment.driving:
            from icl_core.demonstrations.files import read_demonstrations
            from icl_core.environments import make_world

            world = make_world(experiment.environment, **experiment.world)
            read_demonstrations(experiment.demonstrations_file, world)


CONFIG = checked(
    resolve, config, yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
)
RESULTS = f"results/{CONFIG.scale}"
if config["only_finished"]:
    CONFIG = only_finished(CONFIG, Path(RESULTS))
LOGS = f"{RESULTS}/logs"
BENCHMARKS = f"{RESULTS}/benchmarks"
RECORDINGS = f"{RESULTS}/recordings"
RUN = f"{RESULTS}/runs/{{experiment}}/icl/seeds-{{group}}"
RUN_OF_METHOD = f"{RESULTS}/runs/{{experiment}}/{{method}}/seeds-{{group}}"
METHODS = sorted({m for e in CONFIG.experiments.values() for m in e.methods})
IMPORTED = [e.name for e in CONFIG.experiments.values() if e.demonstrations_file]
RECORDED = {
    name: [e.name for e in CONFIG.experiments.values() if e.environment == name and e.recorded]
    for name in ("highd", "exid")
}
LEARNED = [e for e in CONFIG.experiments.values() if e.methods]
GENERATED = [e.name for e in CONFIG.experiments.values() if e.generated]

if workflow.is_main_process:
    clear_stale_locks(Path(".snakemake"))
    checked(check_demonstrations, CONFIG.experiments.values())


def one_of(names):
    """A wildcard constraint that matches these names and no others; nothing if there are none."""
    return "|".join(map(re.escape, sorted(names))) or "(?!)"


def final_of(method):
    """The outputs that every method ends with."""
    final = f"{RESULTS}/runs/{{experiment}}/{method}/seeds-{{group}}/final"
    return {
        "constraint": f"{final}/constraint.safetensors",
        "policy": f"{final}/policy.safetensors",
        "training": f"{final}/training.parquet",
        "rollouts": f"{final}/rollouts.parquet",
    }


# Input functions


def demonstrations(wildcards):
    """The trajectories that an experiment learns from: its own, or those that it shares."""
    name = CONFIG.experiments[wildcards.experiment].demonstrator
    return f"{RESULTS}/demonstrations/{name}/trajectories.parquet"


def in_run(wildcards, paths):
    """Paths inside a run's directory."""
    run = RUN.format(experiment=wildcards.experiment, group=wildcards.group)
    return [f"{run}/{path}" for path in paths]


def density_owner(experiment):
    """Who fits the density: of experiments with the same demonstrations and settings, one does."""
    other = CONFIG.experiments[experiment.demonstrator]
    same = stage_settings(experiment, "density") == stage_settings(other, "density")
    return other if same and "icl" in other.methods else experiment


def density_of_demonstrations(wildcards):
    """The density of the demonstrations that an experiment learns from."""
    owner = density_owner(CONFIG.experiments[wildcards.experiment])
    return f"{RUN}/density.safetensors".format(experiment=owner.name, group=wildcards.group)


def previous_constraint(wildcards):
    """What iteration i starts from: the constraint of iteration i - 1."""
    before = f"iteration-{int(wildcards.iteration) - 1:02d}/constraint.safetensors"
    return in_run(wildcards, [before])[0]


def policies_so_far(wildcards):
    """The policies of iterations 1 to i."""
    done = range(1, int(wildcards.iteration) + 1)
    return in_run(wildcards, [f"iteration-{i:02d}/policy.safetensors" for i in done])


def all_policies(wildcards):
    """The policies of all iterations."""
    n = CONFIG.experiments[wildcards.experiment].iterations
    return in_run(wildcards, [f"iteration-{i:02d}/policy.safetensors" for i in range(1, n + 1)])


def all_constraints(wildcards):
    """The constraints of all iterations, the initial one first."""
    n = CONFIG.experiments[wildcards.experiment].iterations
    return in_run(wildcards, [f"iteration-{i:02d}/constraint.safetensors" for i in range(n + 1)])


def iteration_constraints(wildcards):
    """The same for methods that go through iterations, nothing for others."""
    return all_constraints(wildcards) if wildcards.method == "icl" else []


def iteration_policies(wildcards):
    """The policies of methods that go through iterations."""
    return all_policies(wildcards) if wildcards.method == "icl" else []


def imported_file(wildcards):
    """The user's own demonstrations."""
    return CONFIG.experiments[wildcards.experiment].demonstrations_file


def metrics_of_all_runs(wildcards):
    """The metrics of every group of seeds of every experiment and method."""
    return [
        f"{RESULTS}/{METRICS_OF_RUN.format(experiment=e.name, method=method, group=group)}"
        for e in CONFIG.experiments.values()
        for method in e.methods
        for group in CONFIG.groups
    ]
