"""DIMACS shortest-path graphs: .gr, gzipped or not.

``c`` lines are comments, one ``p sp VERTICES ARCS`` line comes first, and each ``a FROM TO WEIGHT`` line is an arc; ids
count from 1.
Source: C. Demetrescu, A. Goldberg, D. Johnson, 9th DIMACS Implementation Challenge, 2006.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from sparsezc.exceptions import FileFormatError, InvalidValue
from sparsezc.io.build.csr_chunks import integers, rows_of
from sparsezc.io.build.edge_list import Chunks, EdgeChunks, EdgeFacts, Edges, check_count, collect
from sparsezc.io.build.weights import FROM_FILE, Weights
from sparsezc.io.files.atomic_write import Output
from sparsezc.io.files.source import Lines, Span, cut, parts
from sparsezc.io.formats import text
from sparsezc.memory.csr import Csr

_OURS = b"c written by sparsezc\n"  # every line of such a file ends with a newline
_COMMENT = re.compile(rb"\n[ \t]*c[^\n]*")
_PROBLEM = re.compile(rb"\np[ \t][^\n]*")
_STRANGE = re.compile(rb"\n(?![a\n\r \t])(?=[^\n])[^\n]*|\na(?![ \t])[^\n]*|\n[ \t]+[^\s][^\n]*")


def read(path: Path, *, weights: Weights = FROM_FILE, **_: Any) -> Edges:
    """Read the arcs of the file.

    Raises
    ------
    FileFormatError
        There is no ``p`` line, or a second one; the number of arcs differs from it; an id is outside 1..n; a line is of
        another kind.
    """
    return collect(edge_chunks(path, weights, whole=True))


def in_spans(_: Path) -> bool:
    """Return True: any part of the lines can be read alone."""
    return True


def edge_chunks(
    path: Path, weights: Weights = FROM_FILE, span: Span | None = None, *, whole: bool = False
) -> EdgeChunks:
    """Return the arcs chunk by chunk; `whole`: all chunks will be in memory at once.

    With `span`, return the arcs of these lines; the caller must check the total number of arcs.
    """

    def chunks() -> Chunks:
        listed = 0
        sizes: tuple[int, int] | None = None
        ours = False

        def known() -> bool:
            return sizes is not None

        for chunk, wanted in parts(path, span, known):
            ours = ours or (chunk.first == 1 and chunk.data.startswith(_OURS))
            if ours and not chunk.ended:
                raise cut(chunk)
            data, sizes = _problem(chunk, _arcs(chunk), sizes, whole)
            arcs_only = Lines(path, chunk.first, _plain(chunk, data))
            table, _ = text.table(arcs_only, 3, base=1, weights=weights)
            if not table or not wanted:
                continue
            if sizes is None:
                raise chunk.error(0, "found an arc before the line 'p sp VERTICES ARCS'")
            if int(max(table[0].max(), table[1].max())) >= sizes[0]:
                bad = int(np.flatnonzero(np.maximum(table[0], table[1]) >= sizes[0])[0])
                at = int(np.flatnonzero(text.counts(arcs_only.data))[bad])
                said = f"found an id above {sizes[0]:,}, the number of vertices in the 'p' line"
                raise arcs_only.error(at, said, 0 if table[0][bad] >= sizes[0] else 1)
            listed += table[0].size
            yield table[0], table[1], table[2] if weights.kind == "file" else None
        n, promised = sizes or (0, None)
        facts = EdgeFacts(n, n, listed=listed, promised=promised)
        if span is None:
            check_total(path, facts)
        if not listed:
            yield np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0, np.int64)
        return facts

    return EdgeChunks(chunks())


def check_total(path: Path, facts: EdgeFacts) -> None:
    """Raise FileFormatError if the number of all arcs differs from the ``p`` line's, or there is no such line."""
    if facts.promised is None:
        raise FileFormatError(f"{path} has no line 'p sp VERTICES ARCS'")
    if facts.listed != facts.promised:
        raise FileFormatError(f"{path} has {facts.listed:,} arcs; its 'p' line says {facts.promised:,}")


def _arcs(chunk: Lines) -> bytes:
    """Return a newline and the lines, with comment lines emptied."""
    data = b"\n" + chunk.data
    return _COMMENT.sub(b"\n", data) if b"\nc" in data or b" c" in data or b"\tc" in data else data


def _plain(chunk: Lines, data: bytes) -> bytes:
    """Return arcs as lines of numbers, without the letter in front."""
    all_arcs = data.count(b"\na ") == data.count(b"\n") - 1  # nearly always true: then all lines are regular
    if not all_arcs and (strange := _STRANGE.search(data)):
        at = data.count(b"\n", 0, strange.start())
        raise chunk.error(at, f"found {text.shown(strange[0])}; lines start with 'a ', 'c' or 'p'")
    return data.replace(b"\na", b"\n ")[1:]


def _problem(
    chunk: Lines, data: bytes, sizes: tuple[int, int] | None, whole: bool
) -> tuple[bytes, tuple[int, int] | None]:
    """Return the text with its ``p`` line emptied, and the sizes that the line states."""
    for found in _PROBLEM.finditer(data):
        at = data.count(b"\n", 0, found.start())
        if sizes is not None:
            raise chunk.error(at, "found a second 'p' line")
        words = found[0].split()
        n, m = (text.stated(word) for word in words[2:]) if len(words) == 4 else (None, None)
        if words[1:2] != [b"sp"] or n is None or m is None:
            raise chunk.error(at, f"found {text.shown(found[0])}; 'p sp VERTICES ARCS' is needed")
        sizes = n, m
        check_count(chunk.path, sizes[1], 6, whole=whole)
    return _PROBLEM.sub(b"\n", data), sizes


def write(csr: Csr, out: Output) -> None:
    """Write each entry as an arc, True as the weight 1."""
    if csr.nrows != csr.ncols:
        raise InvalidValue(f"a .gr file holds a square matrix, not {csr.nrows} x {csr.ncols}")
    if not (csr.dtype.is_integer or csr.dtype.is_bool):
        raise InvalidValue(f"a .gr file holds whole weights, not {csr.dtype}; write .mtx, or A.dup('INT64')")
    with out.open() as file:
        file.write(_OURS + b"p sp %d %d\n" % (csr.nrows, csr.nvals))
        for _, _, rows, cols, values in rows_of(csr, rows=True):
            file.write(text.printed(b"a ", rows + 1, cols.astype(np.int64) + 1, integers(values, np.int64, ".gr")))
