"""METIS graphs: .graph, gzipped or not.

The first line is ``VERTICES EDGES [FORMAT [WEIGHTS]]``; line i of those that follow lists the neighbours of vertex
i, from 1 on. FORMAT has three digits: whether the file has vertex sizes, vertex weights (WEIGHTS of them, or 1) and
edge weights. Lines that start with ``%`` are comments. Every edge is listed at both its ends; vertex sizes and weights
are skipped.
Source: G. Karypis, METIS 5.1.0 manual, section 4.1.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError, InvalidValue
from sparsezc.io.build import weights as weighting
from sparsezc.io.build.csr_chunks import integers, is_symmetric, rows_of, unweighted
from sparsezc.io.build.edge_list import Chunk, Chunks, EdgeChunks, EdgeFacts, Edges, check_count, check_sizes, collect
from sparsezc.io.build.weights import FROM_FILE, Weights
from sparsezc.io.files.atomic_write import Output
from sparsezc.io.files.source import LINE, Lines, lines
from sparsezc.io.formats import text
from sparsezc.io.formats.symmetry_check import sums_of_ends
from sparsezc.memory.budget import host_available
from sparsezc.memory.csr import Csr
from sparsezc.terminal.progress import bar, working

STEP = 1 << 14  # rows written at a time
_LONGEST = 4 << 20, 1 << 30  # bytes of a vertex's line in bounded memory, and without a bound
_LINE_COST = 40  # bytes of memory for each byte of a long line
_STRANGE = re.compile(rb"(?<![^\s])[0-9]*[^0-9\s][^\s]*|[\v\f]")  # a word that is no whole number, unusual white space


@dataclass
class _Header:
    n: int
    edges: int
    skip: int  # numbers at the start of each line that belong to the vertex
    weighted: bool


def read(path: Path, *, weights: Weights = FROM_FILE, **_: Any) -> Edges:
    """Read the edges in both directions.

    Raises
    ------
    FileFormatError
        Another number of lines or neighbours than the header says, ids outside 1..n, or an edge that only one of its
        ends lists (or with another weight).
    """
    edges = collect(EdgeChunks(_chunks(path, weights, whole=True), undirected=True, mirrored=True))
    with working("checking both ends of the edges"):
        _check_symmetric(path, edges)
    return edges


def edge_chunks(path: Path, weights: Weights = FROM_FILE) -> EdgeChunks:
    """Return the edges chunk by chunk; errors do not name an edge that only one of its ends lists."""

    def checked(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        upper = lower = 0
        for chunk in chunks:
            sums = sums_of_ends(*chunk)
            upper, lower = (upper + sums[0]) % 2**64, (lower + sums[1]) % 2**64
            yield chunk
        if upper != lower:
            raise FileFormatError(f"{path}: an edge is listed by one of its ends only, or with another weight there")

    found = EdgeChunks(_chunks(path, weights, whole=False), undirected=True, mirrored=True)
    found.pass_through(checked)
    return found


def _chunks(path: Path, weights: Weights, *, whole: bool) -> Chunks:
    header: _Header | None = None
    vertex = count = 0
    for chunk in lines(path, longest=_longest(whole)):
        data, dropped = _comments(chunk.data)
        words = text.counts(data)
        if header is None:
            at = _first(words)
            if at is None:
                continue
            header = _header(chunk, data.split(b"\n")[at], at, whole)
            dropped[: at + 1] = True
            data = b"\n".join([b""] * (at + 1) + data.split(b"\n", at + 1)[at + 1 :])
            words[: at + 1] = 0
        place = np.flatnonzero(~dropped)  # the line of each vertex
        rows, cols, *rest = _neighbours(Lines(path, chunk.first, data), words[place], place, vertex, header)
        if rest and weights.dtype is not None and weights.kind == "file":
            place_of = partial(_weight_place, chunk, place[rows - vertex], header.skip)
            weighting.check_fit(rest[0], weights.dtype, place_of)
        vertex += place.size
        count += rows.size
        yield rows, cols, rest[0] if rest else None
    if header is None:
        raise FileFormatError(f"{path} holds no header 'VERTICES EDGES'")
    if vertex < header.n:
        raise FileFormatError(f"{path} is truncated: it has lines for {vertex:,} of the header's {header.n:,} vertices")
    if count != 2 * header.edges:
        raise FileFormatError(
            f"{path} lists {count:,} neighbours; its header says {header.edges:,} edges, "
            f"so {2 * header.edges:,} are needed"
        )
    return EdgeFacts(header.n, header.n)


def _weight_place(chunk: Lines, lines: NDArray[np.int64], skip: int, at: int) -> str:
    """Return the place of a weight; `lines` has those of all, in ascending order."""
    before = at - int(np.searchsorted(lines, lines[at]))
    return chunk.place(int(lines[at]), skip + 2 * before + 1)


def _longest(whole: bool) -> int:
    """Return the most bytes of a vertex's line."""
    space = host_available() if whole else None
    bound = _LONGEST[whole] if space is None else min(_LONGEST[whole], space // _LINE_COST)
    return max(bound, LINE)


def _comments(data: bytes) -> tuple[bytes, NDArray[np.bool_]]:
    """Return the text with comments emptied, and which of its lines were comments."""
    if b"%" not in data:
        return data, np.zeros(data.count(b"\n"), np.bool_)
    comment = [line.lstrip()[:1] == b"%" for line in data.split(b"\n")[:-1]]
    return text.without_comments(data), np.array(comment, np.bool_)


def _first(words: NDArray[np.int32]) -> int | None:
    found = np.flatnonzero(words)
    return int(found[0]) if found.size else None


def _header(chunk: Lines, line: bytes, at: int, whole: bool) -> _Header:
    words = line.split(None, 4)
    numbers = [n for n in map(text.stated, words) if n is not None]
    if not 2 <= len(words) <= 4 or len(numbers) < len(words):
        raise chunk.error(at, f"found {text.shown(line)}; the header 'VERTICES EDGES [FORMAT [WEIGHTS]]' is needed")
    code = words[2].decode() if len(words) > 2 else "0"
    if len(code) > 3 or set(code) - {"0", "1"}:
        raise chunk.error(at, f"found the format {code!r}; up to three digits 0 or 1 are needed")
    sizes, weights, edges = (digit == "1" for digit in code.rjust(3, "0"))
    n, m, *_ = numbers
    several = numbers[3] if len(words) > 3 else 1
    check_sizes(n, n)
    check_count(chunk.path, m, 4, whole=whole)  # both ends list an edge, in two bytes at least
    return _Header(n, m, sizes + several * weights, edges)


def _neighbours(
    chunk: Lines, words: NDArray[np.int32], place: NDArray[np.int64], vertex: int, header: _Header
) -> list[NDArray[Any]]:
    """Return rows, columns and weights (if any) of the vertices from `vertex` on; `place` is the line of each."""
    surplus = vertex + words.size - header.n
    if surplus > 0:
        extra = np.flatnonzero(words[-surplus:]) if surplus < words.size else np.flatnonzero(words)
        if extra.size:
            at = int(place[max(words.size - surplus, 0) + int(extra[0])])
            raise chunk.error(at, f"found a line more than the {header.n:,} vertices of the header")
        words = words[: max(words.size - surplus, 0)]
    step = 2 if header.weighted else 1
    own = words - np.int64(min(header.skip, 2**62))
    wrong = np.flatnonzero((own < 0) | (own % step != 0))
    if wrong.size:
        at = int(wrong[0])
        needed = f"{header.skip} numbers of the vertex" + ", then pairs of neighbour and weight" * header.weighted
        raise chunk.error(int(place[at]), f"found {words[at]} numbers; needed are {needed}")
    if not text.is_plain(chunk.data):
        raise _not_plain(chunk)
    numbers = text.plain_integers(chunk.data)
    if header.skip:
        heads = np.repeat(np.cumsum(words) - words, words)
        numbers = numbers[np.arange(numbers.size) - heads >= header.skip]
    rows = np.repeat(np.arange(vertex, vertex + words.size), own // step)
    cols = numbers[::step]
    if cols.size and (int(cols.min()) < 1 or int(cols.max()) > header.n):
        bad = int(np.flatnonzero((cols < 1) | (cols > header.n))[0])
        at = int(place[int(rows[bad]) - vertex])
        said = f"found the neighbour {cols[bad]}; ids from 1 to {header.n:,} are needed"
        raise chunk.error(at, said, header.skip + step * (bad - int(np.searchsorted(rows, rows[bad]))))
    result = [rows, cols - 1]
    if header.weighted and cols.size and int(numbers[1::2].max()) == 2**63 - 1:  # or more, which NumPy lowers to it
        _refuse_large(chunk, header.skip)
    return [*result, numbers[1::2]] if header.weighted else result


def _refuse_large(chunk: Lines, skip: int) -> None:
    """Refuse a weight of 2^63 or more."""
    for at, line in enumerate(chunk.data.split(b"\n")):
        for k, word in enumerate(line.split()):
            if k > skip and (k - skip) % 2 and (len(word.lstrip(b"0")) > 19 or int(word) >= 2**63):
                raise chunk.error(at, f"found the weight {text.shown(word)}; it must be below 2^63", k)


def _not_plain(chunk: Lines) -> FileFormatError:
    found = _STRANGE.search(chunk.data)
    assert found is not None
    at = chunk.data.count(b"\n", 0, found.start())
    before = chunk.data[chunk.data.rfind(b"\n", 0, found.start()) + 1 : found.start()].split()
    return chunk.error(at, f"found {text.shown(found[0])}; whole numbers are needed", len(before))


def _check_symmetric(path: Path, edges: Edges) -> None:
    """Raise FileFormatError unless both ends list every edge."""
    upper, lower = sums_of_ends(edges.rows, edges.cols, edges.values)
    if upper != lower:
        raise FileFormatError(f"{path}: {_one_sided(edges)}; both ends of an edge must list it, with the same weight")


def _one_sided(edges: Edges) -> str:
    """Describe an edge that only one end lists."""
    keys = edges.rows.astype(np.uint64) << np.uint64(32) | edges.cols.astype(np.uint64)
    back = edges.cols.astype(np.uint64) << np.uint64(32) | edges.rows.astype(np.uint64)
    only = np.setdiff1d(keys, back)
    if not only.size:
        return "an edge has different weights, or is listed more often, at its two ends"
    row, col = divmod(int(only[0]), 2**32)
    return f"vertex {row + 1} lists {col + 1}, but {col + 1} does not list {row + 1}"


def write(csr: Csr, out: Output) -> None:
    """Write an undirected graph without self-loops; without values if one value stands for all and it is 1."""
    if not is_symmetric(csr):
        raise InvalidValue("a .graph file holds a symmetric matrix; write another format, or symmetrize first")
    plain = unweighted(csr)
    if not (plain or csr.dtype.is_integer):
        raise InvalidValue(f"a .graph file holds whole weights, not {csr.dtype}; write .mtx, or drop the weights")
    for _, _, rows, cols, _ in rows_of(csr, values=False, rows=True, label="checking"):
        if (loops := np.flatnonzero(rows == cols.astype(np.int64))).size:
            raise InvalidValue(f"vertex {rows[loops[0]]} has a self-loop, which a .graph file cannot hold")
    with out.open() as file:
        file.write(b"%d %d%s\n" % (csr.nrows, csr.nvals // 2, b"" if plain else b" 001"))
        progress = bar(csr.nvals, "writing", " entries")
        for first in range(0, csr.nrows, STEP):
            bounds = csr.indptr[first : first + STEP + 1]
            start, stop = int(bounds[0]), int(bounds[-1])
            cols = csr.indices.read(start, stop).astype(np.int64) + 1
            if not plain:
                values = csr.values.read() if csr.iso else csr.values.read(start, stop)
                weights = np.broadcast_to(integers(values, np.int64, ".graph"), cols.shape)
                if (negative := np.flatnonzero(weights < 0)).size:
                    least = weights[negative[0]]
                    raise InvalidValue(f"the value {least} is negative; a .graph file holds weights from 0 on")
                cols = np.stack([cols, weights], axis=1).ravel()
            words = cols.tolist()
            step_words = 1 if plain else 2
            ends = ((bounds - start) * step_words).tolist()
            file.writelines(b"%s\n" % " ".join(map(str, words[a:b])).encode() for a, b in pairwise(ends))
            progress.update(stop - start)
        progress.close()
