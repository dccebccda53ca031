"""KONECT's ``out.NAME`` files: lines of two ids from 1 on and optionally a weight and a time.

The first line is ``% FORMAT WEIGHTS``: the format ``sym`` (undirected), ``asym`` or ``bip`` (ids of two kinds: a matrix
that need not be square), and ``unweighted`` or the meaning of the third column. The second line may be
``% EDGES ROWS COLUMNS``. Times are not read. Repeated edges are merged as in other lists; ``dup_op="plus"`` counts them
(``positive``).
Source: J. Kunegis, Handbook of Network Analysis: The KONECT Project, section 9, http://konect.cc.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsezc.exceptions import FileFormatError, InvalidValue
from sparsezc.io.build.edge_list import Chunks, EdgeChunks, EdgeFacts, Edges, collect
from sparsezc.io.build.weights import FROM_FILE, Weights
from sparsezc.io.files.source import InputFile, Lines, lines
from sparsezc.io.formats import text

if TYPE_CHECKING:
    from sparsezc.io.files.atomic_write import Output
    from sparsezc.memory.csr import Csr

_START = 1 << 12  # bytes in which the first two lines are searched
_HEAD = re.compile(rb"%[ \t]*(sym|asym|bip)[ \t]+([a-z]+)[^\n]*\n(?:%[ \t]*([0-9]+)[ \t]+([0-9]+)[ \t]+([0-9]+)\s)?")


def read(path: Path, *, weights: Weights = FROM_FILE, **_: Any) -> Edges:
    """Read the edges of a file, one direction each.

    Raises
    ------
    FileFormatError
        The first line is not KONECT's, a word is no id or number, or an id is larger than the sizes.
    """
    return collect(edge_chunks(path, weights))


def edge_chunks(path: Path, weights: Weights = FROM_FILE) -> EdgeChunks:
    """Return the edges chunk by chunk."""
    with InputFile(path) as file:
        head = _HEAD.match(file.read(_START))
    if head is None:
        raise FileFormatError(
            f"{path}, line 1: found no line '% FORMAT WEIGHTS', as '% sym unweighted', of KONECT's files"
        )
    square, kept = head[1] != b"bip", 2 if head[2] == b"unweighted" else 3
    sizes = None if head[3] is None else (int(head[4]), int(head[5]))

    def chunks() -> Chunks:
        width = nrows = ncols = 0
        for chunk in lines(path):
            words = text.counts(text.without_comments(chunk.data))
            width = width or int(words[words > 0][0] if (words > 0).any() else 0)
            table, _ = text.table(_picked(chunk, width, min(kept, width)), min(kept, width), base=1, weights=weights)
            if not table:
                continue
            rows, cols, *rest = table
            needed = int(rows.max()) + 1, int(cols.max()) + 1
            most = None if sizes is None else (max(sizes), max(sizes)) if square else sizes
            if most is not None and (needed[0] > most[0] or needed[1] > most[1]):
                raise FileFormatError(f"{path} says {most[0]:,} x {most[1]:,} in its head and has the id {max(needed)}")
            nrows, ncols = max(nrows, needed[0]), max(ncols, needed[1])
            yield rows, cols, rest[0] if rest and weights.kind == "file" else None
        if sizes is not None:
            nrows, ncols = sizes
        if square:
            nrows = ncols = max(nrows, ncols)
        if not nrows:
            raise FileFormatError(f"{path} holds no edges; lines of two vertex ids are needed")
        return EdgeFacts(nrows, ncols)

    return EdgeChunks(chunks(), undirected=head[1] == b"sym")


def _picked(chunk: Lines, width: int, kept: int) -> Lines:
    """Return the lines with only their first `kept` words.

    Raises
    ------
    FileFormatError
        A line has another number of words than the first one, or more than four.
    """
    if width <= kept and width <= 3:
        return chunk
    made = []
    for number, line in enumerate(text.without_comments(chunk.data).split(b"\n")):
        words = line.split()
        if words and (len(words) != width or width > 4):
            raise chunk.error(number, f"found {len(words)} columns; {min(width, 4)} are needed, as in the first line")
        made.append(b" ".join(words[:kept]))
    return replace(chunk, data=b"\n".join(made), picked=range(kept))


def write(_: Csr, out: Output) -> None:
    """Raise InvalidValue, as KONECT's files are read but not written."""
    raise InvalidValue(f"{out.path}: KONECT's files are read, not written; .txt and .mtx hold the same")
