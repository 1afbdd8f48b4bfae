"""A vector environment as a world that goes forward only."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from icl_core.environments.forward import ForwardWorld, Limits
from icl_core.environments.inputs import Inputs, see
from icl_core.environments.world import Axis, EvaluationGrid
from icl_core.errors import InputError

MODES = list(AutoresetMode)


class Counting(gymnasium.Env):
    """Observes (episode, step); ends after 2 to 5 steps, which its seed decides."""

    observation_space = spaces.Box(-1e6, 1e6, (2,))
    action_space = spaces.Discrete(3, start=5)

    def __init__(self):
        self.episode = self.steps = 0
        self.acted = []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.episode = int(self.np_random.integers(1000))
        self.length, self.steps = int(self.np_random.integers(2, 6)), 0
        return self._seen(), {}

    def step(self, action):
        assert self.steps < self.length  # never beyond the end
        self.acted.append(int(action))
        self.steps += 1
        over = self.steps == self.length
        late = over and self.episode % 2 == 0
        return self._seen(), float(self.steps), over and not late, late, {}

    def _seen(self):
        return np.array([self.episode, self.steps], np.float32)


def forward(mode=AutoresetMode.SAME_STEP, rows=4, make=Counting, size=2):
    envs = SyncVectorEnv([make] * rows, autoreset_mode=mode)
    grid = EvaluationGrid((Axis("step", np.linspace(0, 5, 6)),))
    weights = np.eye(1, size + 1, 1, dtype=np.float32)
    inputs = Inputs(grid, size, 1, weights, np.zeros(1, np.float32))
    world = ForwardWorld(envs, Limits(horizon=5, discount=0.9))
    see(world, inputs)
    return world


@pytest.mark.parametrize("mode", MODES)
def test_all_modes_tell_the_same_story(mode):
    """Each row's episodes, step by step, are those of an environment that is reset by hand."""
    world, seeds = forward(mode), [3, 1, 4, 1]
    now, told = world.begin(seeds), [[] for _ in seeds]
    for _ in range(30):
        moved = world.move(np.ones(4, np.int64))
        for row in np.flatnonzero(~moved.rested):
            step = (*now[row], moved.rewards[row], *moved.led[row], *moved.now[row])
            told[row].append((step, moved.ended[row], moved.cut[row]))
        assert not (moved.rewards * moved.rested).any()
        now = moved.now
    for row, seed in enumerate(seeds):
        expected = by_hand(seed, len(told[row]))
        if mode is AutoresetMode.NEXT_STEP:  # an ended row does not know yet where it goes on
            expected = [
                ((*step[:5], *step[3:5]) if ended else step, ended, cut)
                for step, ended, cut in expected
            ]
        assert told[row] == expected


def by_hand(seed, count):
    env, told = Counting(), []
    now, _ = env.reset(seed=seed)
    for _ in range(count):
        led, reward, over, late, _ = env.step(6)
        after = env.reset()[0] if over or late else led
        told.append(((*now, reward, *led, *after), over or late, late))
        now = after
    return told


def test_actions_are_numbered_from_where_the_space_begins():
    world = forward(rows=2)
    world.begin([0, 0])
    world.move(np.array([0, 2]))
    assert [env.acted for env in world.envs.envs] == [[5], [7]]


def test_an_environment_with_one_seed_for_all():
    world = forward(rows=2)
    inner = world.envs.reset

    def one_seed(*, seed=None, options=None):
        if isinstance(seed, list):
            raise gymnasium.error.Error("a whole number, please")
        return inner(seed=seed, options=options)

    world.envs.reset = one_seed
    assert world.begin([7, 8]).tolist() == world.begin([7, 9]).tolist()


class Strange(Counting):
    observation_space = spaces.Dict({"x": spaces.Box(0, 1, (2,))})


class Images(Counting):
    observation_space = spaces.Box(0, 1, (3, 3))


class Several(Counting):
    action_space = spaces.MultiDiscrete([2, 2])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (Strange, "observation space: expected a Box with one axis, found Dict"),
        (Images, "observation space: expected a Box with one axis, found Box"),
        (Several, "action space: expected a Discrete space or a Box with one axis, found Multi"),
    ],
)
def test_other_spaces_are_refused_with_the_reason(make, words):
    with pytest.raises(InputError, match=words):
        forward(make=make)


def test_it_cannot_be_put_into_a_state():
    world = forward()
    with pytest.raises(InputError, match="goes forward only"):
        world.initial_states(np.random.default_rng(0), 1)
