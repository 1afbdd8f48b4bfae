"""Simulate recordings of an environment with highway-env."""

from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Simulate, write the files that a recording has."""
    simulation = stage.recordings("simulation")
    settings = stage.build(simulation.Settings, "simulation")
    progress = stage.progress(simulation.simulation_steps(settings))
    simulation.simulate(stage.output[0], settings, progress)


if __name__ == "__main__":
    run(main)
