"""Louvain's and Leiden's methods beside networkit's, judged by the modularity that NumPy computes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import sparsezc as gb
from benchmarks.hive.inputs import communities, symmetric
from benchmarks.hive.row import Goal, Input, Peer, Row
from benchmarks.verify.answers import Wrong

VERTICES, DEGREE, SIZE = 326_000, 5, 40  # vertices, mean degree, community size: 1.6 M entries, as dblp-2010
SHORT = 0.005  # modularity by which an answer may be below the peer's
TINY = 10_000  # entries below which modularity varies by more than SHORT
REAL = ("email-Eu-core", "wiki-Vote", "ca-AstroPh", "as-caida20071105", "copter2", "road-7cities", "twitter_combined")
REAL += ("cnr-2000",)
TOGETHER = 30.0  # seconds that all reference graphs may take together
KRON_24 = 520.8e6  # entries of kron:24
_theirs: dict[tuple[str, str], tuple[float, float]] = {}  # networkit's seconds and modularity, by method and graph


def planted(given: Input) -> gb.Matrix:
    """Return a graph of planted communities, of dblp-2010's size."""
    n = given.size(VERTICES, VERTICES, VERTICES // 2000)
    return given.put(communities(n, DEGREE, SIZE, given.rng()))


def graph(given: Input) -> gb.Matrix:
    """Return the row's graph, as an undirected one."""
    return undirected(given, given.read())


def undirected(given: Input, A: gb.Matrix) -> gb.Matrix:
    """Return a graph with each edge in both directions."""
    return A if A._symmetric else given.put(A.ewise_add(A.T, gb.binary.first).new()._known_symmetric())


def real(given: Input) -> dict[str, gb.Matrix]:
    """Return the reference graphs, undirected; for a small input NetworkX's karate club."""
    if given.small:
        import networkx as nx

        i, j = np.array(nx.karate_club_graph().edges).T
        return {"NetworkX's karate club": given.put(symmetric(i, j, int(j.max()) + 1))}
    return {name: undirected(given, given.reference(name).apply("one").new(bool)) for name in REAL}


def of_all(method: str) -> Callable[[dict[str, gb.Matrix]], dict[str, tuple[Any, float]]]:
    """Return a function that runs a method on every graph, and times each."""

    def run(found: dict[str, gb.Matrix]) -> dict[str, tuple[Any, float]]:
        answers = {}
        for name, A in found.items():
            start = time.perf_counter()
            label = METHODS[method](A).to_dense()
            answers[name] = label, time.perf_counter() - start
        return answers

    return run


def qualities(method: str) -> Callable[[dict[str, gb.Matrix], dict[str, tuple[Any, float]]], dict[str, Any]]:
    """Return a function that reports seconds and modularity of each graph, beside networkit's."""
    peer = PEERS[method]

    def notes(found: dict[str, gb.Matrix], answers: dict[str, tuple[Any, float]]) -> dict[str, Any]:
        told: dict[str, dict[str, float]] = {}
        for name, (label, seconds) in answers.items():
            told[name] = {"seconds": seconds, "modularity": modularity(found[name], label)}
            if (method, name) not in _theirs and peer.can_run and found[name].nvals > TINY:
                theirs, took, _ = peer.timed(found[name])
                _theirs[method, name] = took, modularity(found[name], theirs)
            if (method, name) in _theirs:
                beside = "networkit's seconds", "networkit's modularity"
                told[name] |= dict(zip(beside, _theirs[method, name], strict=True))
        return {"of each graph": told}

    return notes


def judge_all(method: str) -> Callable[[dict[str, gb.Matrix], dict[str, tuple[Any, float]]], None]:
    """Return the judge, which requires each modularity to be at most `SHORT` below networkit's."""

    def verify(found: dict[str, gb.Matrix], answers: dict[str, tuple[Any, float]]) -> None:
        for name, told in qualities(method)(found, answers)["of each graph"].items():
            ours, theirs = told["modularity"], told.get("networkit's modularity", SHORT)
            if ours < theirs - SHORT:
                raise Wrong(f"the modularity of {name} is {ours:.4f}; {PEERS[method].name} reaches {theirs:.4f}")

    return verify


def modularity(A: gb.Matrix, label: np.ndarray[Any, Any]) -> float:
    """Return the modularity of labels, computed by NumPy."""
    indptr, indices, _ = A.to_csr()
    degree = np.diff(indptr.astype(np.int64))
    own = np.repeat(label, degree)
    chance = np.bincount(label, degree, label.size)
    m = float(degree.sum())
    return float(np.count_nonzero(own == label[indices.astype(np.int64)]) / m - (chance / m) @ (chance / m))


def disconnected(A: gb.Matrix, label: np.ndarray[Any, Any]) -> int:
    """Return how many more connected parts the communities have than there are communities, by SciPy."""
    from scipy.sparse.csgraph import connected_components

    indptr, indices, _ = A.to_csr()
    i, j = np.repeat(np.arange(A.nrows), np.diff(indptr.astype(np.int64))), indices.astype(np.int64)
    kept = label[i] == label[j]
    inside = csr_array((np.ones(int(kept.sum()), np.bool_), (i[kept], j[kept])), shape=A.shape)
    return int(connected_components(inside, directed=False)[0] - np.unique(label).size)


def networkit_graph(A: gb.Matrix) -> Any:
    """Return a networkit graph of the edges."""
    import networkit as nk

    i, j, _values = A.to_coo(values=False)
    once = i < j
    return nk.GraphFromCoo((i[once].astype(np.int64), j[once].astype(np.int64)), n=A.nrows, directed=False)


def networkit(method: str) -> Callable[[Any], Any]:
    """Return the call of networkit's method of this name, on all available threads."""

    def run(G: Any) -> Any:
        import networkit as nk

        found = getattr(nk.community, method)(G)
        found.run()
        return np.asarray(found.getPartition().getVector())

    return run


def judge(method: str) -> Callable[[gb.Matrix, gb.Vector], None]:
    """Return the judge: Leiden's communities must be connected, and modularities near networkit's."""

    def verify(A: gb.Matrix, found: gb.Vector) -> None:
        label = found.to_dense()
        if (label[label] != label).any():
            raise Wrong("a community's label is not one of its vertices")
        if method == "leiden" and (more := disconnected(A, label)):
            raise Wrong(f"communities have {more} more connected parts than there are communities")
        peer = PEERS[method]
        if peer.can_run and TINY < A.nvals < 1 << 24:
            ours, theirs = modularity(A, label), modularity(A, peer.timed(A)[0])
            if ours < theirs - SHORT:
                raise Wrong(f"the modularity is {ours:.4f}; {peer.name} reaches {theirs:.4f}")

    return verify


PEERS = {
    "louvain": Peer("networkit PLM", networkit("PLM"), "networkit", prepare=networkit_graph),
    "leiden": Peer("networkit ParallelLeiden", networkit("ParallelLeiden"), "networkit", prepare=networkit_graph),
}
METHODS: dict[str, Callable[[gb.Matrix], Any]] = {
    "louvain": lambda A: gb.algorithms.louvain_communities(A, seed=1),
    "leiden": lambda A: gb.algorithms.leiden_communities(A, seed=1),
}


def igraph_graph(A: gb.Matrix) -> Any:
    """Return an igraph graph of the edges."""
    import igraph as ig

    i, j, _values = A.to_coo(values=False)
    once = i < j
    return ig.Graph(n=A.nrows, edges=np.c_[i[once], j[once]].astype(np.int64))


def leidenalg(G: Any) -> Any:
    """Return leidenalg's labels, by its optimisation of modularity."""
    import leidenalg as la

    return la.find_partition(G, la.ModularityVertexPartition, seed=1).membership


MORE = {
    "louvain": Peer(
        "igraph multilevel", lambda G: G.community_multilevel(), "igraph", most=1 << 23, prepare=igraph_graph
    ),
    "leiden": Peer("leidenalg", leidenalg, "leidenalg", most=1 << 23, prepare=igraph_graph),
}
CUGRAPH = Peer("cuGraph, H200", published=7.3)
MADE = f"planted communities, {VERTICES:,} vertices, for dblp-2010"

ROWS = [
    Row(
        f"{method} of dblp-2010's size", "", planted, METHODS[method], judge(method), goals=goals,
        what=f"{method}_communities, beside networkit's modularity",
        nbytes=lambda A, _: 4 * A.nvals, notes=lambda A, label: {"modularity": modularity(A, label.to_dense())},
        peers=(PEERS[method], MORE[method]), made=MADE,
    )
    for method, goals in (("louvain", {"host": Goal(2.0)}), ("leiden", {}))
] + [
    Row(
        method, "kron:24", graph, METHODS[method], judge(method),
        what=f"{method}_communities", goals=goals, work=lambda A, _: float(A.nvals),
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
        f"{method} of the reference graphs", "", real, of_all(method), judge_all(method), goals=goals,
        what="eight graphs, one after another; the sum of their times",
        nbytes=lambda found, _: 4 * sum(A.nvals for A in found.values()),
        notes=qualities(method),
    )
    for method, goals in (("louvain", {"host": Goal(TOGETHER)}), ("leiden", {}))
]  # fmt: skip
