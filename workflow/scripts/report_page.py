"""Put claims, tables and figures on one page."""

from pathlib import Path

from icl_core.showing.page.make import make_page
from icl_core.showing.recordings import is_simulated
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Make the page of what the workflow has made."""
    make_page(
        stage.output[0],
        stage.settings["scale"],
        stage.settings["items"],
        results=Path(stage.output[0]).parent,
        captions=Path(stage.input.captions[0]).parent,
        simulated=[Path(path).parent.name for path in stage.input.scenes if is_simulated(path)],
    )


if __name__ == "__main__":
    run(main, snakemake)
