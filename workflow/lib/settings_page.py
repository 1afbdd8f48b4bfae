"""The page of all settings and the JSON schema for editors, from where settings are declared.

python -m workflow.lib.settings_page    write docs/settings.md and docs/config.schema.json
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from icl_core import discovery
from icl_core.learning.experts import ExpertSettings
from icl_core.learning.true_fit import TrueFitsSettings
from icl_core.measuring.evaluation import MeasuringSettings
from icl_core.measuring.transfer import TransfersSettings
from icl_core.settings_schema import described, expected, json_schema
from icl_core.showing.item import ShowingSettings
from icl_core.tables import markdown_rows
from workflow.lib import sections

ROOT = Path(__file__).parents[2]
HEAD = """# Settings

Written by `make docs` from the fields at which settings are declared; do not edit. Defaults are
those of scale `paper`. `config.yaml` says what experiments, variants and scales change; a file of
your own (`--configfile mine.yaml`) uses the same keys.
"""


def page() -> str:
    """All settings, a table for each section."""
    parts = [HEAD, _table("The run", "", [sections.Run])]
    for name in discovery.names(discovery.WORLDS):
        types = sections.environment_types(name)
        if any(sections.names_of(kind) for kind in types):
            title = discovery.title(discovery.WORLDS, name)
            parts.append(_table(f"Environment {title}", f"environments.{name}", types))
    parts.append(_table("Demonstrations", "demonstrations", [ExpertSettings]))
    range_ = expected(float | None, sections.THRESHOLD)
    beta = ["`learning.threshold`", range_, "`null`", sections.THRESHOLD.about]
    parts.append(f"## Threshold\n\n{_rows([beta])}")
    for name in discovery.names(discovery.METHODS):
        title = discovery.title(discovery.METHODS, name)
        kind = sections.method(name).Settings
        parts.append(_table(f"Method {title}", f"learning.{name}", [kind]))
        parts.append(_sizes(name))
    parts.append(_table("Measuring", "measuring", [MeasuringSettings]))
    parts.append(_table("Showing", "showing", [ShowingSettings]))
    parts.append(_table("Fits to true constraints", "true_fits", [TrueFitsSettings]))
    parts.append(_table("Constraints moved elsewhere", "transfers", [TransfersSettings]))
    for name, kind in (
        ("An experiment", sections.ExperimentKeys),
        ("A variant", sections.VariantKeys),
    ):
        parts.append(_table(name, "", [kind]))
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _table(title: str, where: str, kinds: Iterable[type]) -> str:
    rows = [
        [f"`{key}`", what, f"`{json.dumps(_plain(default))}`", about]
        for kind in kinds
        for key, what, default, about in described(kind, where)
    ]
    return f"## {title}\n\n{_rows(rows)}"


def _rows(rows: list[list[str]]) -> str:
    head = [["Key", "Expected", "Default", "Meaning"], ["---"] * 4]
    return markdown_rows([*head, *([cell.replace("|", "/") for cell in row] for row in rows)])


def _sizes(method: str) -> str:
    sizes = getattr(sections.method(method), "SIZES", {})
    lines = [f"- `{scale}`: `{json.dumps(own)}`" for scale, own in sizes.items()]
    return "Sizes at smaller scales:\n\n" + "\n".join(lines)


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def schema() -> dict:
    """The JSON schema of a configuration, for editors."""
    names = {"type": "array", "items": {"enum": discovery.names(discovery.METHODS)}}
    parts: dict = {key: {"$ref": f"#/$defs/{key}"} for key in sections.SECTIONS}
    parts["demonstrations"] = {"anyOf": [parts["demonstrations"], {"type": "string"}]}
    own = {"methods": names, "world": {"type": "object"}, **parts}
    experiment = {
        "environment": {"enum": discovery.names(discovery.WORLDS)},
        "runs": json_schema(sections.ExperimentKeys)["properties"]["runs"],
        "demonstrations_of": {"type": "string"},
        **own,
    }
    texts = {"type": "array", "items": {"type": "string"}}
    variant = {"of": texts, "scales": texts, **own}
    shared = {key: {"$ref": f"#/$defs/{key}"} for key in sections.CHECKS}
    run = json_schema(sections.Run)["properties"]
    several = {
        "experiments": {"$ref": "#/$defs/experiments"},
        "variants": {"type": "object", "additionalProperties": _object(variant)},
    }
    sizes = {"type": "object", "additionalProperties": _object({"methods": names, **parts})}
    of_run = {key: run[key] for key in sections.RUN_SIZES}
    scale = {**of_run, **shared, "experiments": sizes}
    scales = {"type": "object", "additionalProperties": _object(scale)}
    experiments = {"type": "object", "additionalProperties": _object(experiment)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "config.yaml",
        **_object({**run, **shared, **several, "scales": scales}),
        "$defs": {**_section_schemas(), "experiments": experiments},
    }


def _section_schemas() -> dict[str, dict]:
    beta = {
        "description": sections.THRESHOLD.about,
        "type": ["number", "null"],
        "exclusiveMinimum": sections.THRESHOLD.above,
        "maximum": sections.THRESHOLD.at_most,
    }
    methods = {
        name: json_schema(sections.method(name).Settings)
        for name in discovery.names(discovery.METHODS)
    }
    worlds = {}
    for name in discovery.names(discovery.WORLDS):
        schemas = [json_schema(kind)["properties"] for kind in sections.environment_types(name)]
        worlds[name] = _object({key: value for one in schemas for key, value in one.items()})
    return {
        "environments": _object(worlds),
        "demonstrations": json_schema(ExpertSettings),
        "learning": _object({"threshold": beta, **methods}),
        "measuring": json_schema(MeasuringSettings),
        "showing": json_schema(ShowingSettings),
        "true_fits": json_schema(TrueFitsSettings),
        "transfers": json_schema(TransfersSettings),
    }


def _object(properties: Mapping) -> dict:
    return {"type": "object", "additionalProperties": False, "properties": dict(properties)}


def files() -> dict[str, str]:
    """The generated files by path."""
    return {
        "docs/settings.md": page(),
        "docs/config.schema.json": json.dumps(schema(), indent=1) + "\n",
    }


if __name__ == "__main__":
    for path, text in files().items():
        (ROOT / path).write_text(text, encoding="utf-8")
        print(path)
