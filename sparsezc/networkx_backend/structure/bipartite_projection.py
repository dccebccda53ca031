"""Bipartite projections, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from sparsezc import applications
from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.copies import original
from sparsezc.networkx_backend.graphs.graph import Graph
from sparsezc.semirings import select


def _projected(B: Graph, nodes: Iterable[Any], weight: str) -> Any:
    """Return the projection onto one side as a NetworkX graph, with the nodes' attributes."""
    side, at = _side(B, nodes)
    others = np.setdiff1d(np.arange(len(B)), at)
    R = B.A[at, others].new()
    if R.nvals != B.A[at, :].new().nvals or B.A[others, others].new().nvals:
        raise NotImplementedError("sparsezc: nodes are not one side of a bipartite graph")
    source = original(B)
    made = nx.Graph()
    made.graph.update(source.graph)
    made.add_nodes_from((node, source.nodes[node]) for node in side)
    i, j, values = applications.projection(R, "rows", weight).select(select.triu).new().to_coo()
    for a, b, value in zip(i.tolist(), j.tolist(), values.tolist(), strict=True):
        made.add_edge(side[a], side[b], **({} if weight == "none" else {"weight": value}))
    return made


def _side(B: Graph, nodes: Iterable[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the nodes as a list, and their numbers; decline lists with unknown or repeated nodes."""
    side = list(nodes)
    _check_present(B, side)
    if len(set(side)) < len(side):
        raise NotImplementedError("sparsezc: a node occurs twice")
    return side, B.numbers(side)


def _check_present(B: Graph, side: list[Any]) -> None:
    if any(node not in B for node in side):
        raise NotImplementedError("sparsezc: a node is not in the graph")


def _undirected(given: dict[str, Any]) -> str | None:
    return "sparsezc has no projections onto multigraphs" if given.get("multigraph") else None


@claims(undirected=True, reason=_undirected)
def projected_graph(B: Graph, nodes: Iterable[Any], multigraph: bool = False) -> Any:
    """Return the graph that joins nodes with a common neighbour: see :func:`sparsezc.applications.projection`."""
    return _projected(B, nodes, "none")


@claims(undirected=True)
def weighted_projected_graph(B: Graph, nodes: Iterable[Any], ratio: bool = False) -> Any:
    """Return the projection weighted by numbers of common neighbours, or by their share of the other side's nodes."""
    side = list(nodes)
    _check_present(B, side)
    if len(B) - len(side) < 1:
        raise nx.NetworkXAlgorithmError(
            f"the size of the nodes to project onto ({len(side)}) is >= the graph size ({len(B)}).\n"
            "They are either not a valid bipartite partition or contain duplicates"
        )
    return _projected(B, side, "ratio" if ratio else "count")


@claims(undirected=True)
def collaboration_weighted_projected_graph(B: Graph, nodes: Iterable[Any]) -> Any:
    """Return the projection with Newman's collaboration weights."""
    return _projected(B, nodes, "collaboration")


@claims(undirected=True)
def overlap_weighted_projected_graph(B: Graph, nodes: Iterable[Any], jaccard: bool = True) -> Any:
    """Return the projection weighted by the share of common neighbours: of all of both nodes, or of the fewer."""
    return _projected(B, nodes, "jaccard" if jaccard else "overlap")
