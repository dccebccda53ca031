"""A check of betweenness: Brandes's algorithm again, on frontiers of vertices, in NumPy or CuPy.

Source: U. Brandes, A faster algorithm for betweenness centrality, 2001, doi:10.1080/0022250X.2001.9990249.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.verify.answers import PASSES, Edges, Undecided, Wrong

RELATIVE = 1e-7  # sums in FP64, in another order
ABSOLUTE = 1e-9  # of the largest value: what is left where terms cancel


def betweenness(edges: Edges, centrality: NDArray[Any], sources: Iterable[int]) -> None:
    """Sums over `sources` of the share of the shortest paths from there that pass through each vertex."""
    if centrality.shape != (edges.n,):
        raise Wrong(f"the answer has shape {centrality.shape}; ({edges.n},) is needed")
    xp = edges.xp
    expected = xp.zeros(edges.n)
    for source in sources:
        expected += dependencies(edges, source)
    slack = RELATIVE * expected + ABSOLUTE * expected.max()
    bad = ~(abs(edges.array(centrality.astype(np.float64)) - expected) <= slack)  # NaN is bad too
    if bool(bad.any()):
        at = int(bad.argmax())
        raise Wrong(f"the centrality of {at} is {float(centrality[at])}; {float(expected[at])} is right")


def dependencies(edges: Edges, source: int) -> Any:
    """Return each vertex's centrality from the paths of one source."""
    xp = edges.xp
    depth, paths, share = xp.full(edges.n, -1), xp.zeros(edges.n), xp.zeros(edges.n)
    depth[source], paths[source] = 0, 1
    frontiers = [xp.asarray([source])]
    while frontiers[-1].size:
        level, met = len(frontiers), []
        if xp is not np and level > PASSES:
            raise Undecided(f"the graph is deeper than {PASSES} passes over the edges")
        for tails, heads in _arcs(edges, frontiers[-1]):
            ahead = (depth[heads] < 0) | (depth[heads] == level)
            tails, heads = tails[ahead], heads[ahead]
            xp.add.at(paths, heads, paths[tails])
            new = xp.unique(heads[depth[heads] < 0])
            depth[new] = level
            met.append(new)
        frontiers.append(xp.concatenate(met) if met else frontiers[-1][:0])
    for level in range(len(frontiers) - 2, 0, -1):
        for tails, heads in _arcs(edges, frontiers[level]):
            ahead = depth[heads] == level + 1
            tails, heads = tails[ahead], heads[ahead]
            xp.add.at(share, tails, paths[tails] / paths[heads] * (1 + share[heads]))
    return share


def _arcs(edges: Edges, frontier: Any) -> Iterator[tuple[Any, Any]]:
    """The edges out of some vertices, as (tails, heads), a part at a time."""
    if edges.xp is not np:  # many passes over a stream suit a GPU better than many gathers
        chosen = edges.xp.zeros(edges.n, bool)
        chosen[frontier] = True
        for rows, columns, _ in edges:
            wanted = chosen[rows]
            yield rows[wanted], columns[wanted]
        return
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
