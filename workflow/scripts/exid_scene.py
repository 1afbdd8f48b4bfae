"""Find the lane changes of ExiD recordings and make the scene of its environment."""

from icl_core.artifacts import read_table, write_table
from icl_core.demonstrations.exid_scene import scene_of_recordings
from icl_core.demonstrations.recordings import source_of
from icl_core.demonstrations.recordings.exid_format import find_map
from icl_core.demonstrations.recordings.exid_map import read_map
from icl_core.demonstrations.recordings.exid_reader import RECORDINGS, TRACKS
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Read recordings and maps, write the scene."""
    folder = stage.settings["folder"]
    tracks = read_table(stage.input.tracks, TRACKS)
    recordings = read_table(stage.input.recordings, RECORDINGS)
    maps = {
        one["recording"]: read_map(
            find_map(folder, one["location"]), one["x_utm_origin"], one["y_utm_origin"]
        )
        for one in recordings.to_pylist()
    }
    clear_target = stage.settings["scene"]["clear_target"]
    scene = scene_of_recordings(tracks, recordings, maps, source_of(folder), clear_target, folder)
    write_table(stage.output[0], scene, stage.provenance())


if __name__ == "__main__":
    run(main, snakemake)
