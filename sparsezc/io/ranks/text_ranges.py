"""A text file cut into ranges of whole lines, one for each rank; and the check that ranks read the same file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sparsezc.exceptions import FileFormatError, InvalidObject
from sparsezc.io.build.edge_list import Chunk, EdgeChunks, EdgeFacts
from sparsezc.io.build.weights import Weights
from sparsezc.io.files.source import InputFile, Span
from sparsezc.io.files.unpacking import CHUNK
from sparsezc.io.ranks.agreement import Communicator, before, same, together


def can_be_cut(path: Path, module: Any) -> bool:
    """Return whether ranks can read parts of a file: it is uncompressed text of a format that lists edges by line."""
    if not hasattr(module, "in_spans"):
        return False
    with InputFile(path) as file:
        packed = file.compressed
    return not packed and bool(module.in_spans(path))


def text_chunks(path: Path, module: Any, weights: Weights, comm: Communicator) -> EdgeChunks:
    """Return the edges of this rank's lines.

    Raises
    ------
    InvalidObject
        The file changed before all ranks had opened it.
    """
    known = together(comm, lambda: state(path))
    same(comm, f"{path} is not the same file for all ranks", told(known))
    size = int(known[0])

    def starts() -> tuple[int, int]:
        start, stop = (line_start(path, size * at // comm.size) for at in (comm.rank, comm.rank + 1))
        return start, size if comm.rank == comm.size - 1 else stop

    start, stop = together(comm, starts)
    lines = together(comm, lambda: line_ends(path, start, stop))
    span = Span(start, stop, before(comm, lines)[0] + 1)
    found: EdgeChunks = together(comm, lambda: module.edge_chunks(path, weights, span))

    def watched(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        yield from chunks
        if state(path) != known:
            raise FileFormatError(f"{path} was changed while it was read")

    found.pass_through(watched)
    return found


def line_start(path: Path, at: int) -> int:
    """Return the start of the first line that begins at byte `at` or later; the file's size if there is none."""
    with path.open("rb") as file:
        if at <= 0:
            return 0
        file.seek(at - 1)
        while part := file.read(CHUNK):
            found = part.find(b"\n")
            if found >= 0:
                return at + found
            at += len(part)
        return file.seek(0, os.SEEK_END)


def line_ends(path: Path, start: int, stop: int) -> int:
    """Return the number of line ends within the bytes ``start:stop``."""
    count = 0
    with path.open("rb", buffering=0) as file:
        file.seek(start)
        while start < stop and (part := file.read(min(CHUNK, stop - start))):
            count += part.count(b"\n")
            start += len(part)
    return count


def check_total(path: Path, module: Any, facts: EdgeFacts, comm: Communicator) -> EdgeFacts:
    """Compare the number of all ranks' edges with the number in the file's head, if it has one.

    Return the facts about the whole file.
    """
    listed = before(comm, facts.listed)[1]
    nrows, ncols = map(max, zip(*comm.objects((facts.nrows, facts.ncols)), strict=True))
    promised = [each for each in comm.objects(facts.promised) if each is not None]
    whole = EdgeFacts(nrows, ncols, facts.dtype, listed, promised[0] if promised else None)
    together(comm, lambda: module.check_total(path, whole))
    return whole


def state(path: Path) -> tuple[int, int]:
    """Return the size of a file and the time of its last change, in ns."""
    if not path.is_file():
        raise InvalidObject(f"{path} is no regular file; ranks can read parts of those only")
    known = path.stat()
    return known.st_size, known.st_mtime_ns


def told(known: tuple[int, int]) -> tuple[str, str]:
    """Return the state of a file in words, for messages."""
    seconds, rest = divmod(known[1], 10**9)
    return f"{known[0]:,} bytes", f"a change at {datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}.{rest:09} UTC"
