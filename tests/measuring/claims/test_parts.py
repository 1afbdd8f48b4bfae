"""Parts of checks that the cases never let fail: each of them can refute its claim alone."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from icl_core.measuring.claims.claim import find_checks, read_claims
from icl_core.measuring.claims.evidence.experts import SHARED
from icl_core.measuring.claims.verdicts import NOT_REPRODUCED, REPRODUCED, combined_verdict
from tests.measuring.claims.cases import ranked
from tests.measuring.claims.made_up import MadeUp, world_of

CLAIMS = {one.id: one for one in read_claims(Path(__file__).parents[3] / "docs" / "claims.yaml")}
CHECKS = find_checks()


def checked(name, shown):
    """The effects of a claim's check, over what it is shown."""
    claim = CLAIMS[name]
    return CHECKS[claim.check].load()(MadeUp(claim, shown, 1), **claim.arguments)


def verdicts(effects):
    return [effect.verdict for effect in effects]


def nothing(e):
    """Of the method that is spoken of c = 0, of all others a constant."""
    mine = e.given.get("method", (e.given.get("methods") or [None])[0])

    def constraints(name, method="icl"):
        return e.each(
            lambda more: np.full(world_of(name).grid.shape, more),
            0.001 if method == mine else 0.4,
            0.0005,
        )

    def reported(metric, name, method="icl", selection="best"):
        return e.around((world_of(name).true_on_grid ** 2).mean(), 0.001)

    def expert_visits(name):
        return {SHARED: np.ones(world_of(name).grid.shape)}

    return {"constraints": constraints, "reported": reported, "expert_visits": expert_visits}


@pytest.mark.parametrize(
    "name",
    [
        "resembles-truth",
        "gail-finds-all-but-mid",
        "gail-diffuse",
        "icl-sharp",
        "icrl-finds-mr-and-partly-a",
        "lagrangian-reasonable",
        "robots-nearly-correct",
        "hc-icrl-hard",
        "highd-expert-states-allowed",
        "exid-only-icl",
    ],
)
def test_a_constraint_that_is_nowhere_wins_nothing(name):
    assert combined_verdict(checked(name, nothing)) == NOT_REPRODUCED


def test_icrl_must_do_less_well_on_the_gridworld_than_on_the_cartpole():
    areas = {"cartpole-mr": 0.85, "gridworld-a": 0.95, "gridworld-b": 0.5, "cartpole-mid": 0.5}

    def shown(e):
        def constraints(name, method="icl"):
            return e.each(lambda area: ranked(world_of(name), area), areas[name], 0.01)

        return {"constraints": constraints}

    found = verdicts(checked("icrl-finds-mr-and-partly-a", shown))
    assert found == [REPRODUCED] * 4 + [NOT_REPRODUCED]


def test_behaviour_that_moves_away_again_has_not_settled():
    def shown(e):
        def by_iteration(metric, name):
            ends = {"cmse": [0.3, 0.1, 0.1, 0.1, 0.1], "nad": [3.0, 0.5, 2.0, 2.0]}[metric]
            return e.each(lambda more: np.array(ends) * (1 + more), 0.0, 0.05)

        return {"by_iteration": by_iteration}

    assert verdicts(checked("converges", shown)) == [REPRODUCED, NOT_REPRODUCED] * 4


def test_what_earns_less_because_it_keeps_the_constraint_is_not_harder_to_learn():
    def shown(e):
        def expert_training(name):
            earned, broken = (0.8, 0.1) if "soft" in name else (0.9, 0.9)
            make = lambda more: pa.table({"return": [earned + more], "violations": [broken + more]})  # noqa: E731
            return e.each(make, 0.0)

        return {"expert_training": expert_training}

    assert verdicts(checked("soft-loss-hinders-ppo", shown)) == [REPRODUCED, NOT_REPRODUCED] * 2
