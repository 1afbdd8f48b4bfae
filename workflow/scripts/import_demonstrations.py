"""Check demonstrations that the user brought and take them in."""

from icl_core.demonstrations.brought import read_brought
from icl_core.demonstrations.files import write_demonstrations
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Read with all checks, write in our own layout."""
    world = stage.world()
    demonstrations = read_brought(
        stage.input.file, world, stage.section("demonstrations.tolerance")
    )
    if len(demonstrations) == 1:
        stage.warn(f"{stage.input.file}: one trajectory alone says little of an expert; bring more")
    write_demonstrations(stage.output[0], demonstrations, world, stage.provenance())


if __name__ == "__main__":
    run(main)
