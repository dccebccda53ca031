"""Communities by greedy maximisation of modularity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.algorithms._communities import by_smallest
from sparsezc.algorithms.loops.greedy_modularity import best_pairs
from sparsezc.algorithms.modularity import towards_one
from sparsezc.core import engine_loops
from sparsezc.core.access import facts, forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.semirings import binary, monoid, select
from sparsezc.semirings.types import datatypes


def greedy_modularity_communities(
    A: Matrix, resolution: float = 1.0, cutoff: int = 1, best_n: int | None = None, *, weighted: bool = False
) -> Vector:
    """Find communities of high modularity by merging, again and again, the two whose union gains most.

    Merging ends once every union would lower the modularity.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j. An undirected graph has each edge in both directions.
    resolution : float
        The weight of the expected share in :func:`modularity`: above 1 it favours small communities, below 1 large
        ones.
    cutoff : int
        From 1 to n. Merging ends at this number of communities, even if another union would gain.
    best_n : int, optional
        From `cutoff` to n. Merging continues, with unions that lose, down to this number of communities. If no edges
        join communities any more, the largest ones are joined.
    weighted : bool
        Edges count by their values, which must be >= 0; else equally.

    Returns
    -------
    Vector of INT64, size n
        An entry for every vertex: the smallest vertex of its community.

    Raises
    ------
    InvalidValue
        `cutoff`, `best_n` or `resolution` is out of bounds; a weight is negative, NaN or infinite; or the sum of
        weights is infinite.
    DomainMismatch
        `cutoff` or `best_n` is not an integer, or `resolution` is not a number.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With m the sum of A, and a and b the sums of its rows and columns, divided by m, the gain of a union is::

        D(u, v) = (A(u, v) + A(v, u)) / m - resolution (a(u) b(v) + b(u) a(v))       if an edge joins u and v

    The pair of largest D(u, v), of equal ones that of the smallest u and v, is merged: u into v > u::

        D(v, w) = D(v, w) + D(u, w)           if w has edges to both
        D(v, w) = D(v, w) - resolution (a(u) b(w) + b(u) a(w))       if only to v; and likewise if only to u

    A loop of an undirected graph counts as in :func:`modularity`.

    Source: A. Clauset, M. Newman, C. Moore, Finding community structure in very large networks, 2004,
    doi:10.1103/PhysRevE.70.066111.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)], nrows=6, ncols=6)
    >>> gb.algorithms.greedy_modularity_communities(A).to_dense().tolist()
    [0, 0, 0, 3, 3, 3]
    """
    n = _check.adjacency(A)
    scale = _check.number(resolution, "resolution", 0)
    fewest = _check.count(cutoff, "cutoff", 1)
    most = max(n, 1) if best_n is None else _check.count(best_n, "best_n", fewest)
    for name, value in (("cutoff", fewest), ("best_n", most)):
        if value > max(n, 1):
            raise InvalidValue(f"{name} is {value}; the graph has {n} vertices")
    if weighted:
        _check.weights(A)
    return by_smallest(Vector.from_dense(merged(A, scale, fewest, most, weighted, np.arange(n))))


def merged(
    A: Matrix, resolution: float, fewest: int, most: int, weighted: bool, place: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return for each vertex the highest vertex of its community.

    `place`: orders communities of equal size when the largest are joined.
    """
    n = A.nrows
    W = A.dup(datatypes.FP64) if weighted else A.apply(binary.pair[datatypes.FP64], right=1.0).new()
    m = float(W.reduce_scalar(monoid.plus).new().get(0.0))
    if not m > 0:
        return np.arange(n)
    if not 1e-300 < m < 1e300:  # else 1 / m or a share of m is beyond FP64
        for factor in towards_one(m):
            W = W.apply(binary.times, right=factor).new()
            m *= factor
    share = np.stack([v.new().to_dense(0.0) for v in (W.reduce_rowwise(monoid.plus), W.reduce_columnwise(monoid.plus))])
    share *= 1.0 / m
    out, back = share
    # D = (A + A') / m - resolution (a b' + b a'), without the diagonal
    D = facts.known_symmetric(W.ewise_add(W.T, binary.plus).new().select(select.offdiag).new())
    i, j, value = forms.whole(D, "greedy_modularity_communities").to_coo()
    value = 1.0 / m * value - resolution * (out[i] * back[j] + back[i] * out[j])
    D << Matrix.from_coo(i, j, value, nrows=n, ncols=n)
    once = i < j
    gain = value[once]
    heap = np.lexsort((j[once], i[once], -gain))
    found = engine_loops.run_loop(best_pairs, D, gain, heap, share, float(resolution), fewest, most)
    label, apart = found if found is not None else _statements(D, share, resolution, fewest, most)
    return _largest_joined(label, most, place) if apart else label


def _statements(
    D: Matrix, share: NDArray[np.float64], resolution: float, fewest: int, most: int
) -> tuple[NDArray[np.int64], bool]:
    """Return the vertex into which each vertex merged, and whether no pair was left: the reference of `best_pairs`."""
    n = D.nrows
    label, count, (out, back) = np.arange(n), n, share.copy()
    D = D.dup()
    nothing = Vector(datatypes.FP64, n)
    while count > fewest and D.nvals:
        best = D.reduce_scalar(monoid.max).new().get()
        if best < 0 and count <= most:
            break
        i, j, _ = D.select(select.valueeq, best).new().to_coo()
        u, v = int(i[0]), int(j[0])  # the first entry of the first row: the smallest pair
        label[label == u] = v
        count -= 1
        row, other = (D[v, :].new(), D[u, :].new())
        for vector, k in ((row, u), (other, v)):
            del vector[k]
        lost, taken = (
            Vector.from_dense(resolution * (out[k] * back + out * back[k]), dtype=datatypes.FP64) for k in (u, v)
        )
        # edges to w from both, from v alone, from u alone
        new = row.ewise_mult(other, binary.plus).new()
        new(~other.S) << row.ewise_mult(lost, binary.minus)
        new(~row.S) << other.ewise_mult(taken, binary.minus)
        for k, values in ((v, new), (u, nothing)):
            D[k, :] << values
            D[:, k] << values
        out[v] += out[u]
        back[v] += back[u]
    return label, D.nvals == 0


def _largest_joined(label: NDArray[np.int64], most: int, place: NDArray[np.int64]) -> NDArray[np.int64]:
    """Join the largest communities to one so that `most` communities are left."""
    named, size = np.unique(label, return_counts=True)
    if named.size <= most:
        return label
    largest = named[np.lexsort((place[named], -size))][: named.size - most + 1]
    return np.where(np.isin(label, largest), largest.max(), label)
