"""Recorded lane changes of ExiD as demonstrations."""

from icl_core.demonstrations.exid_expert import recorded_changes
from icl_core.demonstrations.files import write_demonstrations
from icl_core.randomness import generator
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Draw and replay lane changes, write."""
    world, settings = stage.world(), stage.settings["demonstrations"]
    rng = generator(settings["seed"], "demonstrations")
    trajectories = recorded_changes(world, settings["trajectories"], rng)
    write_demonstrations(stage.output[0], trajectories, world, stage.provenance())


if __name__ == "__main__":
    run(main, snakemake)
