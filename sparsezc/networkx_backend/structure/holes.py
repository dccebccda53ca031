"""Structural holes and rich clubs, by NetworkX's names, arguments and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc import algorithms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.networkx_backend.graphs.claims import claims, else_declined
from sparsezc.networkx_backend.graphs.graph import Graph


def _of_all(given: dict[str, Any]) -> str | None:
    return None if given["nodes"] is None else "NetworkX has another rule for some of the nodes"


def _ties(G: Graph, weight: str | None, measure: Callable[..., Vector]) -> dict[Any, float]:
    """Return a measure by nodes, NaN for those without neighbours."""
    if len(G) == 0:
        raise nx.NetworkXError("Graph has no nodes or edges")
    A: Matrix = G.values(weight) if weight is not None or G.multi else G.A
    with else_declined():
        return G.by_node(measure(A, weighted=weight is not None or G.multi).to_dense(float("nan")))


@claims(reason=_of_all, multigraph=True, least=2_000)
def constraint(G: Graph, nodes: Any = None, weight: str | None = None) -> dict[Any, float]:
    """Return Burt's constraint by nodes; :func:`sparsezc.algorithms.constraint`."""
    return _ties(G, weight, algorithms.constraint)


@claims(reason=_of_all, least=2_000)
def effective_size(G: Graph, nodes: Any = None, weight: str | None = None) -> dict[Any, float]:
    """Return effective sizes by nodes; :func:`sparsezc.algorithms.effective_size`."""
    return _ties(G, weight, algorithms.effective_size)


def _row(G: Graph, u: Any, weight: str | None) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the vertices that are joined to one, in either direction, and the weights of both directions."""
    A = G.values(weight)
    k = G.index[u]
    total = np.zeros(len(G), np.int64 if A.dtype.np_type.kind in "iub" else np.float64)
    met = np.zeros(len(G), bool)
    for row in (A[k, :].new(), A[:, k].new()):
        i, values = row.to_coo()
        total[i] += values
        met[i] = True
    at = np.flatnonzero(met)
    return at, total[at]


@claims()
def mutual_weight(G: Graph, u: Any, v: Any, weight: str | None = None) -> Any:
    """Return the sum of the weights of the edges between two nodes."""
    ends = ((u, v), (v, u))
    return sum(G._adj[a][b].get(weight, 1) for a, b in ends if G.has_edge(a, b))


@claims()
def local_constraint(G: Graph, u: Any, v: Any, weight: str | None = None) -> float:
    """Return how much of a node's ties leads to another, directly and over a third."""
    if u not in G:
        raise nx.NetworkXError(f"The node {u} is not in the graph.")
    near, ties = _row(G, u, weight)
    total = ties.sum()
    if near.size == 0 or total == 0:
        return 0.0 if near.size else 0
    found = 0.0
    for w, share in zip(near.tolist(), (ties / total).tolist(), strict=True):
        at, back = _row(G, G.names(np.array([w]))[0], weight)
        if w == G.index.get(v):
            found += share
        if back.sum() != 0:
            found += share * float(back[at == G.index.get(v)].sum() / back.sum())
    return found**2


@claims(reason=lambda given: "sparsezc makes no random graphs to compare with" if given["normalized"] else None)
def rich_club_coefficient(G: Graph, normalized: bool = True, Q: float = 100, seed: Any = None) -> dict[int, float]:
    """Return coefficients by degrees; :func:`sparsezc.algorithms.rich_club_coefficient`."""
    if G.number_of_loops():
        raise Exception("rich_club_coefficient is not implemented for graphs with self loops.")
    if G.A.nvals == 0:
        return {}
    return algorithms.rich_club_coefficient(G.A).to_dict()


@claims()
def voterank(G: Graph, number_of_nodes: int | None = None) -> list[Any]:
    """Return the nodes that are elected, in order; :func:`sparsezc.algorithms.voterank`."""
    if not G.directed and G.number_of_loops():
        raise NotImplementedError("sparsezc: the graph has loops, over which a node votes twice")
    return G.names(algorithms.voterank(G.A, number_of_nodes).to_coo()[1])
