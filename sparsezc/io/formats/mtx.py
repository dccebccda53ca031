"""Matrix Market: .mtx, with SciPy's fast_matrix_market reader and writer.

Source: R. Boisvert, R. Pozo, K. Remington, The Matrix Market Exchange Formats, NISTIR 5935, 1996; value types beyond
that format follow the ``%%GraphBLAS type`` line of LAGraph's files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError, InvalidValue
from sparsezc.io.build import edge_list
from sparsezc.io.build import weights as weighting
from sparsezc.io.build.csr_chunks import unweighted
from sparsezc.io.build.edge_list import Chunks, EdgeChunks, EdgeFacts, Edges, collect
from sparsezc.io.build.weights import FROM_FILE, Weights
from sparsezc.io.files.atomic_write import Output
from sparsezc.io.files.pipe_spool import seekable
from sparsezc.io.files.source import LINE, InputFile, Lines, Span, cut, lines, parts, too_long
from sparsezc.io.formats import text
from sparsezc.io.formats.text import excerpt, shown
from sparsezc.memory.budget import require_host
from sparsezc.memory.csr import Csr
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import working

FIELDS = ("real", "pattern", "integer", "unsigned-integer")
_CTYPES = {"bool": datatypes.BOOL, "float": datatypes.FP32, "double": datatypes.FP64} | {
    f"{t.name.lower()}_t": t for t in datatypes.INTEGERS
}


def read(path: Path, *, weights: Weights = FROM_FILE, **_: Any) -> Edges:
    """Read all entries of a matrix; a symmetric or skew-symmetric one is returned with both triangles.

    Raises
    ------
    FileFormatError
        The file breaks the format, ends early, is complex, or holds values that its type cannot hold.
    """
    head = _head(path, whole=True)
    with InputFile(path) as file:
        text_of = _Ended(file)
        try:
            rows, cols, values = triplets(text_of)[:3]
        except (ValueError, OverflowError, EOFError) as error:
            if isinstance(error, OverflowError) and head.field == "integer" and head.layout == "coordinate":
                return collect(edge_chunks(path, weights))  # reads numbers of 2^63 and more, unlike SciPy's reader
            raise error if isinstance(error, FileFormatError) else FileFormatError(_told(path, error)) from None
    if head.stated is not None and not text_of.ended:
        raise FileFormatError(f"{path} is truncated: its last line has no end, though its writer ends every line")
    if head.field == "pattern":
        values = None
    if head.stated is not None and values is not None:
        _check_type(path, values, head.stated)
    if values is not None and head.layout == "coordinate" and _must_see_text(path, values, weights):
        return collect(edge_chunks(path, weights))  # has the lines and all digits, unlike SciPy's reader
    return Edges(head.nrows, head.ncols, rows, cols, values, head.both, head.both, head.stated)


def in_spans(path: Path) -> bool:
    """Return whether a part of the lines can be read alone; lines of a dense matrix do not state their positions."""
    return _head(path, whole=False).layout == "coordinate"


def edge_chunks(path: Path, weights: Weights = FROM_FILE, span: Span | None = None) -> EdgeChunks:
    """Return the entries chunk by chunk, one triangle of a symmetric matrix; a dense matrix is read as a whole.

    With `span`, return the entries of these lines; the caller must check the total number of entries.
    """
    head = _head(path, whole=False)
    if head.layout == "array":
        return EdgeChunks.of(read(path))

    def chunks() -> Chunks:
        listed = 0
        exact = weights.dtype is not None and weights.dtype.is_integer
        for chunk in _after_sizes(path, span):
            if head.stated is not None and not chunk.ended:
                raise cut(chunk)
            needed = 2 if head.field == "pattern" else 3
            table = text.table(chunk, needed, base=1, weights=weights, exact=head.field != "real")[0]
            if not table:
                continue
            rows, cols, *rest = table
            listed += rows.size
            _check_chunk(chunk, head, table, listed)
            values = rest[0] if rest and weights.kind == "file" else None
            if values is not None and head.field == "real" and not exact:
                values = values.astype(np.float64, copy=False)
            if values is not None and head.stated is not None:
                _check_type(path, values, head.stated)
            yield rows, cols, values
            if head.symmetry == "skew-symmetric":
                off = rows != cols
                yield cols[off], rows[off], None if values is None else _negated(chunk, values[off])
        facts = EdgeFacts(head.nrows, head.ncols, head.stated, listed, head.nvals)
        if span is None:
            check_total(path, facts)
        return facts

    return EdgeChunks(chunks(), undirected=head.both)


def check_total(path: Path, facts: EdgeFacts) -> None:
    """Raise FileFormatError if the number of all entries differs from the header's."""
    if facts.listed != facts.promised:
        raise FileFormatError(
            f"{path} is truncated: it has {facts.listed:,} entries; its header says {facts.promised:,}"
        )


def _must_see_text(path: Path, values: NDArray[Any], weights: Weights) -> bool:
    """Return whether the text must be parsed again: a value must be refused, or may have lost significant digits."""
    if weights.kind != "file":
        return False
    if weights.dtype is not None and weighting.first_unfit(values, weights.dtype) is not None:
        return True
    if values.dtype.kind != "f":
        return False
    if weights.dtype is not None and weights.dtype.is_integer:
        return bool((np.abs(values) >= text.EXACT).any())
    tiny = bool((values == 0).any()) and any(text.TINY.search(chunk.data) for chunk in lines(path))
    return tiny or bool(np.isinf(values).any())


def _negated(chunk: Lines, values: NDArray[Any]) -> NDArray[Any]:
    """Return the values of the other triangle of a skew-symmetric matrix."""
    if values.dtype.kind == "u" and values.any():
        raise chunk.error(0, "found a skew-symmetric matrix whose negative values an unsigned type does not hold")
    return -values


def _after_sizes(path: Path, span: Span | None) -> Iterator[Lines]:
    """Yield the lines, or those of a span, with comments and the line of sizes emptied."""
    sizes = False

    def known() -> bool:
        return sizes

    for chunk, wanted in parts(path, span, known):
        data = text.without_comments(chunk.data)
        if not sizes and (full := np.flatnonzero(text.counts(data))).size:
            at, sizes = int(full[0]), True
            data = b"\n" * (at + 1) + data.split(b"\n", at + 1)[at + 1]
        if sizes and data and wanted:
            yield Lines(path, chunk.first, data, chunk.ended)


def _check_chunk(chunk: Lines, head: _Head, table: list[NDArray[Any]], seen: int) -> None:
    """Check that ids are within the sizes, values of the header's kind, and entries not more than it states."""
    for k, (size, what) in enumerate(((head.nrows, "row"), (head.ncols, "column"))):
        if int(table[k].max()) >= size:
            bad = int(np.flatnonzero(table[k] >= size)[0])
            at = int(np.flatnonzero(text.counts(chunk.data))[bad])
            raise chunk.error(at, f"found the {what} {table[k][bad] + 1}; 1 to {size} are needed", k)
    if len(table) > 2 and table[2].dtype.kind == "f" and head.field != "real":
        raise chunk.error(0, f"found values that are no whole numbers of 64 bits; the header says {head.field}")
    if seen > head.nvals:
        raise chunk.error(0, f"found more than the {head.nvals:,} entries of the header")


@dataclass(frozen=True)
class _Head:
    """The facts in a file's header; `stated`: the type that a GraphBLAS comment states."""

    nrows: int
    ncols: int
    nvals: int
    layout: str
    field: str
    symmetry: str
    stated: datatypes.DataType | None

    @property
    def both(self) -> bool:
        return self.symmetry in ("symmetric", "hermitian")


def _head(path: Path, *, whole: bool) -> _Head:
    from scipy import io as scipy_io

    stated = _look(path)
    with InputFile(path) as file:
        try:
            nrows, ncols, nvals, layout, field, symmetry = scipy_io.mminfo(_Ended(file))
        except (ValueError, OverflowError) as error:
            raise error if isinstance(error, FileFormatError) else FileFormatError(_told(path, error)) from None
    if field == "complex":
        raise FileFormatError(f"{path} holds complex numbers; the types are {', '.join(map(str, datatypes.ALL))}")
    if symmetry != "general" and nrows != ncols:
        raise FileFormatError(f"{path} says that it is {symmetry}, and {nrows} x {ncols}; such a matrix is square")
    stored, width = nvals, 4
    if layout == "array":  # one triangle of a symmetric matrix, without the diagonal of a skew-symmetric one
        width = 2
        stored -= {"general": 0, "skew-symmetric": nrows * (nrows + 1) // 2}.get(symmetry, nrows * (nrows - 1) // 2)
    edge_list.check_count(path, stored, width, whole=whole)
    if whole and layout == "array":
        require_host(24 * nvals, f"{path}, a dense matrix of {nrows:,} x {ncols:,},")
    return _Head(int(nrows), int(ncols), int(nvals), layout, field, symmetry, stated)


def triplets(source: Any) -> tuple[NDArray[Any], NDArray[Any], Any, tuple[int, int]]:
    """Return rows, columns, values and shape of a Matrix Market file as SciPy reads it; all entries if it is dense."""
    from scipy import io as scipy_io

    if isinstance(source, (str, os.PathLike)):
        with seekable(source) as path, InputFile(path) as file:
            return triplets(file)
    matrix: Any = scipy_io.mmread(source if isinstance(source, _Ended) else _Ended(source), spmatrix=False)
    if isinstance(matrix, np.ndarray):
        rows, cols = (part.ravel().astype(np.uint32) for part in np.indices(matrix.shape, np.uint32))
        return rows, cols, matrix.ravel(), matrix.shape
    rows, cols = (part.view(f"u{part.itemsize}") for part in (matrix.row, matrix.col))
    rows, cols = (part if part.itemsize == 4 else part.astype(np.int64) for part in (rows, cols))
    return rows, cols, matrix.data, matrix.shape


class _Ended:
    """A file whose last line gets an end, and whose zero bytes are replaced, as fast_matrix_market needs both.

    That reader searches for the end of a line with C's string functions, and follows a null pointer if it finds none.
    A missing newline is appended to the last data, as a separate one does not help, and each zero byte is replaced by a
    question mark, which is no number. Lines that are too long raise an error.
    `ended`: the last line that was read has an end in the file.
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self._line, self._held = 1, 0  # the number of the line that is being read, and its bytes so far
        self.ended = True
        self._data = self._next = self._fetch()

    def _fetch(self) -> bytes:
        data = self._file.read(1 << 16)
        found = (data.encode() if isinstance(data, str) else bytes(data)).replace(b"\0", b"?")
        if found:
            first = found.find(b"\n")
            if self._held + (len(found) if first < 0 else first) > LINE:
                raise too_long(getattr(self._file, "path", "the file"), self._line, LINE)
            self._held = self._held + len(found) if first < 0 else len(found) - found.rfind(b"\n") - 1
            self._line += found.count(b"\n")
            self.ended = found.endswith(b"\n")
        return found

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes, with a newline appended at the end if the file has none."""
        while self._next and (size < 0 or len(self._data) <= size):
            self._next = self._fetch()
            self._data += self._next or (b"" if self._data.endswith(b"\n") else b"\n")
        size = len(self._data) if size < 0 else size
        data, self._data = self._data[:size], self._data[size:]
        return data


def _look(path: Path) -> datatypes.DataType | None:
    """Check that a file is Matrix Market, and return the type that a GraphBLAS comment states, if any."""
    with InputFile(path) as stream:
        head = stream.read(4096)
    if not head.startswith(b"%%MatrixMarket"):
        raise FileFormatError(f"{path}, line 1: found {head[:30]!r}; a Matrix Market file starts with %%MatrixMarket")
    found = re.match(rb"[^\n]*\n%%GraphBLAS type ([a-z0-9_]+)[ \r]*\n", head)
    return _CTYPES.get(found[1].decode()) if found else None


def _check_type(path: Path, values: Any, stated: datatypes.DataType) -> None:
    """Raise FileFormatError if the type that the file states cannot hold its values."""
    with np.errstate(all="ignore"):
        cast = values.astype(stated.np_type)
        if not stated.is_float and not np.array_equal(cast.astype(values.dtype), values):
            bad = values[np.flatnonzero(cast.astype(values.dtype) != values)[0]]
            raise FileFormatError(f"{path} states the type {stated.name} but holds the value {bad}")


def _told(path: Path, error: Exception) -> str:
    """Return fast_matrix_market's message after the name of the file and, if the message has it, of the line."""
    message = str(error) or type(error).__name__
    if found := re.match(r"Line (\d+): (.*)", message, re.DOTALL):
        said = excerpt(found[2].rstrip("."))
        chunk, at = _line(path, int(found[1]))
        return f"{chunk.place(at, _wrong_word(chunk, at, said))}: {said}{_found(chunk, at)}"
    if isinstance(error, OverflowError) or "integer" in message:  # errors in entries have their line
        for chunk in lines(path):
            if (full := np.flatnonzero(text.counts(text.without_comments(chunk.data)))).size:
                at = int(full[0])
                return f"{chunk.place(at)}: three sizes below 2^63 are needed{_found(chunk, at)}"
    return f"{path}: {excerpt(message)}"


def _line(path: Path, number: int) -> tuple[Lines, int]:
    """Return the chunk with line `number` of the file, and the line's index in it; past the end, an empty line."""
    for chunk in lines(path):
        if number < chunk.first + chunk.data.count(b"\n"):
            return chunk, number - chunk.first
    return Lines(path, number, b"\n"), 0


def _found(chunk: Lines, at: int) -> str:
    """Return the text of a line, as the end of a message."""
    line = chunk.data.split(b"\n", at + 1)[at]
    return f"; found {shown(line)}" if line else ""


def _wrong_word(chunk: Lines, at: int, said: str) -> int | None:
    """Return the index of the word that the message of SciPy's reader is about; None if that is unknown."""
    words = chunk.data.split(b"\n", at + 1)[at].split()
    known = {"Row index": 0, "Column index": 1}.get(said.partition(" out of")[0])
    if known is not None and known < len(words):
        return known
    number = int if said.startswith("Invalid integer") else float
    for k, word in enumerate(words if said.startswith("Invalid") else ()):
        try:
            number(word)
        except ValueError:
            return k
    return None


def write(csr: Csr, out: Output) -> None:
    """Write coordinates; one triangle if the matrix is known to be symmetric; a pattern if iso-valued with True."""
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
