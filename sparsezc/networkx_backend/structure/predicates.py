"""Tests for isomorphism, triads and negative weights, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from sparsezc import algorithms
from sparsezc.algorithms._lengths import lengths_of
from sparsezc.networkx_backend.graphs import networkx_versions
from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.graph import Graph


def _no_parallel_edges(given: dict[str, Any]) -> str | None:
    return "sparsezc has this function for graphs without parallel edges only" if given["G2"].is_multigraph() else None


@claims(multigraph=True)
def faster_could_be_isomorphic(G1: Graph, G2: Graph) -> bool:
    """Return whether two graphs have the same sequence of degrees."""
    return len(G1) == len(G2) and bool(np.array_equal(np.sort(G1.degrees()), np.sort(G2.degrees())))


@claims(reason=_no_parallel_edges)
def fast_could_be_isomorphic(G1: Graph, G2: Graph) -> bool:
    """Return whether two graphs have the same sequence of degrees and numbers of triangles."""
    if len(G1) != len(G2) or (networkx_versions.SINCE_3_7 and not faster_could_be_isomorphic(G1, G2)):
        return False
    if G1.directed or G2.directed:
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    found = []
    for G in (G1, G2):
        degree, triangles = G.degrees(), algorithms.triangles(G.A).to_dense(0)
        order = np.lexsort((triangles, degree))
        found.append(np.stack([degree[order], triangles[order]]))
    return bool(np.array_equal(found[0], found[1]))


@claims(multigraph=True)
def is_triad(G: Graph) -> bool:
    """Return whether the graph is directed and has three nodes and no loops."""
    return G.directed and len(G) == 3 and not G.number_of_loops()


def _no_edge_among_several(given: dict[str, Any]) -> str | None:
    several = given["edge"] is not None and given["G"].is_multigraph()
    return "sparsezc does not test a single edge of graphs with parallel edges" if several else None


@claims(multigraph=True, reason=_no_edge_among_several)
def is_negatively_weighted(G: Graph, edge: Any = None, weight: str | None = "weight") -> bool:
    """Return whether some edge, or the given edge, has a negative weight."""
    if edge is None:
        return weight is not None and bool(lengths_of(G.least(weight)).least < 0)
    data = G.get_edge_data(*edge)
    if data is None:
        raise nx.NetworkXError(f"Edge {edge!r} does not exist.")
    return bool(data.get(weight, 0) < 0)
