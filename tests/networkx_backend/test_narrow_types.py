"""Matrices of narrow types give the answers of NetworkX's unbounded integers; sums do not wrap around."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from sparsezc import Matrix
from sparsezc.networkx_backend import DiGraph, Graph
from tests.networkx_backend.judging import difference, outcome

N = 12
RANDOM = np.random.default_rng(3)
PATTERN = np.triu(RANDOM.random((N, N)) < 0.5, 1)
SCALE = {"bool": 0, "uint8": 1, "int16": 120, "uint32": 400_000, "int64": 1, "float32": 0.1}
HALF = {0, 2, 3, 5, 8}
CALLS: dict[str, dict[str, Any]] = {
    "volume": {"S": HALF, "weight": "weight"},
    "conductance": {"S": HALF, "weight": "weight"},
    "normalized_cut_size": {"S": HALF, "weight": "weight"},
    "degree_assortativity_coefficient": {"weight": "weight"},
    "average_neighbor_degree": {"weight": "weight"},
    "average_degree_connectivity": {"weight": "weight"},
    "adjacency_matrix": {},
    "laplacian_matrix": {},
    "normalized_laplacian_matrix": {},
    "bethe_hessian_matrix": {},
    "laplacian_spectrum": {},
    "floyd_warshall": {},
    "floyd_warshall_numpy": {},
    "single_source_dijkstra": {"source": 1},
    "maximum_spanning_edges": {"data": False},
}


def pair(dtype: str, kind: type) -> tuple[Any, Any]:
    """Return a graph made of a Matrix of a type, and NetworkX's graph of the same values as Python's numbers."""
    values = (RANDOM.integers(100, 250, (N, N)) * SCALE[dtype] + (dtype == "bool")).astype(dtype) * PATTERN
    values = values if kind is nx.DiGraph else values + values.T
    i, j = np.nonzero(values)
    A = Matrix.from_coo(i, j, values[i, j], nrows=N, ncols=N)
    as_numbers = values.astype(np.int64) if dtype == "bool" else values
    made = nx.empty_graph(N, create_using=kind)
    made.add_weighted_edges_from(zip(i.tolist(), j.tolist(), as_numbers[i, j].tolist(), strict=True))
    return (DiGraph if kind is nx.DiGraph else Graph)(A), made


def plain(answer: Any) -> Any:
    if answer[0] != "returned" or not hasattr(answer[1], "todense"):
        return answer
    return "returned", answer[1].dtype.str, answer[1].todense().tolist()


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@pytest.mark.parametrize("dtype", SCALE)
def test_sums_do_not_wrap_around(dtype: str, kind: type) -> None:
    ours, theirs = pair(dtype, kind)
    assert ours.size("weight") == pytest.approx(theirs.size("weight"))
    for name, given in CALLS.items():
        call = getattr(nx, name, None) or getattr(nx.algorithms.tree.mst, name)
        one, other = (
            plain(outcome(lambda G=G, call=call, given=given, b=b: call(G, **given, backend=b)))
            for G, b in ((ours, "sparsezc"), (theirs, "networkx"))
        )
        assert difference(one, other, 1e-6) is None, name
    if dtype != "float32":  # FP32 rounds distances; == ignores the keys' order
        call = nx.floyd_warshall_predecessor_and_distance
        assert call(ours, backend="sparsezc") == call(theirs, backend="networkx")


@pytest.mark.parametrize("directed", [False, True])
def test_predecessors_by_hops_are_those_of_shortest_paths(directed: bool) -> None:
    G = nx.cycle_graph(7, create_using=nx.DiGraph if directed else nx.Graph)
    before, d = nx.floyd_warshall_predecessor_and_distance(G, weight=None, backend="sparsezc")
    for u in G:
        for v in set(G) - {u}:
            assert len(nx.reconstruct_path(u, v, before)) == d[u][v] + 1 == nx.shortest_path_length(G, u, v) + 1


def test_heaviest_edges_of_unsigned_weights_are_not_those_of_0() -> None:
    A = Matrix.from_coo([0, 1, 1, 2, 0, 2], [1, 0, 2, 1, 2, 0], np.array([0, 0, 5, 5, 7, 7], np.uint8))
    found = nx.maximum_spanning_edges(Graph(A), data=False, backend="sparsezc")
    assert sorted(map(tuple, map(sorted, found))) == [(0, 2), (1, 2)]
