"""Matrices in files that lie ready (paged.py): opened without a look at their entries, or read into a placement."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.csr import Csr, index_dtype
from sparsezc.errors import FileFormatError, InvalidValue
from sparsezc.io import build, paged, stream
from sparsezc.io import weights as weighting
from sparsezc.io.atomic import Output
from sparsezc.io.optional import need
from sparsezc.io.pieces import rows_of
from sparsezc.io.source import existing
from sparsezc.io.weights import Weights
from sparsezc.memory import Buffer
from sparsezc.memory.budget import on_device, resolve
from sparsezc.memory.mapped import MappedBuffer
from sparsezc.semirings import types

ARRAYS = ("pointers_to_1", "indices_1", "values")
_VERSION = "0.1.0"


def find(path: Path) -> paged.Ready | None:
    """What is known of a file, if it lies ready; None for a file of another make.

    Raises
    ------
    PackageMissing
        h5py is not installed.
    FileFormatError
        No HDF5 file, damaged, or newer than this program.
    """
    h5py = need("h5py", "hdf5")
    try:
        with h5py.File(existing(path), "r") as file:
            return paged.opened(path, file)
    except (OSError, KeyError, ValueError, TypeError, RuntimeError) as error:
        if isinstance(error, FileFormatError | FileNotFoundError | IsADirectoryError):
            raise
        raise FileFormatError(f"{path} is no binsparse file, or damaged: {error}") from None


def unchecked(path: str | os.PathLike[str]) -> InvalidValue:
    """The error for what has no checksums to compare with."""
    return InvalidValue(f"{path} has no checksums; gb.io.convert and gb.io.write make .h5 files that have them")


def mapped(ready: paged.Ready) -> Csr:
    """The matrix, with its ids and values left in the file; the offsets are read and checked."""
    path, found = ready.path, ready.descriptor
    nrows, ncols = (int(size) for size in found["shape"])
    nvals = int(found["number_of_stored_values"])
    ready.verify("pointers_to_1")
    offset, count, kind = ready.places["pointers_to_1"]
    indptr = np.fromfile(path, kind, count, offset=offset).astype(np.int64, copy=False)
    if count != nrows + 1 or indptr[0] != 0 or indptr[-1] != nvals or bool((indptr[1:] < indptr[:-1]).any()):
        raise FileFormatError(f"{path}: the offsets are not those of {nrows:,} rows with {nvals:,} entries")
    offset, count, kind = ready.places["indices_1"]
    if count != nvals or kind != index_dtype(ncols, "device"):
        raise FileFormatError(f"{path}: indices_1 has {count:,} entries of {kind}; {nvals:,} of other make are needed")
    indices = MappedBuffer(path, offset, nvals, kind)
    dtype, iso = value_type(str(found["data_types"]["values"]))
    offset, count, kind = ready.places["values"]
    stored = 1 if iso else nvals
    if count * kind.itemsize != stored * dtype.np_type.itemsize:
        raise FileFormatError(f"{path}: values has {count:,} numbers; {stored:,} of {dtype} are needed")
    values = MappedBuffer(path, offset, stored, dtype.np_type)
    return Csr(nrows, ncols, indptr, indices, values, dtype, iso, ready.symmetric)


def value_type(name: str) -> tuple[types.DataType, bool]:
    """The type that binsparse calls so, and whether one value stands for all.

    >>> value_type("iso[bint8]"), value_type("complex[float32]")
    ((BOOL, True), (FC32, False))
    """
    inner = name.removeprefix("iso[").removesuffix("]") if name.startswith("iso[") else name
    known = {"bint8": "bool", "complex[float32]": "complex64", "complex[float64]": "complex128"}
    return types.lookup(known.get(inner, inner)), name.startswith("iso[")


def type_name(dtype: np.dtype[Any]) -> str:
    """A type by binsparse's name."""
    if dtype.kind == "c":
        return f"complex[float{dtype.itemsize * 4}]"
    return "bint8" if dtype.kind == "b" else dtype.name


def stored(ready: paged.Ready) -> stream.Stored:
    """The rows as they lie in the file, for those who read them once: nothing is mapped."""
    csr = mapped(ready)
    ids, values = (ready.places[name] for name in ARRAYS[1:])

    @contextmanager
    def entries() -> Iterator[stream.Take]:
        one = csr.values.read(0, 1) if csr.iso else None
        with ready.path.open("rb") as first, ready.path.open("rb") as second:
            first.seek(ids[0])
            second.seek(values[0])

            def take(count: int) -> tuple[NDArray[Any], NDArray[Any]]:
                part = np.fromfile(first, ids[2], count)
                weights = np.fromfile(second, csr.dtype.np_type, count) if one is None else np.broadcast_to(one, count)
                return part, weights

            yield take

    return stream.Stored(ready.path, csr.nrows, csr.ncols, csr.indptr, entries, csr.dtype, csr.symmetric)


def load(ready: paged.Ready, weights: Weights, placement: str | None, direct: bool) -> Csr | build.Edges:
    """The matrix with the weights asked for: mapped, or read into its placement."""
    csr = mapped(ready)
    same = weights.kind == "file" and weights.dtype in (None, csr.dtype)
    if not (direct or csr.symmetric):
        return stream.load(stored(ready), weights, placement, direct)
    where = _where(csr, placement)
    if same or weights.kind == "none":
        return (csr if same else _with(csr, MappedBuffer.of(np.ones(1, np.bool_)), types.BOOL, True)).place(where)
    return _revalued(csr, weights) if where == "mapped" else stream.load(stored(ready), weights, where, True)


def _with(csr: Csr, values: Buffer, dtype: types.DataType, iso: bool) -> Csr:
    """The same pattern with other values."""
    return Csr(csr.nrows, csr.ncols, csr.indptr, csr.indices, values, dtype, iso, csr.symmetric)


def _revalued(csr: Csr, weights: Weights) -> Csr:
    """A mapped pattern with values in memory: those of the file in another type, or made ones."""
    made, dtype = weights.kind == "hash", weights.dtype
    assert dtype is not None
    values = stream.Values("mapped" if on_device() else "host", csr.nvals, dtype)
    for start, _, rows, cols, part in rows_of(csr, rows=made, values=not made, label="reading"):
        values.write(start, weighting.hashed(rows, cols, weights) if made else part)
    buffer, iso = values.finish()
    return _with(csr, buffer, dtype, iso)


def _where(csr: Csr, placement: str | None) -> str:
    """The placement that was asked for; "auto" leaves what is large in the file."""
    value = 0 if csr.iso else csr.dtype.np_type.itemsize
    wide = csr.nvals * (index_dtype(csr.ncols, "host").itemsize + value)
    return resolve(placement, csr.placed_nbytes, csr.nrows, host_nbytes=wide, lies="mapped")


def descriptor(nrows: int, ncols: int, nvals: int, ids: np.dtype[Any], dtype: types.DataType, iso: bool) -> Any:
    """Binsparse's part of the descriptor."""
    kind = type_name(dtype.np_type)
    kinds = ("int64", ids.name, f"iso[{kind}]" if iso and nvals else kind)
    return {
        "version": _VERSION, "format": "CSR", "shape": [nrows, ncols], "number_of_stored_values": nvals,
        "data_types": dict(zip(ARRAYS, kinds, strict=True)),
    }  # fmt: skip


def save(csr: Csr, out: Output) -> None:
    """Write a matrix that will lie ready."""
    ids, iso = index_dtype(csr.ncols, "device"), csr.iso and csr.nvals > 0
    writer = paged.Writer(out.reserve())
    try:
        writer.array("pointers_to_1", csr.nrows + 1, np.int64).write(csr.indptr)
        indices = writer.array("indices_1", csr.nvals, ids)
        for _, _, _, part, _ in rows_of(csr, values=False):
            indices.write(part.astype(ids, copy=False))
        values = writer.array("values", 1 if iso else csr.nvals, csr.dtype.np_type)
        if iso:
            values.write(csr.values.read(0, 1))
        else:
            for *_, part in rows_of(csr):
                values.write(part)
        facts = descriptor(csr.nrows, csr.ncols, csr.nvals, ids, csr.dtype, iso)
        writer.finish(facts, symmetric=csr.symmetric)
    finally:
        writer.close()
