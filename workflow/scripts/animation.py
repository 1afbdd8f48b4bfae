"""A recorded drive of HighD as a moving picture."""

from icl_core.artifacts import write_record
from icl_core.environments.pictures.highd import animate
from icl_core.environments.worlds.highd import EGO, HighD
from icl_core.showing.figures.driving_environments import chosen_state
from workflow.lib.stage import Stage, run


def main(stage: Stage) -> None:
    """Draw the drive of Figure 13's ego."""
    world = stage.world()
    assert isinstance(world, HighD)
    ego = int(chosen_state(world)[EGO])
    animate(world, list(world.recorded_episode(ego)), stage.output.gif)
    write_record(stage.output.provenance, stage.provenance(), [stage.output.gif])


if __name__ == "__main__":
    run(main)
