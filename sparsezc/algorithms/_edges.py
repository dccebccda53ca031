"""Undirected edges by number."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from sparsezc import ops
from sparsezc.core.access import facts
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary


def numbered(U: Matrix, numbers: NDArray[Any]) -> Matrix:
    """Give numbers to undirected edges: the entries above the diagonal, by rows; each edge has it in both directions.

    Numbers are unique, so two vertices with the same smallest number are the ends of one edge.
    """
    N = ops.with_values(U, Vector.from_dense(numbers)).new()
    S: Matrix = N.ewise_add(N.T, binary.first).new()
    return facts.known_symmetric(S)
