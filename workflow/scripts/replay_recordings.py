"""Recorded drives as demonstrations: replayed in the world."""

from icl_core.demonstrations.files import write_demonstrations
from icl_core.randomness import generator
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Replay, write."""
    world, settings = stage.world(), stage.settings["demonstrations"]
    rng = generator(settings["seed"], "demonstrations")
    drives = stage.recordings("replay").replay(world, settings["trajectories"], rng)
    write_demonstrations(stage.output[0], drives, world, stage.provenance())


if __name__ == "__main__":
    run(main)
