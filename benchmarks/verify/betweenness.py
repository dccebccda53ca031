"""A check of betweenness by Brandes's algorithm on frontiers of vertices, in NumPy or CuPy.

Source: U. Brandes, A faster algorithm for betweenness centrality, 2001, doi:10.1080/0022250X.2001.9990249.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.verify.answers import PASSES, Edges, Undecided, Wrong

RELATIVE = 1e-7  # of FP64 sums in different orders
TOGETHER = 16  # sources that share a pass over the edges: each needs 40 bytes a vertex
ABSOLUTE = 1e-9  # of the largest value: the error if terms cancel


def betweenness(edges: Edges, centrality: NDArray[Any], sources: Iterable[int]) -> None:
    """Require each vertex's share of the shortest paths from each source, summed over `sources`."""
    if centrality.shape != (edges.n,):
        raise Wrong(f"the answer has shape {centrality.shape}; ({edges.n},) is needed")
    xp, given = edges.xp, list(sources)
    expected = xp.zeros(edges.n)
    if xp is np:
        for source in given:
            expected += dependencies(edges, source)
    for first in range(0, 0 if xp is np else len(given), TOGETHER):
        expected += streamed_dependencies(edges, given[first : first + TOGETHER])
    slack = RELATIVE * expected + ABSOLUTE * expected.max()
    bad = ~(abs(edges.array(centrality.astype(np.float64)) - expected) <= slack)  # NaN is bad, too
    if bool(bad.any()):
        at = int(bad.argmax())
        raise Wrong(f"the centrality of {at} is {float(centrality[at])}; {float(expected[at])} is right")


def dependencies(edges: Edges, source: int) -> Any:
    """Return each vertex's centrality from the paths of one source, on rows in host memory."""
    depth, paths, share = np.full(edges.n, -1), np.zeros(edges.n), np.zeros(edges.n)
    depth[source], paths[source] = 0, 1
    frontiers = [np.asarray([source])]
    while frontiers[-1].size:
        level, met = len(frontiers), []
        for tails, heads in _arcs(edges, frontiers[-1]):
            ahead = (depth[heads] < 0) | (depth[heads] == level)
            tails, heads = tails[ahead], heads[ahead]
            np.add.at(paths, heads, paths[tails])
            new = np.unique(heads[depth[heads] < 0])
            depth[new] = level
            met.append(new)
        frontiers.append(np.concatenate(met) if met else frontiers[-1][:0])
    for level in range(len(frontiers) - 2, 0, -1):
        for tails, heads in _arcs(edges, frontiers[level]):
            ahead = depth[heads] == level + 1
            tails, heads = tails[ahead], heads[ahead]
            np.add.at(share, tails, paths[tails] / paths[heads] * (1 + share[heads]))
    return share


def streamed_dependencies(edges: Edges, sources: list[int]) -> Any:
    """Return the sum of dependencies over several sources, by a pass over all edges for each level and direction.

    A GPU runs passes over a stream faster than gathers, and sources share a pass.
    """
    xp, shape = edges.xp, (edges.n, len(sources))
    depth, paths, share = xp.full(shape, -1, np.int32), xp.zeros(shape), xp.zeros(shape)
    starts = xp.asarray(sources), xp.arange(len(sources))
    depth[starts], paths[starts] = 0, 1
    level = 0
    while bool((front := depth == level).any()):
        if level == PASSES:
            raise Undecided(f"the graph is deeper than {PASSES} passes over the edges")
        met = _sums(edges, front.any(1), xp.where(front, paths, 0), forwards=True)
        new = (met > 0) & (depth < 0)
        paths, level = xp.where(new, met, paths), level + 1
        depth[new] = level
    for nearer in range(level - 2, 0, -1):
        here = depth == nearer
        behind = xp.where(depth == nearer + 1, (1 + share) / xp.maximum(paths, 1), 0)
        share += xp.where(here, paths * _sums(edges, here.any(1), behind, forwards=False), 0)
    return share.sum(1)


def _sums(edges: Edges, tails: Any, sent: Any, *, forwards: bool) -> Any:
    """Return sums of rows of `sent` along edges out of `tails`: at their heads if `forwards`, else at their tails."""
    sums = edges.xp.zeros(sent.shape)
    for rows, columns in edges.pattern():
        wanted = tails[rows]
        ends = rows[wanted], columns[wanted]
        edges.xp.add.at(sums, ends[forwards], sent[ends[not forwards]])
    return sums


def _arcs(edges: Edges, frontier: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the edges out of some vertices as (tails, heads), a piece at a time."""
    indptr, ids = edges.csr.indptr, edges.csr.indices.read()
    ends = np.cumsum(indptr[frontier + 1] - indptr[frontier])
    first = 0
    while first < frontier.size:
        before = ends[first - 1] if first else 0
        last = max(int(np.searchsorted(ends, before + edges.part, "right")), first + 1)
        tails = frontier[first:last]
        degree = indptr[tails + 1] - indptr[tails]
        begins = np.repeat(indptr[tails] - (np.cumsum(degree) - degree), degree)
        yield np.repeat(tails, degree), ids[begins + np.arange(begins.size)].astype(np.int64)
        first = last
