"""Undirected edges by number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms._pattern import simple
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import select


def numbered(A: Matrix, order: Callable[[int], NDArray[np.int64]]) -> tuple[Matrix, Vector]:
    """Assign numbers to the edges of the undirected simple graph; return also i + j of the edge of each number.

    Numbers are unique, so the smallest number at a vertex identifies an edge, and i + j minus the vertex is its other
    end. `order` maps the number of edges to their numbers, by rows of the upper triangle.
    """
    i, j, _ = simple(A).select(select.triu).new().to_coo(values=False)
    number = order(i.size).astype(np.int64)
    S = Matrix.from_coo(
        np.r_[i, j], np.r_[j, i], np.r_[number, number], nrows=A.nrows, ncols=A.ncols
    )._known_symmetric()
    ends = np.empty(i.size, np.int64)
    ends[number] = i + j
    return S, Vector.from_dense(ends)
