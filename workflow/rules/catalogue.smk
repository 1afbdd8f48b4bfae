"""What figures and tables need, from the catalogue of the paper's items."""

from icl_core.showing.catalogue import CATALOGUE, DEMONSTRATIONS, METRICS, TRAINING


def shown(kind):
    """Names of the figures or tables of which at least one experiment is configured."""
    return [
        name
        for name, item in CATALOGUE.items()
        if item.kind == kind and set(item.experiments) & set(CONFIG.experiments)
    ]


def item_of(wildcards):
    """The item of the catalogue that a job makes."""
    return CATALOGUE[wildcards.get("figure") or wildcards.get("table")]


def item_inputs(wildcards):
    """What the item is made from, for those of its experiments that are configured."""
    item = item_of(wildcards)
    return [
        f"{RESULTS}/{path}"
        for needed in item.needs
        for name in item.experiments
        if name in CONFIG.experiments
        for path in expanded(needed, CONFIG.experiments[name])
    ]


def expanded(pattern, experiment):
    """The paths of one of the catalogue's patterns, for one experiment."""
    if pattern == METRICS:
        return [pattern]
    if pattern in (TRAINING, DEMONSTRATIONS):
        # An expert that was not trained here has no training curve.
        missing = pattern == TRAINING and experiment.demonstrations_file
        return [] if missing else [pattern.format(experiment=experiment.demonstrator)]
    return [
        pattern.format(experiment=experiment.name, method=method, group=group)
        for method in experiment.methods
        for group in CONFIG.groups
    ]


def item_settings(wildcards):
    """What drawing depends on besides its inputs."""
    item = item_of(wildcards)
    known = [CONFIG.experiments[name] for name in item.experiments if name in CONFIG.experiments]
    return {
        "scale": CONFIG.scale,
        "showing": CONFIG.showing if item.kind == "figure" else {},
        "worlds": {e.name: [e.environment, e.world] for e in known},
    }


def item_code(wildcards):
    """Digest of the code that draws this item and no other."""
    return code_of("show_item.py", item_of(wildcards).module)


def item_category(wildcards):
    """The item's chapter on the report page."""
    return item_of(wildcards).category


def item_labels(wildcards):
    """How the report page lists the item."""
    item = item_of(wildcards)
    return {"number": item.label, "shows": item.title}


def report_captions():
    """The captions: an edited one gives a new page."""
    return [os.path.relpath(path) for path in sorted((ROOT / "workflow/report").glob("*.rst"))]
