"""Draw a figure or set a table, and say beside it how it was made."""

from icl_core.artifacts import write_record
from icl_core.measuring.results import Results
from icl_core.showing.item import find_item
from icl_core.showing.save import show
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Find the item on its shelf and make it."""
    item = find_item(stage.wildcards[0])
    results = Results.from_settings(stage.settings, stage.input)
    shown = [stage.output[ending] for ending in item.endings]
    show(item, results, shown, **stage.settings["showing"])
    write_record(stage.output.provenance, stage.provenance(), shown)


if __name__ == "__main__":
    run(main)
