"""Read and check recordings, simulated ones or the user's own."""

from pathlib import Path

from icl_core.artifacts import read_record
from icl_core.demonstrations.recordings.tracks import write_recordings
from icl_core.layout import find
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Read the CSV files, write Parquet."""
    for record in find(stage.input, "recordings_digest"):
        read_record(record.path)  # the simulated files hold what was simulated
    keys = ("folder", "numbers", "motion_tolerance")
    recordings = stage.recordings("reader").read(*(stage.settings[key] for key in keys))
    write_recordings(Path(stage.output[0]).parent, recordings, stage.provenance())


if __name__ == "__main__":
    run(main)
