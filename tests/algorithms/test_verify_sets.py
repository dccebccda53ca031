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
