"""Algorithms and applications on odd graphs, against NetworkX, SciPy and their laws.

The campaign `networkx_calls` attacks NetworkX's functions; this one attacks functions and arguments that NetworkX
lacks. A trial is one graph (no vertices, one, loops, edges in one direction or both, weights of any type with zeros,
negative values, infinities and NaN) and one call of each function with arguments within and beyond its bounds. The
answer must be right or, if many are right, keep the laws of right answers; or the call must raise an error of the
package, which is not allowed if graph and arguments are plain.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import networkx as nx
import numpy as np
from scipy.optimize import linear_sum_assignment

import sparsezc as gb
from sparsezc.engines.cpu import compiled_loops as cpu_loops
from sparsezc.exceptions import GraphblasException
from tests.algorithms.graphs import csr, matrix
from tests.applications import test_application_classification as classification
from tests.applications import test_local_clustering as clustering
from tests.campaigns.frame import Trial, numbered
from tests.campaigns.graphs import Graph

DEADLINE, MEMORY = 60.0, None
algorithms, applications = gb.algorithms, gb.applications


def trial(rng: np.random.Generator, folder: Path) -> Trial:
    """Call each function once on one graph."""
    return numbered(rng, run)


def run(number: int) -> tuple[dict[str, int], str | None]:
    """Call each function once on the graph of this number; return the counts of calls, and the first fault.

    ``autocompute`` is off, as the package must not depend on it.
    """
    graph, tried = Graph(np.random.default_rng(number)), dict[str, int]()
    for name, function in FUNCTIONS.items():
        refused: Exception | None = None
        wrong = None
        with warnings.catch_warnings(), gb.config.set(autocompute=False):
            warnings.simplefilter("error")
            try:
                wrong = function(graph)
            except (GraphblasException, TypeError) as error:
                refused = error
            except Exception as error:  # raw errors of libraries, and warnings
                wrong = f"{type(error).__name__}: {error}"
        kind = f"{name}, refused" if refused else name
        tried[kind] = tried.get(kind, 0) + 1
        if refused and graph.plain and graph.n > 1 and name not in MAY_REFUSE:
            wrong = f"refused: {type(refused).__name__}: {refused}"
        if wrong:
            return tried, f"{name} of {graph}: {wrong}"
    return tried, None


def _is_refused(call: Callable[[], Any]) -> str | None:
    try:
        got = call()
    except (GraphblasException, TypeError):
        return None
    return f"accepted: {got!r:.200}"


def communities(g: Graph) -> str | None:
    """Check labels: smallest members, modularity at least single vertices', Leiden's connected, fixed by the seed."""
    method = g.pick(algorithms.louvain_communities, algorithms.leiden_communities)
    weighted, resolution = bool(g.rng.random() < 0.5), g.pick(1.0, 0.5, 2.0, 0.0)
    label = method(g.A, resolution, seed=g.seed, weighted=weighted)
    if not label.isequal(method(g.A, resolution, seed=g.seed, weighted=weighted)):
        return "the same seed gives other labels"
    at = label.to_dense()
    if any(at[c] != c or np.flatnonzero(at == c)[0] != c for c in np.unique(at)):
        return f"labels {at}"
    G = g.simple()
    if method is algorithms.leiden_communities and any(
        not nx.is_connected(G.subgraph(np.flatnonzero(at == c).tolist())) for c in np.unique(at)
    ):
        return f"communities {at} are not connected"
    W = g.A.dup("FP64") if weighted else g.A.apply("one").new("FP64")
    W = W.ewise_add(W.T, "plus").new()
    if W.nvals and W.reduce_scalar("plus").new().get() > 0:
        alone = algorithms.modularity(W, gb.Vector.from_dense(np.arange(g.n)), resolution, weighted=True)
        if algorithms.modularity(W, label, resolution, weighted=True) < alone - 1e-9:
            return f"communities {at} are worse than vertices alone"
    return _is_refused(g.pick(
        lambda: method(g.A, -1.0), lambda: method(g.A, float("nan")), lambda: method(g.A, seed=-1),
        lambda: method(g.A, max_level=0), lambda: algorithms.modularity(g.A, label, -1.0),
    ))  # fmt: skip


def drawing(g: Graph) -> str | None:
    """Check that independent sets and matchings are maximal, colours proper, and bad seeds refused."""
    G, A, seed = g.simple(), g.A, g.seed
    members = algorithms.maximal_independent_set(A, seed=seed)
    chosen = set(members.to_coo()[0].tolist())
    if any(u in chosen and v in chosen for u, v in G.edges) or any(
        v not in chosen and not chosen & set(G[v]) for v in G
    ):
        return f"the independent set {chosen}"
    partner = {int(k): int(v) for k, v in algorithms.maximal_matching(A, seed).to_dict().items()}
    if any(partner[v] != u or not G.has_edge(u, v) for u, v in partner.items()) or any(
        u not in partner and v not in partner for u, v in G.edges
    ):
        return f"the matching {partner}"
    colour = algorithms.greedy_color(A, seed).to_dense()
    if any(colour[u] == colour[v] for u, v in G.edges):
        return f"the colours {colour}"
    return _is_refused(g.pick(
        lambda: algorithms.maximal_independent_set(A, seed=-1), lambda: algorithms.maximal_matching(A, -1),
        lambda: algorithms.greedy_color(A, 2**64), lambda: algorithms.closeness_centrality(A, k=1, seed=-1),
        lambda: algorithms.betweenness_centrality(A, 1, seed=0.5),
    ))  # fmt: skip


def walks(g: Graph) -> str | None:
    """Check that walks and searches follow edges of positive weight until a dead end, greedy ones the highest score."""
    weighted, length = bool(g.rng.random() < 0.5), g.pick(0, 1, 5)
    sources = [g.vertex() for _ in range(g.pick(0, 1, 4))] if g.n else []
    rows: dict[int, set[int]] = {}
    for (i, j), w in zip(g.edges, g.weights, strict=True):
        if not weighted or w > 0:
            rows.setdefault(int(i), set()).add(int(j))
    p, q = g.pick((1.0, 1.0), (0.5, 3.0))
    W = algorithms.random_walks(g.A, sources, length, weighted=weighted, p=p, q=q, seed=g.seed)
    if wrong := _follows(W, sources, length, rows):
        return wrong
    every: dict[int, set[int]] = {}
    for i, j in g.edges.tolist():
        every.setdefault(i, set()).add(j)
    score = g.rng.integers(1, 5, g.n).astype(float)
    mode = g.pick("uniform", "greedy", "stochastic")
    S = algorithms.graph_search(g.A, sources, gb.Vector.from_dense(score), length, mode, seed=g.seed)
    if wrong := _follows(S, sources, length, every):
        return f"{mode}: {wrong}"
    if mode == "greedy":
        for i, k, j in zip(*S.to_coo(), strict=True):
            if k and j != min(every[int(S.get(i, k - 1))], key=lambda v: (-score[v], v)):
                return f"the greedy search {S.to_coo()} with scores {score}"
    return None


def _follows(W: gb.Matrix, sources: list[int], length: int, rows: dict[int, set[int]]) -> str | None:
    table = W.to_dense(fill_value=-1) if W.nvals else np.full(W.shape, -1)
    if table.shape != (len(sources), length + 1) or table[:, 0].tolist() != sources:
        return f"the walks {table.tolist()} from {sources}"
    for way in table.tolist():
        for a, b in pairwise(way):
            if b not in rows.get(a, ()) if b >= 0 else a >= 0 and rows.get(a):
                return f"the walk {way}"
    return None


def samples(g: Graph) -> str | None:
    weighted, k = bool(g.rng.random() < 0.5), g.pick(0, 1, 3)
    sources = [g.vertex() for _ in range(g.pick(0, 1, 4))] if g.n else []
    S = algorithms.sample_neighbors(g.A, sources, k, weighted=weighted, seed=g.seed)
    for r, i in enumerate(sources):
        able = {int(b) for (a, b), w in zip(g.edges, g.weights, strict=True) if a == i and (not weighted or w > 0)}
        got = S[r, :].new().to_coo()[0].tolist()
        if len(got) != min(k, len(able)) or not set(got) <= able:
            return f"{k} neighbours of {i}: {got}"
    return None


def flow(g: Graph) -> str | None:
    """Check NetworkX's value, a flow within the capacities, and a cut of the same capacity."""
    s, t = (g.vertex(), g.vertex()) if g.n else (0, 0)
    value, sent = algorithms.maximum_flow(g.A, s, t)
    G = g.directed()
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    want = nx.maximum_flow_value(G, s, t, capacity="weight")
    if abs(value - want) > 1e-6 * max(1, abs(want)):
        return f"{value} from {s} to {t} instead of {want}"
    over = np.zeros(g.n)
    for i, j, x in zip(*sent.to_coo(), strict=True):
        if not 0 < x <= G.edges[int(i), int(j)]["weight"] * (1 + 1e-9):
            return f"{x} on the edge {i, j}"
        over[i] -= x
        over[j] += x
    over[s] += value
    over[t] -= value
    return f"{over} is lost" if np.abs(over).max() > 1e-6 * max(1, abs(want)) else None


def scans(g: Graph) -> str | None:
    order, G = g.pick(0, 1, 2, 3), g.simple()
    psi, where = algorithms.scan_statistics(g.A, order)
    want = [G.degree(v) if order == 0 else nx.ego_graph(G, v, order).number_of_edges() for v in G]
    if psi.to_dense().tolist() != want or where != int(np.argmax(want)):
        return f"order {order}: {psi.to_dense().tolist()} at {where} instead of {want}"
    return _is_refused(lambda: algorithms.scan_statistics(g.A, -1))


def assignments(g: Graph) -> str | None:
    """Check for SciPy's least sum over the entries of the cost matrix."""
    maximize, method = bool(g.rng.random() < 0.5), g.pick("exact", "auction")
    cost = np.full((g.n, g.n), -np.inf if maximize else np.inf)
    cost[tuple(g.edges.T)] = np.ldexp(g.weights.astype(float), -10)  # so that sums are finite
    try:
        want = cost[linear_sum_assignment(cost, maximize)].sum()
    except ValueError:
        return _is_refused(lambda: applications.linear_assignment(g.A, maximize=maximize, method=method))
    at = applications.linear_assignment(g.A, maximize=maximize, method=method).to_dense()
    got = cost[np.arange(g.n), at].sum() if g.n else 0.0
    bound = (
        1e-9
        if method == "exact" or g.weights.dtype.kind in "biu"
        else g.n * 1e-3 * (np.ptp([0, *g.weights.tolist()]) + 1)
    )
    if sorted(at.tolist()) != list(range(g.n)) or not abs(got - want) <= bound / 1024:
        return f"{method}: {at} costs {got} instead of {want}"
    return None


def matching(g: Graph) -> str | None:
    """Check a match of the graph with itself: a permutation that keeps the seeds, and is right if all are seeds."""
    if not g.n:
        return None
    order = g.rng.permutation(g.n)
    B = (
        gb.Matrix.from_coo(*order[g.edges].T, True, nrows=g.n, ncols=g.n)
        if len(g.edges)
        else gb.Matrix("BOOL", g.n, g.n)
    )
    known = g.rng.permutation(g.n)[: g.pick(0, 1, g.n)]
    match, off = applications.seeded_graph_matching(g.A, B, np.c_[known, order[known]], g.pick("exact", "auction"))
    at = match.to_dense()
    if sorted(at.tolist()) != list(range(g.n)) or (at[known] != order[known]).any():
        return f"the match {at} with seeds {known} of {order}"
    there, moved = {(int(order[i]), int(order[j])) for i, j in g.edges}, {(int(at[i]), int(at[j])) for i, j in g.edges}
    return None if off == len(there ^ moved) else f"{off} disagreements of {at} with {order}"


def nomination(g: Graph) -> str | None:
    """Check that without content nominations are in the order of the distances from the seeds."""
    if not g.n:
        return None
    seeds = sorted({g.vertex() for _ in range(2)})
    nominated, score = applications.vertex_nomination(g.A, seeds)
    G = g.directed()
    far = nx.multi_source_dijkstra_path_length(G, set(seeds)) if g.plain else {}
    if not g.plain:
        return None
    want = sorted((v for v in far if v not in seeds), key=lambda v: (far[v], v))
    if nominated.to_dense().tolist() != want or set(score.to_coo()[0].tolist()) != set(want):
        return f"{nominated.to_dense()} instead of {want} from {seeds}"
    return _is_refused(lambda: applications.vertex_nomination(g.A, []))


def projections(g: Graph) -> str | None:
    """Check for B B' or B'B of ones, without the diagonal."""
    onto = g.pick("rows", "columns")
    P = applications.projection(g.A, onto)
    B = np.zeros((g.n, g.n), int)
    B[tuple(g.edges.T)] = 1
    want = B @ B.T if onto == "rows" else B.T @ B
    np.fill_diagonal(want, 0)
    got = np.zeros((g.n, g.n))
    got[tuple(P.to_coo()[:2])] = P.to_coo()[2]
    return None if np.array_equal(got, want) else f"onto {onto}: {got.tolist()} instead of {want.tolist()}"


def lasso(g: Graph) -> str | None:
    """Check that the objective is at most that of the values, of components' means, and of points near the answer."""
    y, l1, l2 = g.rng.normal(size=g.n), g.pick(0.0, 0.3, 5.0), g.pick(0.0, 0.2)
    x, gap = applications.fused_lasso(g.A, y, l1, l2, tol=1e-6)
    G, at = g.simple(), x.to_dense() if g.n else np.zeros(0)

    def total(z: Any) -> float:
        edges = sum(abs(z[u] - z[v]) for u, v in G.edges)
        return float(((z - y) ** 2).sum() / 2 + l1 * edges + l2 * np.abs(z).sum())

    mean = np.zeros(g.n)
    for part in nx.connected_components(G):
        mean[list(part)] = y[list(part)].mean()
    others = [y, mean, 0 * y, *(at + 0.01 * g.rng.normal(size=g.n) for _ in range(5))]
    if not 0 <= gap <= 1e-6 * max(total(at), 1e-300) * (1 + 1e-6) and gap > 1e-12:
        return f"the gap {gap} of {total(at)}"
    least = min(total(z) for z in others)
    return f"{total(at)} at {at}, and {least} beside it" if total(at) > least + gap + 1e-9 else None


def embeddings(g: Graph) -> str | None:
    """Check that embeddings have length 1 or 0, and that known places stay and all places are on the globe."""
    X, W = g.rng.normal(size=(g.n, 3)), g.rng.normal(size=(6, 3))
    H = applications.graphsage(g.A, X, W, W, children=g.pick(1, 2, (3, 1)), batch=1, seed=g.seed % 2**62)
    lengths = np.sqrt((H.to_dense(0.0) ** 2).sum(1)) if g.n else np.zeros(0)
    if H.shape != (g.n, 3) or not np.all((np.abs(lengths - 1) < 1e-9) | (lengths == 0)):
        return f"embeddings of length {lengths}"
    places = np.where(g.rng.random((g.n, 1)) < 0.5, g.rng.uniform(-80, 80, (g.n, 2)), np.nan)
    P = applications.geolocation(g.A, places, rounds=3).to_dense(np.nan) if g.n else places
    known = ~np.isnan(places[:, 0])
    if not np.array_equal(P[known], places[known]) or (np.abs(P[:, 0]) > 90).any() or (np.abs(P[:, 1]) > 180).any():
        return f"places {P.tolist()} of {places.tolist()}"
    return None


def factors(g: Graph) -> str | None:
    U, V, loss = applications.collaborative_filtering(g.A, 2, "als", 4, penalty=0.1, seed=g.seed)
    R, mask = np.zeros((g.n, g.n)), np.zeros((g.n, g.n), bool)
    R[tuple(g.edges.T)], mask[tuple(g.edges.T)] = g.weights, True
    u, v = U.to_dense(0.0), V.to_dense(0.0)
    if not np.isfinite(u).all() or np.any(np.diff(loss) > 1e-9 * (1 + abs(loss[0]))):
        return f"losses {loss}"
    off = ((R - u @ v.T)[mask] ** 2).sum() + 0.1 * ((u**2).sum() + (v**2).sum())
    return (
        None
        if abs(off - loss[-1]) <= 1e-6 * (1 + off) or abs(off / 2 - loss[-1]) <= 1e-6 * (1 + off)
        else f"the loss is {off}, said {loss}"
    )


def clusters(g: Graph) -> str | None:
    """Check optimality for each seed, by arrays or loops, and the best prefix of each sweep."""
    if not g.n:
        return _is_refused(lambda: applications.local_clustering(g.A, [0]))
    seeds = np.unique([g.vertex() for _ in range(3)]).tolist()
    alpha, rho = g.pick(0.05, 0.5, 1.0), g.pick(1e-3, 0.05, 0.5)
    with mock.patch.object(cpu_loops, "pays", return_value=g.pick(True, False)):
        p, cluster, conductance = applications.local_clustering(g.A, seeds, alpha, rho, tol=1e-6)
    graph = nx.to_scipy_sparse_array(g.simple(), range(g.n), weight=None, format="csr")
    for row, seed in enumerate(seeds):
        found = p[row, :].new().to_dense(0.0)
        clustering.is_optimal(graph, found, seed, alpha, rho, 1e-6)
        members = set(cluster[row, :].new().to_coo()[0].tolist())
        clustering.is_best_prefix(graph, found, members, conductance.get(row))
    return _is_refused(g.pick(
        lambda: applications.local_clustering(g.A, seeds, 1.5), lambda: applications.local_clustering(g.A, seeds * 2),
        lambda: applications.local_clustering(g.A, []), lambda: applications.local_clustering(g.A, seeds, rho=np.nan),
    ))  # fmt: skip


def patterns(g: Graph) -> str | None:
    """Check both rules against loops over edges and vertices, with features of several types."""
    m = g.pick(1, 2, 4)
    P = csr(m, np.unique(g.rng.integers(0, m, (m + 1, 2)), axis=0))
    kind, rule, rounds = g.pick("float64", "float32", "int8", "uint16"), g.pick("corrected", "published"), g.pick(1, 3)
    x, y, ex, ey = ((9 * g.rng.random((k, 2))).astype(kind) for k in (g.n, m, len(g.edges), P.nnz))
    if not len(g.edges):
        return _is_refused(lambda: applications.application_classification(g.A, matrix(P), x, y, ex, ey, rule, rounds))
    found = applications.application_classification(g.A, matrix(P), x, y, ex, ey, rule, rounds).to_dense()
    want = classification.by_loops(csr(g.n, g.edges), P, *(each.astype(float) for each in (x, y, ex, ey)), rule, rounds)
    return None if np.allclose(found, want, atol=1e-7) else f"{rule}, {rounds} rounds: {found} instead of {want}"


FUNCTIONS = {
    "communities": communities, "sets, matchings and colours": drawing, "walks and searches": walks,
    "sampled neighbours": samples, "maximum flow": flow, "scan statistics": scans, "assignments": assignments,
    "graph matching": matching, "nomination": nomination, "projections": projections, "fused lasso": lasso,
    "embeddings and places": embeddings, "factors": factors, "clusters": clusters, "patterns": patterns,
}  # fmt: skip
#: Functions that may refuse a plain graph: the source may be the sink, and there may be no ratings.
MAY_REFUSE = {"maximum flow", "factors"}
