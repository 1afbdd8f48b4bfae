"""Simulate a HighD recording with highway-env."""

from icl_core.demonstrations.recordings.highd_simulation import (
    HighDSimulationSettings,
    simulate_highd,
    simulation_steps,
)
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Simulate, write the CSV files."""
    settings = stage.build(HighDSimulationSettings, "simulation")
    progress = stage.progress(simulation_steps(settings))
    simulate_highd(stage.output[0], settings, progress)


if __name__ == "__main__":
    run(main, snakemake)
