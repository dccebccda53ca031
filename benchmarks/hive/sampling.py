"""Neighbours sampled for learning, three hops from 1,024 seeds; and the largest entries of each row."""

from __future__ import annotations

from typing import Any

import numpy as np

import sparsezc as gb
from benchmarks.hive.row import Goal, Input, Peer, Row
from benchmarks.verify.answers import Wrong

FANOUTS = (15, 10, 5)
SEEDS = 1024
LARGEST = 10
JUDGED = 50  # rows that are looked up


def _make(given: Input) -> tuple[gb.Matrix, Any]:
    A = given.read()
    return A, given.sources(A, SEEDS)


def _sample(made: tuple[gb.Matrix, Any]) -> list[tuple[Any, gb.Matrix]]:
    """Draw neighbours of the seeds, of these neighbours, and of theirs; each layer with its sources."""
    A, sources = made
    layers = []
    for hop, k in enumerate(FANOUTS):
        layer = gb.algorithms.sample_neighbors(A, sources, k, seed=hop)
        layers.append((sources, layer))
        if hop + 1 < len(FANOUTS):
            sources = layer.to_coo(rows=False, values=False)[1].astype(np.int64)
    return layers


def _judge(made: tuple[gb.Matrix, Any], layers: list[tuple[Any, gb.Matrix]]) -> None:
    """Each vertex has as many neighbours as it should, and some are looked up."""
    A, _ = made
    degree = A.apply("one").new("INT64").reduce_rowwise("plus").new().to_dense(fill_value=0)
    for (sources, layer), k in zip(layers, FANOUTS, strict=True):
        found = layer.reduce_rowwise(gb.agg.count).new().to_dense(fill_value=0)
        if not np.array_equal(found, np.minimum(degree[sources], k)):
            raise Wrong(f"vertices do not have {k} sampled neighbours, or all they have")
        some = np.arange(0, sources.size, max(1, sources.size // JUDGED))
        rows, columns, _values = layer[some, :].new().to_coo()
        theirs = A[sources[some], :].new()
        for r, j in zip(rows.tolist(), columns.tolist(), strict=True):
            if theirs[r, j].new().get(None) is None:
                raise Wrong(f"{j} was sampled for {sources[some][r]}, and there is no such edge")


def _edges(_: Any, layers: list[tuple[Any, gb.Matrix]]) -> float:
    return float(sum(layer.nvals for _sources, layer in layers))


def _make_weighted(given: Input) -> gb.Matrix:
    return given.read("?weights=1-255")


def _judge_largest(A: gb.Matrix, found: gb.Matrix) -> None:
    """Some rows have their largest values."""
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
        requests=lambda made, layers: int(_edges(made, layers)),
        peers=(Peer("pyg_lib, with its copy of the edges", _pyg, "pyg_lib"),), host_graph="urand:16",
    ),
    Row(
        "ten largest of each row", "kron:24", _make_weighted, lambda A: A.ss.selectk("largest", LARGEST),
        _judge_largest, nbytes=lambda A, found: A.nvals + 4 * found.nvals, host_graph="kron:16",
    ),
]  # fmt: skip
