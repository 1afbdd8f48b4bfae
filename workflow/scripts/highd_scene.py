"""Cut the scene of the HighD environment out of its recordings."""

from pathlib import Path

from icl_core.artifacts import read_table, write_table
from icl_core.demonstrations.highd_scene import SceneSettings, build_scene, known_headway
from icl_core.demonstrations.recordings import MARK
from icl_core.demonstrations.recordings.highd_reader import SCHEMAS
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Read the recordings, write the scene; of simulated drivers their rule is known."""
    tables = [read_table(stage.input[name], SCHEMAS[name]) for name in SCHEMAS]
    mark = Path(stage.settings["folder"], MARK)
    headway = known_headway(mark) if mark.exists() else None
    settings = stage.build(SceneSettings, "scene")
    write_table(stage.output[0], build_scene(*tables, settings, headway), stage.provenance())


if __name__ == "__main__":
    run(main, snakemake)
