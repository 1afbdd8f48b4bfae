"""Draw a figure or set a table, and say beside it how it was made."""

from icl_core.showing.catalogue import CATALOGUE
from icl_core.showing.save import save_provenance
from icl_core.showing.show import show
from icl_core.showing.sources import Sources
from workflow.lib.stage import Stage, run, world_of


def main(stage: Stage) -> None:
    """Find the item in the catalogue and make it."""
    item = CATALOGUE[stage.wildcards[0]]
    worlds = {name: world_of(settings) for name, settings in stage.settings["worlds"].items()}
    told = stage.settings["experiments"]
    sources = Sources(stage.settings["scale"], worlds, tuple(stage.input), told)
    *shown, provenance = stage.output
    show(item, sources, shown, **stage.settings["showing"])
    save_provenance(provenance, stage.provenance())


if __name__ == "__main__":
    run(main, snakemake)
