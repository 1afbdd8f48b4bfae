"""Put claims, tables and figures on one page."""

from pathlib import Path

from icl_core.artifacts import write_record
from icl_core.layout import find
from icl_core.showing.item import read_items
from icl_core.showing.page.make import is_simulated, make_page
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Make the page of what the workflow has made."""
    scenes = find(stage.input.scenes, "scene")
    items = {item.name: item for item in read_items()}
    make_page(
        stage.output.html,
        stage.settings["scale"],
        [items[name] for name, *_ in stage.settings["items"]],
        results_folder=Path(stage.output.html).parent,
        titles=stage.settings["titles"],
        simulated=[one.fields["environment"] for one in scenes if is_simulated(one.path)],
    )
    write_record(stage.output.provenance, stage.provenance(), [stage.output.html])


if __name__ == "__main__":
    run(main)
