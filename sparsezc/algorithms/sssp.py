"""Single-source shortest paths."""

from __future__ import annotations

from math import ceil, floor, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.algorithms._frontier_loops import buckets
from sparsezc.algorithms._lengths import (
    TAKEN_BY,
    Lengths,
    distances_of,
    infinity,
    lengths_of,
    refuse_long,
    refuse_overflow,
    refuse_reaching_infinity,
)
from sparsezc.algorithms.loops import searches
from sparsezc.core import engine_loops
from sparsezc.core.access import forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import DomainMismatch, InvalidValue
from sparsezc.semirings import binary, monoid, select, semiring
from sparsezc.semirings.types import datatypes

_WORK = 20  # delta times the mean degree, in mean lengths; Davidson et al. use 32
_WIDER = 4  # largest factor of delta, for as many sources or more: 100 sources of kron:24 take half the time on a GPU
_FEW = 32  # a bucket of less than 1 / 32 of the vertices has few edges to settled vertices: masking them does not pay


def sssp(
    A: Matrix, source: Any, delta: float | None = None, *, target: Any = None, cutoff: float | None = None
) -> Vector:
    """Compute the length of a shortest path from one vertex to every vertex reachable from it, or to near ones only.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) is an edge from i to j and its value the edge's length; BOOL values count as 1
        and 0. Lengths may be negative as long as no cycle that the source reaches has a negative sum. An edge of
        infinite length cannot be used; integers have no infinity.
    source : int
        The vertex at which paths start, in 0..n-1.
    delta : number > 0, optional
        The width of the buckets in which vertices are settled. With a small width fewer edges are read twice, with a
        large one rounds are fewer. By default it is chosen by the lengths. It must not be given if a length is
        negative.
    target : int, optional
        A vertex in 0..n-1 whose distance is needed. If it is reached, vertices farther from the source have no entry,
        and the search ends once no nearer vertex is left, unless a length is negative.
    cutoff : number >= 0, optional
        The largest distance that is needed: vertices farther from the source have no entry, and the search ends at this
        distance, unless a length is negative.

    Returns
    -------
    Vector, size n
        The distances, 0 at the source; vertices that are not reached have no entry. INT64 for BOOL and integer
        lengths, else the matrix's own type (FP32 or FP64): a sum beyond that type's largest number is infinite, and
        a vertex at that distance has no entry either.

    Raises
    ------
    IndexOutOfBound
        `source` or `target` is not a vertex of the graph.
    DimensionMismatch
        `A` is not square.
    InvalidValue
        A length is NaN, a cycle of negative length is reached, distances do not fit INT64, `delta` is not positive or
        is given although a length is negative, or `cutoff` is below 0 or NaN.

    Notes
    -----
    Delta-stepping, with q the vertices of the current bucket whose distances fell::

        t<d > min(q) + min(A)> = q'A    over (min, plus); the other vertices are settled
        l = t < d                       the vertices whose distances fall
        d<l> = t
        q<l> = t[t <= limit]            relaxed in the next round

    If q is empty, the limit rises to the least distance beyond it plus `delta`, and q becomes the vertices within the
    new limit; as no distance beyond the old limit was ever relaxed, no list of them is kept. With the mask an engine
    can choose between the edges that leave q and those that enter unsettled vertices, which are few once the hubs are
    settled. The limit never rises above the distance of the target, so that the search ends with the target's bucket.
    If a length is negative, one bucket holds all vertices: Bellman-Ford over the vertices whose distances fell.

    Source: U. Meyer, P. Sanders, Delta-stepping: a parallelizable shortest path algorithm, J. Algorithms 49, 2003,
    doi:10.1016/S0196-6774(03)00076-2; the choice of delta: A. Davidson, S. Baxter, M. Garland, J. Owens,
    Work-efficient parallel GPU methods for single-source shortest paths, IPDPS 2014, doi:10.1109/IPDPS.2014.45; pulling
    over the edges of unsettled vertices: V. Chakaravarthy, F. Checconi, F. Petrini, Y. Sabharwal, Scalable single
    source shortest path algorithms for massively parallel systems, IPDPS 2014, doi:10.1109/IPDPS.2014.96;
    R. Bellman, On a routing problem, 1958, doi:10.1090/qam/102435.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (0, 2), (1, 2)], [1, 7, 2], nrows=4, ncols=4)
    >>> gb.algorithms.sssp(A, 0).to_dict()
    {0: 0, 1: 1, 2: 3}
    >>> gb.algorithms.sssp(A, 0, target=1).to_dict()
    {0: 0, 1: 1}
    >>> gb.algorithms.sssp(A, 0, cutoff=2.5).to_dict()
    {0: 0, 1: 1}
    """
    n = _check.adjacency(A)
    source = _check.vertex(source, n)
    if target is not None:
        target = _check.vertex(target, n, "target")
    if delta is not None:
        if not isinstance(delta, int | float | np.integer | np.floating):
            raise DomainMismatch(f"delta={delta!r}: a number is needed")
        if not delta > 0:
            raise InvalidValue(f"delta={delta!r}: a number above 0 is needed")
        if (least := lengths_of(A).least) < 0:
            raise InvalidValue(
                f"A has a value of {least}, and delta={delta!r} is for lengths >= 0: leave it out{TAKEN_BY}"
            )
        try:
            delta = float(delta)
        except OverflowError:  # an int may be beyond FP64: then one bucket holds all vertices
            delta = inf
    return from_nearest(A, np.array([source]), delta, target, cutoff)


def from_nearest(
    A: Matrix,
    sources: NDArray[np.int64],
    delta: float | None = None,
    target: int | None = None,
    cutoff: float | None = None,
) -> Vector:
    """Compute :func:`sssp` from the nearest of several vertices; `delta` is None if a length is negative."""
    lengths, (dtype, _) = lengths_of(A), distances_of(A)
    refuse_long(A, dtype)
    most_asked = _largest(cutoff, dtype)
    if (looped := nearest(A, sources, target, most_asked)) is not None:
        return engine_loops.vector(looped[0], looped[0] < infinity(dtype))
    # INT32 halves the bytes, and mostly suffices
    if dtype is datatypes.INT64 and lengths.least >= 0 and lengths.most < 2**31:
        found = _reached(_search(A, sources, datatypes.INT32, delta, lengths, target, most_asked), dtype)
        least, most = (found.reduce(fold).new().get(0) for fold in (monoid.min, monoid.max))
        if least >= 0 and most + lengths.most < 2**31 - 1:
            return _up_to(target, found, most_asked)
    distance = _search(A, sources, dtype, delta, lengths, target, most_asked)
    if dtype is datatypes.INT64:
        refuse_overflow(A, distance.reduce(monoid.min).new().get())
        ends_early = most_asked < infinity(dtype) or (target is not None and distance.get(target) < infinity(dtype))
        # if the search ends early, farther distances are not final
        if not ends_early or lengths.least < 0:
            refuse_reaching_infinity(A, distance)
    return _up_to(target, _reached(distance, dtype), most_asked)


def nearest(
    A: Matrix, sources: NDArray[np.int64], target: int | None = None, most: float = inf, *, tree: bool = False
) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """Return the distances from the nearest source by a loop, and with `tree` the parents.

    Return None if the engine runs no loop, or if a length is negative or too long.
    """
    n, lengths, (dtype, never) = A.nrows, lengths_of(A), distances_of(A)
    if lengths.least < 0 or (dtype.is_integer and lengths.most * n >= 2**62):
        return None
    kind = dtype.np_type.type
    last = kind(min(most, never - 1 if dtype.is_integer else np.finfo(kind).max))
    at = -1 if target is None else target
    begins = sources.astype(np.int32 if n < 2**31 else np.int64)
    found: tuple[NDArray[Any], NDArray[np.int64]] | None = engine_loops.run_loop(
        searches.distances, A, lambda: np.full(n, never, kind), lambda: np.full(n if tree else 0, -1), begins,
        at, last, values=kind,
    )  # fmt: skip
    return found


def _largest(cutoff: Any, dtype: datatypes.DataType) -> float:
    """Check `cutoff`; return it in the type of the distances, infinity without a cutoff."""
    if cutoff is None:
        return inf
    if not isinstance(cutoff, int | float | np.integer | np.floating):
        raise DomainMismatch(f"cutoff={cutoff!r}: a number is needed")
    if not cutoff >= 0:
        raise InvalidValue(f"cutoff={cutoff!r}: a number >= 0 is needed")
    if cutoff >= infinity(dtype):
        return inf
    return floor(cutoff) if dtype.is_integer else float(cutoff)


def _search(
    A: Matrix,
    sources: NDArray[np.int64],
    dtype: datatypes.DataType,
    delta: float | None,
    lengths: Lengths,
    target: int | None,
    most_asked: float,
) -> Vector:
    """Return each vertex's distance; beyond a reached target or `most_asked`, an upper bound from the edges relaxed.

    The distance of a vertex that is not reached is infinity, or an integer type's largest value.

    If a sum of two integers wraps around, a distance is negative: the sum itself, or the one that a length was added
    to.
    """
    n = A.nrows
    never = infinity(dtype)
    step = never if lengths.least < 0 else min(_step(lengths, n, sources.size) if delta is None else delta, never)
    if dtype.is_integer:
        step = max(ceil(step) - 1, 0)  # the bucket includes its limit
    last = never - 1 if dtype.is_integer else float(np.finfo(dtype.np_type).max)
    last = min(last, most_asked) if lengths.least >= 0 else last
    near, t, less = forms.vector_beside(A, dtype), forms.vector_beside(A, dtype), forms.vector_beside(A, datatypes.BOOL)
    near[sources] = 0
    distance = Vector.from_scalar(never, n, dtype)
    distance(near.S) << 0  # `near` is on A's engine, so this moves `distance` there
    nonnegative = lengths.least >= 0
    target = target if nonnegative else None
    if nonnegative and engine_loops.shorten(A, near, distance, step, last, lengths.least, target):
        return distance
    # Assign the rounds to no variable: after an error, the traceback would keep it and so the recording open.
    for rounds, (limit, count) in enumerate(buckets(near, distance, step, last, target, nonnegative=nonnegative)):
        if not nonnegative and rounds == n:
            break
        product = near.vxm(A, semiring.min_plus[dtype])
        if nonnegative and count * _FEW > n:
            # t<d > min(q) + min(A)> = q'A
            least = near.reduce(monoid.min).new().get()
            unsettled = distance.select(select.valuegt[dtype], min(least + lengths.least, last)).new()
            t(unsettled.S, replace=True) << product
        else:
            # t = q'A
            t << product
        # l = t < d
        less << t.ewise_mult(distance, binary.lt)
        less << less.select(select.valueeq, True)
        # d<l> = t
        distance(less.S) << t
        # q<l> = t[t <= limit]
        near(less.S, replace=True) << t.select(select.valuele[dtype], limit)
    if near.nvals and not nonnegative:
        vertex = int(near.to_coo()[0][0])
        raise InvalidValue(
            f"the distance of vertex {vertex} still falls after {n} rounds: A has a cycle of negative length"
        )
    return distance


def _step(lengths: Lengths, n: int, sources: int) -> float:
    """Return the default delta, a compromise between edges read twice and rounds.

    From several sources distances are short, and wider buckets save more in rounds than they cost in edges read twice.
    """
    if not lengths.edges or lengths.mean == float("inf"):
        return 1
    return max(lengths.least, _WORK * min(sources, _WIDER) * lengths.mean * n / lengths.edges)


def _reached(distance: Vector, dtype: datatypes.DataType) -> Vector:
    """Return the distances without those of unreached vertices, in type `dtype`."""
    found: Vector = distance.select(select.valuene[distance.dtype], infinity(distance.dtype)).new(dtype)
    return found


def _up_to(target: int | None, found: Vector, most_asked: float) -> Vector:
    """Remove the vertices farther away than a target that was reached, or than `most_asked`."""
    most = most_asked if target is None else min(found.get(target, inf), most_asked)
    return found if most == inf else found.select(select.valuele, most).new()
