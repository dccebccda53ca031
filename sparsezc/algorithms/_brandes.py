"""Brandes' two sweeps from many vertices at once: a forward count of shortest paths, and a backward accumulation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms._degree import in_degree
from sparsezc.algorithms._distances import relax
from sparsezc.algorithms._lengths import distances_of
from sparsezc.algorithms._searches import FEW_OF, batches, empty, start
from sparsezc.core.access import forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import InvalidValue
from sparsezc.semirings import binary, monoid, select, semiring, unary
from sparsezc.semirings.types import datatypes

# Working memory of a search, in bytes for each vertex, and for each edge if each search has a copy of the graph.
_VERTEX, _EDGE = 96, 64
# Of levels stored whole: bytes for each position, bytes in all, and the number that are always whole. All processes
# have the same constants, and so store the same levels as lists, which pass through host memory.
_PLACE, _WHOLE, _FIRST = 9, 1 << 30, 12
_FP64 = datatypes.FP64


class Levels:
    """The vertices in order of depth, level by level, with the number of shortest paths to each.

    A level is a Matrix of shape (k, n), or a Vector of size n or k * n. An engine may store every position of it, so
    beyond the first levels those of few entries are kept as lists. At most `FEW_OF` levels can be too full for a list.
    """

    def __init__(self) -> None:
        self._kept: list[Any] = []

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, depth: int) -> Any:
        q = self._kept[depth]
        return q.whole() if isinstance(q, _Listed) else q

    def append(self, q: Any) -> None:
        """Add the next level."""
        size = np.prod(q.shape, dtype=float)
        if len(self) >= _FIRST and len(self) * _PLACE * size >= _WHOLE and q.nvals * FEW_OF < size:
            q = _Listed(q.shape, q.dtype, q.to_coo())
        self._kept.append(q)


class _Listed(NamedTuple):
    """A level as a list of entries."""

    shape: tuple[int, ...]
    dtype: datatypes.DataType
    entries: tuple[NDArray[Any], ...]

    def whole(self) -> Any:
        if len(self.shape) == 1:
            at, values = self.entries
            return Vector.from_coo(at, values, self.dtype, size=self.shape[0])
        i, j, values = self.entries
        return Matrix.from_coo(i, j, values, self.dtype, nrows=self.shape[0], ncols=self.shape[1])


class Paths(NamedTuple):
    """The shortest paths found by a group of searches that run together.

    Attributes
    ----------
    levels : Levels
        Matrices, or Vectors if there is one search, as their products choose between push and pull.
    edges : Matrix
        A matrix that contains the edges of shortest paths. If levels are Vectors of size k * n, it holds a copy of the
        graph for each search, reduced to these edges.
    of_vertex, of_search : Matrix or None
        With copies of the graph: the maps of positions to vertices, shape (k * n, n), and to searches, (k * n, k).
    """

    levels: Levels
    edges: Matrix
    of_vertex: Matrix | None = None
    of_search: Matrix | None = None

    def by_vertex(self, x: Any) -> Any:
        """Return the sum of `x` over all searches, for each vertex."""
        if self.of_vertex is None:
            return x if x.ndim == 1 else x.reduce_columnwise(monoid.plus)
        return x.vxm(self.of_vertex, semiring.plus_first[x.dtype])

    def by_edge(self, x: Matrix) -> Any:
        """Return the sum of `x` over all searches, for each edge."""
        if self.of_vertex is None:
            return x
        # F'XF
        columns = x.mxm(self.of_vertex, semiring.plus_first[x.dtype]).new()
        return self.of_vertex.T.mxm(columns, semiring.plus_second[x.dtype])

    def by_search(self, x: Any) -> Any:
        """Return the sum of `x` over all vertices, for each search."""
        if self.of_search is None:
            if x.ndim == 1:
                return Vector.from_scalar(x.reduce(monoid.plus).new().get(0), 1, x.dtype)
            return x.reduce_rowwise(monoid.plus)
        return x.vxm(self.of_search, semiring.plus_first[x.dtype])


def by_hops(
    A: Matrix, sources: NDArray[np.int64], dtype: datatypes.DataType = _FP64
) -> Iterator[tuple[NDArray[np.int64], Paths]]:
    """Search in hops, one group of sources after another; paths are counted in `dtype`, FP64 or FP32.

    With Q the last level, of which row i belongs to the search from the i-th source, and P all vertices found so far::

        Q<!P> = Q A          over (plus, first)
    """
    n = A.nrows
    for group in batches(sources, n, _VERTEX * n):
        q = start(A, group if group.size > 1 else group[0], n, dtype, 1.0)
        met, levels = empty(q, datatypes.BOOL), Levels()
        while q.nvals:
            met(q.S) << True
            levels.append(q)
            # Q<!P> = Q A
            q = _times(q, A).new(mask=~met.S)
            if dtype is not _FP64 and np.isinf(_largest(q)):
                raise InvalidValue(f"dtype {dtype}: a vertex has over 3.4e38 shortest paths; FP64 counts up to 1.8e308")
        yield group, Paths(levels, A)


def _times(q: Any, A: Any) -> Any:
    """Return Q A, or q'A, over (plus, first)."""
    return (q.vxm if q.ndim == 1 else q.mxm)(A, semiring.plus_first[q.dtype])


def _largest(q: Any) -> float:
    """Return the largest entry, or 0."""
    found = (q.reduce if q.ndim == 1 else q.reduce_scalar)(monoid.max).new().value
    return 0.0 if found is None else float(found)


def by_lengths(A: Matrix, sources: NDArray[np.int64], weighted: bool) -> Iterator[tuple[NDArray[np.int64], Paths]]:
    """Search over lengths > 0, or over lengths of 1, one group of sources after another.

    Matrix B holds a copy of the graph for each search of a group, and T only the edges of shortest paths; d holds the
    distances. T has no cycles, and a vertex joins the frontier q when the last edge of T to it has been used::

        B = I (x) A
        T = B where d_i + B_ij = d_j
        s = s + q'T          over (plus, first)
        q = s where no edge of T is left
    """
    n, dtype = A.nrows, distances_of(A)[0] if weighted else datatypes.INT64
    ones = forms.vector_beside(A, datatypes.BOOL)
    ones[:] = True
    for group in batches(sources, n, _VERTEX * n + _EDGE * A.nvals):
        k = group.size
        B = (
            Vector.from_scalar(True, k, datatypes.BOOL)
            .diag()
            .kronecker(A, (binary.second if weighted else binary.pair)[dtype])
            .new(dtype)
        )
        at = np.arange(k) * n + group
        d = relax(B, Vector.from_coo(at, 0, dtype, size=k * n))
        T = _tight(B, d)
        levels, left, count = Levels(), in_degree(T), Vector(_FP64, k * n)
        reached = 0
        q = Vector.from_coo(at, 1.0, _FP64, size=k * n)
        while q.nvals:
            levels.append(q)
            reached += q.nvals
            # s = s + q'T
            count(binary.plus) << q.vxm(T, semiring.plus_first[_FP64])
            used = q.vxm(T, semiring.plus_pair[datatypes.INT64]).new()
            left(used.S, binary.minus) << used
            # q = s where no edge of T is left
            q = count.dup(mask=left.dup(mask=used.S).select(select.valueeq, 0).new().S)
        if reached < d.nvals:
            raise InvalidValue("A has lengths that vanish beside others: a sum of two is rounded to the longer one")
        yield group, Paths(levels, T, *_places(ones, k))


def _places(ones: Vector, k: int) -> tuple[Matrix, Matrix]:
    """Return the maps of positions in k copies of a graph to vertices, and to copies; `ones` is a full vector."""
    one, copies = Vector.from_scalar(True, 1, datatypes.BOOL), Vector.from_scalar(True, k, datatypes.BOOL)
    of_vertex = copies.outer(one, binary.pair).new(datatypes.BOOL).kronecker(ones.diag(), binary.pair[datatypes.BOOL])
    of_search = copies.diag().kronecker(ones.outer(one, binary.pair).new(datatypes.BOOL), binary.pair[datatypes.BOOL])
    return of_vertex.new(), of_search.new()


def _tight(B: Matrix, d: Vector) -> Matrix:
    """Return the edges of shortest paths, as a pattern."""
    D = d.diag()
    # T = d_i + B_ij
    T = D.mxm(B, semiring.any_plus[d.dtype]).new()
    # T = T where T_ij = d_j
    tight: Matrix = T.mxm(D, semiring.any_eq[d.dtype]).new(datatypes.BOOL)
    tight << tight.select(select.valueeq, True)
    return tight


def backwards(paths: Paths) -> Iterator[tuple[Any, Any, Any]]:
    """Yield (q, w, b) for each level but the first, deepest first: path counts, and the terms of Brandes' accumulation.

    With q the numbers of shortest paths to the vertices of a level, and b their dependencies::

        w = (1 + b) / q
        x += w T'            over (plus, first), at the starts of the edges of shortest paths to this level
        b = q .* x
    """
    levels = paths.levels
    q = levels[len(levels) - 1]
    x = empty(q, q.dtype)
    for depth in range(len(levels) - 2, -1, -1):
        before = levels[depth]
        b = q.ewise_mult(x, binary.times).new()
        # w = 1 / q + x
        w = q.apply(unary.minv).new()
        w(q.S, binary.plus) << x
        if paths.of_vertex is None:
            # x<q_(d-1)> = w A'
            x(before.S, replace=True) << _times(w, paths.edges.T)
        else:
            # x += w T'
            x(binary.plus) << _times(w, paths.edges.T)
        yield q, w, b
        q = before
