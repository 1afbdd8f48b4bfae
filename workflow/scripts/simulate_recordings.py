"""Simulate recordings of an environment with highway-env."""

from pathlib import Path

from icl_core.artifacts import write_record
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Simulate, write the files that a recording has, and what their content is."""
    simulation = stage.recordings("simulation")
    settings = stage.build(simulation.Settings, "simulation")
    progress = stage.progress(simulation.simulation_steps(settings))
    folder = Path(stage.output.folder)
    simulation.simulate(folder, settings, progress)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    write_record(stage.output.digest, stage.provenance(), files)


if __name__ == "__main__":
    run(main)
