"""Small traffic for tests: the reader's tables by hand, and scenes made of them."""

import numpy as np
import pyarrow as pa

from icl_core.artifacts import write_table
from icl_core.demonstrations.recordings.highd.scene import Settings, scene_of
from icl_core.environments.worlds.highd import HighD

TRACKS = pa.schema(
    {
        **{name: pa.int32() for name in ("recording", "vehicle", "frame")},
        **{name: pa.float32() for name in ("x", "y", "vx", "vy", "ax", "ay")},
        "lane": pa.int16(),
        "preceding": pa.int32(),
        **{name: pa.float32() for name in ("dhw", "thw", "ttc")},
    }
)
VEHICLES = pa.schema(
    {
        **{name: pa.int32() for name in ("recording", "vehicle")},
        **{name: pa.float32() for name in ("length", "width")},
        **{name: pa.int32() for name in ("first_frame", "last_frame")},
        "kind": pa.string(),
        "direction": pa.int8(),
    }
)
RECORDINGS = pa.schema(
    {
        **{name: pa.int32() for name in ("recording", "location")},
        **{name: pa.float32() for name in ("frame_rate", "duration", "speed_limit")},
        "upper_markings": pa.list_(pa.float32()),
        "lower_markings": pa.list_(pa.float32()),
    }
)
UPPER, LOWER = [8.0, 12.0, 16.0], [20.0, 24.0, 28.0]
LANES = {1: (10.0, 14.0), 2: (26.0, 22.0)}  # centre lines in the image, the right lane first
VIEW = 420.0


class Recording:
    """Vehicles are added one by one; `tables` gives what the reader would."""

    def __init__(self, number=1, source="simulated"):
        self.number, self.source = number, source
        self.tracks, self.vehicles = [], []

    def drive(self, x, v, frame=1, lane=0, direction=2, length=4.0, acc=0.0, y=None, until=None):
        """Add a vehicle from its first centre x (along its own way) until it leaves the view."""
        vehicle = len(self.vehicles) + 1
        t = np.arange(until or 4000) / 25
        way = x + np.asarray(v * t + acc * t**2 / 2)
        way = way[way <= VIEW - length / 2]
        forwards = 1 if direction == 2 else -1
        n = len(way)
        y = np.full(n, LANES[direction][lane]) if y is None else np.asarray(y[:n])
        columns = {
            "recording": np.full(n, self.number),
            "vehicle": np.full(n, vehicle),
            "frame": frame + np.arange(n),
            "x": way if forwards > 0 else VIEW - way,
            "y": y,
            "vx": forwards * (v + acc * t[:n]),
            "ax": np.full(n, forwards * acc),
        }
        rest = {name: np.zeros(n) for name in TRACKS.names if name not in columns}
        columns = {**columns, **rest}
        self.tracks.append(
            pa.Table.from_arrays(
                [pa.array(columns[f.name]).cast(f.type, safe=False) for f in TRACKS], schema=TRACKS
            )
        )
        kind = "Truck" if length > 7 else "Car"
        row = (self.number, vehicle, length, 2.0, frame, frame + n - 1, kind, direction)
        self.vehicles.append(dict(zip(VEHICLES.names, row, strict=True)))
        return vehicle

    def tables(self):
        tracks = pa.concat_tables(self.tracks).replace_schema_metadata({"source": self.source})
        meta = (self.number, 1, 25.0, 60.0, -1.0, UPPER, LOWER)
        recordings = [dict(zip(RECORDINGS.names, meta, strict=True))]
        return {
            "tracks": tracks,
            "vehicles": pa.Table.from_pylist(self.vehicles, VEHICLES),
            "recordings": pa.Table.from_pylist(recordings, RECORDINGS),
        }

    def frame_the_view(self, frame=1):
        """A short glimpse of a vehicle at either end, so that the view is 420 m long."""
        self.drive(2.0, 0.0, frame, until=1)
        self.drive(VIEW - 2.0, 0.0, frame, until=1)


def random_recording(rng, vehicles=12, number=1, both=True, source="simulated"):
    """Traffic at random speeds, some of it overlapping: nobody here avoids anybody."""
    recording = Recording(number, source)
    recording.frame_the_view()
    for _ in range(vehicles):
        direction = int(rng.integers(1, 3)) if both else 2
        lane = int(rng.integers(2))
        wander = np.cumsum(rng.normal(0, 0.03, size=4000))
        recording.drive(
            x=rng.uniform(3, 41),
            v=rng.uniform(15, 40),
            frame=int(rng.integers(1, 300)),
            lane=lane,
            direction=direction,
            length=float(rng.choice([4.0, 4.5, 12.0])),
            acc=rng.uniform(-0.2, 0.3),
            y=LANES[direction][lane] + wander,
        )
    return recording


def save_scene(path, recording, headway=None, **settings):
    scene = scene_of(recording.tables(), Settings(**settings), headway)
    write_table(path, scene, {"made": "here"})
    return path


def make_highd(path, recording, headway=None, centre_gap=False, **settings):
    """The world of a scene that is written to `path` on the way."""
    scene = save_scene(path, recording, headway, **settings)
    return HighD(HighD.Settings(centre_gap=centre_gap), scene)
