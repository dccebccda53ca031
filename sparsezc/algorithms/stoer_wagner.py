"""The global minimum cut of a small graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.algorithms import _check
from sparsezc.algorithms._lengths import distances_of
from sparsezc.algorithms.loops.cuts import least_cut
from sparsezc.core import engine_loops
from sparsezc.core.access import forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.semirings import binary, monoid, select, semiring
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import steps


def stoer_wagner(A: Matrix) -> tuple[Any, Vector]:
    """Find the minimum cut: the least weight of the edges between two parts of the vertices, and one of the parts.

    The method takes n^2 / 2 sequential steps, so the graph must be small.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix of a graph of at least two vertices: an entry (i, j) joins i and j and its value, >= 0, is the
        edge's weight. Of two opposite edges the heavier counts; loops do not count.

    Returns
    -------
    cut_value : int or float
        The weight of the cut; 0 if the graph is not connected.
    part : Vector of BOOL, size n
        True for each vertex of one of the parts; other vertices have no entry.

    Raises
    ------
    InvalidValue
        There are fewer than two vertices, a weight is negative, NaN or infinite, the sum of weights is infinite, or the
        sum of integer weights is 2^63 or more, which INT64 cannot hold.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    A phase adds the vertices one at a time, always the one with the heaviest edges to those added::

        v = argmax w
        w<!v> = w + S(v, :)

    The cut between the last vertex, t, and all others has the weight w(t). Then t is merged with the vertex before it,
    S = C' S C. The minimum cut is the least of those of n - 1 phases.

    Source: M. Stoer, F. Wagner, A simple min-cut algorithm, JACM 44, 1997, doi:10.1145/263867.263872.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)], [3, 3, 3, 2], nrows=4, ncols=4)
    >>> cut_value, part = gb.algorithms.stoer_wagner(A)
    >>> cut_value, part.to_dict()
    (2, {3: True})
    """
    n = _check.adjacency(A)
    if n < 2:
        raise InvalidValue(f"A is {n} x {n}; a cut needs at least two vertices")
    dtype, _ = distances_of(A)
    _check.weights(A)
    S = A.ewise_add(A.T, binary.max).new().select(select.offdiag).new()
    if dtype is datatypes.INT64 and (total := sum(forms.whole(S, "stoer_wagner").to_coo()[2].tolist()) // 2) >= 2**63:
        raise InvalidValue(f"A has weights whose sum is {total}: a cut may not fit INT64")
    S = S.dup(dtype)
    if (found := engine_loops.run_loop(least_cut, S, times=n, values=dtype.np_type.type)) is not None:
        at = np.flatnonzero(found[1])
        return found[0], engine_loops.vector(np.ones(at.size, np.bool_), at=at, size=n)
    group = np.arange(n)
    cut_value, part = None, group
    for _ in steps(range(n - 1), "phases", at_most=True):
        s, t, cut = _phase(S, np.unique(group))
        if cut_value is None or cut < cut_value:
            cut_value, part = cut, np.flatnonzero(group == t)
        if cut_value == 0:  # no cut is less
            break
        # S = C' S C, where C maps t to s
        group[group == t] = s
        merged = np.arange(n)
        merged[t] = s
        C = Matrix.from_coo(np.arange(n), merged, 1, dtype, nrows=n, ncols=n)
        S << C.T.mxm(S, semiring.plus_second[dtype]).new().mxm(C, semiring.plus_first[dtype])
        S << S.select(select.offdiag)
    return cut_value, Vector.from_coo(part, True, datatypes.BOOL, size=n)


def _phase(S: Matrix, vertices: np.ndarray[Any, np.dtype[np.int64]]) -> tuple[int, int, Any]:
    """Return the last two vertices added, and the weight of the edges from the last one to all before it."""
    w = Vector.from_coo(vertices, 0, S.dtype, size=S.nrows)
    s = t = -1
    cut = None
    while w.nvals:
        # v = argmax w
        cut = w.reduce(monoid.max).new().value
        s, t = t, int(w.select(select.valueeq, cut).new().to_coo()[0][0])
        # w<!v> = w + S(v, :)
        del w[t]
        w(w.S, binary.plus) << S[t, :]
    return s, t, cut
