"""Bytes that the parts of a graph exchange, counted exactly, for three ways to partition it.

* 1D: contiguous ranges of rows with equally many entries; a rank has the rows of its range, as in the distributed
  engine. A pull gathers the vector from all ranks: ids, or presence words if these take fewer bytes, or all values. A
  *halo* gathers only the entries that the rank's rows read. A push sends each rank the results for its rows.
* 2D: ranks form a grid. Rank (r, c) has the entries whose rows are in the r-th part and whose columns are in the c-th;
  it gathers its part of the vector from the ranks of its row, and sends results along its column.
* high and low: hubs, vertices of at least a given number of entries, are on every rank; all ranks sum their values. An
  edge with a hub belongs to the rank of its other end, so only results of edges between two other vertices are sent.

Each rank's bytes are of one statement; results that a rank computes for another are summed before they are sent.

Sources: A. Buluç, K. Madduri, Parallel breadth-first search on distributed memory systems, SC 2011,
doi:10.1145/2063384.2063471 (1D, 2D); Y. Pan, R. Pearce, J. D. Owens, Scalable breadth-first search on a GPU cluster,
IPDPS 2018, doi:10.1109/IPDPS.2018.00118 (high and low).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.io.ranks import row_bounds

Array = NDArray[Any]
ID = 4  # bytes of a vertex's id
VALUE = 8  # bytes of a value


class Cut(NamedTuple):
    """A graph whose rows are divided into contiguous parts: part k has the vertices ``bounds[k]:bounds[k + 1]``."""

    indptr: Array
    indices: Array
    bounds: Array

    @property
    def n(self) -> int:
        """The number of vertices."""
        return int(self.indptr.size - 1)

    @property
    def parts(self) -> int:
        """The number of parts."""
        return int(self.bounds.size - 1)

    @property
    def owner(self) -> Array:
        """The part of each vertex."""
        return np.repeat(np.arange(self.parts), np.diff(self.bounds))


class Exchange(NamedTuple):
    """Bytes that each rank receives in a statement."""

    received: Array

    @property
    def busiest(self) -> float:
        """The most bytes that a rank receives, as all ranks wait for that one."""
        return float(self.received.max())

    @property
    def total(self) -> float:
        """Bytes that all ranks receive."""
        return float(self.received.sum())

    def plus(self, other: Exchange) -> Exchange:
        """Return the bytes of this and another statement together."""
        return Exchange(self.received + other.received)


def cut(indptr: Array, indices: Array, parts: int) -> Cut:
    """Divide rows into parts as files are divided among ranks.

    >>> cut(np.arange(0, 513, 2), np.zeros(512, int), 2).bounds
    array([  0, 128, 256])
    """
    n, nvals = indptr.size - 1, int(indptr[-1])
    rows = [row_bounds.first_row(lambda i, j: indptr[i:j], n, nvals, rank, parts) for rank in range(parts + 1)]
    return Cut(indptr, indices, np.maximum.accumulate(np.array(rows)))


def entries(graph: Cut, active: Array | None) -> tuple[Array, Array]:
    """Return rows and columns of all entries, or of those in the rows of active vertices."""
    lengths = np.diff(graph.indptr)
    if active is None:
        return np.repeat(np.arange(graph.n), lengths), graph.indices
    which = np.flatnonzero(active)
    count = lengths[which]
    first = np.repeat(graph.indptr[which] - (np.cumsum(count) - count), count)
    return np.repeat(which, count), graph.indices[first + np.arange(count.sum())]


def distinct(groups: Array, ids: Array, count: int, n: int) -> tuple[Array, Array]:
    """Return the distinct pairs of a group (of `count` groups) and a vertex (of `n`)."""
    mark = np.zeros(count * n, np.bool_)
    mark[groups.astype(np.int64) * n + ids] = True
    found = np.flatnonzero(mark)
    return found // n, found % n


def packed(sizes: Array, widths: Array, value: int) -> Array:
    """Return the bytes of sets of vertices from ranges: ids or a bitmap, whichever is smaller, and a value each.

    For a set of all vertices of a range no ids are sent.

    >>> packed(np.array([1, 50, 64]), np.array([64, 64, 64]), 0).tolist()
    [4, 8, 0]
    """
    sets = np.minimum(ID * sizes, -(-widths // 8))
    return np.where(sizes == widths, 0, sets) + value * sizes


def gathered(graph: Cut, active: Array | None, value: int) -> Exchange:
    """Return the bytes of a 1D pull: every rank receives the entries of the whole vector."""
    sizes = np.diff(graph.bounds) if active is None else np.bincount(graph.owner[active], minlength=graph.parts)
    each = packed(sizes, np.diff(graph.bounds), value)
    return Exchange((each.sum() - each).astype(float))


def halo(graph: Cut, active: Array | None, value: int) -> Exchange:
    """Return the bytes of a 1D pull: each rank receives the entries that its rows read; the matrix is symmetric."""
    rows, cols = entries(graph, active)
    group, vertex = distinct(graph.owner[cols], rows, graph.parts, graph.n)
    needed = np.zeros((graph.parts, graph.parts), np.int64)  # by the reading rank and the vertex's rank
    np.add.at(needed, (group, graph.owner[vertex]), 1)
    np.fill_diagonal(needed, 0)
    if active is None:  # ranks know their vertices from the matrix, so no ids are sent
        return Exchange(needed.sum(1) * float(value))
    return Exchange(packed(needed, np.diff(graph.bounds)[None, :], value).sum(1).astype(float))


def pushed(graph: Cut, active: Array | None, value: int) -> Exchange:
    """Return the bytes of a 1D push: each rank receives results for its vertices, one from each other rank."""
    rows, cols = entries(graph, active)
    return Exchange(_results(graph, graph.owner[rows], cols, value))


def _results(graph: Cut, makers: Array, vertices: Array, value: int) -> Array:
    """Return the bytes of results that the vertices' ranks receive from `makers`, one for each maker and vertex."""
    group, vertex = distinct(makers, vertices, graph.parts, graph.n)
    made = np.zeros((graph.parts, graph.parts), np.int64)
    np.add.at(made, (group, graph.owner[vertex]), 1)
    np.fill_diagonal(made, 0)
    found: Array = packed(made, np.diff(graph.bounds)[None, :], value).sum(0).astype(float)
    return found


def grid(graph: Cut, active: Array | None, value: int) -> Exchange:
    """Return the bytes of a 2D grid: vectors are gathered along its rows, and results sent along its columns.

    Rank k = r * width + c owns the vertices of the k-th part, and the entries from the parts r * width ... of its row
    to the parts c, width + c ... of its column.
    """
    parts = graph.parts
    width = 1 << (parts.bit_length() - 1) // 2
    height = parts // width
    owner, ranges = graph.owner, np.diff(graph.bounds)
    sizes = ranges if active is None else np.bincount(owner[active], minlength=parts)
    each = packed(sizes, ranges, value).reshape(height, width)
    expand = (each.sum(1, keepdims=True) - each).ravel()
    rows, cols = entries(graph, active)
    block = owner[rows] // width * width + owner[cols] % width  # the rank of each entry
    return Exchange(expand + _results(graph, block, cols, value))


def hubs(graph: Cut, active: Array | None, value: int, degree: int) -> Exchange:
    """Return the bytes of high and low: an all-reduce of hubs (at least `degree` entries), results of the others."""
    high = np.diff(graph.indptr) >= degree
    rows, cols = entries(graph, active)
    low = ~high[rows] & ~high[cols]
    sent = _results(graph, graph.owner[rows[low]], cols[low], value)
    count = int(high.sum())
    all_of_them = value * count if value else -(-count // 8)  # values, or a bit each
    reduced = 2 * all_of_them * (graph.parts - 1) / graph.parts  # a reduce-scatter and an all-gather
    return Exchange(sent + reduced)


def levels(graph: Cut, source: int) -> list[Array]:
    """Return the frontier of each level of a search, as bools."""
    seen = np.zeros(graph.n, np.bool_)
    frontier = seen.copy()
    frontier[source] = seen[source] = True
    found = []
    while frontier.any():
        found.append(frontier)
        _, cols = entries(graph, frontier)
        frontier = np.zeros_like(seen)
        frontier[cols] = True
        frontier &= ~seen
        seen |= frontier
    return found
