"""Structural holes and rich clubs, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from math import ceil
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc import algorithms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import ConvergenceFailure
from sparsezc.networkx_backend.graphs import networkx_versions
from sparsezc.networkx_backend.graphs.claims import claims, else_declined
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.semirings import semiring, unary
from sparsezc.semirings.types import datatypes


def _ties(G: Graph, nodes: Any, weight: str | None) -> tuple[Matrix, bool]:
    """Return the matrix of ties, and whether its values are their weights."""
    if len(G) == 0 and nodes is None:
        raise nx.NetworkXError("Graph has no nodes or edges")
    weighted = weight is not None or G.multi
    return (G.values(weight) if weighted else G.A), weighted


def _of_some(G: Graph, nodes: Any, found: NDArray[np.float64], A: Matrix, weighted: bool) -> dict[Any, Any]:
    """Return ``{node: measure}`` for the given nodes.

    If all edges of a node and of its neighbours weigh 0, NetworkX divides nothing and returns an integer; so does this
    function.
    """
    nodes = list(nodes)
    if unknown := [node for node in nodes if node not in G]:
        raise KeyError(unknown[0])
    whole = np.zeros(len(G), bool)
    if weighted:
        i, j, values = A.to_coo()
        tied = np.bincount(i, values, len(G)) + np.bincount(j, values, len(G)) > 0
        near = tied.copy()
        near[i[tied[j]]] = near[j[tied[i]]] = True
        whole = ~near & ~np.isnan(found)
    return {node: found[k].item() if not whole[k] else int(found[k]) for node in nodes for k in (G.index[node],)}


def _parallel_edges_of_some(given: dict[str, Any]) -> str | None:
    several = given["nodes"] is not None and given["G"].is_multigraph()
    return "NetworkX counts parallel edges once if nodes are given" if several else None


@claims(reason=_parallel_edges_of_some, multigraph=True)
def constraint(G: Graph, nodes: Any = None, weight: str | None = None) -> dict[Any, float]:
    """Return Burt's constraint of each node: see :func:`sparsezc.algorithms.constraint`.

    As in NetworkX, some nodes have NaN: without `nodes`, those whose only tie is a loop or that have no ties; with
    `nodes`, those without outgoing edges.
    """
    A, weighted = _ties(G, nodes, weight)
    with else_declined():
        made = algorithms.constraint(A, weighted=weighted, zero_ties=nodes is not None)
    found = made.to_dense(4.0)  # nodes without an entry have ties with themselves only
    if nodes is not None:
        found[np.diff(G.rows()[0]) == 0] = np.nan
        return _of_some(G, nodes, found, A, weighted)
    ones = semiring.plus_first if weighted else semiring.plus_pair
    every = Vector.from_scalar(1.0, len(G), datatypes.FP64)
    ties = A.mxv(every, ones).new(datatypes.FP64).to_dense(0.0) + A.T.mxv(every, ones).new(datatypes.FP64).to_dense(0.0)
    own = 2 * A.diag().apply(unary.identity if weighted else unary.one).new(datatypes.FP64).to_dense(0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        found[(ties == 0) | (ties - 2 * own / ties == 0)] = np.nan
    return G.by_node(found)


def _loops_among_some(given: dict[str, Any]) -> str | None:
    plain = given["nodes"] is None or given["weight"] is not None or given["G"].is_directed()
    return None if plain or not nx.number_of_selfloops(given["G"]) else "NetworkX counts loops in another way"


@claims(reason=_loops_among_some)
def effective_size(G: Graph, nodes: Any = None, weight: str | None = None) -> dict[Any, float]:
    """Return the effective size of each node's network: see :func:`sparsezc.algorithms.effective_size`."""
    A, weighted = _ties(G, nodes, weight)
    with else_declined():
        found = algorithms.effective_size(A, weighted=weighted, zero_ties=nodes is not None).to_dense(float("nan"))
    if nodes is None:
        return G.by_node(found)
    i, j, _ = G.A.to_coo()
    lead_out = np.zeros(len(G), bool)
    lead_out[i[i != j]] = True
    found[~lead_out] = np.nan
    return _of_some(G, nodes, found, A, weighted)


@claims()
def mutual_weight(G: Graph, u: Any, v: Any, weight: str | None = None) -> Any:
    """Return the sum of the weights of the edges between two nodes."""
    G.values(weight)  # declines weights that are not numbers
    ends = ((u, v), (v, u))
    return sum(G._adj[a][b].get(weight, 1) for a, b in ends if G.has_edge(a, b))


def _mutual(G: Graph, u: Any, weight: str | None) -> dict[Any, Any]:
    """Return ``{node: sum of the weights, in both directions, of its edges with u}``."""
    ties: dict[Any, Any] = {}
    for row in (G._adj[u], G._pred[u]):
        for v, data in row.items():
            ties[v] = ties.get(v, 0) + data.get(weight, 1)
    return ties


def _share(ties: dict[Any, Any], total: Any, v: Any) -> Any:
    return 0 if total == 0 else ties.get(v, 0) / total


@claims()
def local_constraint(G: Graph, u: Any, v: Any, weight: str | None = None) -> float:
    """Return Burt's local constraint of `u` by `v`, the part of u's ties that leads to v, directly or over a third."""
    if u not in G:
        raise G.missing(u)
    G.values(weight)  # declines views whose edges differ between directions
    near = _mutual(G, u, weight)
    total = sum(near.values())
    found = _share(near, total, v)
    for w in near:
        back = _mutual(G, w, weight)
        found += _share(near, total, w) * _share(back, sum(back.values()), v)
    return found**2  # type: ignore[no-any-return]


@claims()
def rich_club_coefficient(
    G: Graph, normalized: bool = True, Q: float = 100, seed: Any = None, *, n_samples: int = 1
) -> dict[int, float]:
    """Return ``{degree: coefficient}``: see :func:`sparsezc.algorithms.rich_club_coefficient`."""
    if G.number_of_loops():
        raise Exception("rich_club_coefficient is not implemented for graphs with self loops.")
    if normalized and n_samples < 1:
        raise ValueError("n_samples must be >= 1 if 'normalized' = True")
    edges = G.A.nvals // 2
    found = algorithms.rich_club_coefficient(G.A).to_dict() if edges else {}
    if not normalized:
        return found
    if len(G) < 4:
        raise nx.NetworkXError("Graph has fewer than four nodes.")
    if edges < 2:
        raise nx.NetworkXError("Graph has fewer than 2 edges")
    swaps = max(ceil(Q * edges), 0)
    numbers, at_random = nx.utils.create_py_random_state(seed), dict.fromkeys(found, 0.0)
    for _ in range(n_samples):
        try:
            R = algorithms.double_edge_swap(G.A, swaps, 10 * swaps, int(numbers.random() * 2**53))
        except ConvergenceFailure as error:
            said = f"Maximum number of swap attempts ({10 * swaps}) exceeded: {error}"
            raise nx.NetworkXAlgorithmError(said) from error
        for k, value in algorithms.rich_club_coefficient(R).to_dict().items():
            at_random[k] += value / n_samples
    if networkx_versions.SINCE_3_7 and 0 in at_random.values():
        raise nx.NetworkXError(f"a coefficient of {n_samples} random graphs is 0 on average; try a larger n_samples")
    return {k: value / at_random[k] for k, value in found.items()}


@claims()
def voterank(G: Graph, number_of_nodes: int | None = None) -> list[Any]:
    """Return the elected nodes in order: see :func:`sparsezc.algorithms.voterank`."""
    if not G.directed and G.number_of_loops():
        raise NotImplementedError("sparsezc: the graph has loops, over which a node votes twice")
    return G.names(algorithms.voterank(G.A, number_of_nodes).to_coo()[1])
