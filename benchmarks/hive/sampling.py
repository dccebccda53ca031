"""Neighbours sampled for learning, three hops from 1,024 seeds, and their features; the largest entries of each row."""

from __future__ import annotations

from typing import Any

import numpy as np

import sparsezc as gb
from benchmarks.hive.row import Goal, Input, Peer, Row
from benchmarks.verify.answers import Wrong
from sparsezc import ops
from sparsezc.core.placement import feature_rows
from sparsezc.device import cuda

FANOUTS = (15, 10, 5)
SEEDS = 1024
WORDS = 64  # words of 8 bytes in a row of features
LARGEST = 10
JUDGED = 50  # rows that are looked up


def _host(x: Any) -> np.ndarray[Any, Any]:
    return x if isinstance(x, np.ndarray) else cuda.current().asnumpy(x)


def _make(given: Input) -> tuple[gb.Matrix, Any]:
    A = given.read()
    return A, given.sources(A, SEEDS)


def _sample(made: tuple[gb.Matrix, Any]) -> Any:
    A, sources = made
    return ops.sample_hops(A, sources, FANOUTS, seed=1)


def _judge(made: tuple[gb.Matrix, Any], found: Any) -> None:
    """Check that each vertex has its number of neighbours, all distinct, and that some are edges of the graph."""
    A, sources = made
    node, row, col, edge = map(_host, found[:4])
    degree = A.apply("one").new("INT64").reduce_rowwise("plus").new().to_dense(fill_value=0)
    others = node[sources.size :]
    if not np.array_equal(node[: sources.size], sources) or np.isin(others, sources).any():
        raise Wrong("the seeds are not the first vertices, or one of them is repeated")
    if np.unique(others).size != others.size:
        raise Wrong("a vertex is repeated")
    if np.unique(col * A.nvals + edge).size != edge.size:
        raise Wrong("an edge was sampled twice for a vertex")
    ends = np.cumsum([0, *found.num_sampled_nodes])
    drawn = np.bincount(col, minlength=node.size)
    for k, first, last in zip(FANOUTS, ends, ends[1:], strict=False):
        if not np.array_equal(drawn[first:last], np.minimum(degree[node[first:last]], k)):
            raise Wrong(f"vertices have neither {k} sampled neighbours nor all of theirs")
    for e in range(0, edge.size, max(1, edge.size // JUDGED)):
        if A[int(node[col[e]]), int(node[row[e]])].new().get(None) is None:
            raise Wrong(f"{node[row[e]]} was sampled for {node[col[e]]}, and there is no such edge")


def _edges(_: Any, found: Any) -> float:
    return float(sum(found.num_sampled_edges))


def _make_features(given: Input) -> tuple[Any, Any]:
    """Return a function that reads rows of features, and a batch of vertices; a row repeats its vertex's number."""
    A = given.read()
    at = ops.sample_hops(A, given.sources(A, SEEDS), FANOUTS, seed=1).node
    X = np.repeat(np.arange(A.nrows, dtype=np.uint64), WORDS).reshape(A.nrows, WORDS).view(np.uint8)
    read = feature_rows(A, X, given.placement)
    return read or (lambda at: X[at]), at


def _judge_features(made: tuple[Any, Any], found: Any) -> None:
    at = _host(made[1])
    if not (_host(found).view(np.uint64) == at[:, None].astype(np.uint64)).all():
        raise Wrong("a row of features is another vertex's")


def _feature_bytes(made: tuple[Any, Any], _: Any) -> int:
    return 8 * WORDS * int(made[1].size)


def _make_weighted(given: Input) -> gb.Matrix:
    return given.read("?weights=1-255")


def _judge_largest(A: gb.Matrix, found: gb.Matrix) -> None:
    """Check that some rows have their largest values."""
    some = np.arange(0, A.nrows, max(1, A.nrows // JUDGED))
    indptr, _ids, values = A[some, :].new().to_csr()
    ends, _ids, kept = found[some, :].new().to_csr()
    for r in range(some.size):
        expected = np.sort(values[indptr[r] : indptr[r + 1]])[::-1][:LARGEST]
        if not np.array_equal(np.sort(kept[ends[r] : ends[r + 1]])[::-1], expected):
            raise Wrong(f"row {some[r]} does not have its {LARGEST} largest values")


def _pyg(made: tuple[gb.Matrix, Any]) -> Any:
    import pyg_lib
    import torch

    A, sources = made
    indptr, ids, _values = A.to_csr()
    arrays = (torch.from_numpy(np.asarray(x, np.int64)) for x in (indptr, ids, sources))
    return pyg_lib.sampler.neighbor_sample(*arrays, list(FANOUTS), csc=True)


ROWS = [
    Row(
        "sampling (15, 10, 5)", "urand:24", _make, _sample, _judge,
        goals={"zerocopy": Goal(5e8, "edges")}, work=_edges,
        requests=lambda made, layers: int(_edges(made, layers)), share=0.75,
        peers=(Peer("pyg_lib, with its copy of the edges", _pyg, "pyg_lib"),), host_graph="urand:16",
    ),
    Row(
        "features of 512 bytes", "urand:24", _make_features, lambda made: made[0](made[1]), _judge_features,
        goals={"zerocopy": Goal(0.9 * 55e9, "bytes")},  # of the copy rate of the machine that goals are for
        work=_feature_bytes, nbytes=_feature_bytes, made="the vertices of a batch", host_graph="urand:16",
    ),
    Row(
        "ten largest of each row", "kron:24", _make_weighted, lambda A: A.ss.selectk("largest", LARGEST),
        _judge_largest, nbytes=lambda A, found: A.nvals + 4 * found.nvals, host_graph="kron:16",
    ),
]  # fmt: skip
