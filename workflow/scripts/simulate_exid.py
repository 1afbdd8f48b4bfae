"""Simulate ExiD recordings with highway-env."""

from icl_core.demonstrations.recordings.exid_simulation import (
    ExiDSimulationSettings,
    simulate_exid,
    simulation_steps,
)
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Simulate, write the CSV files and the maps."""
    settings = stage.build(ExiDSimulationSettings, "simulation")
    progress = stage.progress(simulation_steps(settings))
    simulate_exid(stage.output[0], settings, progress)


if __name__ == "__main__":
    run(main, snakemake)
