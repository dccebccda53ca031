"""Binsparse files whoever wrote them: their descriptor and arrays, and the entries of a matrix piece by piece.

Source: https://graphblas.org/binsparse-specification, version 0.1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.errors import FileFormatError, GraphblasException, OutOfMemory
from sparsezc.io import paged, ready, stream
from sparsezc.io.build import narrow_ids
from sparsezc.io.listing import Listing, Piece
from sparsezc.io.optional import need
from sparsezc.io.source import existing
from sparsezc.progress import Progress

MATRICES = ("CSR", "CSC", "COOR", "COOC", "DCSR", "DCSC", "DMATR", "DMATC")
VECTORS = ("CVEC", "DVEC")
ALIASES = {"COO": "COOR", "DMAT": "DMATR", "VEC": "CVEC"}
ARRAYS = {  # of each format, beside the values
    "CSR": ("pointers_to_1", "indices_1"), "DCSR": ("indices_0", "pointers_to_1", "indices_1"),
    "COOR": ("indices_0", "indices_1"), "CVEC": ("indices_0",), "DVEC": (), "DMATR": (),
}  # fmt: skip
_UNPACKED = 1 << 24  # bytes: chunks of this size are unpacked once, where a file is read piece by piece


class Source:
    """A group of a file: its checked descriptor and its arrays."""

    def __init__(self, path: Path, group: Any) -> None:
        self.path, self.group = path, group
        text = paged.descriptor(path, group)
        if text is None:
            raise FileFormatError(f"{path}: the group {group.name!r} has no attribute 'binsparse'")
        found = json.loads(text).get("binsparse", {})
        missing = {"version", "format", "shape", "number_of_stored_values", "data_types"} - set(found)
        if missing:
            raise FileFormatError(f"{path}: the descriptor lacks {', '.join(sorted(missing))}")
        paged.need_binsparse(path, found)
        self.format = ALIASES.get(found["format"], found["format"])
        if self.format not in MATRICES + VECTORS:
            raise FileFormatError(f"{path} has the format {self.format!r}; {', '.join(MATRICES + VECTORS)} are read")
        if found.get("structure", "general") != "general":
            raise FileFormatError(f"{path} has the structure {found['structure']!r}; 'general' is read")
        self.shape = [int(n) for n in found["shape"]]
        self.count, self.types = int(found["number_of_stored_values"]), found["data_types"]

    def size(self, name: str) -> int:
        """The entries of an array."""
        data = self.group[name]
        return int(data.size) // (1 + self._pairs(name))

    def need_size(self, name: str, needed: int) -> None:
        """Refuse an array of another size."""
        found = self.count if name == "values" else self.size(name)
        if found != needed:
            raise FileFormatError(f"{self.path}: {name} has {found:,} entries; {needed:,} are needed")

    def _pairs(self, name: str) -> bool:
        """Whether complex numbers are stored as two numbers each."""
        return "complex" in str(self.types[name]) and self.group[name].dtype.kind != "c"

    def array(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """The entries ``start:stop``; one value without dimensions where the file has one for all."""
        kind, stored = str(self.types[name]), self.group[name]
        one = re.fullmatch(r"iso\[(.*)\]", kind)
        inner = one[1] if one else kind
        if name != "values" and np.dtype(inner).kind not in "iu":
            raise FileFormatError(f"{self.path}: {name} holds {inner}; whole numbers are needed")
        if name == "values" and self.size(name) != (1 if one else self.count):
            raise FileFormatError(f"{self.path}: values has {self.size(name)} entries; {self.count} are stored")
        width = 1 + (self._pairs(name) and stored.ndim == 1)
        data = np.asarray(stored[() if one else slice(width * start, None if stop is None else width * stop)])
        if wide := re.fullmatch(r"complex\[float(32|64)\]", inner):
            data = data if data.dtype.kind == "c" else np.ascontiguousarray(data).view(f"c{int(wide[1]) // 4}")
        elif inner == "bint8":
            data = data.astype(np.bool_)
        elif data.dtype != np.dtype(inner):
            data = data.astype(inner)
        return data.reshape(()) if one else data.reshape(-1)

    def ids(self, name: str, below: int, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """The same of rows or columns, all of which there must be."""
        found = self.array(name, start, stop)
        bad = np.flatnonzero((found < 0) | (found >= below))
        if bad.size:
            at = int(bad[0])
            raise FileFormatError(
                f"{self.path}: {name}[{start + at}] is {found[at]}; ids from 0 to {below - 1} are needed"
            )
        return narrow_ids(found)


def no_matrix(path: Path) -> FileFormatError:
    """The error for a vector where a matrix is needed."""
    return FileFormatError(f"{path} holds a vector; a matrix is needed (read_binsparse reads vectors)")


def pieces(path: Path, listed: Listing) -> Iterator[Piece]:
    """The entries of a file that others wrote."""
    h5py = need("h5py", "hdf5")
    try:
        with h5py.File(existing(path), "r", rdcc_nbytes=_UNPACKED) as file:
            source = Source(path, file)
            if source.format in VECTORS:
                raise no_matrix(path)
            (listed.nrows, listed.ncols), flipped = source.shape, source.format.endswith("C")
            listed.dtype, iso = ready.value_type(str(source.types["values"]))
            progress = Progress(source.count, f"reading {path.name}", " entries")
            plain = iso and listed.dtype.is_bool and bool(source.array("values"))
            for rows, cols, values in _entries(source, *(source.shape[::-1] if flipped else source.shape)):
                progress.advance(rows.size)
                yield (cols, rows, None if plain else values) if flipped else (rows, cols, None if plain else values)
            progress.close()
    except (FileFormatError, OutOfMemory):
        raise
    except (GraphblasException, *ready.DAMAGE) as error:
        raise FileFormatError(f"{path} is no binsparse file, or damaged: {error}") from None


def _entries(source: Source, nrows: int, ncols: int) -> Iterator[Piece]:
    """The entries of a matrix that is stored by rows, or of one by columns with its sizes exchanged."""
    kind = source.format[:-1] + "R" if source.format.endswith("C") else source.format
    steps = [(start, min(start + stream.PIECE, source.count)) for start in range(0, source.count, stream.PIECE)]

    def values(start: int, stop: int) -> NDArray[Any]:
        return np.broadcast_to(source.array("values", start, stop), stop - start)

    @contextmanager
    def in_turn() -> Iterator[stream.Take]:
        at = 0

        def take(count: int) -> tuple[NDArray[Any], NDArray[Any]]:
            nonlocal at
            at += count
            return source.array("indices_1", at - count, at), values(at - count, at)

        yield take

    if kind == "DMATR":
        source.need_size("values", nrows * ncols)
        for start, stop in steps:
            at = np.arange(start, stop)
            yield narrow_ids(at // ncols), narrow_ids(at % ncols), values(start, stop)
        return
    source.need_size("indices_1", source.count)
    if kind == "COOR":
        source.need_size("indices_0", source.count)
        for start, stop in steps:
            rows, cols = source.ids("indices_0", nrows, start, stop), source.ids("indices_1", ncols, start, stop)
            yield rows, cols, values(start, stop)
        return
    which = source.ids("indices_0", nrows) if kind == "DCSR" else None
    indptr = source.array("pointers_to_1").astype(np.int64)
    source.need_size("indices_1", int(indptr[-1]))
    count = nrows if which is None else which.size
    for rows, cols, part in stream.listed(stream.Stored(source.path, count, ncols, indptr, in_turn, None)).pieces:
        yield rows if which is None else which[rows], cols, part
