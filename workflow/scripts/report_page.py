"""Ask Snakemake for the page that holds every figure and table."""

import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from icl_core.artifacts import atomic
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Make the report of what this workflow has made, under this job's configuration."""
    with tempfile.TemporaryDirectory() as folder, atomic(stage.output[0]) as page:
        config = Path(folder) / "config.yaml"
        config.write_text(yaml.safe_dump(stage.settings))
        # The running workflow holds the lock, and waits for this job.
        command = ["-m", "snakemake", "results", "--nolock", "--configfile", config]
        with stage.log_path.open("a") as log:
            subprocess.run(
                [sys.executable, *command, "--report", page], stdout=log, stderr=log, check=True
            )


if __name__ == "__main__":
    run(main, snakemake)
