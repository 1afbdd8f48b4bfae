"""Put the metrics of all runs into one table."""

from icl_core.artifacts import read_table, write_table
from icl_core.measuring.metrics import METRICS_SCHEMA, concatenate
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Read, stack, write."""
    table = concatenate(read_table(path, METRICS_SCHEMA) for path in stage.input)
    write_table(stage.output[0], table.replace_schema_metadata(None), stage.provenance())


if __name__ == "__main__":
    run(main)
