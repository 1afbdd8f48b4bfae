"""A Minari data set under examination, as a user's file is: row by row, against a world."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa

from icl_core import discovery
from icl_core.demonstrations.episode_files import table_of
from icl_core.demonstrations.minari_sets import PREFIX, data_file, read_about, read_folder
from icl_core.demonstrations.rows import Rows
from icl_core.environments import gymnasium_id
from icl_core.environments.world import World
from icl_core.errors import found_at


class MinariRows(Rows):
    """The steps of a data set, by its name with the prefix or by its data file."""

    def __init__(self, source: str | os.PathLike, most_steps: int | None = None):
        path = Path(data_file(source))
        super().__init__(str(source), most_steps)
        if found_at(path) != "a file":
            expected = "the data file of a Minari data set"
            raise self.fault(expected, found_at(path), "correct the path")
        self.folder = path.parent
        self.about = read_about(self.folder)
        self.name = f"{PREFIX}{self.about['dataset_id']}"

    def check_world(self, world: World) -> None:
        """Recorded in it, where it says so; what is recorded elsewhere has only to be alike."""
        ours = {gymnasium_id(name) for name in discovery.names(discovery.WORLDS)}
        wanted, found = gymnasium_id(world.name), self.about["env_id"]
        if found in ours and found != wanted:
            raise self.fault(
                f"demonstrations of {world.name!r} ({wanted})",
                f"the environment {found} in its metadata",
                "name a data set of that environment",
            )

    def amount(self, world: World) -> int:
        """Steps, as the data set's own metadata count them."""
        return self.about["total_steps"]

    def read(self) -> pa.Table:
        """The columns of `SCHEMA`."""
        return table_of(read_folder(self.folder)[0])

    def place(self, row: int) -> str:
        """Minari has no rows: where a fault is, in its own words."""
        assert self.rows is not None
        episode, step = (self.rows[name][row] for name in ("trajectory", "step"))
        return f" episode {episode}, step {step}:"
