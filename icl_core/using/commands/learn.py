"""Learn a constraint from demonstrations, and write it to a file."""

from __future__ import annotations

import argparse

from icl_core.using.commands import sources


def arguments(parser: argparse.ArgumentParser) -> None:
    """The environment, the demonstrations, and what is to be learned of them."""
    parser.add_argument("env", metavar="ENV", help="an id of Gymnasium: Nav-v0, package:Name-v0")
    parser.add_argument("demonstrations", metavar="DEMOS", help=sources.DEMONSTRATIONS)
    parser.add_argument("-o", "--output", default="constraint.safetensors", help="(%(default)s)")
    parser.add_argument("--method", default="icl", help="icl, gail-constraint, icrl, ... (icl)")
    parser.add_argument(
        "--inputs", nargs="+", metavar="NAME", help="what c sees, by name or number (all observed)"
    )
    parser.add_argument(
        "--cost-limit", default="demonstrations", help="beta, a number (from the demonstrations)"
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3], metavar="SEED")
    parser.add_argument("--discount", type=float, help="gamma (the environment's, or 0.99)")
    parser.add_argument("--horizon", type=int, help="steps of an episode (the environment's)")
    parser.add_argument(
        "--set", nargs="+", default=[], metavar="KEY=VALUE", help="settings: loop.iterations=5"
    )


def main(given: argparse.Namespace) -> int:
    """Learn, and say where it ended."""
    from icl_core.using.learner import make_learner

    inputs = given.inputs and [sources.number_or_word(one) for one in given.inputs]
    learner = make_learner(
        given.method,
        given.env,
        sources.demonstrations(given.demonstrations),
        seeds=given.seeds,
        settings=sources.settings(given.set),
        inputs=inputs,
        cost_limit=sources.number_or_word(given.cost_limit),
        discount=given.discount,
        horizon=given.horizon,
    )
    learner.learn(progress_bar=True, checkpoint=f"{given.output}.unfinished")
    learner.constraint.save(given.output)
    for row in learner.history.to_pylist():
        if row["kept"]:
            print(f"seed {row['seed']}: iteration {row['iteration']}, NAD {row['nad']:.3g}")
    print(f"{given.output}: {learner.constraint}")
    return 0
