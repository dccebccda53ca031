"""Louvain's and Leiden's methods beside networkit's, judged by the modularity that NumPy finds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import sparsezc as gb
from benchmarks.hive.inputs import communities
from benchmarks.hive.row import Goal, Input, Peer, Row
from benchmarks.verify.answers import Wrong

VERTICES, DEGREE, SIZE = 326_000, 5, 40  # of dblp-2010's size: 1.6 M entries
SHORT = 0.005  # of the peer's modularity
TINY = 10_000  # entries below which chance decides more than that
REAL = ("email-Eu-core", "wiki-Vote", "ca-AstroPh", "as-caida20071105", "copter2", "road-7cities", "twitter_combined")
REAL += ("cnr-2000",)
TOGETHER = 30.0  # seconds for all of them
KRON_24 = 520.8e6  # entries of kron:24
_theirs: dict[str, tuple[float, float]] = {}  # networkit's seconds and modularity, by graph


def planted(given: Input) -> gb.Matrix:
    """Return a graph of communities of dblp-2010's size."""
    n = given.size(VERTICES, VERTICES, VERTICES // 2000)
    return given.put(communities(n, DEGREE, SIZE, given.rng()))


def graph(given: Input) -> gb.Matrix:
    """Return the row's graph, as an undirected one."""
    return undirected(given, given.read())


def undirected(given: Input, A: gb.Matrix) -> gb.Matrix:
    """Return a graph with each edge in both directions."""
    return A if A._symmetric else given.put(A.ewise_add(A.T, gb.binary.first).new()._known_symmetric())


def real(given: Input) -> dict[str, gb.Matrix]:
    """Return the reference graphs, undirected; the smallest alone where a small input is asked for."""
    names = REAL[:1] if given.small else REAL
    return {name: undirected(given, given.reference(name).apply("one").new(bool)) for name in names}


def of_all(method: str) -> Callable[[dict[str, gb.Matrix]], dict[str, tuple[Any, float]]]:
    """Return the call on every graph, which also takes the time of each."""

    def run(found: dict[str, gb.Matrix]) -> dict[str, tuple[Any, float]]:
        answers = {}
        for name, A in found.items():
            start = time.perf_counter()
            label = METHODS[method](A).to_dense()
            answers[name] = label, time.perf_counter() - start
        return answers

    return run


def qualities(found: dict[str, gb.Matrix], answers: dict[str, tuple[Any, float]]) -> dict[str, Any]:
    """Return seconds and modularity of each graph, beside networkit's."""
    peer = PEERS["louvain"]
    notes: dict[str, dict[str, float]] = {}
    for name, (label, seconds) in answers.items():
        notes[name] = {"seconds": seconds, "modularity": modularity(found[name], label)}
        if name not in _theirs and peer.can_run and peer.run is not None and found[name].nvals > TINY:
            start = time.perf_counter()
            theirs = peer.run(found[name])
            _theirs[name] = time.perf_counter() - start, modularity(found[name], theirs)
        if name in _theirs:
            notes[name] |= dict(zip(("networkit's seconds", "networkit's modularity"), _theirs[name], strict=True))
    return {"of each graph": notes}


def judge_all(found: dict[str, gb.Matrix], answers: dict[str, tuple[Any, float]]) -> None:
    """Each modularity is near to networkit's."""
    for name, notes in qualities(found, answers)["of each graph"].items():
        theirs = notes.get("networkit's modularity", -1.0)
        if notes["modularity"] < theirs - SHORT:
            raise Wrong(f"the modularity of {name} is {notes['modularity']:.4f}; networkit PLM reaches {theirs:.4f}")
        if notes["modularity"] <= 0:
            raise Wrong(f"the modularity of {name} is {notes['modularity']:.4f}")


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
        if peer.can_run and peer.run is not None and TINY < A.nvals < 1 << 24:
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


def igraph(A: gb.Matrix) -> Any:
    """Return the labels of igraph's multilevel method."""
    import igraph as ig

    return np.array(_igraph(A, ig).community_multilevel().membership)


def leidenalg(A: gb.Matrix) -> Any:
    """Return the labels of leidenalg, for modularity."""
    import igraph as ig
    import leidenalg as la

    return np.array(la.find_partition(_igraph(A, ig), la.ModularityVertexPartition, seed=1).membership)


def _igraph(A: gb.Matrix, ig: Any) -> Any:
    i, j, _values = A.to_coo(values=False)
    once = i < j
    return ig.Graph(n=A.nrows, edges=np.c_[i[once], j[once]].astype(np.int64))


MORE = {
    "louvain": (Peer("igraph multilevel", igraph, "igraph", most=1 << 23),),
    "leiden": (Peer("leidenalg", leidenalg, "leidenalg", most=1 << 23),),
}
CUGRAPH = Peer("cuGraph, H200", published=7.3)
MADE = f"planted communities, {VERTICES:,} vertices, for dblp-2010"

ROWS = [
    Row(
        f"{method} of dblp-2010's size", "", planted, METHODS[method], judge(method), goals={"host": Goal(2.0)},
        nbytes=lambda A, _: 4 * A.nvals, notes=lambda A, label: {"modularity": modularity(A, label.to_dense())},
        peers=(PEERS[method], *MORE[method]), made=MADE,
    )
    for method in METHODS
] + [
    Row(
        method, "kron:24", graph, METHODS[method], judge(method), goals=goals, work=lambda A, _: float(A.nvals),
        nbytes=lambda A, _: 4 * A.nvals, peers=peers, host_graph="kron:14",
        notes=lambda A, label: {"modularity": modularity(A, label.to_dense())} if A.nvals < 1 << 24 else {},
    )
    for method, goals, peers in (
        ("louvain", {"device": Goal(2.0), "zerocopy": Goal(3.0)}, (CUGRAPH,)),
        ("leiden", {"device": Goal(0.4e9, "edges"), "zerocopy": Goal(KRON_24 / 3.0, "edges")},
         (Peer("GVE-Leiden, 32 cores", published=0.4e9),)),
    )
] + [
    Row(
        "louvain of the reference graphs", "", real, of_all("louvain"), judge_all, goals={"host": Goal(TOGETHER)},
        nbytes=lambda found, _: 4 * sum(A.nvals for A in found.values()), notes=qualities,
    )
]  # fmt: skip
