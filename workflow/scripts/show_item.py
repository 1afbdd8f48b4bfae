"""Draw a figure or set a table, and say beside it how it was made."""

from icl_core.showing.item import find_item
from icl_core.showing.save import save_item, save_provenance
from workflow.lib.results_of import results_of
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Find the item on its shelf and make it."""
    item, results = find_item(stage.wildcards[0]), results_of(stage)
    *shown, provenance = stage.output
    experiments = item.experiments_among(results.worlds)
    save_item(item.load()(results, experiments), shown, **stage.settings["showing"])
    save_provenance(provenance, stage.provenance())


if __name__ == "__main__":
    run(main, snakemake)
