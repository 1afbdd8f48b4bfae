"""Check demonstrations that the user brought and take them in."""

from icl_core.demonstrations.files import read_demonstrations, write_demonstrations
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Read with all checks, write in our own layout."""
    world = stage.world()
    demonstrations = read_demonstrations(stage.input.file, world)
    write_demonstrations(stage.output[0], demonstrations, world, stage.provenance())


if __name__ == "__main__":
    run(main)
