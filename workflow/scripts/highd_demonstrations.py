"""The recorded drivers of HighD as demonstrations."""

from icl_core.demonstrations.files import write_demonstrations
from icl_core.demonstrations.highd_expert import recorded_egos
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Replay every ego's own track, write."""
    world = stage.world()
    write_demonstrations(stage.output[0], recorded_egos(world), world, stage.provenance())


if __name__ == "__main__":
    run(main, snakemake)
