"""SciPy's .npz of a sparse matrix: csr, csc or coo.

The arrays of a csr are read from the archive, stored or deflated, chunk by chunk into their placement.
Source: scipy.sparse.save_npz; the members are NumPy's .npy format 1.0.
"""

from __future__ import annotations

import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError, UnknownDtype
from sparsezc.io.build import edge_list, stored_csr
from sparsezc.io.build.csr_chunks import CHUNK, rows_of
from sparsezc.io.build.edge_list import Chunks, EdgeChunks, EdgeFacts, collect
from sparsezc.io.build.weights import Weights
from sparsezc.io.files.atomic_write import Output
from sparsezc.io.files.source import existing
from sparsezc.io.formats.text import excerpt
from sparsezc.memory.csr import Csr
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import bar

_NEEDED = {"csr": ("indptr", "indices", "data"), "csc": ("indptr", "indices", "data"), "coo": ("row", "col", "data")}

#: Errors that zipfile and NumPy raise on damaged bytes.
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, ValueError, RuntimeError, MemoryError,
    SyntaxError, TypeError, KeyError, tokenize.TokenError,
)  # fmt: skip


class _Archive:
    """The zip archive that a .npz file is; errors of the zip reader become FileFormatError."""

    def __init__(self, path: Path) -> None:
        self.path = existing(path)
        self.closing = ExitStack()
        file = self.closing.enter_context(self.path.open("rb"))
        try:
            self.zip = zipfile.ZipFile(file)
        except _DAMAGE as error:
            self.closing.close()
            raise FileFormatError(f"{path} is not a .npz file, or truncated: {error}") from None
        self.names = set(self.zip.namelist())
        self.progress = bar(sum(info.file_size for info in self.zip.infolist()), f"reading {path.name}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.close()
        self.zip.close()
        self.closing.close()

    def member(self, name: str) -> _Member:
        """Open an array at its start."""
        if f"{name}.npy" not in self.names:
            held = excerpt(", ".join(sorted(self.names))) or "nothing"
            raise FileFormatError(f"{self.path} has no array {name!r} (it holds {held}), so it is no sparse matrix")
        return _Member(self, name)

    def small(self, name: str) -> NDArray[Any]:
        """Return a whole array of at most 64 entries."""
        member = self.member(name)
        if member.size > 64:
            raise FileFormatError(f"{self.path}: the array {name!r} has {member.size} entries; at most 64 are possible")
        return member.take(member.size)


class _Member:
    """One array of the archive, read in order from its start."""

    def __init__(self, archive: _Archive, name: str) -> None:
        self.archive, self.name = archive, name
        self._info = archive.zip.getinfo(f"{name}.npy")
        try:
            self._file = archive.closing.enter_context(archive.zip.open(self._info))
            version = np.lib.format.read_magic(self._file)
            header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            self.shape, _, self.dtype = header(self._file)
        except _DAMAGE as error:
            raise self._error(error) from None
        if self.dtype.hasobject:
            raise FileFormatError(f"{archive.path}: the array {name!r} holds Python objects, which are not read")
        self.size = int(np.prod(self.shape, dtype=object)) if self.shape else 1
        if self.size * self.dtype.itemsize > self._info.file_size:
            raise FileFormatError(
                f"{archive.path}: the array {name!r} says {self.size:,} entries of {self.dtype}, "
                f"but has {self._info.file_size:,} bytes"
            )

    def take(self, count: int) -> NDArray[Any]:
        """Return the next `count` entries."""
        need = count * self.dtype.itemsize
        try:
            data = self._file.read(need)
        except MemoryError:  # no damage: the archive declares this size
            raise
        except _DAMAGE as error:
            raise self._error(error) from None
        if len(data) < need:
            raise FileFormatError(f"{self.archive.path}: the array {self.name!r} ends {need - len(data):,} bytes early")
        self.archive.progress.update(need)
        return np.frombuffer(data, self.dtype)

    def whole(self, dtype: Any) -> NDArray[Any]:
        """Return the whole array in another type, read chunk by chunk."""
        result = np.empty(self.size, dtype)
        for start in range(0, self.size, CHUNK):
            result[start : start + CHUNK] = self.take(min(CHUNK, self.size - start))
        return result

    def _error(self, error: BaseException) -> FileFormatError:
        return FileFormatError(f"{self.archive.path}: the array {self.name!r} is damaged: {excerpt(str(error))}")


def read(path: Path, *, weights: Weights, placement: str | None, direct: bool) -> Csr | edge_list.Edges:
    """Read the matrix of a file that scipy.sparse.save_npz wrote.

    Raises
    ------
    FileFormatError
        The file is of another kind or damaged; the type of its values is not supported; its format is not csr, csc or
        coo; an id is out of range.
    """
    with _Archive(path) as archive:
        kind, found = _look(archive, weights)
        if isinstance(found, EdgeChunks):
            return collect(found)
        if kind == "csr":
            return stored_csr.load(found, weights, placement, direct)
        edges = stored_csr.load(found, weights, placement, direct=False)
        assert isinstance(edges, edge_list.Edges)
        return edges.transposed()


def edge_chunks(path: Path, weights: Weights) -> EdgeChunks:
    """Return the entries chunk by chunk."""

    def chunks() -> Chunks:
        with _Archive(path) as archive:
            kind, found = _look(archive, weights)
            entries = found if isinstance(found, EdgeChunks) else stored_csr.edge_chunks(found)
            for rows, cols, values in entries.chunks:
                yield (cols, rows, values) if kind == "csc" else (rows, cols, values)
        facts = entries.facts
        return EdgeFacts(facts.ncols, facts.nrows, facts.dtype) if kind == "csc" else facts

    return EdgeChunks(chunks())


def _look(archive: _Archive, weights: Weights) -> tuple[str, stored_csr.StoredCsr | EdgeChunks]:
    """Return the format, and the stored rows (columns if it is csc) or, if it is coo, the entries in chunks."""
    path, kind = archive.path, _format(archive)
    shape = archive.small("shape")
    if shape.size != 2 or shape.dtype.kind not in "iu" or int(shape.min()) < 0:
        raise FileFormatError(f"{path}: the shape {shape.tolist()} is not that of a matrix")
    nrows, ncols = (int(part) for part in shape)
    if kind != "coo":
        edge_list.check_sizes(nrows, ncols)
    members = [archive.member(name) for name in _NEEDED[kind]]
    _check(path, members, kind, nrows, ncols)
    dtype = _dtype(path, members[2])
    if kind == "coo":
        return kind, _coo(path, members, nrows, ncols, dtype)
    if kind == "csc":
        nrows, ncols = ncols, nrows
    indptr = members[0].whole(np.int64)
    if int(indptr[-1]) != members[1].size:
        raise FileFormatError(f"{path}: indptr ends at {indptr[-1]}; indices has {members[1].size} entries")

    @contextmanager
    def entries() -> Iterator[stored_csr.Take]:
        ids, values = archive.member("indices"), archive.member("data")
        wanted = weights.kind == "file"
        yield lambda count: (ids.take(count), values.take(count) if wanted else None)

    return kind, stored_csr.StoredCsr(path, nrows, ncols, indptr, entries, dtype)


def _format(archive: _Archive) -> str:
    mark = archive.small("format")
    kind = mark.tobytes().decode("latin-1").replace("\0", "") if mark.dtype.kind in "SU" else repr(mark)
    if kind not in _NEEDED:
        raise FileFormatError(f"{archive.path}: the format is {kind!r}; csr, csc and coo can be read")
    return kind


def _check(path: Path, members: list[_Member], kind: str, nrows: int, ncols: int) -> None:
    first, second, data = members
    for member in (first, second):
        if member.dtype.kind not in "iu" or len(member.shape) != 1:
            raise FileFormatError(
                f"{path}: {member.name!r} has dtype {member.dtype} and shape {member.shape}; "
                "whole numbers in one dimension are needed"
            )
    if kind != "coo":
        need = (nrows if kind == "csr" else ncols) + 1
        if first.size != need:
            raise FileFormatError(f"{path}: indptr has {first.size} entries; {need} are needed")
    elif first.size != second.size:
        raise FileFormatError(f"{path}: row has {first.size} entries and col {second.size}; equal numbers are needed")
    if data.size != second.size:
        raise FileFormatError(f"{path}: data has {data.size} entries; {second.size} are needed")


def _dtype(path: Path, member: _Member) -> datatypes.DataType:
    try:
        found = datatypes.lookup(member.dtype)
    except UnknownDtype:
        found = None
    if found is None or found.is_udt:
        known = ", ".join(map(str, (*datatypes.ALL, *datatypes.COMPLEX)))
        raise FileFormatError(f"{path}: the values have dtype {member.dtype}; the types are {known}")
    return found


def _coo(path: Path, members: list[_Member], nrows: int, ncols: int, dtype: datatypes.DataType) -> EdgeChunks:
    def chunks() -> Chunks:
        for start in range(0, members[0].size, CHUNK):
            count = min(CHUNK, members[0].size - start)
            rows, cols, values = (member.take(count) for member in members)
            for name, ids, size in (("row", rows, nrows), ("col", cols, ncols)):
                bad = np.flatnonzero((ids < 0) | (ids >= size))
                if bad.size:
                    at = int(bad[0])
                    raise FileFormatError(
                        f"{path}: {name}[{start + at}] is {ids[at]}; ids from 0 to {size - 1} are needed"
                    )
            yield rows, cols, values.astype(dtype.np_type, copy=False)
        return EdgeFacts(nrows, ncols, dtype)

    return EdgeChunks(chunks())


def write(csr: Csr, out: Output, *, compressed: bool = False) -> None:
    """Write a csr that scipy.sparse.load_npz reads, by default uncompressed: compression is slower than most disks."""
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    small = max(csr.nvals, csr.nrows, csr.ncols) < 2**31
    ids = np.dtype(np.int32 if small else np.int64)
    with out.open() as file, zipfile.ZipFile(file, "w", method) as archive:
        _put(archive, "format", np.array(b"csr"))
        _put(archive, "shape", np.array([csr.nrows, csr.ncols], np.int64))
        _put(archive, "_is_array", np.array(True))
        _put(archive, "indptr", csr.indptr.astype(ids))
        _put(archive, "indices", (cols.astype(ids) for _, _, _, cols, _ in rows_of(csr, values=False)), csr.nvals, ids)
        kind = csr.dtype.np_type
        _put(archive, "data", (values for *_, values in rows_of(csr)), csr.nvals, kind)


def _put(archive: zipfile.ZipFile, name: str, content: Any, size: int | None = None, dtype: Any = None) -> None:
    """Add an array to the archive, given whole or as chunks of `size` entries in all."""
    array = content if isinstance(content, np.ndarray) else None
    kind, shape = (np.dtype(dtype), (size,)) if array is None else (array.dtype, array.shape)
    head = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array_header_1_0(member, head)
        for part in content if array is None else (array,):
            member.write(part.tobytes())
