"""Train a stack of runs of a method, from where a killed job stopped."""

from icl_core import discovery
from icl_core.settings import build
from workflow.lib.stage import Stage, run
from workflow.lib.training_job import finish, job_of, problem_of, write_outcome


def main(stage: Stage) -> None:
    """Find the method, train, write."""
    name, job = stage.wildcards.method, job_of(stage)
    method = discovery.load(discovery.METHODS, name)
    settings = build(method.Settings, stage.settings["learning"][name], f"learning.{name}")
    write_outcome(stage, method.learn(problem_of(stage), settings, job))
    finish(job)


if __name__ == "__main__":
    run(main)
