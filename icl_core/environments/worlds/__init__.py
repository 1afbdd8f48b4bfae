"""The worlds, one file each: `gridworld_a.py` is found as `gridworld-a`."""
