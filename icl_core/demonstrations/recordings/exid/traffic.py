"""Traffic on a curved road with highway-env: each driver with at most one wish to change lanes.

Drivers follow the Intelligent Driver Model. A wish is a route to another lane, for
which highway-env's own MOBIL waits until the change is safe; its own cascade of a
lateral and a heading controller then steers. With KP_LATERAL = p/2 and KP_HEADING =
2p that cascade is critically damped: a change over the width w takes about 4.7/p
seconds to come within 5 % of the new centre and peaks at a lateral velocity of w p/e.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from highway_env.road.lane import CircularLane
from highway_env.road.road import Road as HighwayRoad
from highway_env.road.road import RoadNetwork
from highway_env.vehicle.behavior import IDMVehicle

from icl_core.demonstrations.recordings.exid.roads import FRAME_RATE, LANES, Road

BEFORE, BEHIND = 90.0, 20.0  # metres driven before and behind the mapped road
KINDS = ("car", "van", "truck")
WISHES = {0: 0.04, 1: 0.90, 2: 0.06}  # how many lanes over, with what probability
TRAFFIC_INTERVAL = 2.2  # mean seconds between arrivals
PATIENCE = 60 * FRAME_RATE  # frames; a road where nobody can enter for a minute has jammed


@dataclass(frozen=True)
class Character:
    """What a driver brings along."""

    kind: str
    length: float
    width: float
    lane: int
    wanted_lane: int
    change_at: float  # angle from the map's beginning at which the wish arises [rad]
    speed: float  # desired [m/s]
    time_gap: float  # IDM [s]
    jam_gap: float  # IDM, bumper to bumper [m]
    pace: float  # p above [1/s]
    damping: float  # 1: critical; less: a little overshoot
    wander: np.ndarray  # (2, 3): amplitude [rad], frequency [rad/s], phase of steering noise


class _Lane(CircularLane):
    """highway-env's lane on an arc, its most frequent question answered four times as fast."""

    def local_coordinates(self, position) -> tuple[float, float]:
        """Distance along the arc and to its side."""
        x, y = float(position[0] - self.center[0]), float(position[1] - self.center[1])
        angle = (math.atan2(y, x) - self.start_phase + math.pi) % (2 * math.pi) - math.pi
        return (
            self.direction * angle * self.radius,
            self.direction * (self.radius - math.hypot(x, y)),
        )


class Driver(IDMVehicle):
    """An IDM driver of a certain character."""

    POLITENESS = 0.0
    LANE_CHANGE_DELAY = 0.2  # seconds between two looks whether the wished change is safe
    LANE_CHANGE_MAX_BRAKING_IMPOSED = 3.0
    COMFORT_ACC_MAX = 1.5
    COMFORT_ACC_MIN = -2.5

    def __init__(self, road: HighwayRoad, arc: Road, character: Character, speed: float):
        lane = road.network.get_lane(("a", "b", character.lane))
        super().__init__(
            road,
            lane.position(0, 0),
            lane.heading_at(0),
            speed,
            target_speed=character.speed,
            # Whoever is routed to his own lane changes to no other.
            route=[("a", "b", character.lane)],
            timer=1.0,
        )
        self.route: list[tuple[str, str, int]]  # of highway-env's vehicles
        self.arc = arc
        self.character = character
        self.age = 0.0
        self.TIME_WANTED = character.time_gap
        self.DISTANCE_WANTED = character.jam_gap
        self.KP_LATERAL = character.pace / 2 / character.damping
        self.KP_HEADING = 2 * character.pace * character.damping
        # Looking ahead by the heading's own lag cancels that lag on a bend.
        self.TAU_PURSUIT = 1 / self.KP_HEADING

    def act(self, action=None) -> None:
        """Wish for the other lane once the place is reached, then drive as IDM and MOBIL do."""
        wanted = ("a", "b", self.character.wanted_lane)
        if self.route != [wanted] and self.arc.angle_of(*self.position) >= self.character.change_at:
            self.route = [wanted]
        super().act(action)

    def step(self, dt: float) -> None:
        """Move on by a frame."""
        self.age += dt
        super().step(dt)

    def steering_control(self, target_lane_index) -> float:
        """Steer as highway-env does, with a hand that is never quite still."""
        amplitude, frequency, phase = self.character.wander
        noise = float(amplitude @ np.sin(frequency * self.age + phase))
        return super().steering_control(target_lane_index) + noise

    def desired_gap(self, ego_vehicle, front_vehicle=None, projected=True) -> float:
        """The IDM's gap; highway-env measures between centres, a jam gap is between bumpers."""
        halves = (ego_vehicle.character.length + front_vehicle.character.length) / 2
        # Behind a much faster one the model's gap is negative, and its square would brake.
        return max(super().desired_gap(ego_vehicle, front_vehicle, projected), 0.0) + halves

    @property
    def course_velocity(self) -> np.ndarray:
        """The velocity with which the next step moves the vehicle, its slip included."""
        slip = np.arctan(np.tan(self.action["steering"]) / 2)
        course = self.heading + slip
        return self.speed * np.array([np.cos(course), np.sin(course)])


@dataclass(frozen=True)
class Drive:
    """All frames of all drivers, one entry per driver and frame, in order of frames."""

    characters: list[Character]
    driver: np.ndarray
    frame: np.ndarray
    motion: np.ndarray  # (n, 5): x, y, heading [rad], velocity in x and y


def drive(
    arc: Road,
    vehicles: int,
    rng: np.random.Generator,
    progress: Callable[[int], None] = lambda passed: None,
) -> Drive:
    """Let so many drivers pass over the road, one after another, and note where they are."""
    road = HighwayRoad(_network(arc), np_random=rng)
    arrivals = np.cumsum(rng.exponential(TRAFFIC_INTERVAL, vehicles))
    waiting = [(arrival, _character(arc, rng)) for arrival in arrivals]
    characters: list[Character] = []
    numbers: dict[Driver, int] = {}
    rows, frames = [], []
    frame = idle = 0
    while waiting or road.vehicles:
        idle += 1
        if waiting and waiting[0][0] <= frame / FRAME_RATE:
            newcomer = _enter(road, arc, waiting[0][1])
            if newcomer is not None:
                numbers[newcomer] = len(characters)
                characters.append(waiting.pop(0)[1])
                idle = 0
        if waiting and idle > PATIENCE:
            raise RuntimeError(f"the simulated road {arc.location} is jammed in frame {frame}")
        road.act()
        for vehicle in road.vehicles:
            rows.append((*vehicle.position, vehicle.heading, *vehicle.course_velocity))
            frames.append((numbers[vehicle], frame))
        # Not road.step, half of whose work is to look for collisions: IDM and MOBIL leave none.
        for vehicle in road.vehicles:
            vehicle.step(1 / FRAME_RATE)
        road.vehicles = [v for v in road.vehicles if not _gone(arc, v)]
        frame += 1
        progress(len(characters) - len(road.vehicles))
    driver, frame = np.array(frames, dtype=np.int64).T
    return Drive(characters, driver, frame, np.array(rows))


def _network(arc: Road) -> RoadNetwork:
    network = RoadNetwork()
    begin = arc.phase - arc.turn * BEFORE / arc.radius
    end = arc.phase + arc.turn * (arc.angle + (BEHIND + 100.0) / arc.radius)
    for lane in range(LANES):
        radius = arc.radius - arc.turn * float(arc.lane_offset(lane))
        # In highway-env y points down: its clockwise is our turn to the left.
        network.add_lane(
            "a",
            "b",
            _Lane(
                arc.centre,
                radius,
                begin,
                end,
                clockwise=arc.turn > 0,
                width=arc.lane_width,
                speed_limit=None,
            ),
        )
    return network


def _character(arc: Road, rng: np.random.Generator) -> Character:
    wish = rng.choice(list(WISHES), p=list(WISHES.values()))
    kind = rng.choice(KINDS, p=(0.8, 0.08, 0.12))
    lane = int(rng.integers(LANES - 1 if kind == "truck" else LANES))
    if wish == 2 and lane == 1:
        wish = 1  # there are no two lanes beside the middle one
    reachable = [other for other in range(LANES) if abs(other - lane) == wish]
    wanted = int(rng.choice(reachable))
    middle = {"car": 25.0 + 1.5 * lane, "van": 24.0 + 1.2 * lane, "truck": 22.0}[kind]
    spread = 1.0 if kind == "truck" else 2.8
    length, width = {
        "car": (rng.normal(4.5, 0.25), rng.normal(1.85, 0.06)),
        "van": (rng.normal(5.6, 0.4), rng.normal(2.0, 0.06)),
        "truck": (rng.uniform(9.0, 16.5), rng.normal(2.52, 0.04)),
    }[kind]
    wander = np.stack(
        [
            np.abs(rng.normal(0, [6e-4, 6e-4])),
            rng.uniform([0.4, 1.0], [1.0, 2.2]),
            rng.uniform(0, 2 * np.pi, 2),
        ]
    )
    return Character(
        kind=str(kind),
        length=round(float(length), 2),
        width=round(float(width), 2),
        lane=lane,
        wanted_lane=wanted,
        change_at=float(rng.uniform(-40.0, arc.radius * arc.angle - 130.0) / arc.radius),
        speed=float(max(rng.normal(middle, spread), 17.0)),
        time_gap=float(rng.uniform(0.8, 1.5)),
        jam_gap=float(rng.uniform(2.0, 3.5)),
        pace=float(np.clip(rng.lognormal(np.log(0.85), 0.25), 0.55, 1.5)),
        damping=float(rng.uniform(0.85, 1.1)),
        wander=wander,
    )


def _enter(road: HighwayRoad, arc: Road, character: Character) -> Driver | None:
    """The newcomer, put at the beginning of his lane if there is room."""
    lane = road.network.get_lane(("a", "b", character.lane))
    speed = character.speed
    for other in road.vehicles:
        if character.lane in (other.lane_index[2], other.target_lane_index[2]):
            ahead = lane.local_coordinates(other.position)[0]
            gap = ahead - (other.character.length + character.length) / 2
            speed = min(speed, other.speed + gap / 15)
            if gap < 8.0 + 1.2 * character.time_gap * speed:
                return None
    driver = Driver(road, arc, character, speed)
    road.vehicles.append(driver)
    return driver


def _gone(arc: Road, vehicle: Driver) -> bool:
    return bool((arc.angle_of(*vehicle.position) - arc.angle) * arc.radius > BEHIND)
