"""The undirected simple graph behind an adjacency matrix."""

from __future__ import annotations

from sparsezc.algorithms.loops import connectivity
from sparsezc.core import engine_loops
from sparsezc.core.access import facts
from sparsezc.core.matrix import Matrix
from sparsezc.semirings import binary, select


def undirected(A: Matrix) -> Matrix:
    """Return the pattern of A or A'; A itself if it is known to be symmetric. Values are undefined."""
    if facts.is_symmetric(A):
        return A
    # S = A or A'
    S: Matrix = A.ewise_add(A.T, binary.first).new()
    return facts.known_symmetric(S)


def simple(A: Matrix) -> Matrix:
    """Return the undirected pattern without loops; A itself if it has that pattern already."""
    S = undirected(A)
    if not has_loops(A):
        return S
    plain: Matrix = S.select(select.offdiag).new()
    return facts.known_symmetric(plain)


def has_loops(A: Matrix) -> bool:
    """Return whether there are entries on the diagonal."""

    def look() -> bool:
        # A loop reads a matrix in a file in place; a statement would load it.
        found = engine_loops.run_loop(connectivity.loops, A)
        return bool(A.select(select.diag).new().nvals if found is None else found)

    return bool(facts.fact(A, "loops", look))


def is_symmetric(A: Matrix) -> bool:
    """Return whether every edge has its opposite, by one pass over the entries unless this is known already."""
    return facts.is_symmetric(A) or bool(A.ewise_mult(A.T, binary.pair).new().nvals == A.nvals)


def transposed(A: Matrix) -> Matrix:
    """Return A' as a matrix with stored rows; A itself if it is known to be symmetric."""
    if facts.is_symmetric(A):
        return A
    B: Matrix = A.T.new()
    return B
