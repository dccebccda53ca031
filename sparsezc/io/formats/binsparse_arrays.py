"""Binsparse files of any origin: their descriptor and arrays, and the entries of a matrix chunk by chunk.

A number that does not fit the type declared in the descriptor is refused, never converted.

Source: https://graphblas.org/binsparse-specification, version 0.1.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError
from sparsezc.io.build import stored_csr
from sparsezc.io.build.edge_list import Chunk, Chunks, EdgeFacts, narrow_ids
from sparsezc.io.hdf5 import aligned_file, csr_file
from sparsezc.io.hdf5.foreign import one_line
from sparsezc.terminal.progress import bar

MATRICES = ("CSR", "CSC", "COOR", "COOC", "DCSR", "DCSC", "DMATR", "DMATC")
VECTORS = ("CVEC", "DVEC")
ALIASES = {"COO": "COOR", "DMAT": "DMATR", "VEC": "CVEC"}
ARRAYS = {  # the arrays of each format beside the values
    "CSR": ("pointers_to_1", "indices_1"), "DCSR": ("indices_0", "pointers_to_1", "indices_1"),
    "COOR": ("indices_0", "indices_1"), "CVEC": ("indices_0",), "DVEC": (), "DMATR": (),
}  # fmt: skip
_TYPES = {
    **{name: np.dtype(name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")},
    "float32": np.dtype(np.float32), "float64": np.dtype(np.float64), "bint8": np.dtype(np.bool_),
    "complex[float32]": np.dtype(np.complex64), "complex[float64]": np.dtype(np.complex128),
}  # fmt: skip


class Source:
    """A matrix or a vector in a file: its descriptor, after checks, and the arrays that it describes."""

    def __init__(self, file: aligned_file.Container) -> None:
        self.path, self.file = file.path, file
        if file.text is None:
            raise FileFormatError(f"{self.path} is no binsparse file: it has no attribute 'binsparse'")
        found = json.loads(file.text).get("binsparse", {})
        missing = {"version", "format", "shape", "number_of_stored_values", "data_types"} - set(found)
        if missing:
            raise FileFormatError(f"{self.path}: the descriptor lacks {', '.join(sorted(missing))}")
        aligned_file.need_binsparse(self.path, found)
        self.format = ALIASES.get(found["format"], found["format"])
        if self.format not in MATRICES + VECTORS:
            given, known = one_line(repr(self.format), 60), ", ".join(MATRICES + VECTORS)
            raise FileFormatError(f"{self.path} has the format {given}; {known} are read")
        if found.get("structure", "general") != "general":
            raise FileFormatError(
                f"{self.path} has the structure {one_line(repr(found['structure']), 60)}; 'general' is read"
            )
        self.types = found["data_types"]
        self.count = self._whole("number_of_stored_values", found["number_of_stored_values"])
        self.shape = [self._whole("shape", size) for size in found["shape"]]
        if len(self.shape) != (1 if self.format in VECTORS else 2):
            raise FileFormatError(
                f"{self.path}: the shape {one_line(self.shape, 60)} is none of the format {self.format}"
            )
        self._check_sizes()

    def _whole(self, what: str, found: Any) -> int:
        if type(found) is not int or not 0 <= found < 2**63:
            raise FileFormatError(
                f"{self.path}: {what} has {one_line(repr(found), 60)}; a whole number from 0 to 2^63 - 1 is needed"
            )
        return found

    def _check_sizes(self) -> None:
        """Check that the descriptor and the arrays have the same numbers of entries."""
        kind, cells = by_rows(self.format), math.prod(self.shape)
        for name in (*ARRAYS[kind], "values"):
            if name not in self.file.arrays or name not in self.types:
                where = "data_types" if name in self.file.arrays else "the file"
                raise FileFormatError(f"{self.path} has the format {self.format}, and there is no {name} in {where}")
        if kind in ("DVEC", "DMATR") and self.count != cells:
            raise FileFormatError(f"{self.path}: a dense {self.format} of {cells:,} has {self.count:,} stored values")
        nrows = self.shape[-1] if self.format.endswith("C") else self.shape[0]
        rows = self.size("indices_0") if kind == "DCSR" else nrows
        needed = {"pointers_to_1": rows + 1, "values": 1 if self.one else self.count}
        for name in (*ARRAYS[kind], "values"):
            if kind == "DCSR" and name == "indices_0":
                continue
            if self._pairs(name) and self.file.arrays[name].size % 2:
                raise FileFormatError(
                    f"{self.path}: {name} has {self.file.arrays[name].size:,} numbers; pairs are needed"
                )
            if self.size(name) != (wanted := needed.get(name, self.count)):
                raise FileFormatError(
                    f"{self.path}: {name} has {self.size(name):,} entries; {wanted:,} are needed, as "
                    f"{self.count:,} are stored in {' x '.join(map(str, self.shape))}"
                )

    @property
    def one(self) -> bool:
        """Return whether one value stands for all."""
        return re.fullmatch(r"iso\[(.*)\]", str(self.types["values"])) is not None

    def size(self, name: str) -> int:
        """Return the number of entries of an array."""
        return self.file.arrays[name].size // (1 + self._pairs(name))

    def _pairs(self, name: str) -> bool:
        """Return whether complex numbers are stored as two numbers each."""
        return "complex" in str(self.types[name]) and np.dtype(self.file.arrays[name].dtype).kind != "c"

    def array(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return the entries ``start:stop`` in the type that the descriptor declares.

        The value of an iso-valued object is returned as an array without dimensions.

        Raises
        ------
        FileFormatError
            The declared type is unknown, or an entry does not fit it.
        """
        kind = str(self.types[name])
        one = re.fullmatch(r"iso\[(.*)\]", kind) if name == "values" else None
        inner = one[1] if one else kind
        if inner not in _TYPES or (name != "values" and _TYPES[inner].kind not in "iu"):
            needed = "a type of binsparse" if name == "values" else "a type of whole numbers"
            raise FileFormatError(f"{self.path}: {name} is declared as {one_line(repr(inner), 60)}; {needed} is needed")
        width = 1 + self._pairs(name)
        if one:
            start, stop = 0, 1
        data = self.file.read(name, width * start, None if stop is None else width * stop)
        if width == 2:
            if data.dtype.kind != "f":
                raise FileFormatError(f"{self.path}: {name} holds {data.dtype}; pairs of real numbers are needed")
            data = data.view(f"c{2 * data.itemsize}")
        found = exact(self.path, name, data, inner, start)
        return found.reshape(()) if one else found

    def ids(self, name: str, below: int, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return row or column ids like :meth:`array`; raise FileFormatError unless all are from 0 to `below` - 1."""
        found = self.array(name, start, stop)
        if found.size and (int(found.min()) < 0 or int(found.max()) >= below):
            at = int(np.flatnonzero((found < 0) | (found >= below))[0])
            raise FileFormatError(
                f"{self.path}: {name}[{start + at}] is {found[at]}; ids from 0 to {below - 1} are needed"
            )
        return narrow_ids(found)

    def offsets(self) -> NDArray[np.int64]:
        """Return the offsets of the rows, or of the columns in a format by columns."""
        found = self.ids("pointers_to_1", self.count + 1).astype(np.int64)
        if found[0] != 0 or found[-1] != self.count or (found[1:] < found[:-1]).any():
            raise FileFormatError(
                f"{self.path}: pointers_to_1 does not ascend from 0 to the {self.count:,} entries that are stored"
            )
        return found


def by_rows(format: str) -> str:
    """Return the format by rows that has the same arrays as a format by columns; other formats are unchanged."""
    return format[:-1] + "R" if format in ("CSC", "COOC", "DCSC", "DMATC") else format


def exact(path: Path, name: str, data: NDArray[Any], inner: str, start: int = 0) -> NDArray[Any]:
    """Return numbers in the type of this binsparse name, after checking that all of them fit it.

    Raises
    ------
    FileFormatError
        A number does not fit; the message names the first.
    """
    wanted = _TYPES[inner]
    if data.dtype == wanted:
        return data
    with np.errstate(all="ignore"):
        made = (data.real if data.dtype.kind == "c" and wanted.kind != "c" else data).astype(wanted)
        if wanted.kind == "b":
            right = (data == 0) | (data == 1)
        elif data.dtype.kind == "c" and wanted.kind != "c":
            right = np.zeros(data.shape, np.bool_)
        elif wanted.kind in "iu" and data.dtype.kind in "iuf":
            low, high = (float(end) if data.dtype.kind == "f" else int(end) for end in _range(wanted))
            right = (data >= low) & (data <= high)
            if data.dtype.kind == "f":  # the largest numbers are rounded to 2^63 and 2^64
                right &= (made == data) & (data < 2.0 ** (8 * wanted.itemsize - (wanted.kind == "i")))
        elif data.dtype.kind in "iu":
            whole = made.real.astype(np.float64) if wanted.kind == "c" else made
            top = 2.0 ** (8 * data.itemsize - (data.dtype.kind == "i"))
            right = (whole < top) & (np.where(whole < top, whole, 0).astype(data.dtype) == data)
        else:
            right = (made.astype(np.result_type(made, data)) == data) | (np.isnan(data) & np.isnan(made))
    if not right.all():
        at = int(np.flatnonzero(~right)[0])
        raise FileFormatError(
            f"{path}: {name}[{start + at}] is {data[at]} of {data.dtype}; the descriptor says {inner}, which "
            f"{_needed(wanted)}"
        )
    return made


def _range(kind: np.dtype[Any]) -> tuple[int, int]:
    return int(np.iinfo(kind).min), int(np.iinfo(kind).max)


def _needed(kind: np.dtype[Any]) -> str:
    if kind.kind == "b":
        return "has 0 and 1"
    if kind.kind in "iu":
        return "has the whole numbers from {} to {}".format(*_range(kind))
    return "has no such number"


def no_matrix(path: Path) -> FileFormatError:
    """Return the error for a vector where a matrix is needed."""
    return FileFormatError(f"{path} holds a vector; a matrix is needed (read_binsparse reads vectors)")


def chunks(path: Path) -> Chunks:
    """Yield the entries of a file that cannot be mapped."""
    with csr_file.opening(path) as (file, known), csr_file.damage(path):
        if known is not None:
            known.verify()
        source = Source(file)
        if source.format in VECTORS:
            raise no_matrix(path)
        (nrows, ncols), flipped = source.shape, source.format.endswith("C")
        dtype, iso = csr_file.value_type(str(source.types["values"]))
        progress = bar(source.count, f"reading {path.name}", " entries")
        plain = iso and dtype.is_bool and bool(source.array("values"))
        for rows, cols, values in _entries(source, *((ncols, nrows) if flipped else (nrows, ncols))):
            progress.update(rows.size)
            yield (cols, rows, None if plain else values) if flipped else (rows, cols, None if plain else values)
        progress.close()
    return EdgeFacts(nrows, ncols, dtype)


def _entries(source: Source, nrows: int, ncols: int) -> Iterator[Chunk]:
    """Yield the entries of a matrix stored by rows, or of the transpose of one stored by columns."""
    kind = by_rows(source.format)
    steps = [(start, min(start + stored_csr.CHUNK, source.count)) for start in range(0, source.count, stored_csr.CHUNK)]

    def values(start: int, stop: int) -> NDArray[Any]:
        return np.broadcast_to(source.array("values", start, stop), stop - start)

    @contextmanager
    def in_turn() -> Iterator[stored_csr.Take]:
        at = 0

        def take(count: int) -> tuple[NDArray[Any], NDArray[Any]]:
            nonlocal at
            at += count
            return source.array("indices_1", at - count, at), values(at - count, at)

        yield take

    if kind == "DMATR":
        for start, stop in steps:
            at = np.arange(start, stop)
            yield narrow_ids(at // ncols), narrow_ids(at % ncols), values(start, stop)
        return
    if kind == "COOR":
        for start, stop in steps:
            rows, cols = source.ids("indices_0", nrows, start, stop), source.ids("indices_1", ncols, start, stop)
            yield rows, cols, values(start, stop)
        return
    which = source.ids("indices_0", nrows) if kind == "DCSR" else None
    indptr = source.offsets()
    count = nrows if which is None else which.size
    for rows, cols, part in stored_csr.edge_chunks(
        stored_csr.StoredCsr(source.path, count, ncols, indptr, in_turn, None)
    ).chunks:
        yield rows if which is None else which[rows], cols, part
