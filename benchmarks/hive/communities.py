"""Louvain's and Leiden's methods beside networkit's, judged by the modularity that NumPy finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import sparsezc as gb
from benchmarks.hive.row import Goal, Input, Peer, Row
from benchmarks.verify.answers import Wrong

VERTICES, DEGREE, SIZE = 326_000, 5, 40  # of dblp-2010's size: 1.6 M entries
SHORT = 0.005  # of the peer's modularity


def planted(given: Input) -> gb.Matrix:
    """Return a graph of communities of 10 to 70 vertices, of which a fifth of the edges leads out."""
    n, rng = VERTICES // (64 if given.small else 1), given.rng()
    start = np.r_[0, np.cumsum(rng.integers(10, 2 * SIZE - 10, n // SIZE))]
    start = np.r_[start[start < n], n]
    home = np.searchsorted(start, np.arange(n), side="right") - 1
    u = rng.integers(0, n, n * DEGREE // 2)
    inside = start[home[u]] + rng.integers(0, 1 << 40, u.size) % np.diff(start)[home[u]]
    v = np.where(rng.random(u.size) < 0.8, inside, rng.integers(0, n, u.size))
    u, v = u[u != v], v[u != v]
    S = csr_array((np.ones(2 * u.size, np.bool_), (np.r_[u, v], np.r_[v, u])), shape=(n, n))
    S.sort_indices()
    return given.put(gb.Matrix.from_csr(S.indptr, S.indices, True, ncols=n)._known_symmetric())


def graph(given: Input) -> gb.Matrix:
    """Return the row's graph, as an undirected one."""
    A = given.read()
    if A._symmetric:
        return A
    return given.put(A.ewise_add(A.T, gb.binary.first).new()._known_symmetric())


def modularity(A: gb.Matrix, label: np.ndarray[Any, Any]) -> float:
    """Compute it by SciPy and NumPy."""
    indptr, indices, _ = A.to_csr()
    degree = np.diff(indptr.astype(np.int64))
    own = np.repeat(label, degree)
    chance = np.bincount(label, degree, label.size)
    m = float(degree.sum())
    return float(np.count_nonzero(own == label[indices.astype(np.int64)]) / m - (chance / m) @ (chance / m))


def disconnected(A: gb.Matrix, label: np.ndarray[Any, Any]) -> int:
    """Count the communities beyond those that SciPy finds connected."""
    from scipy.sparse.csgraph import connected_components

    indptr, indices, _ = A.to_csr()
    i, j = np.repeat(np.arange(A.nrows), np.diff(indptr.astype(np.int64))), indices.astype(np.int64)
    kept = label[i] == label[j]
    inside = csr_array((np.ones(int(kept.sum()), np.bool_), (i[kept], j[kept])), shape=A.shape)
    return int(connected_components(inside, directed=False)[0] - np.unique(label).size)


def networkit(method: str) -> Callable[[gb.Matrix], Any]:
    """Return the call of networkit's method of this name, on the threads that there are."""

    def run(A: gb.Matrix) -> Any:
        import networkit as nk

        indptr, indices, _ = A.to_csr()
        i, j = np.repeat(np.arange(A.nrows), np.diff(indptr.astype(np.int64))), indices.astype(np.int64)
        G = nk.GraphFromCoo((i[i < j], j[i < j]), n=A.nrows, directed=False)
        found = getattr(nk.community, method)(G)
        found.run()
        return np.asarray(found.getPartition().getVector())

    return run


def judge(method: str) -> Callable[[gb.Matrix, gb.Vector], None]:
    """Return the judge: Leiden's communities are connected, and both methods' as good as networkit's."""

    def verify(A: gb.Matrix, found: gb.Vector) -> None:
        label = found.to_dense()
        if (label[label] != label).any():
            raise Wrong("a community is not named by one of its vertices")
        if method == "leiden" and (more := disconnected(A, label)):
            raise Wrong(f"{more} communities have parts that are not connected")
        peer = PEERS[method]
        if peer.can_run and peer.run is not None and A.nvals < 1 << 24:
            ours, theirs = modularity(A, label), modularity(A, peer.run(A))
            if ours < theirs - SHORT:
                raise Wrong(f"the modularity is {ours:.4f}; {peer.name} reaches {theirs:.4f}")

    return verify


PEERS = {
    "louvain": Peer("networkit PLM", networkit("PLM"), "networkit"),
    "leiden": Peer("networkit ParallelLeiden", networkit("ParallelLeiden"), "networkit"),
}
METHODS: dict[str, Callable[[gb.Matrix], Any]] = {
    "louvain": lambda A: gb.algorithms.louvain_communities(A, seed=1),
    "leiden": lambda A: gb.algorithms.leiden_communities(A, seed=1),
}
CUGRAPH = Peer("cuGraph, H200", published=7.3)
MADE = f"planted communities, {VERTICES:,} vertices, for dblp-2010"

ROWS = [
    Row(
        f"{method} of dblp-2010's size", "", planted, METHODS[method], judge(method), goals={"host": Goal(2.0)},
        peers=(PEERS[method],), made=MADE,
    )
    for method in METHODS
] + [
    Row(
        method, "kron:24", graph, METHODS[method], judge(method), goals=goals, work=lambda A, _: float(A.nvals),
        nbytes=lambda A, _: 4 * A.nvals, peers=peers, host_graph="kron:14",
    )
    for method, goals, peers in (
        ("louvain", {"device": Goal(2.0), "zerocopy": Goal(3.0)}, (CUGRAPH,)),
        ("leiden", {"device": Goal(0.4e9, "edges"), "zerocopy": Goal(3.0)}, ()),
    )
]  # fmt: skip
