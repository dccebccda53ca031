"""Communities and their modularity, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import networkx as nx
import numpy as np

from sparsezc import algorithms
from sparsezc.algorithms._lengths import lengths_of
from sparsezc.algorithms.greedy_modularity_communities import merged
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.networkx_backend.graphs import networkx_versions
from sparsezc.networkx_backend.graphs.claims import claims, else_declined
from sparsezc.networkx_backend.graphs.copies import original
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.networkx_backend.paths.weighted_paths import not_all_zero
from sparsezc.networkx_backend.structure.components import groups
from sparsezc.semirings import select
from sparsezc.semirings.types import datatypes


@claims(undirected=True, loops="which NetworkX counts as votes")
def label_propagation_communities(G: Graph) -> Any:
    """Return communities as sets of nodes: see :func:`sparsezc.algorithms.label_propagation`."""
    labels = algorithms.label_propagation(G.A)
    found = labels.to_coo()[1]
    _, first, label = np.unique(found, return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))  # communities in the order of their first nodes
    return dict(enumerate(groups(G, Vector.from_dense(place[label])))).values()


_LOOPS = (
    "which NetworkX counts in its own way; without them it runs here: G.remove_edges_from(list(nx.selfloop_edges(G)))"
)


@claims(undirected=True, loops=_LOOPS)
def louvain_communities(
    G: Graph,
    weight: str | None = "weight",
    resolution: float = 1,
    threshold: float = 1e-7,
    max_level: int | None = None,
    seed: Any = None,
) -> list[set[Any]]:
    """Return a partition of the nodes: see :func:`sparsezc.algorithms.louvain_communities`."""
    return _communities(algorithms.louvain_communities, G, weight, resolution, threshold, max_level, seed)


def _of_modularity(given: dict[str, Any]) -> str | None:
    return None if given.get("metric", "modularity") == "modularity" else "sparsezc has the metric 'modularity' only"


@claims(undirected=True, loops=_LOOPS, reason=_of_modularity)
def leiden_communities(
    G: Graph,
    weight: str | None = "weight",
    resolution: float = 1,
    max_level: int | None = None,
    seed: Any = None,
    metric: str = "cpm",
    theta: float = 0.01,
) -> list[set[Any]]:
    """Return a partition into connected sets of nodes: see :func:`sparsezc.algorithms.leiden_communities`."""
    return _communities(algorithms.leiden_communities, G, weight, resolution, 1e-3, max_level, seed)


def _communities(
    method: Callable[..., Any], G: Graph, weight: str | None, resolution: float, threshold: float,
    max_level: int | None, seed: Any,
) -> list[set[Any]]:  # fmt: skip
    if max_level is not None and max_level <= 0:
        raise ValueError("max_level argument must be a positive integer or None")
    A = not_all_zero(G, weight)
    with else_declined():
        labels = method(A, resolution, threshold, max_level, seed.randint(0, 2**31 - 1), weighted=weight is not None)
    return list(groups(G, labels))


def _with_both_ends(G: Graph, A: Matrix) -> Matrix:
    """Return the weights in FP64, with undirected loops doubled, as both of their ends count."""
    A = A.dup(datatypes.FP64)
    return A if G.directed else A.ewise_add(A.select(select.diag).new(), "plus").new()._known_symmetric()


@claims()
def modularity(G: Graph, communities: Iterable[Any], weight: str | None = "weight", resolution: float = 1) -> float:
    """Compute the modularity of a partition: see :func:`sparsezc.algorithms.modularity`."""
    parts = [set(part) & set(G) for part in communities]
    if len(set().union(*parts)) != len(G) or sum(map(len, parts)) != len(G):
        raise nx.algorithms.community.quality.NotAPartition(original(G), parts)
    if G.A.nvals == 0:
        if networkx_versions.SINCE_3_7:
            return 0
        raise ZeroDivisionError("a graph without edges has no modularity")
    A = _with_both_ends(G, G.values(weight))
    label = np.empty(len(G), np.int64)
    for k, part in enumerate(parts):
        label[G.numbers(part)] = k
    with else_declined():
        return algorithms.modularity(A, Vector.from_dense(label), resolution, weighted=True)


@claims(multigraph=True)
def greedy_modularity_communities(
    G: Graph, weight: str | None = None, resolution: float = 1, cutoff: int = 1, best_n: int | None = None
) -> list[Any]:
    """Return sets of nodes, largest first: see :func:`sparsezc.algorithms.greedy_modularity_communities`."""
    n = len(G)
    if G.A.nvals == 0:
        return [{node} for node in G]
    if not 1 <= cutoff <= n:
        raise ValueError(f"cutoff must be between 1 and {n}. Got {cutoff}.")
    if best_n is not None and not 1 <= best_n <= n:
        raise ValueError(f"best_n must be between 1 and {n}. Got {best_n}.")
    if best_n is not None and best_n < cutoff:
        raise ValueError(f"Must have best_n >= cutoff. Got {best_n} < {cutoff}")
    if best_n == 1:
        return [set(G)]
    if lengths_of(A := not_all_zero(G, weight)).least < 0:
        raise NotImplementedError(f"sparsezc: edge attribute {weight!r} has a negative value")
    A = _with_both_ends(G, A)
    order = _by_label(G)
    if not np.array_equal(order, np.arange(n)):
        A = A[order, order].new()._known_symmetric(not G.directed)
    with else_declined():
        label = merged(A, float(resolution), int(cutoff), n if best_n is None else int(best_n), True, order)
    _, part, size = np.unique(label, return_inverse=True, return_counts=True)
    kept = order[np.unique(label)]  # each community's label; NetworkX orders communities of equal size by it
    members: list[list[Any]] = [[] for _ in kept]
    for vertex, k in zip(order.tolist(), part.tolist(), strict=True):
        members[k].append(G.labels[vertex])
    return [frozenset(members[k]) for k in np.lexsort((kept, -size)).tolist()]


def _by_label(G: Graph) -> Any:
    """Return the vertices sorted by label, by which NetworkX chooses; in the graph's order if that is impossible."""
    try:
        return np.array(sorted(range(len(G)), key=G.labels.__getitem__), np.int64)
    except TypeError:
        return np.arange(len(G))
