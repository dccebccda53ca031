"""EMOGI's graphs: NAME.bel.col (offsets), NAME.bel.dst (ids) and perhaps NAME.bel.val (weights).

The files are written together and replaced in one step (multi_file_replace.py). Each begins with two uint64: the count
of numbers that follow, and a type mark that no program reads. Offsets are uint64, one more than vertices; ids are
uint64 (uint32 in some derived data sets, which the file's size shows); weights are uint32.
Source: S. W. Min et al., EMOGI: Efficient Memory-access for Out-of-memory Graph-traversal in GPUs, VLDB 14(2), 2021,
doi:10.14778/3425879.3425883.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from sparsezc.exceptions import FileFormatError, InvalidValue
from sparsezc.io.build import edge_list, stored_csr
from sparsezc.io.build.csr_chunks import integers, rows_of, unweighted
from sparsezc.io.build.stored_ranges import Stored, StoredRanges
from sparsezc.io.build.weights import Weights
from sparsezc.io.files import multi_file_replace
from sparsezc.io.files.atomic_write import Output, behind
from sparsezc.io.files.source import FileMissing, InputFile, existing
from sparsezc.memory.csr import Csr
from sparsezc.semirings.types import datatypes

_HEAD = 16


def _base(path: Path) -> Path:
    """Return the common path of the files, up to .bel, from that of any of them; links of the .col are resolved."""
    return _common(behind(_part(path, ".col")))


def _common(path: Path) -> Path:
    name = path.name
    return path.with_name(name[: name.lower().rindex(".bel") + 4] if ".bel" in name.lower() else name)


def _part(path: Path, ending: str) -> Path:
    """Return the path of the file with this ending, such as ".col"."""
    common = _common(path)
    return common.with_name(common.name + ending)


class _Array:
    """An open file of the graph, which stays the same when another program replaces the graph."""

    def __init__(self, path: Path, file: BinaryIO | None) -> None:
        self.path, self._file = path, file
        if file is not None:
            weakref.finalize(self, file.close)

    def input_file(self) -> InputFile:
        """Return an InputFile of the file, at its start."""
        if self._file is None or os.fstat(self._file.fileno()).st_size == 0:
            existing(self.path)
            raise FileMissing(f"{self.path} does not exist")  # the file was created after the graph was opened
        file = os.fdopen(os.dup(self._file.fileno()), "rb")
        file.seek(0)
        return InputFile(self.path, file=file)

    @property
    def nbytes(self) -> int:
        """Return the size in bytes; 0 if there is no such file."""
        return 0 if self._file is None else os.fstat(self._file.fileno()).st_size


def _opened(path: Path) -> list[_Array]:
    """Open the files of one graph, all of one version even if another program replaces the graph meanwhile."""
    parts = [_part(path, ending) for ending in (".col", ".dst", ".val")]
    try:
        files = multi_file_replace.opened(_base(path), [behind(part) for part in parts])
    except OSError:
        for part in parts:
            if part.exists():
                existing(part)  # refuses folders and unreadable files
        raise
    return [_Array(part, file) for part, file in zip(parts, files, strict=True)]


def read(path: Path, *, weights: Weights, placement: str | None, direct: bool) -> Csr | edge_list.Edges:
    """Read the graph of the two or three files; without a .val (or with an empty one) it has no weights.

    Raises
    ------
    FileNotFoundError
        The .col or the .dst does not exist.
    FileFormatError
        The counts in the files differ, or do not match the files' sizes.
    """
    return stored_csr.load(stored(path, weights), weights, placement, direct)


def ranges(path: Path, weights: Weights) -> StoredRanges:
    """Return the stored rows as an object that reads any range of them."""
    first, edges, values = _opened(path)
    with first.input_file() as offsets:
        count = _count(offsets)
        if count < 1 or _width(first, count) != 8:
            raise FileFormatError(f"{offsets.path} needs {_HEAD + 8 * count:,} bytes for {count:,} offsets of 8 bytes")
    with edges.input_file() as file:
        nvals = _count(file)
    value_type = _value_type(values, nvals)
    weighted = value_type is not None and weights.kind == "file"
    return StoredRanges(
        edges.path, count - 1, nvals, Stored(first.path, _HEAD, np.dtype("<u8")),
        Stored(edges.path, _HEAD, np.dtype(f"<u{_width(edges, nvals)}")),
        Stored(values.path, _HEAD, value_type) if weighted else None,
        datatypes.BOOL if value_type is None else datatypes.lookup(value_type),
    )  # fmt: skip


def files(path: Path) -> list[Path]:
    """Return the paths of the graph's files that exist."""
    return [part for part in (_part(path, ending) for ending in (".col", ".dst", ".val")) if part.exists()]


def stored(path: Path, weights: Weights) -> stored_csr.StoredCsr:
    """Return the stored rows as an object that reads them from their start."""
    first, edges, values = _opened(path)
    with first.input_file() as offsets:
        count = _count(offsets)
        if count < 1 or _width(first, count) != 8:
            raise FileFormatError(f"{offsets.path} needs {_HEAD + 8 * count:,} bytes for {count:,} offsets of 8 bytes")
        indptr = stored_csr.read_offsets(offsets, count, "<u8")
    n = count - 1
    with edges.input_file() as file:
        ids = _count(file)
        id_type = np.dtype(f"<u{_width(edges, ids)}") if ids else np.dtype("<u8")
    if ids != indptr[-1]:
        raise FileFormatError(f"{edges.path} has {ids:,} ids; the offsets of the .col end at {indptr[-1]:,}")
    value_type = _value_type(values, ids)

    @contextmanager
    def entries() -> Iterator[stored_csr.Take]:
        arrays = [edges] + ([values] if value_type is not None and weights.kind == "file" else [])
        with ExitStack() as stack:
            files = [stack.enter_context(array.input_file()) for array in arrays]
            for file in files:
                _count(file)

            def take(size: int) -> tuple[Any, Any]:
                part = stored_csr.read_exactly(files[0], size, id_type, "ids")
                more = stored_csr.read_exactly(files[1], size, value_type, "weights") if len(files) > 1 else None
                return part, more

            yield take

    dtype = None if value_type is None else datatypes.lookup(value_type)
    return stored_csr.StoredCsr(edges.path, n, n, indptr, entries, dtype)


def _count(file: InputFile) -> int:
    return int(stored_csr.read_exactly(file, 2, "<u8", "header")[0])


def _width(file: _Array, count: int) -> int:
    """Return the bytes of one number, from the file's size."""
    body = file.nbytes - _HEAD
    width = body // count if count else 8
    if width not in (4, 8) or body != width * count:
        raise FileFormatError(
            f"{file.path} has {body + _HEAD:,} bytes; its header says {count:,} numbers, "
            f"so {_HEAD + 8 * count:,} (or {_HEAD + 4 * count:,}) are needed"
        )
    return width


def _value_type(values: _Array, ids: int) -> Any:
    """Return the type of the weights; None if there are none."""
    if not values.nbytes:
        return None
    with values.input_file() as file:
        count = _count(file)
        if count == 0 and values.nbytes == _HEAD:
            return None
        if count != ids:
            raise FileFormatError(f"{values.path} has {count:,} weights; the graph has {ids:,} edges")
        return np.dtype(f"<u{_width(values, count)}")


def write(csr: Csr, out: Output) -> None:
    """Write .col, .dst and .val (uint32); no .val if the matrix is iso-valued with 1, and an old one is emptied."""
    if csr.nrows != csr.ncols:
        raise InvalidValue(f"a .bel graph is a square matrix, not {csr.nrows} x {csr.ncols}")
    out.stand_for_all(_base(out.path))
    with out.open(_part(out.path, ".col")) as file:
        file.write(np.array([csr.nrows + 1, 0], "<u8").tobytes())
        file.write(csr.indptr.astype("<i8", copy=False).data)
    with out.open(_part(out.path, ".dst")) as file:
        file.write(np.array([csr.nvals, 0], "<u8").tobytes())
        for _, _, _, cols, _ in rows_of(csr, values=False):
            file.write(cols.astype("<u8", copy=False).data)
    plain = unweighted(csr)
    with out.open(_part(out.path, ".val"), only_over_old=plain) as file:
        file.write(np.array([0 if plain else csr.nvals, 0], "<u8").tobytes())
        if not plain:
            for _, _, _, _, values in rows_of(csr):
                file.write(integers(values, np.uint32, ".bel.val").data)
