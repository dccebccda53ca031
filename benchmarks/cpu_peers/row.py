"""A row of the table: an algorithm of ours, the form of the graph that it takes, and the peers' calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import networkit as nk
import numpy as np
from scipy.sparse import csgraph

import sparsezc as gb
from benchmarks.cpu_peers.graphs import Graph
from benchmarks.cpu_peers.judges import Judge

alg = gb.algorithms
SOME, FEW = 1 << 19, 1 << 15  # most entries of a graph on which a row runs


class Peer(NamedTuple):
    """A peer's call.

    Attributes
    ----------
    read : callable or None
        Converts the call's result to numbers; not timed. None: the answer is not compared.
    before : callable
        Called before each call; not timed.
    """

    run: Callable[[Graph], Any]
    read: Callable[[Any], Any] | None = np.asarray
    before: Callable[[Graph], None] = lambda _: None


class Row(NamedTuple):
    """One algorithm; `fits` returns whether it runs on a graph."""

    name: str
    ours: Callable[[Graph], Any]
    peers: dict[str, Peer]
    judge: Judge
    fits: Callable[[Graph], bool] = lambda _: True


def up_to(entries: int) -> Callable[[Graph], bool]:
    return lambda g: g.scipy("S").nnz <= entries


def is_directed(g: Graph) -> bool:
    return g.directed


def is_directed_without_loops(g: Graph) -> bool:
    """Return whether a directed graph has no loops, which igraph's reciprocity counts otherwise than ours."""
    return g.directed and not g.scipy("A").diagonal().any()


def within(work: float) -> Callable[[Graph], bool]:
    """Select graphs on which searches from all vertices read at most `work` entries: 3e9 take about a minute."""
    return lambda g: g.n * g.scipy("S").nnz <= work


def networkit(
    form: str, make: Callable[[Graph, Any], Any], read: Callable[[Any], Any] | None, name: str = "networkit"
) -> dict[str, Peer]:
    """Return the peer of a networkit algorithm, whose `run` computes the answer; `name` is the peer's in the row."""
    return {name: Peer(lambda g: make(g, g.networkit(form)).run(), read)}


def igraph(
    form: str, call: Callable[[Graph, Any], Any], read: Callable[[Any], Any] | None = np.asarray
) -> dict[str, Peer]:
    return {"igraph": Peer(lambda g: call(g, g.igraph(form)), read)}


def scipy(
    form: str, call: Callable[[Graph, Any], Any], read: Callable[[Any], Any] | None = np.asarray
) -> dict[str, Peer]:
    return {"SciPy": Peer(lambda g: call(g, g.scipy(form)), read)}


def forget(g: Graph) -> None:
    """Clear igraph's cache, in which the first call stores that a graph is connected."""
    g.igraph("A").delete_vertices([])


def labels(found: Any) -> Any:
    return np.asarray(found.getPartition().getVector())


def scores(found: Any) -> Any:
    return np.asarray(found.scores())


def distances(found: Any) -> Any:
    return np.asarray(found.getDistances())


def weak(g: Graph, G: Any) -> Any:
    return nk.components.WeaklyConnectedComponents(G) if g.directed else nk.components.ConnectedComponents(G)


def members(found: Any) -> Any:
    return np.asarray(found.membership)


def walked(g: Graph) -> str:
    """Return the form for PageRank: without loops if undirected, as igraph counts those twice."""
    return "A" if g.directed else "S"


def scipy_flow(g: Graph, G: Any) -> Any:
    return csgraph.maximum_flow(G.astype(np.int32), g.source, g.sources[0])


def networkit_ranks(_: Graph, G: Any) -> Any:
    """Return networkit's PageRank with our end, by the sum of changes; its default is the root of their squares."""
    found = nk.centrality.PageRank(G, 0.85, 1e-7, False, nk.centrality.SinkHandling.DistributeSinks)
    found.norm = nk.centrality.Norm.L1_NORM
    return found


def katz_alpha(g: Graph) -> float:
    return 0.5 / (float(np.diff(g.scipy("S").indptr).max()) + 1)


def _pairs(g: Graph) -> Any:
    pairs = np.unique(np.random.default_rng(1).integers(0, g.n, (10_000, 2)), axis=0)
    return pairs[pairs[:, 0] != pairs[:, 1]]


def pairs_of(g: Graph) -> Any:
    """Return pairs of vertices as a list, as the peers take them."""
    return g.kept("pairs", lambda g: _pairs(g).tolist())


def pairs_as_matrix(g: Graph) -> gb.Matrix:
    def made(g: Graph) -> gb.Matrix:
        i, j = _pairs(g).T
        return gb.Matrix.from_coo(i, j, True, nrows=g.n, ncols=g.n)

    return g.kept("pairs as a matrix", made)


def of_pairs(index: Callable[[Any], Any], name: str = "networkit") -> dict[str, Peer]:
    """Return the peer of a networkit index of pairs; its answer is the sum over pairs, without NaN (no edges)."""
    read = lambda found: np.nansum([x for _, x in found])  # noqa: E731
    return {name: Peer(lambda g: index(g.networkit("S")).runOn(pairs_of(g)), read)}


def groups(g: Graph) -> list[int]:
    return g.kept("groups", lambda g: (np.arange(g.n) // 100).tolist())


def groups_as_vector(g: Graph) -> gb.Vector:
    return g.kept("groups as a vector", lambda g: gb.Vector.from_dense(np.array(groups(g))))


def groups_as_partition(g: Graph) -> Any:
    def made(g: Graph) -> Any:
        found = nk.structures.Partition(g.n)
        found.setUpperBound(g.n)
        for v, group in enumerate(groups(g)):
            found.addToSubset(group, v)
        return found

    return g.kept("groups as a partition", made)
