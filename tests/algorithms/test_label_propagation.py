"""gb.algorithms.label_propagation: each vertex ends with a label that most of its neighbours have."""

from __future__ import annotations

from collections import Counter
from typing import Any

import networkx as nx
import numpy as np
import pytest

import sparsezc as gb

label_propagation = gb.algorithms.label_propagation


def matrix(G: Any) -> gb.Matrix:
    n = len(G)
    i, j = zip(*G.edges, strict=True) if G.number_of_edges() else ((), ())
    return gb.Matrix.from_coo(np.array(i, int), np.array(j, int), True, "BOOL", nrows=n, ncols=n)


@pytest.mark.parametrize("seed", range(6))
def test_every_vertex_is_content(seed: int) -> None:
    G = nx.gnp_random_graph(60, 0.06, seed=seed)
    label = label_propagation(matrix(G)).to_dense()
    for v in G:
        votes = Counter(label[u] for u in G[v])
        assert not votes or votes[label[v]] == max(votes.values())
        assert votes or label[v] == v


@pytest.mark.parametrize("seed", range(6))
def test_communities_are_networkx_s(seed: int) -> None:
    G = nx.powerlaw_cluster_graph(80, 3, 0.4, seed=seed)
    label = label_propagation(matrix(G)).to_dense()
    found = {frozenset(np.flatnonzero(label == one).tolist()) for one in np.unique(label)}
    assert found == set(map(frozenset, nx.community.label_propagation_communities(G)))


def test_directions_loops_and_values_do_not_count() -> None:
    G = nx.gnp_random_graph(40, 0.1, seed=1)
    A = matrix(G)
    B = gb.Matrix.from_coo(*(A.ewise_add(A.T, "lor").new().to_coo()[:2]), 7, nrows=40, ncols=40)
    for v in range(0, 40, 3):
        B[v, v] = 1
    assert label_propagation(A).isequal(label_propagation(B))
    assert label_propagation(B).dtype == "INT64"


def test_small_and_wrong_ones() -> None:
    assert label_propagation(gb.Matrix("BOOL", 0, 0)).size == 0
    assert label_propagation(gb.Matrix("BOOL", 3, 3)).to_dense().tolist() == [0, 1, 2]
    with pytest.raises(gb.exceptions.DimensionMismatch):
        label_propagation(gb.Matrix("FP64", 2, 3))
