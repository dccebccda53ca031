"""Graphs and models that the loader's tests share."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import sparsezc as gb


def directed(n: int = 80, m: int = 700, seed: int = 0) -> gb.Matrix:
    """Return a random directed graph with weights."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, m))
    return gb.Matrix.from_coo(i, j, rng.random(m) + 0.1, nrows=n, ncols=n, dup_op="first")


def planted(sizes: tuple[int, ...], inside: float, across: float, seed: int = 0) -> tuple[gb.Matrix, Any]:
    """Return a symmetric graph whose edges are likelier within communities, and the community of each vertex."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    i, j = np.nonzero(np.triu(rng.random((y.size, y.size)) < np.where(y[:, None] == y, inside, across), 1))
    return gb.Matrix.from_coo([*i, *j], [*j, *i], 1, nrows=y.size, ncols=y.size), y


def edge_index(A: gb.Matrix) -> Any:
    """Return a matrix's entries as PyG's ``edge_index``."""
    import torch

    i, j, _ = A.to_coo(values=False)
    return torch.from_numpy(np.stack([i, j]).astype(np.int64))


def sage(*widths: int) -> Any:
    """Return a model of GraphSAGE layers of these widths."""
    import torch
    from torch_geometric.nn import SAGEConv

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.ModuleList(SAGEConv(a, b) for a, b in pairwise(widths))

        def forward(self, x: Any, edges: Any) -> Any:
            for k, layer in enumerate(self.layers):
                x = layer(x, edges).relu() if k + 1 < len(self.layers) else layer(x, edges)
            return x

    return Model()
