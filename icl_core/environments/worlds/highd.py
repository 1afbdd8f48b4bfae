"""HighD: driving along a highway among recorded traffic (paper, App. C and Figure 13)."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from icl_core.environments.traffic import Places, Road, Tracks, Traffic, read_scene
from icl_core.environments.world import Axis, EvaluationGrid, ExpectedSteps, World
from icl_core.errors import InputError
from icl_core.settings import setting

GYMNASIUM_ID = "icl/HighD-v0"
MOST_ACCELERATION = 2.0  # m/s^2, either way; an action of 1 asks for it
GOAL_DISTANCE_SHARE = 0.9  # of the road: the distance to the goal that a failure's -1 stands for
STOPPED_REWARD = -0.1
SPEED_SCALE, GAP_SCALE = 5.0, 20.0  # m/s and m: units of the constraint function's inputs
FEATURE_SPEED, FEATURE_GAP = 20.0, 100.0  # m/s and m: of what policies see

# Columns of a state. The last two follow from the others; they are kept for speed.
EGO, TIME, X, Y, V, ACC, GAP, COLLISION = range(8)

FEATURES = (
    "x",
    "y",
    "v",
    "acc",
    "steering rate",
    "steering",
    "heading",
    "stopped",
    "near goal",
    "time limit",
    "out of road",
    "collision",
    "gap",  # -1 where nobody is ahead
    "parsed gap",  # the length of the view where nobody is ahead
)
SPEED, PARSED_GAP = FEATURES.index("v"), FEATURES.index("parsed gap")
# Recorded drivers brake harder than the world allows and change lanes: metres, m/s and yes or no.
ROOM = np.array([0.25, 0.25, 0.5, 0.5, *[0.1] * 8, 0.25, 0.25])


class HighD(World):
    """The ego takes a recorded vehicle's place and chooses its acceleration; it cannot steer.

    Metres and seconds throughout (the authors compute on a canvas of 1000 units). A step is
    a frame of the recording. The ego starts where, when and as fast as the recorded vehicle
    did and keeps its lane; an action u asks for 2u m/s^2. The other vehicles replay their
    tracks and do not react. The gap g is from bumper to bumper, as HighD's `dhw` and the
    rules of car following have it; `centre_gap` measures it from centre to centre, as the
    paper's caption says, which adds about a vehicle's length.

    Ends: the last tenth of the road pays 1; a collision, leaving the road and the time limit
    cost the distance that is left to the goal's centre, by 0.9 of the road's length. A step
    at rest costs 0.1.
    """

    @dataclass(frozen=True)
    class Settings(World.Settings):
        """How the gap is measured."""

        centre_gap: bool = setting(
            False, "true: gaps from centre to centre, as in the paper; false: of bumpers"
        )

    title = "HighD"
    recorded = True
    drawing = "icl_core.environments.pictures.highd"
    discount = 0.99
    threshold = 0.1
    horizon = 1000
    state_size = 8
    action_low = np.array([-1.0], dtype=np.float32)
    action_high = np.array([1.0], dtype=np.float32)
    # Half of the grid's spacing: what is learned at a place is learned for its neighbours too.
    input_resolution = np.array([0.5 / SPEED_SCALE, 1.25 / GAP_SCALE])
    true_constraint = None
    step_room, reward_room = ROOM, 0.01
    grid = EvaluationGrid(
        (
            Axis("speed v", np.arange(41) / SPEED_SCALE, "m/s", SPEED_SCALE),
            Axis("gap g", 2.5 * np.arange(81) / GAP_SCALE, "m", GAP_SCALE),
        )
    )

    def __init__(self, settings: Settings | None = None, scene: str | os.PathLike | None = None):
        given = settings or self.Settings()
        super().__init__(given)
        if scene is None:
            raise InputError(
                "environment highd: expected a scene, the path of a scene.parquet, found none; "
                "name one, made with "
                "`snakemake --cores 2 results/paper/recordings/highd/scene.parquet`"
            )
        self.scene = read_scene(scene)
        self.source, self.headway = self.scene.source, self.scene.headway
        self.centre_gap = given.centre_gap
        self.time_step = 1.0 / self.scene.frame_rate
        self.tracks = Tracks(self.scene)
        self.traffic = Traffic(self.scene, self.tracks)
        self._describe_egos()
        self._describe_observations()
        first = self.tracks.first_row[self.tracks.egos]
        self._starts = self.as_recorded(np.arange(self.n_egos), np.zeros(self.n_egos), first)

    def _describe_observations(self) -> None:
        """Their bounds, and the scales by which policies see them."""
        longest = max(road.length for road in self.scene.roads)
        low = np.full(len(FEATURES), -np.inf, dtype=np.float32)
        high = np.full(len(FEATURES), np.inf, dtype=np.float32)
        low[4:12], high[4:12] = 0.0, 1.0
        low[[SPEED, 12, 13]], high[12:] = (0.0, -1.0, 0.0), longest
        self.observation_low, self.observation_high = low, high
        self._feature_scale = np.ones(len(FEATURES), dtype=np.float32)
        self._feature_scale[:4] = longest, 10.0, FEATURE_SPEED, MOST_ACCELERATION
        self._feature_scale[12:] = FEATURE_GAP

    def _describe_egos(self) -> None:
        """What the simulation needs of each ego and its road, (egos,)."""
        egos = self.tracks.egos
        self.n_egos = len(egos)
        self._road = self.tracks.road[egos]
        self._first_frame = self.tracks.first_frame[egos]
        self._half_length = self.tracks.half_length[egos]
        roads = self.scene.roads
        self._half_lane = np.array([road.lane_width / 2 for road in roads])[self._road]
        self._length = np.array([road.length for road in roads])[self._road]
        self._width = np.array([road.width for road in roads])[self._road]

    def initial_states(self, rng, n):
        return self._starts[rng.integers(self.n_egos, size=n)]

    def step(self, states, actions, noise=None):
        asked = MOST_ACCELERATION * np.asarray(actions, dtype=np.float64)[:, 0]
        acc = np.clip(asked, -MOST_ACCELERATION, MOST_ACCELERATION)
        v = np.maximum(0.0, states[:, V] + self.time_step * acc)
        # The speed changes evenly within a step, so its mean is exact (and so is RK4).
        x = states[:, X] + self.time_step * (states[:, V] + v) / 2
        moved = self.place(states[:, EGO], states[:, TIME] + 1, x, states[:, Y], v, acc)
        return (moved, *self.outcome(moved))

    def place(self, ego, time, x, y, v, acc) -> np.ndarray:
        """States (n, 8) of egos at these places, `time` steps after their start."""
        states = np.stack([ego, time, x, y, v, acc, x, x], axis=1, dtype=np.float64)
        ego = states[:, EGO].astype(np.int64)
        states[:, GAP], states[:, COLLISION] = self.traffic.ahead(
            Places(
                road=self._road[ego],
                frame=self._first_frame[ego] + states[:, TIME].astype(np.int64),
                own=self.tracks.egos[ego],
                x=states[:, X],
                y=states[:, Y],
                half_length=self._half_length[ego],
                half_lane=self._half_lane[ego],
            ),
            self.centre_gap,
        )
        return states

    def as_recorded(self, ego, time, row) -> np.ndarray:
        """States (n, 8) of egos that drive as recorded in these rows of the scene."""
        columns = (self.scene.columns[name][row] for name in ("x", "y", "v", "acc"))
        x, y, v, acc = (column.astype(np.float64) for column in columns)
        return self.place(ego, time, x, y, np.maximum(v, 0.0), acc)

    def recorded_episode(self, ego: int) -> np.ndarray:
        """States (frames, 8) of an ego on its own track, as long as an episode may last."""
        track = self.tracks.egos[ego]
        time = np.arange(min(self.tracks.rows[track], self.horizon + 1))
        return self.as_recorded(np.full(len(time), ego), time, self.tracks.first_row[track] + time)

    def boxes(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The ego (4,) and the others (k, 4) of one state: centre x and y, length, width."""
        ego = int(state[EGO])
        own = self.tracks.egos[ego]
        frame = self._first_frame[ego] + int(state[TIME])
        present = self.traffic.present(self._road[[ego]], np.array([frame]))[0]
        x, half, y, number = present[:, np.isfinite(present[0]) & (present[3] != own)]
        box = (state[X], state[Y], 2 * self._half_length[ego], self.tracks.width[own])
        widths = self.tracks.width[number.astype(np.int64)]
        return np.array(box), np.stack([x, y, 2 * half, widths], axis=1)

    def road_of(self, state: np.ndarray) -> Road:
        """The road that one state's ego is on."""
        return self.scene.roads[self._road[int(state[EGO])]]

    def off_start(self, observations):
        starts = self.observe(self._starts)[self._likely_egos(observations)]
        return np.abs(observations.astype(np.float64) - starts)

    def expected_steps(self, observations, actions) -> ExpectedSteps:
        """Which ego it is says the first row. Speed and place along the road follow from the row
        before; how the ego changes lane and accelerates does not: there the row itself is believed.
        """
        n, steps = observations.shape[:2]
        ego = np.repeat(self._likely_egos(observations[:, 0]), steps)
        time = np.tile(np.arange(1, steps + 1), n)
        now = observations.astype(np.float64)
        following = np.concatenate([now[:, 1:], now[:, -1:]], axis=1).reshape(n * steps, -1)
        told = self.place(ego, time, *following[:, :4].T)
        states = self.place(ego, time - 1, *now.reshape(n * steps, -1)[:, :4].T)
        moved, _, _ = self.step(states, actions.reshape(n * steps, 1))
        expected = self.observe(told)
        expected[:, 0], expected[:, SPEED] = moved[:, X], moved[:, V]
        expected[:, 8:12] = 0  # who has arrived or failed is at the end
        moved[:, Y] = np.where(following.any(axis=1), told[:, Y], moved[:, Y])
        # An end or a reward counts only if it is the same a little further on or to the side, and
        # a little faster or slower.
        here = moved[:, [X, Y, V, ACC]].T
        offsets = [np.zeros(4), *(np.diag(ROOM[:4])[:3]), *(-np.diag(ROOM[:4])[:3])]
        outcomes = [self.outcome(self.place(ego, time, *(here + o[:, None]))) for o in offsets]
        rewards, over = (np.stack(parts) for parts in zip(*outcomes, strict=True))
        sure = np.ptp(rewards, axis=0) <= self.reward_room
        return ExpectedSteps(
            expected.reshape(1, n, steps, -1),
            np.where(sure, rewards[0], np.nan).reshape(1, n, steps),
            over.all(axis=0).reshape(1, n, steps),
        )

    def _likely_egos(self, first: np.ndarray) -> np.ndarray:
        """(n,) the egos whose start is nearest to what is seen first."""
        starts = self.observe(self._starts) / self._feature_scale
        apart = np.abs(first[:, None] / self._feature_scale - starts)
        return apart.max(axis=2).argmin(axis=1)

    def predicates(self, states: np.ndarray) -> tuple[np.ndarray, ...]:
        """Stopped, near the goal, at the time limit, out of the road, in a collision."""
        ego = states[..., EGO].astype(np.int64)
        x, length = states[..., X], self._length[ego]
        stopped = (states[..., V] == 0) & (states[..., TIME] > 0)
        out = (x < 0) | (x > length)  # only along the road: nobody steers
        near = ~out & (x >= (1 - self.scene.goal) * length)
        late = states[..., TIME] >= self.horizon
        return stopped, near, late, out, states[..., COLLISION] > 0

    def outcome(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Reward for having come to these states, and whether they end the episode."""
        stopped, near, late, out, collision = self.predicates(states)
        failures = late.astype(np.int64) + collision + out
        ego = states[:, EGO].astype(np.int64)
        length = self._length[ego]
        ahead = (1 - self.scene.goal / 2) * length - states[:, X]
        distance = np.hypot(ahead, self._width[ego] / 2 - states[:, Y])
        failed = -failures * distance / (GOAL_DISTANCE_SHARE * length)
        going = np.where(stopped, STOPPED_REWARD, 0.0)
        rewards = np.where(near, 1.0, np.where(failures > 0, failed, going))
        return np.round(rewards, 3).astype(np.float32), near | (failures > 0)

    def observe(self, states):
        seen = np.zeros((*states.shape[:-1], len(FEATURES)), dtype=np.float32)
        seen[..., 0:4] = states[..., X : ACC + 1]
        for k, predicate in enumerate(self.predicates(states)):
            seen[..., 7 + k] = predicate
        gap = states[..., GAP]
        view = self._length[states[..., EGO].astype(np.int64)]
        seen[..., 12], seen[..., 13] = gap, np.where(gap < 0, view, gap)
        return seen

    def features(self, observations):
        """Distances by the view's length or the gap's scale, speeds by theirs."""
        return observations / self._feature_scale

    def constraint_inputs(self, observations, actions):
        """Speed and gap, scaled."""
        seen = observations[..., [SPEED, PARSED_GAP]]
        return (seen / np.array([SPEED_SCALE, GAP_SCALE])).astype(np.float32)
