"""Episodes without what no constraint sees: of a robot's dozens of numbers the position is left.

Learners of constraints, visits and costs read episodes through `World.constraint_inputs` alone.
What that does not look at may as well be zero, which takes no room in a file.
"""

from __future__ import annotations

import numpy as np

from icl_core.demonstrations.trajectories import Trajectories
from icl_core.environments.world import World


def only_inputs(world: World, episodes: Trajectories) -> Trajectories:
    """The same episodes, with zeros in each column of observations and actions that the constraint
    does not see.

    No world has to declare it: a column stays where zeros in it would change an input.
    """
    states, actions = episodes.states.copy(), episodes.actions.copy()
    seen = np.array(world.constraint_inputs(states, actions))  # a copy: some worlds give views
    columns = [states[..., k] for k in range(states.shape[-1])]
    columns += [actions] if world.discrete else [actions[..., k] for k in range(world.action_size)]
    for column in columns:  # views: to write to one is to write to the episodes
        kept = column.copy()
        column[...] = 0
        if not np.array_equal(world.constraint_inputs(states, actions), seen, equal_nan=True):
            column[...] = kept
    return Trajectories(states, actions, episodes.rewards, episodes.lengths)
