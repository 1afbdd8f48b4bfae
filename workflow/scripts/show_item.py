"""Draw a figure or set a table, and say beside it how it was made."""

from icl_core.measuring.results import Results
from icl_core.showing.item import find_item
from icl_core.showing.save import save_provenance, show
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Find the item on its shelf and make it."""
    *shown, provenance = stage.output
    item = find_item(stage.wildcards[0])
    show(
        item, Results.from_settings(stage.settings, stage.input), shown, **stage.settings["showing"]
    )
    save_provenance(provenance, stage.provenance())


if __name__ == "__main__":
    run(main)
