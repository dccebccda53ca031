"""Shortest paths between all vertices of a small graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms import _check
from sparsezc.algorithms._distances import relax, usable
from sparsezc.algorithms._lengths import distances_of, lengths_of, refuse_long, refuse_overflow
from sparsezc.algorithms._searches import rows
from sparsezc.algorithms.bfs import bfs
from sparsezc.algorithms.sssp import nearest
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.memory.budget import require_host
from sparsezc.semirings import binary, monoid, select, semiring
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import steps

_UNCHECKED = 1 << 26  # bytes of results before free host memory is checked for the first time


def all_pairs_shortest_paths(A: Matrix, *, weighted: bool = True) -> Matrix:
    """Compute the length of a shortest path from every vertex to every vertex that it reaches.

    The result has up to n * n entries, so the graph must be small.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j and its value the edge's length. Lengths may be
        negative as long as no cycle has a negative sum. An edge of infinite length cannot be used; integers have no
        infinity.

    weighted : bool
        False: values are ignored, and distances are hops.

    Returns
    -------
    Matrix, shape (n, n)
        The distances, 0 on the diagonal; pairs without a path have no entry. INT64 for BOOL and integer lengths, else
        the matrix's own type; INT32 for hops.

    Raises
    ------
    InvalidValue
        There is a cycle of negative length, a length is NaN, or distances do not fit INT64.
    DimensionMismatch
        `A` is not square.
    OutOfMemory
        The distances take more host memory than is free.

    Notes
    -----
    With Q the distances lowered in the round before, from D = Q = 0 on the diagonal::

        D = D min Q A        over (min, plus)

    If a length is negative, each round doubles the number of edges of paths, which finds a negative cycle early::

        D = D min D D        from A with 0 on the diagonal

    Hops are :func:`bfs` from all vertices.

    Source: J. Kepner, J. Gilbert (eds.), Graph Algorithms in the Language of Linear Algebra, chapter 5, SIAM 2011,
    doi:10.1137/1.9780898719918.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (0, 2)], [2, 3, 9], nrows=3, ncols=3)
    >>> gb.algorithms.all_pairs_shortest_paths(A).to_dense(fill_value=-1).tolist()
    [[0, 2, 5], [-1, 0, 3], [-1, -1, 0]]
    """
    n = _check.adjacency(A)
    if not weighted:
        return bfs(A, range(n))
    dtype, infinity = distances_of(A)
    refuse_long(A, dtype)
    if lengths_of(A).least >= 0:
        if (looped := _by_loop(A, dtype, infinity)) is not None:
            return looped
        # D = D min Q A
        distances: Matrix = relax(usable(A), rows(np.arange(n), n, dtype, 0))
        return distances
    # D = A min 0 on the diagonal
    D = A.dup(dtype)
    if dtype is not datatypes.INT64:
        D << D.select(select.valuene[dtype], infinity)
    D(binary.min) << Vector.from_scalar(0, n, dtype).diag()
    before = Matrix(dtype, n, n)
    while not D.isequal(before):
        before << D
        # D = D min D D
        D(binary.min) << before.mxm(before, semiring.min_plus[dtype])
        negative = D.select(select.diag).new().select(select.valuelt, 0).new()
        if negative.nvals:
            break
    if n and dtype is datatypes.INT64:
        refuse_overflow(A, D.reduce_scalar(monoid.min).new().value)
    if n and negative.nvals:
        raise InvalidValue(f"A has a cycle of negative length through vertex {negative.to_coo()[0][0]}")
    return D


def _by_loop(A: Matrix, dtype: datatypes.DataType, infinity: Any) -> Matrix | None:
    """Return the distances from one vertex after another; None if the engine runs no loops.

    Free host memory must suffice for a second copy of the distances found so far, in which they are concatenated.
    """
    n = A.nrows
    if n == 0:
        return None
    ends, ids, lengths = np.zeros(n + 1, np.int64), [], []
    held, checked = 0, _UNCHECKED
    for v in steps(range(n), "sources"):
        if (found := nearest(A, np.array([v]))) is None:
            return None
        ids.append(np.flatnonzero(found[0] != infinity))
        lengths.append(found[0][ids[-1]])
        ends[v + 1] = ends[v] + ids[-1].size
        held += ids[-1].nbytes + lengths[-1].nbytes
        if held > checked:
            require_host(held, f"distances from {v + 1:,} of {n:,} vertices")
            checked = held * 5 // 4
    made: Matrix = Matrix.from_csr(ends, np.concatenate(ids), np.concatenate(lengths), dtype, ncols=n)
    return made
