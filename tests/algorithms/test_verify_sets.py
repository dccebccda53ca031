"""Tests of the judges of sets: each accepts every correct answer and refuses planted wrong ones."""

import numpy as np
import pytest

from tests.algorithms import verify_sets
from tests.algorithms.graphs import csr
from tests.algorithms.test_verify import judge

#: The path 0 - 1 - 2 - 3 with a loop, and an isolated vertex.
PATH = csr(5, [(0, 1), (2, 1), (2, 3), (2, 2)])


@pytest.mark.parametrize(
    ("member", "right"),
    [
        ([1, 0, 1, 0, 1], True),
        ([0, 1, 0, 1, 1], True),
        ([1, 0, 0, 1, 1], True),  # right, though of another size
        ([1, 1, 0, 1, 1], False),  # two neighbours
        ([1, 0, 0, 0, 1], False),  # a vertex could be added
        ([1, 0, 1, 0, 0], False),
    ],
)
def test_independent_set(member, right):
    judge(right, verify_sets.independent_set, PATH, np.array(member, bool))


@pytest.mark.parametrize(
    ("color", "right"),
    [
        ([0, 1, 0, 1, 0], True),
        ([1, 0, 1, 0, 0], True),
        ([0, 1, 2, 0, 0], True),
        ([0, 0, 1, 0, 0], False),
        ([0, 1, 0, 2, 0], False),  # a smaller colour is free
        ([0, 1, 0, 1, 1], False),
        ([0, 1, 0, -1, 0], False),
    ],
)
def test_coloring(color, right):
    judge(right, verify_sets.coloring, PATH, np.array(color))


def test_eigenvector():
    operator = np.diag([3.0, 3.0, 1.0])
    judge(True, verify_sets.eigenvector, operator, np.array([1.0, 0, 0]), 1e-9)
    judge(True, verify_sets.eigenvector, operator, np.array([0.3, 0.7, 0]), 1e-9)
    judge(False, verify_sets.eigenvector, operator, np.array([0, 0, 1.0]), 1e-9)
    judge(False, verify_sets.eigenvector, operator, np.array([0.5, 0.4, 0.1]), 1e-9)
    judge(False, verify_sets.eigenvector, operator, np.array([-1.0, 0, 0]), 1e-9)


@pytest.mark.parametrize(
    ("partner", "right"),
    [
        ([1, 0, 3, 2, -1], True),
        ([-1, 2, 1, -1, -1], True),  # smaller, but no edge can be added
        ([1, 0, -1, -1, -1], False),  # an edge can be added
        ([1, 0, 2, -1, -1], False),  # a loop
        ([3, 2, 1, 0, -1], False),  # partners are no neighbours
        ([1, 2, 1, -1, -1], False),  # two vertices share a partner
        ([1, 0, 3, 9, -1], False),
    ],
)
def test_matching(partner, right):
    judge(right, verify_sets.matching, PATH, np.array(partner))


@pytest.mark.parametrize(
    ("walk", "right"),
    [
        ([2, 2, 1, -1], True),
        ([2, 3, -1, -1], True),
        ([2, 2, 2, 2], True),
        ([2, 0, 1, -1], False),  # a step is no edge
        ([2, 2, -1, -1], False),  # ends where an edge leads on
        ([3, -1, -1, -1], False),  # starts at another vertex
        ([2, 1, -1, 1], False),
        ([2, 3, -1], False),
    ],
)
def test_walks(walk, right):
    judge(right, verify_sets.walks, PATH, [2], 3, np.array([walk]))


def test_walks_do_not_take_edges_of_no_weight():
    graph = csr(3, [(0, 1), (0, 2)], [0, 1])
    judge(True, verify_sets.walks, graph, [0], 1, np.array([[0, 2]]))
    judge(False, verify_sets.walks, graph, [0], 1, np.array([[0, 1]]))


#: Two paths of length 1 from 0 to 2: 0 -> 1 -> 2 (4 - 3) and 0 -> 2. No search reaches 3.
DETOUR = csr(4, [(0, 1), (1, 2), (0, 2), (3, 0), (2, 1)], [4, -3, 1, 1, 3])


@pytest.mark.parametrize(
    ("distance", "parent", "right"),
    [
        ([0, 4, 1, np.inf], [0, 0, 1, -1], True),
        ([0, 4, 1, np.inf], [0, 0, 0, -1], True),
        ([0, 4, 1, np.inf], [0, 2, 1, -1], False),  # 1 and 2 are each other's parents
        ([0, 4, 1, np.inf], [0, 0, 3, -1], False),  # no edge from the parent
        ([0, 5, 1, np.inf], [0, 0, 0, -1], False),  # the edge has another length
        ([0, 4, 1, np.inf], [0, 0, -1, -1], False),
        ([0, 4, 1, np.inf], [-1, 0, 0, -1], False),
    ],
)
def test_shortest_path_tree(distance, parent, right):
    judge(right, verify_sets.shortest_path_tree, DETOUR, 0, np.array(distance), np.array(parent))


@pytest.mark.parametrize(
    ("cycle", "right"),
    [
        ([0, 1], True),
        ([1, 0], True),
        ([2, 3, 4], True),
        ([4, 2, 3], True),
        ([], False),
        ([2, 4, 3], False),  # in the wrong direction
        ([5, 6], False),  # its sum is 0
        ([0, 1, 0, 1], False),
        ([0, 2], False),
    ],
)
def test_negative_cycle(cycle, right):
    edges = [(0, 1), (1, 0), (2, 3), (3, 4), (4, 2), (5, 6), (6, 5), (1, 5)]
    graph = csr(7, edges, [-2, 1, 1, 1, -3, 1, -1, 0])
    judge(right, verify_sets.negative_cycle, graph, np.array(cycle, np.int64))
    judge(not cycle, verify_sets.negative_cycle, graph, np.array(cycle, np.int64), 5)


@pytest.mark.parametrize(
    ("edges", "right"),
    [
        ([(0, 1, 1), (1, 2, 2)], True),
        ([(0, 1, 1), (0, 2, 2)], True),  # another forest of the same weight
        ([(0, 2, 2), (1, 2, 2)], False),  # too heavy
        ([(0, 1, 1)], False),
        ([(0, 1, 1), (1, 2, 2), (0, 2, 2)], False),
        ([(0, 1, 1), (1, 2, 1)], False),  # an edge has another weight
        ([(0, 1, 1), (1, 3, 2)], False),
    ],
)
def test_spanning_forest(edges, right):
    graph = csr(4, [(0, 1), (1, 0), (1, 2), (2, 0), (1, 1)], [1, 5, 2, 2, -9])
    i, j, w = np.array(edges).T
    judge(right, verify_sets.spanning_forest, graph, csr(4, np.r_[np.c_[i, j], np.c_[j, i]], np.r_[w, w]))
    judge(False, verify_sets.spanning_forest, graph, csr(4, np.c_[i, j], w))  # one direction only


@pytest.mark.parametrize(
    ("cut_value", "part", "right"),
    [
        (2, [1, 1, 0, 0], True),
        (2, [0, 0, 1, 1], True),
        (2, [1, 0, 0, 0], True),  # another cut of the same value
        (3, [0, 0, 0, 1], False),
        (2, [0, 0, 0, 1], False),  # the cut has another value
        (0, [0, 0, 0, 0], False),
        (0, [1, 1, 1, 1], False),
        (6, [1, 0, 1, 0], False),
    ],
)
def test_minimum_cut(cut_value, part, right):
    graph = csr(4, [(0, 1), (1, 2), (3, 2), (0, 0), (2, 3)], [2, 2, 3, 9, 1])
    judge(right, verify_sets.minimum_cut, graph, cut_value, np.array(part, bool))
