"""Checks of answers on arrays; they share no code with the algorithms and read the edges in pieces.

Each check is a proof (PageRank's on a large graph a bound): an accepted answer is right. It takes one or a few passes
over the edges. The same code runs with NumPy and CuPy (`Edges.xp`), so that a GPU judges a large graph quickly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

PART = 1 << 24  # entries that are read at a time
SMALL = 1 << 26  # most entries of a graph whose components SciPy counts
PASSES = 200  # most passes over all edges for the components of a large graph


class Wrong(AssertionError):
    """The error that an answer is wrong; the message says where."""


class Undecided(Exception):
    """The error that a check cannot judge a graph; the message says why."""


class Edges:
    """The entries of a square matrix in pieces: an iterable of (rows, columns, values), arrays of `xp`.

    Parameters
    ----------
    csr : object with `indptr`, and `indices` and `values` that have `read(start, stop)`
        A :class:`sparsezc.memory.csr.Csr`.
    xp : module
        NumPy or CuPy, the module of the pieces' arrays.
    """

    def __init__(self, csr: Any, xp: Any = np, part: int = PART) -> None:
        self.csr, self.xp, self.part = csr, xp, part
        self.n, self.nvals = int(csr.nrows), int(csr.indptr[-1])
        self._indptr = csr.indptr if xp is np else xp.asarray(csr.indptr)
        self._ids: dict[int, Any] = {}

    def pattern(self) -> Iterator[tuple[Any, Any]]:
        """Yield (rows, columns) of each piece; the arrays of ids are kept for further passes."""
        for start in range(0, self.nvals, self.part):
            stop = min(start + self.part, self.nvals)
            if start not in self._ids:
                self._ids[start] = self.xp.asarray(self.csr.indices.read(start, stop))
            yield self._rows(start, stop), self._ids[start].astype(np.int64)

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        for start in range(0, self.nvals, self.part):
            stop = min(start + self.part, self.nvals)
            columns = self.xp.asarray(self.csr.indices.read(start, stop)).astype(np.int64)
            values = self.csr.values.read() if self.csr.iso else self.csr.values.read(start, stop)
            values = self.xp.asarray(values)
            if self.csr.iso:
                values = self.xp.broadcast_to(values, columns.shape)
            yield self._rows(start, stop), columns, values

    def _rows(self, start: int, stop: int) -> Any:
        """Return the row of each entry start:stop."""
        if self.xp is np:
            first = int(np.searchsorted(self.csr.indptr, start, "right")) - 1
            last = int(np.searchsorted(self.csr.indptr, stop, "left"))
            bounds = np.clip(self.csr.indptr[first : last + 1], start, stop)
            return np.repeat(np.arange(first, last), np.diff(bounds))
        at = self.xp.arange(start, stop, dtype=np.int64)  # CuPy's repeat takes no array of counts
        return self.xp.searchsorted(self._indptr, at, side="right") - 1

    def array(self, values: NDArray[Any]) -> Any:
        """Return a host array as an array of `xp`."""
        return values if self.xp is np else self.xp.asarray(values)


def _refuse(bad: Any, why: str, *where: Any) -> None:
    """Raise Wrong at the first position where `bad` is true."""
    if bool(bad.any()):
        at = int(bad.argmax())
        place = ", ".join(str(int(part[at])) for part in where) if where else str(at)
        raise Wrong(f"{why} (at {place})")


def _check_size(answer: NDArray[Any], edges: Edges) -> None:
    if answer.shape != (edges.n,):
        raise Wrong(f"the answer has shape {answer.shape}; ({edges.n},) is needed")


def bfs(edges: Edges, level: NDArray[Any], source: int) -> None:
    """Prove the levels of a search; -1 for unreached vertices.

    No edge from a reached vertex leads more than one level deeper, so no level is too high; each reached vertex has an
    in-neighbour one level nearer, down to the only vertex of level 0, so none is too low.
    """
    _check_size(level, edges)
    if level[source] != 0 or int((level == 0).sum()) != 1:
        raise Wrong(f"level 0 must be the source {source}'s alone")
    if int(level.min()) < -1:
        raise Wrong(f"a level is {int(level.min())}")
    depth = edges.array(level.astype(np.int64))
    proved = depth <= 0
    for rows, columns, _ in edges:
        tail, head = depth[rows], depth[columns]
        known = tail >= 0
        _refuse(known & ((head < 0) | (head > tail + 1)), "an edge leads more than one level deeper", rows, columns)
        proved[columns[known & (head == tail + 1)]] = True
    _refuse(~proved, "a vertex has no neighbour one level nearer to the source")


def bfs_parents(edges: Edges, parent: NDArray[Any], source: int) -> None:
    """Prove the parents of a search; -1 for unreached vertices, and the source is its own.

    Each parent has an edge to its child, and all lead to the source, so they form a tree. The depths in it must be the
    levels of a search.
    """
    _check_size(parent, edges)
    if parent[source] != source:
        raise Wrong(f"the source {source} must be its own parent")
    if int(parent.min()) < -1 or int(parent.max()) >= edges.n:
        raise Wrong(f"a parent is no vertex: they are {int(parent.min())} to {int(parent.max())}")
    of = edges.array(parent.astype(np.int64))
    reached, number = of >= 0, edges.xp.arange(edges.n)
    up = edges.xp.where(reached, of, number)
    steps = (reached & (number != source)).astype(np.int64)  # steps from each vertex to its `up`
    for _ in range(edges.n.bit_length()):  # pointer doubling
        steps, up = steps + steps[up], up[up]
    _refuse(reached & (up != source), "the parents of a vertex do not lead to the source")
    proved = ~reached | (number == source)
    for rows, columns, _ in edges:
        proved[columns[of[columns] == rows]] = True
    _refuse(~proved, "no edge leads from a parent to its child")
    level = edges.xp.where(reached, steps, -1)
    bfs(edges, level, source)


def sssp(edges: Edges, distance: NDArray[Any], reached: NDArray[np.bool_], source: int) -> None:
    """Prove the distances of the vertices marked in `reached`.

    No edge can be relaxed, so no distance is too long; each reached vertex but the source has an edge that explains its
    distance, and as lengths are positive, such edges lead back to the source, so no distance is too short.
    """
    _check_size(distance, edges)
    if not reached[source] or distance[source] != 0:
        raise Wrong(f"the distance of the source {source} must be 0")
    exact = distance.dtype.kind in "iu"
    length = edges.array(distance.astype(np.int64 if exact else np.float64))
    known = edges.array(reached)
    proved = ~known
    proved[source] = True
    for rows, columns, values in edges:
        if not bool((values > 0).all()):
            raise Undecided("an edge's length is not positive")
        from_known = known[rows]
        _refuse(from_known & ~known[columns], "an edge leads from a reached vertex to one that is not", rows, columns)
        over = length[rows] + values.astype(length.dtype)
        slack = 0 if exact else 4e-7 * over
        to = length[columns]
        _refuse(from_known & (to > over + slack), "an edge can still be relaxed", rows, columns)
        proved[columns[from_known & (to >= over - slack)]] = True
    _refuse(~proved, "no edge explains the distance of a reached vertex")


def components(edges: Edges, label: NDArray[Any]) -> None:
    """Prove labels: the smallest vertex of each weakly connected component.

    Every edge joins equal labels, and a label is the smallest vertex that has it. No label spans two components: SciPy
    counts these, or, in a large graph, marks spread from the smallest vertices along the edges to all vertices.
    """
    _check_size(label, edges)
    vertex = np.arange(edges.n)
    _refuse((label < 0) | (label > vertex), "a label is no smaller vertex")
    _refuse(label[label] != label, "a label is not its component's smallest vertex")
    where = edges.array(label.astype(np.int64))
    for rows, columns, _ in edges:
        _refuse(where[rows] != where[columns], "an edge joins two labels", rows, columns)
    if edges.nvals <= SMALL:
        found, count = int((label == vertex).sum()), _count_components(edges)
        if found != count:
            raise Wrong(f"there are {found} labels and {count} components")
    else:
        _spread(edges, edges.array(label == vertex))


def _count_components(edges: Edges) -> int:
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(edges.nvals, np.int8)
    indices = edges.csr.indices.read().astype(np.int64)
    matrix = csr_matrix((ones, indices, edges.csr.indptr), shape=(edges.n, edges.n))
    count: int = connected_components(matrix, directed=True, connection="weak", return_labels=False)
    return count


def _spread(edges: Edges, marked: Any) -> None:
    """Spread marks along edges in both directions until none is added; then every vertex must be marked."""
    count = -1
    for _ in range(PASSES):
        before, count = count, int(marked.sum())
        if count == edges.n:
            return
        if count == before:
            raise Wrong(f"{edges.n - count} vertices have no path to the vertex that labels them")
        for rows, columns, _ in edges:
            marked[columns[marked[rows]]] = True
            marked[rows[marked[columns]]] = True
    raise Undecided(f"components are deeper than {PASSES} passes over the edges")


def pagerank(edges: Edges, rank: NDArray[Any], damping: float, iterations: int) -> None:
    """Check ranks after a number of iterations from 1/n each.

    A small graph's iterations are repeated in plain arithmetic. A large graph's ranks must sum to 1, and one more step
    may change them by at most the bound that damping alone gives, 2 damping^iterations.
    """
    _check_size(rank, edges)
    _refuse(~(rank >= 0), "a rank is negative or NaN")
    total = float(rank.sum(dtype=np.float64))
    if abs(total - 1) > 1e-6:
        raise Wrong(f"the ranks sum to {total}, not to 1")
    degree = edges.array(np.diff(edges.csr.indptr))
    if edges.nvals * iterations <= SMALL:
        expected = edges.array(np.full(edges.n, 1 / edges.n))
        for _ in range(iterations):
            expected = _pagerank_step(edges, expected, degree, damping)
        worst = float(abs(expected - edges.array(rank)).sum())
        if worst > (1e-9 if rank.dtype == np.float64 else 1e-6):
            raise Wrong(f"the ranks differ by {worst:.3g} in all from {iterations} plain iterations")
        return
    pagerank_step(edges, rank, damping, 2 * damping**iterations)


def pagerank_step(edges: Edges, rank: NDArray[Any], damping: float, change: float) -> None:
    """Check that one more step changes the ranks by at most `change` in all, as the GAP Benchmark Suite requires."""
    _check_size(rank, edges)
    total = float(rank.sum(dtype=np.float64))
    if not abs(total - 1) <= 1e-6:
        raise Wrong(f"the ranks sum to {total}, not to 1")
    ranks = edges.array(rank.astype(np.float64))
    degree = edges.array(np.diff(edges.csr.indptr))
    left = float(abs(_pagerank_step(edges, ranks, degree, damping) - ranks).sum())
    bound = change + 1e-9
    if not left <= bound:
        raise Wrong(f"one more step changes the ranks by {left:.3g}; at most {bound:.3g} is allowed")


def _pagerank_step(edges: Edges, rank: Any, degree: Any, damping: float) -> Any:
    xp = edges.xp
    sent = damping * rank / xp.maximum(degree, 1)
    got = xp.zeros(edges.n)
    for rows, columns, _ in edges:
        got += xp.bincount(columns, sent[rows], edges.n)
    return got + (1 - float(got.sum())) / edges.n


def product(edges: Edges, x: NDArray[Any], y: NDArray[Any], *, pattern: bool, tolerance: float = 1e-4) -> None:
    """Check y = A x in float32 against float64 sums; with `pattern` the matrix's values count as 1.

    If all terms are whole and none is negative, sums below 2^24 must be exact, as float32 represents all partial sums.
    """
    _check_size(y, edges)
    xp = edges.xp
    given, expected = edges.array(x.astype(np.float64)), xp.zeros(edges.n)
    whole = True
    for rows, columns, values in edges:
        terms = given[columns] if pattern else given[columns] * values.astype(np.float64)
        whole = whole and bool(((terms >= 0) & (terms == xp.rint(terms))).all())
        first, last = int(rows[0]), int(rows[-1])
        expected[first : last + 1] += xp.bincount(rows - first, terms, last + 1 - first)
    slack = tolerance * abs(expected)
    if whole:
        slack[expected < 2**24] = 0
    _refuse(abs(edges.array(y.astype(np.float64)) - expected) > slack, "an entry of the product is off")
