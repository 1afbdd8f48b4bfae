"""Demonstrations: trajectories, their files, and how recorded traffic becomes some."""
