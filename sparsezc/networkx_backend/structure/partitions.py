"""Edges within and between the parts of a partition, with NetworkX's names, arguments and errors."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.networkx_backend.graphs.claims import claims
from sparsezc.networkx_backend.graphs.graph import Graph


def _labels(G: Graph, partition: Any) -> NDArray[np.int64]:
    """Return the number of each node's part; decline parts that are not a partition."""
    parts = [set(part) for part in partition]
    named = list(chain.from_iterable(parts))
    if len(named) != len(G) or set(named) != set(G):
        raise NotImplementedError("sparsezc: the parts are not a partition of the nodes")
    label = np.empty(len(G), np.int64)
    for k, part in enumerate(parts):
        label[G.numbers(part)] = k
    return label


def _inside(G: Graph, label: NDArray[np.int64]) -> int:
    i, j, count = G.values(None).to_coo()
    within = (label[i] == label[j]) & (G.directed | (i <= j))
    return int(count[within].sum())


@claims(multigraph=True)
def intra_community_edges(G: Graph, partition: Any) -> int:
    """Return the number of edges within parts."""
    return _inside(G, _labels(G, partition))


@claims()
def inter_community_edges(G: Graph, partition: Any) -> int:
    """Return the number of edges between parts."""
    return G.number_of_edges() - _inside(G, _labels(G, partition))


@claims()
def partition_quality(G: Graph, partition: Any) -> tuple[float, float]:
    """Return the share of edges within parts, and of pairs that are an edge within or no edge between parts."""
    label = _labels(G, partition)
    n, edges, inside = len(G), G.number_of_edges(), _inside(G, label)
    size = np.bincount(label)
    pairs, between = n * (n - 1), n * n - int((size**2).sum())
    if not G.directed:
        pairs, between = pairs // 2, between // 2
    return inside / edges, (inside + between - (edges - inside)) / pairs
