"""The configuration of a checkout, for what runs beside the workflow."""

from __future__ import annotations

from pathlib import Path

import yaml

from icl_core.configuration import Configuration, resolve


def configuration_of(root: Path, scale: str) -> Configuration:
    """What config.yaml asks for at a scale."""
    schema = yaml.safe_load((root / "workflow/schemas/config.schema.yaml").read_text("utf-8"))
    config = yaml.safe_load((root / "config.yaml").read_text("utf-8"))
    return resolve({**config, "scale": scale}, schema)
