"""Matrix Market: .mtx, through the fast_matrix_market reader and writer that SciPy brings.

Source: R. Boisvert, R. Pozo, K. Remington, The Matrix Market Exchange Formats, NISTIR 5935, 1996; values' types beyond
that format follow the ``%%GraphBLAS type`` line of LAGraph's files.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.csr import Csr
from sparsezc.errors import FileFormatError, InvalidValue
from sparsezc.io import build
from sparsezc.io.atomic import Output
from sparsezc.io.build import Edges
from sparsezc.io.pieces import unweighted
from sparsezc.io.source import Stream, lines
from sparsezc.io.text import shown
from sparsezc.progress import working
from sparsezc.semirings import types

SUFFIXES = (".mtx",)
FIELDS = ("real", "pattern", "integer", "unsigned-integer")
_CTYPES = {"bool": types.BOOL, "float": types.FP32, "double": types.FP64} | {
    f"{t.name.lower()}_t": t for t in types.INTEGERS
}


def read(path: Path, **_: Any) -> Edges:
    """The entries, both triangles of a symmetric or skew-symmetric matrix.

    Raises
    ------
    FileFormatError
        The file breaks the format, ends early, holds values that its type cannot, or is complex.
    """
    from scipy import io as scipy_io

    stated = _look(path)
    with Stream(path) as head:
        try:
            nrows, ncols, nvals, layout, field, symmetry = scipy_io.mminfo(head)
        except (ValueError, OverflowError) as error:
            raise FileFormatError(_told(path, error)) from None
    if field == "complex":
        raise FileFormatError(f"{path} holds complex numbers; the types are {', '.join(map(str, types.ALL))}")
    build.check_sizes(nrows, ncols)
    build.check_count(path, nvals, 4 if layout == "coordinate" else 2)
    with Stream(path) as file:
        try:
            rows, cols, values = triplets(file)[:3]
        except (ValueError, OverflowError, EOFError, MemoryError) as error:
            raise error if isinstance(error, FileFormatError) else FileFormatError(_told(path, error)) from None
    if field == "pattern":
        values = None
    undirected = symmetry in ("symmetric", "hermitian")
    if stated is not None and values is not None:
        _check_type(path, values, stated)
    return Edges(int(nrows), int(ncols), rows, cols, values, undirected, undirected, stated)


def triplets(source: Any) -> tuple[NDArray[Any], NDArray[Any], Any, tuple[int, int]]:
    """Rows, columns, values and shape of a Matrix Market file as SciPy reads it; every entry of a dense one."""
    from scipy import io as scipy_io

    if isinstance(source, (str, os.PathLike)):
        with Stream(source) as file:
            return triplets(file)
    matrix: Any = scipy_io.mmread(_Ended(source), spmatrix=False)
    if isinstance(matrix, np.ndarray):
        rows, cols = (part.ravel().astype(np.uint32) for part in np.indices(matrix.shape, np.uint32))
        return rows, cols, matrix.ravel(), matrix.shape
    rows, cols = (part.view(f"u{part.itemsize}") for part in (matrix.row, matrix.col))
    rows, cols = (part if part.itemsize == 4 else part.astype(np.int64) for part in (rows, cols))
    return rows, cols, matrix.data, matrix.shape


class _Ended:
    """A file without zero bytes whose last line has an end: fast_matrix_market follows a null pointer at others.

    It looks for the end of a line as C does for strings. The newline that is missing comes with the last of the data,
    as one that comes alone does not help, and a question mark, which is no number, stands for each zero byte.
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self._data = self._next = self._fetch()

    def _fetch(self) -> bytes:
        data = self._file.read(1 << 16)
        return (data.encode() if isinstance(data, str) else bytes(data)).replace(b"\0", b"?")

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes, and a newline at the end if the file has none."""
        while self._next and (size < 0 or len(self._data) <= size):
            self._next = self._fetch()
            self._data += self._next or (b"" if self._data.endswith(b"\n") else b"\n")
        size = len(self._data) if size < 0 else size
        data, self._data = self._data[:size], self._data[size:]
        return data


def _look(path: Path) -> types.DataType | None:
    """Refuse what is no Matrix Market file; the type that a GraphBLAS comment states, if any."""
    with Stream(path) as stream:
        head = stream.read(4096)
    if not head.startswith(b"%%MatrixMarket"):
        raise FileFormatError(f"{path}, line 1: found {head[:30]!r}; a Matrix Market file starts with %%MatrixMarket")
    found = re.match(rb"[^\n]*\n%%GraphBLAS type ([a-z0-9_]+)[ \r]*\n", head)
    return _CTYPES.get(found[1].decode()) if found else None


def _check_type(path: Path, values: Any, stated: types.DataType) -> None:
    """Values must survive the type that the file states; a type that cannot hold them is a lie."""
    with np.errstate(all="ignore"):
        cast = values.astype(stated.np_type)
        if not stated.is_float and not np.array_equal(cast.astype(values.dtype), values):
            bad = values[np.flatnonzero(cast.astype(values.dtype) != values)[0]]
            raise FileFormatError(f"{path} states the type {stated.name} but holds the value {bad}")


def _told(path: Path, error: Exception) -> str:
    """fast_matrix_market's message with the file's name in front, and its line where it knows one."""
    message = str(error) or type(error).__name__
    if found := re.match(r"Line (\d+): (.*)", message, re.DOTALL):
        return f"{path}, line {found[1]}: {found[2].rstrip('.')}{_line(path, int(found[1]))}"
    return f"{path}: {message}"


def _line(path: Path, number: int) -> str:
    """What stands in a line, as the end of a message."""
    for chunk in lines(path):
        here = chunk.data.split(b"\n")
        if number < chunk.first + len(here) - 1:
            return f"; found {shown(here[number - chunk.first])}"
    return ""


def write(csr: Csr, out: Output) -> None:
    """Write coordinates; one triangle of a matrix that is known to be symmetric; a pattern if it is iso and BOOL."""
    from scipy import io as scipy_io
    from scipy.sparse import csr_array

    if csr.dtype.is_complex:
        raise InvalidValue(
            f"a .mtx file of a graph holds real values, not {csr.dtype}; gb.io.mmwrite writes complex ones"
        )
    pattern = csr.dtype.is_bool and unweighted(csr)
    values = np.repeat(csr.values.read(), csr.nvals) if csr.iso else csr.values.read()
    if csr.dtype.is_bool:
        values = values.astype(np.int8)
    ids = csr.indices.read()
    matrix = csr_array((values, ids.view(ids.dtype.str.replace("u", "i")), csr.indptr), shape=(csr.nrows, csr.ncols))
    name = next(ctype for ctype, dtype in _CTYPES.items() if dtype is csr.dtype)
    with out.open() as file, working(f"writing {out.path.name}"):
        scipy_io.mmwrite(
            file, matrix, comment=f"%GraphBLAS type {name}", field="pattern" if pattern else None,
            symmetry="symmetric" if csr.symmetric else "general",
        )  # fmt: skip
