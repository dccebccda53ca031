"""A minimum spanning forest."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc import ops
from sparsezc.algorithms import _check
from sparsezc.algorithms._edges import numbered
from sparsezc.algorithms._lengths import distances_of
from sparsezc.algorithms.connected_components import connected_components
from sparsezc.algorithms.loops import connectivity
from sparsezc.core import engine_loops
from sparsezc.core.access import facts, forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, monoid, select, semiring
from sparsezc.semirings.types import datatypes

_DIGITS = 2**16  # integers below this are cast to UINT16, which NumPy radix-sorts in a sixth of the time


def minimum_spanning_forest(A: Matrix) -> Matrix:
    """Find a spanning tree of least total weight of each connected component.

    The direction of edges is ignored; of two opposite edges the lighter counts. Loops do not count.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) joins i and j and its value is the edge's weight, which may be negative.

    Returns
    -------
    Matrix, shape (n, n), of the type of `A`
        The forest's edges in both directions. If several forests have the least weight, it is any one of them.

    Raises
    ------
    InvalidValue
        A weight is NaN.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    The edges are numbered in the order of their weights, so that no two are equal. With S the matrix of these numbers,
    f each vertex's component in the graph of the lightest edges, and C(i, f(i)) = 1::

        t = min of each row of S
        f = components of S where S == t
        S = C' S C           over (min, second), (min, first), off the diagonal: components are contracted

    There are at most log2 n rounds. The numbers are made on the host, in three arrays of the number of edges.

    Source: O. Boruvka, 1926, after J. Nesetril, E. Milkova, H. Nesetrilova, Otakar Boruvka on minimum spanning tree
    problem, 2001, doi:10.1016/S0012-365X(00)00224-7.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0)], [5, 1, 2], nrows=4, ncols=4)
    >>> gb.algorithms.minimum_spanning_forest(A).to_coo()[2].tolist()
    [2, 1, 2, 1]
    """
    _check.adjacency(A)
    distances_of(A)  # raises an error for NaN
    both = A if facts.is_symmetric(A) else A.ewise_add(A.T, binary.min).new()
    U = both.select(select.triu, 1).new()
    if (found := _by_loop(U)) is not None:
        return found
    # of each edge, listed by rows, its number in the order of weights
    order = ops.argsort(ops.values_of(U).new()).new().to_dense()
    number = np.empty(order.size, np.int64)
    number[order] = np.arange(order.size)
    S = numbered(U, number)
    taken = np.zeros(order.size, bool)
    while S.nvals:
        # t = min of each row of S
        t = S.reduce_rowwise(monoid.min).new()
        taken[t.to_coo()[1]] = True
        # f = components of S where S == t
        lightest = t.diag().mxm(S, semiring.any_eq).new()
        lightest << lightest.select(select.valueeq, True)
        # S = C' S C, off the diagonal
        C = forms.pointers(connected_components(lightest))
        S = C.T.mxm(S, semiring.min_second[datatypes.INT64]).new().mxm(C, semiring.min_first[datatypes.INT64]).new()
        S << S.select(select.offdiag)
    chosen = ops.with_values(U, Vector.from_dense(taken[number])).new()
    F = U.select(chosen.V).new()
    forest: Matrix = F.ewise_add(F.T, binary.first).new()
    return forest


def _by_loop(U: Matrix) -> Matrix | None:
    """Run Kruskal's method by a loop, equal weights in the order of rows; return None if the engine runs no loop."""
    values: list[Any] = []

    def order() -> Any:
        values.append(U.to_coo(rows=False, columns=False)[2])
        found = values[0]
        if found.dtype.kind in "iu" and found.min(initial=0) >= 0 and found.max(initial=0) < _DIGITS:
            found = found.astype(np.uint16)
        return np.argsort(found, kind="stable")

    if (found := engine_loops.run_loop(connectivity.forest, U, order)) is None:
        return None
    indptr, ids, entries = found
    return engine_loops.matrix(indptr, ids, values[0][entries], U.ncols, symmetric=True)
