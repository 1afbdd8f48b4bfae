"""Write recorded_demo.csv from a finished `make demo`: python -m tests.workflow.record_demo.

Called in the folder of the run, right after it: a job's end is the time of its record's file.
"""

import csv
from pathlib import Path

from icl_core.job_times import read_time
from workflow.program.jobs import Wanted, dry_run

TARGET = Path(__file__).with_name("recorded_demo.csv")
PLACE = "results/quick/benchmarks/"


def name_of(path: str) -> str:
    """A job, shortly."""
    return path.removeprefix(PLACE).removesuffix(".tsv")


def main() -> None:
    """In the order of the plan, seconds from the start of the run."""
    jobs = dry_run(Wanted("quick"), force=True)
    start = Path("results/quick/logs/jobs.json").stat().st_mtime
    with TARGET.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("job", "began", "ended", "needs"))
        for job in jobs:
            ended = Path(job.time).stat().st_mtime - start
            began = max(ended - read_time(Path(job.time)).wall, 0.0)
            needs = " ".join(map(name_of, job.needs))
            writer.writerow((name_of(job.time), f"{began:.1f}", f"{ended:.1f}", needs))


if __name__ == "__main__":
    main()
