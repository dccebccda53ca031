"""Matrices of undirected edges with a number for each edge."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from sparsezc import ops
from sparsezc.core.access import facts
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary


def numbered(U: Matrix, numbers: NDArray[Any]) -> Matrix:
    """Return the symmetric matrix whose entries (i, j) and (j, i) are the number of the edge between i and j.

    `U` has the entries above the diagonal, and `numbers` one unique number for each, by rows: two vertices with the
    same smallest number are therefore the ends of one edge.
    """
    N = ops.with_values(U, Vector.from_dense(numbers)).new()
    S: Matrix = N.ewise_add(N.T, binary.first).new()
    return facts.known_symmetric(S)
