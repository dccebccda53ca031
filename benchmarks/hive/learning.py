"""GraphSAGE: two layers of sampled neighbours for every vertex, without training."""

from __future__ import annotations

from typing import Any

import numpy as np

import sparsezc as gb
from benchmarks.hive.row import Goal, Input, Peer, Row
from benchmarks.verify.answers import Wrong

FEATURES = 64  # of a vertex, and of its outputs of both layers
CHILDREN = 10
SEED = 1
JUDGED = 30  # vertices whose embeddings are computed again


def _make(given: Input) -> tuple[gb.Matrix, Any, list[Any]]:
    A, rng = given.read(), given.rng()
    X = rng.random((A.nrows, FEATURES), np.float32).astype(np.float64)
    return A, X, [rng.normal(scale=FEATURES**-0.5, size=(2 * FEATURES, FEATURES)) for _ in range(2)]


def _run(made: tuple[gb.Matrix, Any, list[Any]]) -> gb.Matrix:
    A, X, weights = made
    return gb.applications.graphsage(A, X, *weights, children=CHILDREN, seed=SEED)


def _samples(A: gb.Matrix, layer: int, some: Any) -> list[Any]:
    """Return the samples of some vertices in a layer; a vertex without neighbours samples itself."""
    S = gb.algorithms.sample_neighbors(A, np.arange(A.nrows), CHILDREN, seed=SEED + layer)
    indptr, ids, _values = S[some, :].new().to_csr()
    parts = np.split(ids.astype(np.int64), indptr[1:-1].astype(np.int64))
    return [part if part.size else np.array([v]) for v, part in zip(some, parts, strict=True)]


def _layer(own: Any, means: Any, W: Any) -> Any:
    Z = np.maximum(np.hstack([own, means]) @ W, 0)
    length = np.linalg.norm(Z, axis=1, keepdims=True)
    return np.divide(Z, length, out=Z, where=length > 0)


def _judge(made: tuple[gb.Matrix, Any, list[Any]], found: gb.Matrix) -> None:
    """Compute the embeddings of some vertices by NumPy from the same samples, and compare."""
    A, X, (W1, W2) = made
    some = np.unique(np.random.default_rng(2).integers(0, A.nrows, JUDGED))
    second = _samples(A, 1, some)
    met = np.unique(np.concatenate([some, *second]))
    first = np.array([X[part].mean(axis=0) for part in _samples(A, 0, met)])
    H = _layer(X[met], first, W1)
    means = np.array([H[np.searchsorted(met, part)].mean(axis=0) for part in second])
    expected = _layer(H[np.searchsorted(met, some)], means, W2)
    if (off := np.abs(found[some, :].new().to_dense(0.0) - expected).max()) > 1e-9:
        raise Wrong(f"embeddings differ from NumPy's by up to {off:.3g}")


def _layers(made: tuple[gb.Matrix, Any, list[Any]]) -> Any:
    """Return the features, and for each layer PyG's SAGEConv with our weights and our sample's edges."""
    import torch
    from torch_geometric.nn import SAGEConv

    A, X, weights = made
    layers = []
    for layer in range(2):
        S = gb.algorithms.sample_neighbors(A, np.arange(A.nrows), CHILDREN, seed=SEED + layer)
        i, j, _values = S.to_coo(values=False)
        conv = SAGEConv(FEATURES, FEATURES, bias=False).double()
        for part, W in zip((conv.lin_r, conv.lin_l), np.split(weights[layer], 2), strict=True):
            part.weight.data = torch.from_numpy(np.ascontiguousarray(W.T))
        layers.append((conv, torch.from_numpy(np.stack([j, i]).astype(np.int64))))
    return torch.from_numpy(X), layers


def _pyg(made: tuple[Any, Any]) -> Any:
    import torch

    h, layers = made
    with torch.no_grad():
        for conv, edges in layers:
            h = torch.nn.functional.normalize(conv(h, edges).relu())
    return h


ROWS = [
    Row(
        "graphsage", "urand:22", _make, _run, _judge,
        what="embeddings of all vertices, 64 features, 10 x 10 children", goals={"zerocopy": Goal(8e6, "vertices")},
        work=lambda made, _: float(made[0].nrows), requests=lambda made, _: 2 * CHILDREN * made[0].nrows,
        peers=(Peer("PyG's SAGEConv, samples drawn before", _pyg, "torch_geometric", most=1 << 26, prepare=_layers),
               Peer("Gunrock, V100", published=2.7e6)), made="random features and weights", host_graph="urand:14",
    ),
]  # fmt: skip
