"""Edge lists as text: SNAP's .txt, and .el, .wel, .tsv, .csv and their like, gzipped or not.

A line has two vertex ids and optionally a weight, separated by blanks, tabs or commas; lines that start with ``#`` or
``%`` are comments. The first line of a .csv, a .tsv or a file whose suffix is not that of a list (standard input) may
name the columns, which gives their order. Ids are 0-based: the graph has (largest id + 1) vertices. If :func:`write`
wrote the file, its first line gives the sizes and the number of entries, and these are checked.
Source: J. Leskovec, A. Krevl, SNAP Datasets, https://snap.stanford.edu/data.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError, InvalidValue
from sparsezc.io.build.csr_chunks import integers, rows_of, unweighted
from sparsezc.io.build.edge_list import Chunks, EdgeChunks, EdgeFacts, Edges, collect
from sparsezc.io.build.table_columns import HEADINGS, USUAL, NamedVertices, Names, TableColumns
from sparsezc.io.build.weights import FROM_FILE, Weights
from sparsezc.io.files.source import Lines, Span, cut, parts, plain_name
from sparsezc.io.formats import text
from sparsezc.memory.csr import Csr
from sparsezc.process import first_use
from sparsezc.semirings.types import datatypes

if TYPE_CHECKING:
    from sparsezc.io.files.atomic_write import Output

#: Seconds since 1970 at the beginning of 1985 and of 2100: times of events are between them, and hardly any weights.
_TIMES = (473_385_600, 4_102_444_800)
_picker = first_use.function("sparsezc.io.formats.table_text", "Picker")
_NAMELESS = (".txt", ".el", ".wel", ".e", ".edges")  # suffixes of lists whose columns have no names
_SIZES = re.compile(rb"# ([0-9]+) x ([0-9]+), ([0-9]+) entries\r?\n")  # the first line, as `write` writes it


def read(
    path: Path,
    *,
    weights: Weights = FROM_FILE,
    columns: TableColumns = USUAL,
    names: Names | None = None,
    **_: Any,
) -> Edges:
    """Read the edges of a list, one direction each.

    Raises
    ------
    FileFormatError
        A word is no vertex id or number, lines differ in length, there is no edge at all, or the file does not match
        its own first line; the message names the line.
    """
    return collect(edge_chunks(path, weights, columns=columns, names=names))


def in_spans(_: Path) -> bool:
    """Return True: any part of the lines can be read alone."""
    return True


def edge_chunks(
    path: Path,
    weights: Weights = FROM_FILE,
    span: Span | None = None,
    *,
    columns: TableColumns = USUAL,
    names: Names | None = None,
) -> EdgeChunks:
    """Return the edges chunk by chunk; with `span`, those of these lines, whose total number the caller must check.

    Cells are picked (table_text.py) if `columns` are chosen, vertices have `names`, or the file has quotes or
    semicolons.
    """
    chosen, heading = columns, not plain_name(path.name).endswith(_NAMELESS)

    def chunks() -> Chunks:
        columns, order = 0, tuple(range(3))
        most = listed = 0  # the number of vertices (largest id + 1), and of edges
        sizes: tuple[int, int, int] | None = None
        warns = span is None or span.start == 0
        picker = _picker(chosen, names, heading or chosen.named, warns) if chosen.named or names is not None else None

        def known() -> bool:
            return columns > 0

        for chunk, wanted in parts(path, span, known):
            first = chunk.first == 1
            if first and chunk.data[:14].lower() == b"%%matrixmarket":  # its line of sizes would be an edge
                raise chunk.error(
                    0, "found %%MatrixMarket; format='mtx' (--format mtx) reads Matrix Market files of any name"
                )
            if first and (said := _SIZES.match(chunk.data)):
                sizes = _sizes(chunk, said)
            if not columns and picker is None and _has_cells(chunk):
                picker = _picker(chosen, names, heading, warns)
            named = False
            if not columns and picker is None and heading:
                chunk, places = _headings(chunk)
                columns, order, named = len(places), places or order, bool(places)
            if picker is not None:
                table, columns = picker.table(chunk, weights), 1  # the picker knows how many
            else:
                table, columns = text.table(chunk, columns or None, weights=weights, order=order)
            named = named or chosen.named
            if first and len(table) > 2 and not named and weights.kind == "file" and weights.dtype is None:
                _ask_about_times(chunk, table[2])
            if table and wanted:
                rows, cols, *rest = table
                listed += rows.size
                if sizes is None:
                    most = max(most, int(rows.max()) + 1, int(cols.max()) + 1)
                else:
                    _check_ids(chunk, rows, cols, sizes, order if picker is None else None)
                yield rows, cols, rest[0] if rest and weights.kind == "file" else None
            if sizes is not None and not chunk.ended:
                raise cut(chunk)
        nrows, ncols, promised = sizes or (most, most, None)
        facts = EdgeFacts(nrows, ncols, listed=listed, promised=promised)
        if span is None:
            if picker is not None:
                picker.finish()
            if chosen.only is not None:
                chosen.require_kind(path)
            check_total(path, facts)
        return facts

    return EdgeChunks(chunks())


def _has_cells(chunk: Lines) -> bool:
    """Return whether the first lines have quotes or semicolons, so that cells must be picked."""
    head = text.without_comments(chunk.data[:65536])
    return b";" in head or b'"' in head


def _ask_about_times(chunk: Lines, values: NDArray[Any]) -> None:
    """Raise FileFormatError if weights without a name look like times, in seconds or milliseconds since 1970."""
    if values.dtype.kind not in "iu" or values.size < 2 or values.min() == values.max():
        return
    for unit in (1, 1000):
        if values.min() >= _TIMES[0] * unit and values.max() <= _TIMES[1] * unit:
            day = datetime.fromtimestamp(int(values[0]) // unit, UTC).date()
            raise chunk.error(
                0,
                f"the third column looks like times ({values[0]} is {day}); weights=False (--weights none) leaves it"
                " out, weights='INT64' (--weights INT64) takes it as weights",
            )


def check_total(path: Path, facts: EdgeFacts) -> None:
    """Compare the number of all edges with the number in the first line.

    Raises
    ------
    FileFormatError
        The numbers differ, or there are neither edges nor sizes.
    """
    if facts.promised is not None and facts.listed != facts.promised:
        raise FileFormatError(
            f"{path} has {facts.listed:,} entries; its first line says {facts.promised:,}: it is truncated, or was "
            "changed without that line"
        )
    if not facts.nrows and facts.promised is None:
        raise FileFormatError(f"{path} holds no edges; lines of two vertex ids are needed")


def _sizes(chunk: Lines, said: re.Match[bytes]) -> tuple[int, int, int]:
    """Return the numbers of rows, columns and entries that the first line states."""
    nrows, ncols, nvals = map(text.stated, said.groups())
    if nrows is None or ncols is None or nvals is None:
        raise chunk.error(0, f"found {text.shown(said[0])}; sizes and a count below 10^20 are needed")
    return nrows, ncols, nvals


def _check_ids(
    chunk: Lines, rows: NDArray[Any], cols: NDArray[Any], sizes: tuple[int, int, int], order: tuple[int, ...] | None
) -> None:
    """Check that ids are within the sizes of the first line."""
    for k, (ids, size, what) in enumerate(((rows, sizes[0], "row"), (cols, sizes[1], "column"))):
        if int(ids.max()) >= size:
            bad = int(np.flatnonzero(ids >= size)[0])
            at = int(np.flatnonzero(text.counts(text.without_comments(chunk.data)))[bad])
            said = f"found the {what} {ids[bad]}; the first line says {sizes[0]:,} x {sizes[1]:,}"
            raise chunk.error(at, said, order[k] if order else None)


def _headings(chunk: Lines) -> tuple[Lines, tuple[int, ...]]:
    """Return the lines without a first line of column names, and the positions of source, target and weight by names.

    Raises
    ------
    FileFormatError
        A column name is unknown, so the order of the columns is, too. NamedVertices if the next line has no numbers
        either: all lines may have names of vertices.
    """
    lines = text.without_comments(chunk.data).split(b"\n")
    at = next((k for k, line in enumerate(lines) if line.strip()), 0)
    names = [name.decode(errors="replace").lower() for name in re.split(rb"[\s,\"]+", lines[at]) if name]
    if not names or not all(name[0].isalpha() or name[0] == "_" for name in names):
        return chunk, ()
    places = [[k for k, name in enumerate(names) if name in known] for known in HEADINGS]
    order = tuple(found[0] for found in places if found)
    unnamed = lines[at].lstrip().startswith((b",", b'"",'))  # pandas' index column has no name
    if unnamed or len(order) != len(names) or not (places[0] and places[1]):
        needed = ", ".join("/".join(known) for known in HEADINGS)
        unknown = [name for name in names if not any(name in known for known in HEADINGS)]
        listed = f", of which {unknown[0]!r} is unknown" if len(unknown) == 1 < len(names) else ""
        error = chunk.error(
            at,
            f"found the column names {text.shown(lines[at])}{listed}; one each of {needed} (the last may be missing) is"
            " needed, or their names as source_col=, target_col=, weight_col= (--source-col ...)",
        )
        raise NamedVertices(*error.args) if _no_numbers(lines[at + 1 :]) else error
    rest = b"\n".join([b""] * (at + 1) + chunk.data.split(b"\n", at + 1)[at + 1 :])
    return Lines(chunk.path, chunk.first, rest, chunk.ended), order


def _no_numbers(lines: list[bytes]) -> bool:
    """Return whether neither of the first two words of the next line is a number."""
    words = next((re.split(rb"[\s,]+", line.strip()) for line in lines if line.strip()), [])
    return not any(word.isdigit() for word in words[:2])


def write(csr: Csr, out: Output) -> None:
    """Write each entry as a line, with its value unless the matrix is iso-valued with 1.

    The first line is a comment with the sizes, which :func:`read` uses. A .csv has no such line: vertices after the
    last one with an edge are lost.
    """
    if csr.dtype.is_complex:
        raise InvalidValue(f"an edge list holds real values, not {csr.dtype}; write .npz or .h5")
    mark = b"," if plain_name(out.path.name).endswith(".csv") else b"\t"
    if mark == b"," and not csr.nvals:
        raise InvalidValue("a .csv of no edges would be an empty file; write .txt, or another format that has sizes")
    with out.open() as file:
        if mark != b",":
            file.write(b"# %d x %d, %d entries\n" % (csr.nrows, csr.ncols, csr.nvals))
        plain = unweighted(csr)
        for _, _, rows, cols, values in rows_of(csr, rows=True, values=not plain):
            if csr.dtype is datatypes.UINT64 and not plain:
                values = integers(values, np.int64, "text")
            columns = (rows, cols) if plain else (rows, cols, values)
            file.write(text.printed(b"", *columns).replace(b" ", mark))
