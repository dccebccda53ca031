"""The judges of sets judged: each accepts every right answer and refuses planted wrong ones."""

import numpy as np
import pytest

from tests.algorithms import verify_sets
from tests.algorithms.graphs import csr
from tests.algorithms.test_verify import judge

#: A path 0 - 1 - 2 - 3 with a loop, and a vertex alone.
PATH = csr(5, [(0, 1), (2, 1), (2, 3), (2, 2)])


@pytest.mark.parametrize(
    ("member", "right"),
    [
        ([1, 0, 1, 0, 1], True),
        ([0, 1, 0, 1, 1], True),
        ([1, 0, 0, 1, 1], True),  # another size
        ([1, 1, 0, 1, 1], False),  # neighbours
        ([1, 0, 0, 0, 1], False),  # one could be added
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
        ([0, 1, 0, 2, 0], False),  # a smaller one is free
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
        ([-1, 2, 1, -1, -1], True),  # smaller, and nothing can be added
        ([1, 0, -1, -1, -1], False),  # an edge is left
        ([1, 0, 2, -1, -1], False),  # a loop
        ([3, 2, 1, 0, -1], False),  # no neighbours
        ([1, 2, 1, -1, -1], False),  # shared
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
        ([2, 0, 1, -1], False),  # no edge
        ([2, 2, -1, -1], False),  # it could go on
        ([3, -1, -1, -1], False),  # starts elsewhere
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
