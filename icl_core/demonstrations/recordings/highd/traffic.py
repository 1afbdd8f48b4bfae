"""One carriageway of simulated highway traffic: highway-env's IDM and MOBIL drivers.

All drive towards +x, with y to their right, on lanes that begin upstream of the view and end
downstream of it, so that the view shows vehicles that have found their places. highway-env
looks at every vehicle to find the two nearest, and at every pair for collisions; here the
lanes are sorted once per frame, and boxes are kept apart by the drivers' gaps. All else, the
driver's decisions and the bicycle that they steer, is highway-env's own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
from highway_env.road.lane import StraightLane
from highway_env.road.road import Road, RoadNetwork
from highway_env.vehicle.behavior import IDMVehicle

from icl_core.demonstrations.recordings.highd.simulation import DriverKind

ENTRANCE = 20.0  # [m] from a lane's beginning to where vehicles appear: room for a long truck
ONE_AHEAD = 150.0  # [m] a driver entering with less than this free adopts the speed ahead
TOUCH = 0.1  # [m] the gap of vehicles side by side: whoever would follow the other must brake
RESPONSE = 0.3  # [s] of the steering wheel


class Driver(IDMVehicle):
    """An IDM/MOBIL vehicle of highway-env with a size and a character of its own.

    Unlike highway-env's, its gap is bumper to bumper (there: centre to centre, with one
    length for all) and the one it wants never negative, and it changes lane in some five
    seconds instead of two.
    """

    MAX_SPEED = 60.0  # far beyond what any driver wishes: never a bound
    KP_LATERAL = 1 / 2.0  # [1/s]
    KP_HEADING = 1 / 0.6  # [1/s]
    LANE_CHANGE_MAX_BRAKING_IMPOSED = 1.0  # [m/s2]

    def __init__(self, road: Road, kind: DriverKind, rng: np.random.Generator, serial: int):
        """Draw the driver; `enter` puts it on the road."""
        self.kind = kind
        self.serial = serial
        self.LENGTH = round(rng.uniform(*kind.length), 2)
        self.WIDTH = round(rng.uniform(*kind.width), 2)
        self.TIME_WANTED = rng.uniform(*kind.time_gap)
        self.DISTANCE_WANTED = rng.uniform(*kind.minimum_distance)
        self.COMFORT_ACC_MAX = kind.acceleration
        self.COMFORT_ACC_MIN = -kind.braking
        self.wish = rng.uniform(*kind.desired_speed)
        self.phase = rng.uniform(0.01, 1)  # when within a second it thinks of changing lane
        self.frame = 0.0
        self.road = road

    def enter(self, lane_index, position: np.ndarray, speed: float, dt: float) -> None:
        """Appear on a lane."""
        super().__init__(
            self.road,
            position,
            speed=speed,
            target_lane_index=lane_index,
            target_speed=self.wish,
            enable_lane_change=self.kind.changes_lane,
            timer=self.phase,
        )
        self.frame = dt

    def lane_distance_to(self, other, lane=None) -> float:
        """From bumper to bumper, negative if the other is behind; next to nothing if alongside."""
        if not other:
            return np.nan
        centres = super().lane_distance_to(other, lane)
        return np.copysign(max(abs(centres) - (self.LENGTH + other.LENGTH) / 2, TOUCH), centres)

    def desired_gap(self, ego_vehicle, front_vehicle=None, projected=True) -> float:
        """The IDM's, never below the minimum distance.

        highway-env leaves out that bound. A much faster vehicle ahead then makes the wish
        negative, its square lets drivers change lane into one another.
        """
        wished = super().desired_gap(ego_vehicle, front_vehicle, projected)
        return max(wished, self.DISTANCE_WANTED)

    def steering_control(self, target_lane_index) -> float:
        """highway-env's command, reached by turning the wheel instead of at once."""
        wanted = super().steering_control(target_lane_index)
        held = self.action["steering"]
        return held + (wanted - held) * self.frame / RESPONSE

    @property
    def motion(self) -> tuple[float, float]:
        """The velocity with which `step` will move the vehicle, slip angle included."""
        slip = np.arctan(np.tan(self.action["steering"]) / 2)
        return self.speed * np.cos(self.heading + slip), self.speed * np.sin(self.heading + slip)


class SortedRoad(Road):
    """A road along x whose vehicles find their neighbours in sorted lanes."""

    vehicles: list[Driver]

    def sort(self) -> None:
        """Note who is on each lane, from back to front; to be called when vehicles have moved."""
        self._lanes = {}
        ordered = sorted(self.vehicles, key=lambda vehicle: vehicle.position[0])
        for index, lane in self.network.lanes_dict().items():
            reach = lane.width / 2 + 1  # highway-env's margin
            y = lane.start[1]
            on = [v for v in ordered if abs(v.position[1] - y) <= reach]
            self._lanes[index] = [v.position[0] for v in on], on

    def neighbour_vehicles(self, vehicle, lane_index=None):
        """The same as highway-env's: who is ahead and who behind on a lane."""
        x, on = self._lanes[lane_index or vehicle.lane_index]
        ahead = behind = bisect_left(x, vehicle.position[0])
        while ahead < len(on) and on[ahead] is vehicle:
            ahead += 1
        return (on[ahead] if ahead < len(on) else None), (on[behind - 1] if behind else None)

    def step(self, dt: float) -> None:
        """Move all; whoever is at the end leaves."""
        for vehicle in self.vehicles:
            vehicle.step(dt)
        end = next(iter(self.network.lanes_dict().values())).end[0] - ENTRANCE
        self.vehicles = [vehicle for vehicle in self.vehicles if vehicle.position[0] < end]


class Inflow:
    """Drivers who arrive at random and enter as soon as their lane has room."""

    def __init__(
        self,
        road: SortedRoad,
        kinds: Sequence[DriverKind],
        shares: Sequence[float],
        flow: float,
        rng: np.random.Generator,
    ):
        """`flow` in vehicles per second, over all lanes."""
        self.road, self.kinds, self.shares, self.flow, self.rng = road, kinds, shares, flow, rng
        self.lanes = list(road.network.lanes_dict())  # from left to right
        self.waiting: dict[tuple, deque[Driver]] = {index: deque() for index in self.lanes}
        self.time, self.next, self.serial = 0.0, 0.0, 0

    def advance(self, dt: float) -> None:
        """Let arrive and enter whoever does within this time."""
        self.time += dt
        while self.next <= self.time:
            self.next += self.rng.exponential(1 / self.flow)
            kind = self.kinds[self.rng.choice(len(self.kinds), p=self.shares)]
            driver = Driver(self.road, kind, self.rng, self.serial)
            self.serial += 1
            self.waiting[self._lane(driver)].append(driver)
        for index, queue in self.waiting.items():
            if queue and self._enter(queue[0], index, dt):
                queue.popleft()

    def _lane(self, driver: Driver):
        """Trucks keep right; the faster a car wants to be, the likelier it starts on the left."""
        if not driver.kind.changes_lane:
            return self.lanes[-1]
        low, high = driver.kind.desired_speed
        eager = 0.25 + 0.7 * (driver.wish - low) / (high - low)
        return self.lanes[0] if self.rng.uniform() < eager else self.lanes[-1]

    def _enter(self, driver: Driver, index, dt: float) -> bool:
        lane = self.road.network.get_lane(index)
        position = lane.position(ENTRANCE, 0)
        speed, room = driver.wish, np.inf
        ahead = [v for v in self.road.vehicles if index in (v.lane_index, v.target_lane_index)]
        if ahead:
            last = min(ahead, key=lambda vehicle: vehicle.position[0])
            room = last.position[0] - position[0] - (last.LENGTH + driver.LENGTH) / 2
            speed = min(speed, last.speed) if room < ONE_AHEAD else speed
        if room < driver.DISTANCE_WANTED + driver.TIME_WANTED * speed:
            return False
        driver.enter(index, position, speed, dt)
        self.road.vehicles.append(driver)
        return True


def straight_road(
    markings: np.ndarray, ends: tuple[float, float], rng: np.random.Generator
) -> SortedRoad:
    """Lanes along x from one end to the other, between markings given from left to right."""
    network, (start, end) = RoadNetwork(), ends
    centres, widths = (markings[1:] + markings[:-1]) / 2, np.diff(markings)
    for y, width in zip(centres, widths, strict=True):
        network.add_lane(
            "0", "1", StraightLane([start, y], [end, y], width=width, speed_limit=None)
        )
    road = SortedRoad(network, np_random=rng)
    road.sort()
    return road


def drive(
    inflow: Inflow, warm_up: int, frames: int, dt: float, report: Callable[[int], None]
) -> tuple[np.ndarray, list[Driver]]:
    """Simulate; rows (frame, serial, x, y, vx, vy) of frames 0, ..., frames, and who drove.

    What a row says is what the integrator does: from one frame to the next a vehicle moves
    by its velocity times dt.
    """
    road = inflow.road
    rows: list[tuple[float, ...]] = []
    drivers: dict[int, Driver] = {}
    for frame in range(-warm_up, frames + 1):
        inflow.advance(dt)
        road.sort()
        road.act()
        if frame >= 0:
            for v in road.vehicles:
                rows.append((frame, v.serial, *v.position, *v.motion))
                drivers[v.serial] = v
        road.step(dt)
        report(frame + warm_up)
    return np.array(rows, np.float64).reshape(-1, 6), [drivers[k] for k in sorted(drivers)]
