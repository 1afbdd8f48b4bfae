"""Read and check HighD recordings, simulated ones or the user's own."""

from pathlib import Path

from icl_core.demonstrations.recordings import write_recordings
from icl_core.demonstrations.recordings.highd_reader import read_highd
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Read the CSV files, write Parquet."""
    recordings = read_highd(stage.settings["folder"], stage.settings["numbers"])
    write_recordings(Path(stage.output[0]).parent, recordings, stage.provenance())


if __name__ == "__main__":
    run(main, snakemake)
