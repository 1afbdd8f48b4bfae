"""What every method keeps to, however it learns: methods are found, none is listed here."""

import dataclasses
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from icl_core import discovery
from icl_core.environments import world_type
from icl_core.errors import InputError
from icl_core.learning.engine.actions import actions_of
from icl_core.learning.engine.networks import Networks, sigmoid
from icl_core.learning.engine.training import TRAINING_SCHEMA, Job
from icl_core.settings import build, defaults, meaning, merge
from tests.learning.tiny import (
    Heard,
    Killed,
    assert_same_runs,
    killed_job,
    problem_of,
    problem_with_experts,
    rows_by_seed,
)
from tests.worlds import short_world

METHODS = discovery.names(discovery.METHODS)
# One of each family: with cells, with a pole, on two roads, with real-valued actions.
WORLDS = ("gridworld-a", "cartpole-mid", "highd", "exid", "halfcheetah")
SEEDS = (3, 8, 5)


def module(method):
    return discovery.load(discovery.METHODS, method)


def variants(kind, given):
    """The settings, once for each choice of a section that they leave."""
    found = [given]
    for one in dataclasses.fields(kind):
        inner = one.default_factory() if one.default_factory is not dataclasses.MISSING else None
        if dataclasses.is_dataclass(inner):
            parts = variants(type(inner), given[one.name])
            found = [{**some, one.name: part} for some in found for part in parts]
        elif meaning(one).selects:
            choices = meaning(one).choices
            found = [{**some, one.name: choice} for some in found for choice in choices]
    return found


def narrow(given):
    """Networks with few units: at this size they take most of the time."""
    if isinstance(given, dict):
        return {key: narrow(value) for key, value in given.items()}
    return [12] * len(given) if isinstance(given, list) else given


def tiny(method):
    kind = module(method).Settings
    smallest = narrow(merge(defaults(kind), module(method).SIZES["smoke"]))
    return [build(kind, one, method) for one in variants(kind, smallest)]


def refused(method, name):
    """Whether a method says that it cannot learn in a world, whatever its settings."""
    settings = tiny(method)[0]
    return hasattr(settings, "conflict_with") and bool(settings.conflict_with(world_type(name)))


VARIANTS = [(method, variant) for method in METHODS for variant in range(len(tiny(method)))]
ALL = [(method, variant, name) for method, variant in VARIANTS for name in WORLDS]
CASES = [case for case in ALL if not refused(case[0], case[2])]
REFUSED = [case for case in ALL if refused(case[0], case[2])]
OWN = [case for case in CASES if case[2] in ("gridworld-a", "cartpole-mid", "halfcheetah")]
TRAINED = [case[:2] for case in CASES if case[2] == "cartpole-mid"]  # what takes long is saved


def learn(method, variant, name, seeds, job=None):
    # Few steps: the optimal transport between many nodes of a fine grid takes long.
    problem = problem_of(name, list(seeds), horizon=12)
    return module(method).learn(problem, tiny(method)[variant], job or Job())


@cache
def learned(method, variant, name):
    """The whole stack, trained once for all tests; and how many steps it heard of."""
    progress = Heard()
    return learn(method, variant, name, SEEDS, Job(progress)), len(progress.lines)


@pytest.mark.parametrize(("method", "variant", "name"), CASES)
def test_what_a_method_ends_with(method, variant, name):
    world, (end, _) = short_world(name), learned(method, variant, name)
    assert (end.constraint.runs, end.policy.runs) == (3, 3)
    assert (end.constraint.sizes[0], end.constraint.sizes[-1]) == (world.input_size, 1)
    actions = actions_of(world)
    assert (end.policy.sizes[0], end.policy.sizes[-1]) == (world.observation_size, actions.outputs)
    nodes = np.broadcast_to(world.grid.nodes.astype(np.float32), (3, *world.grid.nodes.shape))
    values = sigmoid(end.constraint(nodes)[..., 0])
    assert values.shape == (3, len(world.grid.nodes))
    assert ((values > 0) & (values < 1)).all()
    assert len({row.tobytes() for row in end.constraint.parameters}) == 3  # each seed its own
    assert end.log.schema == TRAINING_SCHEMA
    rows = rows_by_seed(end.log)
    assert set(rows) <= set(SEEDS)
    for seed in rows:
        np.testing.assert_array_equal(rows[seed][0], np.arange(1, 1 + rows[seed].shape[1]))
    assert all(len(part) == 3 for part in end.extras.values())
    # A stored network is the one that was learned.
    for network in (end.constraint, end.policy):
        again = Networks.from_tensors(network.tensors())
        np.testing.assert_array_equal(again.parameters, network.parameters)
        assert (again.sizes, again.activation) == (network.sizes, network.activation)


@pytest.mark.parametrize(("method", "variant", "name"), CASES)
def test_a_seed_learns_the_same_alone_and_in_a_stack(method, variant, name):
    together, _ = learned(method, variant, name)
    assert_same_runs(together, learn(method, variant, name, [8]), [1])


@pytest.mark.parametrize(("method", "variant", "name"), OWN)
def test_a_seed_with_an_expert_of_its_own_learns_the_same_alone_and_in_a_stack(
    method, variant, name
):
    """The experts differ in the steps that they take: nobody else's number of them counts."""

    def end(seeds):
        problem = problem_with_experts(name, list(seeds), horizon=12)
        assert not problem.shared
        return module(method).learn(problem, tiny(method)[variant], Job())

    together = end(SEEDS)
    for run, seed in enumerate(SEEDS):
        assert_same_runs(together, end([seed]), [run])
    # Each has learned from its own expert, and not from what the others were shown.
    shown = problem_with_experts(name, list(SEEDS), horizon=12).shown(1)
    alike = replace(problem_of(name, [SEEDS[1]], horizon=12), demonstrations=shown)
    assert_same_runs(together, module(method).learn(alike, tiny(method)[variant], Job()), [1])


@pytest.mark.parametrize(("method", "variant"), VARIANTS)
def test_a_seed_learns_the_same_whatever_its_neighbours_and_again(method, variant):
    whole = learned(method, variant, "gridworld-a")[0]
    assert_same_runs(whole, learn(method, variant, "gridworld-a", [5, 3]), [2, 0])
    assert_same_runs(whole, learn(method, variant, "gridworld-a", SEEDS), [0, 1, 2])


@pytest.mark.parametrize(("method", "variant", "name"), REFUSED)
def test_a_world_that_is_refused_is_refused_with_the_reason(method, variant, name):
    with pytest.raises(InputError, match=name):
        learn(method, variant, name, SEEDS)


@pytest.mark.parametrize(("method", "variant"), TRAINED)
@pytest.mark.parametrize("survived", [1, -1])
def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(method, variant, survived, tmp_path):
    """Killed at its second and at its last step: the rest follows from what was saved."""
    whole, steps = learned(method, variant, "cartpole-mid")
    survived %= steps
    with pytest.raises(Killed):
        learn(method, variant, "cartpole-mid", SEEDS, killed_job(tmp_path, survived))
    again = killed_job(tmp_path)
    assert_same_runs(whole, learn(method, variant, "cartpole-mid", SEEDS, again), [0, 1, 2])
    assert len(again.progress.lines) < steps  # not from the beginning
    again.store.clear()
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------ what it declares


@pytest.mark.parametrize("method", METHODS)
def test_a_method_declares_its_title_place_and_sizes(method):
    assert discovery.title(discovery.METHODS, method)
    assert isinstance(module(method).PLACE, int)
    sizes = module(method).SIZES
    assert {"quick", "smoke"} <= set(sizes)
    for scale, changes in sizes.items():
        assert isinstance(build(module(method).Settings, changes, scale), module(method).Settings)
    name = discovery.module_name(discovery.METHODS, method)
    assert discovery.literal(name, "SIZES") == sizes


def test_titles_and_places_are_each_methods_own():
    for key in ("TITLE", "PLACE"):
        values = [getattr(module(method), key) for method in METHODS]
        assert len(set(values)) == len(values)


def settings_in(kind):
    """The dataclass and those of its sections, each once."""
    found = {kind}
    for one in dataclasses.fields(kind):
        inner = one.default_factory() if one.default_factory is not dataclasses.MISSING else None
        if dataclasses.is_dataclass(inner):
            found |= settings_in(type(inner))
    return found


@pytest.mark.parametrize("method", METHODS)
def test_settings_are_frozen_and_every_field_says_what_it_means(method):
    for kind in settings_in(module(method).Settings):
        assert kind.__dataclass_params__.frozen, kind
        assert kind.__doc__
        assert kind() == build(kind, {}), "the defaults are right themselves"
        for one in dataclasses.fields(kind):
            about = meaning(one).about
            assert re.fullmatch(r"\S.*\S", about), f"{kind.__name__}.{one.name} says nothing"
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(kind(), one.name, None)
