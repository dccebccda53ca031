"""A user's file format: ``.pairs``, a line of JSON with the sizes, then one with a list for each edge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import sparsezc as gb


def read(path: Path, *, weights: Any, placement: str | None, direct: bool) -> gb.io.Edges:
    """Return the edges of a file; the caller makes `weights` from the values, and `direct` is for CSR formats."""
    try:
        head, *lines = path.read_text().splitlines()
        nrows, ncols = json.loads(head)
        edges = np.array([json.loads(line) for line in lines] or np.empty((0, 3), np.int64))
        if edges.shape[1:] != (3,) or edges.dtype != np.int64:
            raise ValueError(f"found edges of {edges.dtype} of shape {edges.shape}")
    except ValueError as error:
        raise gb.exceptions.FileFormatError(
            f"{path}: {error}; two sizes and then lists of three whole numbers are needed"
        ) from None
    return gb.io.Edges(nrows, ncols, edges[:, 0], edges[:, 1], edges[:, 2])


def write(csr: Any, output: Any) -> None:
    """Write a matrix of whole numbers; `values` has one number if all are equal."""
    rows = np.repeat(np.arange(csr.nrows), np.diff(csr.indptr))
    values = np.broadcast_to(csr.values.read(), csr.nvals)
    with output.open() as file:
        file.write(f"[{csr.nrows}, {csr.ncols}]\n".encode())
        for edge in zip(rows.tolist(), csr.indices.read().tolist(), values.tolist(), strict=True):
            file.write(f"{json.dumps(edge)}\n".encode())


def edge_chunks(path: Path, weights: Any) -> gb.io.EdgeChunks:
    """Return edges for conversions in bounded memory; this small format has one edge chunk."""
    return gb.io.EdgeChunks.of(read(path, weights=weights, placement=None, direct=False))
