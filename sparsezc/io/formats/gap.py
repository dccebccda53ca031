"""The GAP Benchmark Suite's serialized graphs: .sg and, with weights, .wsg.

Order of arrays, little-endian: one byte that is 1 for a directed graph; the numbers of stored edges and of vertices
(int64); vertices + 1 offsets (int64); the edges' ids (int32), in a .wsg each followed by its weight (int32); and for a
directed graph offsets and ids of the incoming edges, too.
Source: S. Beamer, K. Asanovic, D. Patterson, The GAP Benchmark Suite, arXiv:1508.03619, 2015.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sparsezc.exceptions import FileFormatError, InvalidValue
from sparsezc.io.build import edge_list, stored_csr
from sparsezc.io.build.csr_chunks import integers, rows_of, transposed
from sparsezc.io.build.stored_ranges import Stored, StoredRanges
from sparsezc.io.build.weights import Weights
from sparsezc.io.files.atomic_write import Output
from sparsezc.io.files.source import InputFile, plain_name
from sparsezc.io.formats.symmetry_check import SymmetryCheck
from sparsezc.memory.csr import Csr
from sparsezc.semirings.types import datatypes

_HEAD = 1 + 8 + 8
_PAIR = np.dtype([("id", "<i4"), ("weight", "<i4")])


def _weighted(path: Path) -> bool:
    return plain_name(path.name).endswith(".wsg")


def read(path: Path, *, weights: Weights, placement: str | None, direct: bool) -> Csr | edge_list.Edges:
    """Read the graph's outgoing edges.

    Raises
    ------
    FileFormatError
        The header's counts and the file's size differ, offsets descend, ids are out of range, or the header marks a
        directed graph as undirected.
    """
    return stored_csr.load(stored(path), weights, placement, direct)


@dataclass(frozen=True)
class _Head:
    """The facts in a file's header; `entry`: the type of an edge in the file."""

    directed: int
    nvals: int
    n: int
    entry: np.dtype[Any]


def _head(path: Path, file: InputFile) -> _Head:
    """Read the header, and compare it with the file's size."""
    directed = int(stored_csr.read_exactly(file, 1, np.uint8, "header")[0])
    nvals, n = (int(x) for x in stored_csr.read_exactly(file, 2, "<i8", "header"))
    if directed > 1 or nvals < 0 or n < 0:
        raise FileFormatError(
            f"{path} is no GAP graph: found the directed mark {directed} (0 or 1 is needed), "
            f"{nvals} edges, {n} vertices"
        )
    entry = np.dtype(_PAIR if _weighted(path) else "<i4")
    _check_size(file, _HEAD + (1 + directed) * (8 * (n + 1) + entry.itemsize * nvals), n, nvals)
    return _Head(directed, nvals, n, entry)


def ranges(path: Path, weights: Weights) -> StoredRanges | None:
    """Return the stored rows as an object that reads any range of them; None if the file is gzipped."""
    with InputFile(path) as file:
        if file.compressed:
            return None
        head = _head(path, file)
    offsets, body = Stored(path, _HEAD, np.dtype("<i8")), _HEAD + 8 * (head.n + 1)
    weighted = head.entry.names is not None
    ids = Stored(path, body, head.entry, "id" if weighted else "")
    values = Stored(path, body, head.entry, "weight") if weighted and weights.kind == "file" else None
    dtype = datatypes.INT32 if weighted else datatypes.BOOL
    return StoredRanges(path, head.n, head.nvals, offsets, ids, values, dtype, not head.directed)


def stored(path: Path) -> stored_csr.StoredCsr:
    """Return the stored rows as an object that reads them from their start."""
    with InputFile(path) as file:
        head = _head(path, file)
        n, nvals, entry, directed = head.n, head.nvals, head.entry, head.directed
        indptr = stored_csr.read_offsets(file, n + 1, "<i8")
    weighted = entry.names is not None
    if indptr[-1] != nvals:
        raise FileFormatError(f"{path}: the offsets end at {indptr[-1]}; the header says {nvals} edges")

    @contextmanager
    def entries() -> Iterator[stored_csr.Take]:
        with InputFile(path) as body, nullcontext() if directed else SymmetryCheck(indptr) as both:
            _skip(body, _HEAD + 8 * (n + 1))

            def take(count: int) -> tuple[Any, Any]:
                part = stored_csr.read_exactly(body, count, entry, "edges")
                ids, weights = (part["id"], part["weight"]) if weighted else (part, None)
                if both is not None:
                    both.add(ids, weights)
                return ids, weights

            yield take
            if both is not None:
                both.check(path)
            while body.compressed and body.read(1 << 20):  # the gzip checksum is at the end of the file
                pass

    dtype = datatypes.INT32 if weighted else None
    return stored_csr.StoredCsr(path, n, n, indptr, entries, dtype, symmetric=not directed)


def _check_size(file: InputFile, need: int, n: int, nvals: int) -> None:
    if file.limit < need or (file.limit != need and not file.compressed):
        size = f"at most {file.limit:,}" if file.compressed else f"{file.limit:,}"
        raise FileFormatError(
            f"{file.path} has {size} bytes; its header ({n:,} vertices, {nvals:,} edges) needs {need:,}"
        )


def _skip(file: InputFile, count: int) -> None:
    while count:
        count -= len(stored_csr.read_exactly(file, min(count, 1 << 20), np.uint8, "offsets"))


def write(csr: Csr, out: Output) -> None:
    """Write a graph; unless it is known to be symmetric, its incoming edges are stored, too, as GAP does."""
    if csr.nrows != csr.ncols or csr.nrows >= 2**31:
        raise InvalidValue(
            f"a .sg or .wsg file holds a square matrix of less than 2^31 rows, not {csr.nrows} x {csr.ncols}"
        )
    weighted = _weighted(out.path)
    with out.open() as file:
        file.write(np.uint8(not csr.symmetric).tobytes())
        file.write(np.array([csr.nvals, csr.nrows], "<i8").tobytes())
        for half in (csr,) if csr.symmetric else (csr, transposed(csr)):
            file.write(half.indptr.astype("<i8", copy=False).data)
            for start, stop, _, cols, values in rows_of(half):
                if weighted:
                    part = np.empty(stop - start, _PAIR)
                    part["id"], part["weight"] = cols, integers(values, np.int32, ".wsg")
                    file.write(part.data)
                else:
                    file.write(cols.astype("<i4").data)
