"""Edges of a graph some at a time: what every reader of edges gives, whole in memory or sorted on disk.

A format that lists its edges has a function ``edge_chunks(path)``; one that stores rows has ``stored(path)``
(:mod:`sparsezc.io.build.stored_csr`), which :func:`sparsezc.io.build.stored_csr.edge_chunks` takes apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.io.build.csr_builder import BLOCK, Edges, require_sorting
from sparsezc.semirings.types.datatypes import DataType

#: Rows, columns, and a value each or None: as in :class:`~sparsezc.io.build.csr_builder.Edges`.
Chunk = tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]


@dataclass
class EdgeChunks:
    """Edges in chunks; the attributes, as those of Edges, are final when the chunks have run out.

    `distinct`, which is known before: a position that occurs twice is damage.
    """

    nrows: int = 0
    ncols: int = 0
    undirected: bool = False
    mirrored: bool = False
    dtype: DataType | None = None
    distinct: bool = False
    chunks: Iterator[Chunk] = field(default_factory=lambda: iter(()))

    @classmethod
    def by(cls, make: Callable[[EdgeChunks], Iterator[Chunk]], **facts: Any) -> EdgeChunks:
        """Edges whose chunks come from a generator that knows the object, to say what it has found."""
        made = cls(**facts)
        made.chunks = make(made)
        return made

    @classmethod
    def of(cls, edges: Edges) -> EdgeChunks:
        """Edges that are in memory."""

        def chunks(_: EdgeChunks) -> Iterator[Chunk]:
            for at in range(0, edges.rows.size, BLOCK):
                part = slice(at, at + BLOCK)
                yield edges.rows[part], edges.cols[part], None if edges.values is None else edges.values[part]

        return cls.by(
            chunks, nrows=edges.nrows, ncols=edges.ncols, undirected=edges.undirected, mirrored=edges.mirrored,
            dtype=edges.dtype,
        )  # fmt: skip


def collect(found: EdgeChunks) -> Edges:
    """All edges in memory."""
    rows, cols, values = (_joined(column) for column in _columns(found.chunks))
    rows, cols = (np.empty(0, np.uint32) if part is None else part for part in (rows, cols))
    return Edges(found.nrows, found.ncols, rows, cols, values, found.undirected, found.mirrored, found.dtype)


def _columns(chunks: Iterable[Chunk]) -> tuple[list[Any], list[Any], list[Any]]:
    columns: tuple[list[Any], list[Any], list[Any]] = [], [], []
    count = checked = 0
    for chunk in chunks:
        for column, part in zip(columns, chunk, strict=True):
            column.append(part)
        count += chunk[0].size
        if count - checked >= BLOCK:
            require_sorting(count, chunk[2], mirrored=False)
            checked = count
    return columns


def _joined(parts: list[NDArray[Any] | None]) -> NDArray[Any] | None:
    """One array of all, its parts given up; None where there are none."""
    some = [part for part in parts if part is not None]
    parts.clear()
    return np.concatenate(some) if some else None
