"""Episodes of the final policies, for the reported metrics."""

from icl_core.artifacts import read_tensors, write_table
from icl_core.learning.engine.networks import Networks
from icl_core.measuring.rollouts import report_rollouts
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Roll out, write."""
    policy = Networks.from_tensors(read_tensors(stage.input.policy))
    episodes = stage.settings["measuring"]["report_episodes"]
    table = report_rollouts(stage.world(), policy, stage.seeds, episodes)
    write_table(stage.output[0], table, stage.provenance())


if __name__ == "__main__":
    run(main)
