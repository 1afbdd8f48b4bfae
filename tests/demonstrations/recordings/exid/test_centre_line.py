"""Projections on a centre line, against circles and a slow search."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icl_core.demonstrations.recordings.exid.lane_changes import CentreLine


def slow_distance(nodes, point):
    """Signed distance and progress, one segment after the other, in plain Python."""
    best, passed = None, 0.0
    for k, ((ax, ay), (bx, by)) in enumerate(pairwise(nodes)):
        length = math.hypot(bx - ax, by - ay)
        ex, ey = (bx - ax) / length, (by - ay) / length
        along = (point[0] - ax) * ex + (point[1] - ay) * ey
        low = -200.0 if k == 0 else 0.0
        high = length + (200.0 if k == len(nodes) - 2 else 0.0)
        along = min(max(along, low), high)
        away = (point[0] - ax - along * ex, point[1] - ay - along * ey)
        side = away[0] * ey - away[1] * ex
        found = (math.hypot(*away), passed + along, side)
        if best is None or found[0] < best[0]:
            best = found
        passed += length
    return math.copysign(best[0], best[2]), best[1]


@st.composite
def bent_lines(draw):
    turns = draw(st.lists(st.floats(-0.15, 0.15), min_size=1, max_size=8))
    lengths = draw(st.lists(st.floats(1, 30), min_size=len(turns), max_size=len(turns)))
    angle = np.cumsum([draw(st.floats(-3, 3)), *turns[1:]])
    steps = np.stack([np.cos(angle), np.sin(angle)], axis=1) * np.array(lengths)[:, None]
    return np.concatenate([[[0.0, 0.0]], np.cumsum(steps, axis=0)])


@given(bent_lines(), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_distances_are_those_of_a_slow_search(nodes, seed):
    rng = np.random.default_rng(seed)
    line = CentreLine(nodes)
    places = nodes[rng.integers(len(nodes), size=20)] + rng.normal(0, 5, size=(20, 2))
    expected = np.array([slow_distance(nodes, point) for point in places])
    # At a point equally near to two segments either progress is right, but not the distance.
    assert np.allclose(np.abs(line.signed_distance(places)), np.abs(expected[:, 0]), atol=1e-9)
    clear = np.abs(expected[:, 0]) > 1e-9
    assert np.allclose(line.signed_distance(places)[clear], expected[clear, 0], atol=1e-9)


@given(bent_lines(), st.floats(-50, 250))
@settings(max_examples=60, deadline=None)
def test_a_point_of_the_line_projects_to_itself(nodes, progress):
    line = CentreLine(nodes)
    progress = np.array([min(progress, line.progress[-1] + 50)])
    points = line.at(progress)
    assert np.abs(line.signed_distance(points)) == pytest.approx(0, abs=1e-9)
    assert line.at(line.project(points)) == pytest.approx(points, abs=1e-9)


def test_a_circle():
    radius, angle = 300.0, np.linspace(0, 1, 1001)
    line = CentreLine(np.stack([radius * np.sin(angle), radius - radius * np.cos(angle)], axis=1))
    theta, r = np.random.default_rng(0).uniform((0.05, 290), (0.95, 310), size=(200, 2)).T
    points = np.stack([r * np.sin(theta), radius - r * np.cos(theta)], axis=1)
    assert line.signed_distance(points) == pytest.approx(r - radius, abs=1e-4)  # it turns left
    assert line.project(points) == pytest.approx(theta * radius, abs=0.02)
    outwards = np.stack([np.sin(theta), -np.cos(theta)], axis=1)
    assert np.all(np.sum(line.normals(line.project(points)) * outwards, axis=1) > 0.999)


def test_repeated_nodes_do_no_harm():
    line = CentreLine(np.array([[0, 0], [0, 0], [10, 0], [10, 0.001], [20, 0.001]]))
    assert line.nodes.shape == (3, 2)
    assert line.signed_distance(np.array([[5.0, -2.0], [15.0, 3.001]])) == pytest.approx(
        [2, -3], abs=1e-3
    )


@pytest.mark.parametrize("spacing", [2.0, 10.0, 30.0])
def test_smooth_normals_are_the_circles_own(spacing):
    """Up to both ends, where the line's own normals are off by half a segment's turn."""
    radius, progress = 200.0, np.arange(0, 301, spacing)
    angle = progress / radius
    line = CentreLine(np.stack([radius * np.sin(angle), radius - radius * np.cos(angle)], axis=1))
    theta = np.linspace(0, angle[-1], 333)
    points = np.stack([radius * np.sin(theta), radius - radius * np.cos(theta)], axis=1)
    outwards = np.stack([np.sin(theta), -np.cos(theta)], axis=1)
    normals = line.smooth_normals(line.project(points))
    assert normals == pytest.approx(outwards, abs=1e-3)
    assert np.hypot(*normals.T) == pytest.approx(1)


def test_smooth_normals_of_a_single_long_segment():
    line = CentreLine(np.array([[0.0, 0.0], [0.0, 3000.0]]))
    assert line.smooth_normals(np.array([-50.0, 0.0, 10.0, 3000.0])) == pytest.approx(
        np.tile([1.0, 0.0], (4, 1))
    )


def test_smooth_normals_hardly_see_a_shaky_hand():
    """Nodes 5 cm off their places, every 5 m: a line's own normals are off by 0.02 rad."""
    rng = np.random.default_rng(1)
    nodes = np.stack([np.arange(0, 301, 5.0), rng.normal(0, 0.05, size=61)], axis=1)
    line, at = CentreLine(nodes), np.linspace(20, 280, 100)
    assert np.abs(line.normals(at)[:, 0]).max() > 0.015
    assert np.abs(line.smooth_normals(at)[:, 0]).max() < 0.003
