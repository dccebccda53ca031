"""Matrices in aligned files (aligned_file.py): opened without reading their entries, or read into a placement."""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device.processors import processors
from sparsezc.exceptions import FileFormatError, GraphblasException, InvalidValue, OutOfMemory, Panic
from sparsezc.io.build import edge_list, stored_csr
from sparsezc.io.build import weights as weighting
from sparsezc.io.build.csr_chunks import rows_of
from sparsezc.io.build.optional import PackageMissing
from sparsezc.io.build.weights import Weights
from sparsezc.io.hdf5 import aligned_file
from sparsezc.io.hdf5.foreign import one_line
from sparsezc.memory import Buffer, id_blocks
from sparsezc.memory.budget import placement_beside, resolve
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.csr import Csr
from sparsezc.memory.mapped import MappedBuffer, check_rows
from sparsezc.memory.placement import FILES, HOST, HOSTS, OPENED
from sparsezc.semirings.types import datatypes

ARRAYS = ("pointers_to_1", "indices_1", "values")
BLOCKS = ("blocks", "block_headers", "block_starts")  # in the place of indices_1, if ids are compressed
FORMS = ("CSR", "sparsezc CSR in blocks")
_VERSION = "0.1.0"
#: Errors that h5py raises on damaged bytes, and errors that a wrong descriptor causes.
DAMAGE = (OSError, LookupError, ValueError, TypeError, RuntimeError, AttributeError, ArithmeticError)
#: Errors that are raised unchanged: those that name the file already, and those that are not caused by the file.
_OTHERS = (
    FileFormatError, OutOfMemory, Panic, PackageMissing, FileNotFoundError, IsADirectoryError, PermissionError,
    TimeoutError,
)  # fmt: skip


@contextmanager
def opening(
    path: Path, group: str | None = None
) -> Iterator[tuple[aligned_file.Container, aligned_file.MappableFile | None]]:
    """Open a file; yield it, and the facts about it if it has checksums.

    Raises
    ------
    PackageMissing
        h5py is not installed, which is needed for files without a seal.
    FileFormatError
        The file is no HDF5 file, damaged, or newer than this program.
    """
    with ExitStack() as stack:
        with damage(path):
            file = aligned_file.container(path, group)
            stack.callback(file.close)
            found = aligned_file.opened(file)
        yield file, found


def find(path: Path) -> aligned_file.MappableFile | None:
    """Return the facts about a file with checksums; None for a file of another program. Raises as :func:`opening`."""
    with opening(path) as (_, found):
        return found


def can_be_mapped(found: aligned_file.MappableFile) -> bool:
    """Return whether a file with checksums can be mapped; vectors, and other formats than CSR, have to be read."""
    return found.descriptor.get("format") in FORMS


@contextmanager
def damage(path: Path) -> Iterator[None]:
    """Replace the errors that a damaged file causes by FileFormatError or OutOfMemory with the file's name."""
    try:
        yield
    except GraphblasException as error:
        if isinstance(error, _OTHERS):
            raise
        raise FileFormatError(f"{path} is no binsparse file, or damaged: {one_line(error)}") from None
    except MemoryError as error:
        raise OutOfMemory(f"{path} does not fit the host's memory: {one_line(error)}") from None
    except DAMAGE as error:
        _refuse_shortage(path, error)
        said = f"there is no {error.args[0]!r}" if isinstance(error, KeyError) and error.args else error
        raise FileFormatError(f"{path} is no binsparse file, or damaged: {one_line(said)}") from None


def _refuse_shortage(path: Path, error: Exception) -> None:
    """Raise OutOfMemory if the system refused memory or addresses for a file, which is no sign of damage."""
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        raise OutOfMemory(
            f"{path} cannot be mapped: the system has too little memory, or a limit on addresses (ulimit -v) is below"
            " the size of the file"
        ) from None


def unchecked(path: str | os.PathLike[str]) -> InvalidValue:
    """Return the error for a file without checksums."""
    return InvalidValue(f"{path} has no checksums; gb.io.convert and gb.io.write make .h5 files that have them")


def mapped(mappable: aligned_file.MappableFile) -> Csr:
    """Return the matrix, with ids and values left in the file; the offsets are read and checked."""
    try:
        return _mapped(mappable)
    except GraphblasException:
        raise
    except DAMAGE as error:
        _refuse_shortage(mappable.path, error)
        raise FileFormatError(
            f"{mappable.path} is damaged: its descriptor does not fit its arrays ({error!r})"
        ) from None


def _mapped(mappable: aligned_file.MappableFile) -> Csr:
    path, found = mappable.path, mappable.descriptor
    nrows, ncols = (int(size) for size in found["shape"])
    nvals = int(found["number_of_stored_values"])
    indptr = mappable.read("pointers_to_1").astype(np.int64, copy=False)
    if indptr.size != nrows + 1 or indptr[0] != 0 or indptr[-1] != nvals or _falls(indptr):
        raise FileFormatError(f"{path}: the offsets are not those of {nrows:,} rows with {nvals:,} entries")
    indices = _blocks(mappable, nvals, ncols) if BLOCKS[0] in mappable.places else _ids(mappable, nvals, ncols)
    dtype, iso = value_type(str(found["data_types"]["values"]))
    offset, count, kind = mappable.places["values"]
    stored = 1 if iso else nvals
    if count * kind.itemsize != stored * dtype.np_type.itemsize:
        raise FileFormatError(f"{path}: values has {count:,} numbers; {stored:,} of {dtype} are needed")
    values = MappedBuffer(path, offset, stored, dtype.np_type)
    return Csr(nrows, ncols, indptr, indices, values, dtype, iso, mappable.symmetric)


def _falls(offsets: NDArray[np.int64]) -> bool:
    """Return whether an offset is less than the one before; by up to 16 threads, as there may be 10^8 rows."""

    def look(start: int) -> bool:
        part = offsets[start : start + edge_list.BLOCK + 1]
        return bool((part[1:] < part[:-1]).any())

    with ThreadPoolExecutor(processors(16)) as pool:
        return any(pool.map(look, range(0, offsets.size, edge_list.BLOCK)))


def _ids(mappable: aligned_file.MappableFile, nvals: int, ncols: int) -> Buffer:
    offset, count, kind = mappable.places["indices_1"]
    if count != nvals or kind != index_dtype(ncols, "device"):
        raise FileFormatError(
            f"{mappable.path}: indices_1 has {count:,} entries of {kind}; {nvals:,} of "
            f"{index_dtype(ncols, 'device')} are needed"
        )
    return MappedBuffer(mappable.path, offset, nvals, kind, ncols)


def _blocks(mappable: aligned_file.MappableFile, nvals: int, ncols: int) -> Buffer:
    """Return compressed ids: the blocks stay in the file; their headers and starts are read and checked."""
    path = mappable.path
    headers, starts = (mappable.read(name) for name in BLOCKS[1:])
    offset, count, kind = mappable.places[BLOCKS[0]]
    if headers.size != id_blocks.padded(nvals) or headers.dtype != np.uint16:
        raise FileFormatError(
            f"{path}: block_headers has {headers.size:,} entries of {headers.dtype}, which do not fit {nvals:,} ids"
        )
    if ncols > 2**32:
        raise FileFormatError(f"{path} has {ncols:,} columns; compressed ids count 2^32 at most")
    words = int((headers >> 10).sum(dtype=np.uint64))
    known = starts.dtype == np.uint64 and np.array_equal(starts, id_blocks.starts_of(headers))
    if not known or count != -(-words // id_blocks.LINE) * id_blocks.LINE or kind != np.uint32:
        raise FileFormatError(f"{path}: blocks has {count:,} words; headers, starts and words do not match")
    return id_blocks.BlocksBuffer(nvals, headers, starts, MappedBuffer(path, offset, count, kind), ncols)


def bits(mappable: aligned_file.MappableFile) -> float:
    """Return the average number of bits of a compressed id in a file, with headers; 0 if ids are not compressed."""
    nvals = int(mappable.descriptor["number_of_stored_values"])
    places = [mappable.places[name] for name in BLOCKS if name in mappable.places]
    return 8 * sum(count * kind.itemsize for _, count, kind in places) / max(nvals, 1)


def value_type(name: str) -> tuple[datatypes.DataType, bool]:
    """Return the type that binsparse's name means, and whether one value stands for all.

    >>> value_type("iso[bint8]"), value_type("complex[float32]")
    ((BOOL, True), (FC32, False))
    """
    inner = name.removeprefix("iso[").removesuffix("]") if name.startswith("iso[") else name
    known = {"bint8": "bool", "complex[float32]": "complex64", "complex[float64]": "complex128"}
    return datatypes.lookup(known.get(inner, inner)), name.startswith("iso[")


def type_name(dtype: np.dtype[Any]) -> str:
    """Return binsparse's name for a type."""
    if dtype.kind == "c":
        return f"complex[float{dtype.itemsize * 4}]"
    return "bint8" if dtype.kind == "b" else dtype.name


def stored(mappable: aligned_file.MappableFile) -> stored_csr.StoredCsr:
    """Return the stored rows as an object that reads them once from their start."""
    csr = mapped(mappable)

    @contextmanager
    def entries() -> Iterator[stored_csr.Take]:
        one = csr.values.read(0, 1) if csr.iso else None
        with _ids_in_turn(mappable, csr) as ids, mappable.path.open("rb") as second:
            second.seek(mappable.places["values"][0])

            def take(count: int) -> tuple[NDArray[Any], NDArray[Any]]:
                part = ids(count)
                weights = np.fromfile(second, csr.dtype.np_type, count) if one is None else np.broadcast_to(one, count)
                return part, weights

            yield take

    return stored_csr.StoredCsr(mappable.path, csr.nrows, csr.ncols, csr.indptr, entries, csr.dtype, csr.symmetric)


@contextmanager
def _ids_in_turn(mappable: aligned_file.MappableFile, csr: Csr) -> Iterator[Callable[[int], NDArray[Any]]]:
    """Yield a function that returns as many of the next ids as its argument says."""
    if isinstance(csr.indices, id_blocks.BlocksBuffer):
        at = 0

        def decoded(count: int) -> NDArray[Any]:
            nonlocal at
            at += count
            return csr.indices.read(at - count, at)

        yield decoded
        return
    offset, _, kind = mappable.places["indices_1"]
    with mappable.path.open("rb") as file:
        file.seek(offset)
        yield lambda count: np.fromfile(file, kind, count)


def load(
    mappable: aligned_file.MappableFile, weights: Weights, placement: str | None, direct: bool, verify: bool = False
) -> Csr | edge_list.Edges:
    """Return the matrix with the requested weights: mapped, or read into its placement.

    Arrays that are read are compared with their checksums, mapped arrays at their first use; with `verify` all arrays
    are compared now.
    """
    csr = mapped(mappable)
    same = weights.kind == "file" and weights.dtype in (None, csr.dtype)
    direct = direct or csr.symmetric
    where = _where(csr, placement) if direct else HOST
    ids = BLOCKS[0] if BLOCKS[0] in mappable.places else "indices_1"
    if verify:
        mappable.verify()
    elif where not in FILES:
        mappable.verify(ids, *(["values"] if weights.kind == "file" else []))
    else:
        body = csr.indices.body if isinstance(csr.indices, id_blocks.BlocksBuffer) else csr.indices
        for name, buffer in ((ids, body), ("values", csr.values)):
            assert isinstance(buffer, MappedBuffer)
            buffer.compare_first(partial(mappable.compare, name))
    if not direct:
        return stored_csr.load(stored(mappable), weights, placement, False)
    if same or weights.kind == "none":
        csr = csr if same else csr.with_values(MappedBuffer.of(np.ones(1, np.bool_)), datatypes.BOOL, True)
        placed = csr.place(where)
        return check_rows(mappable.path, placed) if where in HOSTS else placed
    return _revalued(csr, weights) if where in FILES else stored_csr.load(stored(mappable), weights, where, True)


def _revalued(csr: Csr, weights: Weights) -> Csr:
    """Return a mapped pattern with values in memory: the file's in another type, or generated ones."""
    made, dtype = weights.kind == "hash", weights.dtype
    assert dtype is not None
    values = stored_csr.Values(placement_beside(OPENED), csr.nvals, dtype)
    for start, _, rows, cols, part in rows_of(csr, rows=made, values=not made, label="reading"):
        if not made:
            weighting.check_fit(part, dtype)
        values.write(start, weighting.hashed(rows, cols, weights) if made else part)
    buffer, iso = values.finish()
    return csr.with_values(buffer, dtype, iso)


def _where(csr: Csr, placement: str | None) -> str:
    """Return the requested placement; "auto" leaves large matrices in the file."""
    value = 0 if csr.iso else csr.dtype.np_type.itemsize
    wide = csr.nvals * (index_dtype(csr.ncols, "host").itemsize + value)
    return resolve(placement, csr.placed_nbytes, csr.nrows, csr.nvals, host_nbytes=wide, current=OPENED)


def descriptor(nrows: int, ncols: int, nvals: int, ids: np.dtype[Any], dtype: datatypes.DataType, iso: bool) -> Any:
    """Return the part of the descriptor that binsparse defines."""
    kind = type_name(dtype.np_type)
    kinds = ("int64", ids.name, f"iso[{kind}]" if iso and nvals else kind)
    return {
        "version": _VERSION, "format": "CSR", "shape": [nrows, ncols], "number_of_stored_values": nvals,
        "data_types": dict(zip(ARRAYS, kinds, strict=True)),
    }  # fmt: skip


def in_turn(pool: ThreadPoolExecutor, work: Callable[[Any], Any], items: Iterable[Any], ahead: int) -> Iterator[Any]:
    """Yield the results of a pool's threads in the order of the items; `ahead` items are computed in advance."""
    waiting: deque[Future[Any]] = deque()
    for item in items:
        waiting.append(pool.submit(work, item))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
