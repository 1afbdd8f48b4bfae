"""What figures, tables and claims need, from the catalogue of the paper's items."""

from icl_core.measuring.claims.claim import read_claims
from icl_core.measuring.claims.registry import CHECKS
from icl_core.showing.catalogue import CATALOGUE
from icl_core.showing.catalogue.item import (
    ARCHITECTURES,
    DEMONSTRATIONS,
    METRICS,
    TIMES,
    TIMES_OF_METHODS,
    TRAINING,
)
from workflow.lib.finished import experiments_shown

CLAIMS = os.path.relpath(ROOT / "docs/claims.yaml")


def shown(kind):
    """Names of the figures or tables that have something to show."""
    return [
        name
        for name, item in CATALOGUE.items()
        if item.kind == kind and experiments_shown(item, CONFIG)
    ]


def item_of(wildcards):
    """The item of the catalogue that a job makes."""
    return CATALOGUE[wildcards.get("figure") or wildcards.get("table")]


def item_inputs(wildcards):
    """What the item is made from, for those of its experiments that it shows."""
    item, known = item_of(wildcards), experiments_of(wildcards)
    made = [f"{RESULTS}/{p}" for needed in item.needs for e in known for p in expanded(needed, e)]
    return made + scenes(known)


def experiments_of(wildcards):
    """The experiments of an item that it shows."""
    return experiments_shown(item_of(wildcards), CONFIG)


def expanded(pattern, experiment):
    """The paths of one of the catalogue's patterns, for one experiment."""
    if pattern == METRICS:
        return [pattern]
    if pattern in (TRAINING, DEMONSTRATIONS):
        # An expert that was not trained here has no training curve.
        missing = pattern == TRAINING and not CONFIG.experiments[experiment.demonstrator].generated
        return [] if missing else [pattern.format(experiment=experiment.demonstrator)]
    if pattern == TIMES:
        of_methods = [p for method in experiment.methods for p in TIMES_OF_METHODS[method]]
        return [path for inner in of_methods for path in expanded(inner, experiment)]
    if of_other_method(pattern, experiment):
        return []
    return [
        pattern.format(experiment=experiment.name, group=group, **rest)
        for rest in filled(pattern, experiment)
        for group in CONFIG.groups
    ]


def of_other_method(pattern, experiment):
    """Whether a pattern names the runs of a method that the experiment does not have."""
    named = re.match(r"runs/{experiment}/(?P<method>[\w-]+)/", pattern)
    return named is not None and named["method"] not in experiment.methods


def filled(pattern, experiment):
    """What a pattern's own wildcard stands for, one mapping for each of its values."""
    if pattern == ARCHITECTURES:
        known = experiment.name in CONFIG.architectures["environments"]
        return [{"architecture": name} for name in CONFIG.architectures["hidden"] if known]
    if "{iteration}" in pattern:
        return [{"iteration": f"{i:02d}"} for i in range(1, experiment.iterations + 1)]
    return [{"method": method} for method in experiment.methods] if "{method}" in pattern else [{}]


def item_settings(wildcards):
    """What drawing depends on besides its inputs."""
    item, known = item_of(wildcards), experiments_of(wildcards)
    return {
        "scale": CONFIG.scale,
        "showing": CONFIG.showing if item.kind == "figure" else {},
        "worlds": {e.name: world_settings(e) for e in known},
        "experiments": {e.name: all_settings(e) for e in known} if item.told_settings else {},
    }


def world_settings(experiment):
    """What makes an experiment's world."""
    return {
        "environment": experiment.environment,
        "world": world_arguments(experiment),
        "threshold": experiment.learning["threshold"],
    }


def all_settings(experiment):
    """Everything that an experiment was run with, for the tables that tell it."""
    return {
        "methods": list(experiment.methods),
        "seeds": [seed for group in CONFIG.groups.values() for seed in group],
        "demonstrations": experiment.demonstrations,
        "learning": experiment.learning,
        "measuring": experiment.measuring,
    }


def item_code(wildcards):
    """Digest of the code that draws this item and no other."""
    worlds = modules_of_worlds(experiments_of(wildcards))
    return code_of("show_item.py", item_of(wildcards).module, *worlds)


def captions():
    """The captions: an edited one gives a new page."""
    return [os.path.relpath(path) for path in sorted((ROOT / "workflow/report").glob("*.rst"))]


def page_layout():
    """What the page is laid out with, which is not code and so in no digest."""
    folder = ROOT / "icl_core/showing/page"
    return [os.path.relpath(folder / name) for name in ("page.html", "page.css")]


def claim_inputs(wildcards):
    """What the checks read, for those of the claims' experiments that learn something."""
    known = {e.name: e for e in LEARNED}
    wanted = {
        (pattern, name)
        for claim in checked(read_claims, CLAIMS)
        for pattern in CHECKS[claim.check].needs
        for name in claim.experiments
        if name in known
    }
    paths = {p for pattern, name in wanted for p in expanded(pattern, known[name])}
    return [f"{RESULTS}/{path}" for path in sorted(paths)]


def claim_settings(wildcards):
    """What the verdicts depend on besides the inputs."""
    worlds = {e.name: world_settings(e) for e in LEARNED}
    return {"scale": CONFIG.scale, "worlds": worlds}


def claims_code():
    """Digest of the code that checks claims: checks are loaded by their names."""
    checks = sorted({check.module for check in CHECKS.values()})
    return code_of("claims.py", *checks, *modules_of_worlds(CONFIG.experiments.values()))
