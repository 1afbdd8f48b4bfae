"""Put what a run has learned into one file that needs no pipeline."""

from icl_core.using.portable import PortableConstraint
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Read the networks, add what they see and the threshold that they were learned with."""
    beta = stage.section("learning.threshold")
    found = PortableConstraint.of_run(
        stage.input.constraint, stage.world(), beta, stage.provenance()
    )
    found.save(stage.output.portable)
    stage.note(seeds=len(found.seeds))


if __name__ == "__main__":
    run(main)
