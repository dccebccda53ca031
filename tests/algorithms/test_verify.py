"""Tests of the judges: each accepts every correct answer and refuses planted wrong ones."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.algorithms import verify

INF = np.inf


def graph(n, *edges):
    i, j, w = np.array([(*e, 1)[:3] for e in edges]).T
    return csr_array((w, (i, j)), shape=(n, n))


#: 0 -> 1, 2 -> 3 -> 4, and 5 -> 0, which no search reaches.
DIAMOND = graph(6, (0, 1, 2), (0, 2, 2), (1, 3, 2), (2, 3, 2), (3, 4, 0), (4, 3, 0), (5, 0, 1))


@pytest.mark.parametrize(
    ("level", "right"),
    [
        ([0, 1, 1, 2, 3, -1], True),
        ([0, 1, 1, 2, 2, -1], False),
        ([0, 1, 1, 3, 4, -1], False),
        ([0, 1, -1, 2, 3, -1], False),
        ([0, 1, 1, 2, 3, 1], False),
        ([1, 2, 2, 3, 4, -1], False),
    ],
)
def test_levels(level, right):
    judge(right, verify.bfs_levels, DIAMOND, 0, np.array(level))


@pytest.mark.parametrize(
    ("parent", "right"),
    [
        ([0, 0, 0, 1, 3, -1], True),
        ([0, 0, 0, 2, 3, -1], True),  # any shortest tree is right
        ([0, 0, 0, 0, 3, -1], False),  # no edge from the parent
        ([0, 0, 0, 4, 3, -1], False),  # a cycle of edges that exist
        ([0, 0, 0, 1, 3, 5], False),  # a second root
        ([0, 0, 0, 1, -1, -1], False),
        ([-1, 0, 0, 1, 3, -1], False),
        ([0, 0, 0, 1, 9, -1], False),
        ([0, 0, 0, 1, 5, -1], False),  # below a vertex that is not reached
    ],
)
def test_parents(parent, right):
    judge(right, verify.bfs_parents, DIAMOND, 0, np.array(parent))


def test_parents_must_be_on_shortest_paths():
    triangle = graph(3, (0, 1), (0, 2), (1, 2))
    verify.bfs_parents(triangle, 0, np.array([0, 0, 0]))
    with pytest.raises(verify.Wrong, match="level"):
        verify.bfs_parents(triangle, 0, np.array([0, 0, 1]))


@pytest.mark.parametrize(
    ("distance", "right"),
    [
        ([0, 2, 2, 4, 4, INF], True),
        ([0, 2, 2, 5, 5, INF], False),  # the edge from 1 gives 4
        ([0, 2, 2, 3, 3, INF], False),  # supported by the cycle of zero lengths only
        ([0, 2, 2, 4, INF, INF], False),
        ([0, 2, 2, 4, 4, 1], False),
        ([1, 3, 3, 5, 5, INF], False),
        ([0, 2, np.nan, 4, 4, INF], False),
    ],
)
def test_distances(distance, right):
    judge(right, verify.distances, DIAMOND, 0, np.array(distance))


def test_ranks():
    path = graph(2, (0, 1))
    x = 1 / (1.85 + 1)  # r0 = s, r1 = s + 0.85 r0, where s is the share that all vertices get alike
    right = np.array([1.0, 1.85]) * x
    judge(True, verify.pagerank, path, right, bound=1e-12)
    judge(False, verify.pagerank, path, right[::-1], bound=1e-12)
    judge(False, verify.pagerank, path, right * 1.01)
    judge(False, verify.pagerank, path, np.array([-0.5, 1.5]))
    judge(False, verify.pagerank, path, np.array([np.nan, 1.0]))


@pytest.mark.parametrize(
    ("label", "right"),
    [
        ([0, 1, 0, 1, 4], True),
        ([0, 1, 2, 1, 4], False),  # an edge joins two labels
        ([0, 0, 0, 0, 4], False),  # two components under one label
        ([2, 1, 2, 1, 4], False),  # not the smallest vertex
        ([0, 1, 0, 1, 9], False),
    ],
)
def test_components(label, right):
    judge(right, verify.components, graph(5, (2, 0), (1, 3)), np.array(label))


@pytest.mark.parametrize(
    ("label", "right"),
    [
        ([0, 1, 1, 1, 4], True),
        ([0, 1, 1, 3, 4], False),  # vertices of a cycle have two labels
        ([0, 0, 0, 0, 4], False),  # joined by a path without a return path
        ([0, 2, 2, 2, 4], False),  # not the smallest vertex
    ],
)
def test_strong_components(label, right):
    judge(right, verify.strong_components, graph(5, (0, 1), (1, 2), (2, 3), (3, 1), (3, 4)), np.array(label))


@pytest.mark.parametrize(
    ("core", "right"), [([2, 2, 2, 1, 0], True), ([2, 2, 3, 1, 0], False), ([1, 1, 1, 1, 0], False)]
)
def test_core_numbers(core, right):
    """The judge refuses degrees as core numbers, counts an edge in both directions once, and ignores loops."""
    judge(right, verify.core_numbers, graph(5, (0, 1), (1, 0), (1, 2), (2, 0), (2, 3), (4, 4), (3, 3)), np.array(core))


@pytest.mark.parametrize(
    ("label", "right"), [([1, 0, 0, 0, 4], True), ([1, 0, 3, 0, 4], False), ([0, 0, 0, 0, 4], False)]
)
def test_label_propagation(label, right):
    """In one round the smallest label of the most votes wins, and no vertex votes for itself."""
    judge(right, verify.label_propagation, graph(5, (0, 1), (0, 2), (3, 0), (2, 3), (4, 4)), 1, np.array(label))


def judge(right, check, *args, **kwargs):
    if right:
        check(*args, **kwargs)
    else:
        with pytest.raises(verify.Wrong):
            check(*args, **kwargs)
