"""EMOGI's graphs: NAME.bel.col (offsets), NAME.bel.dst (ids) and perhaps NAME.bel.val (weights).

Each file opens with two uint64: how many numbers follow, and a type mark that nobody reads. Offsets are uint64, one
more than there are vertices; ids are uint64 (uint32 in some derived sets: the file's size tells); weights are uint32.
Source: S. W. Min et al., EMOGI: Efficient Memory-access for Out-of-memory Graph-traversal in GPUs, VLDB 14(2), 2021,
doi:10.14778/3425879.3425883.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sparsezc.csr import Csr
from sparsezc.errors import FileFormatError, InvalidValue
from sparsezc.io import build, stream
from sparsezc.io.atomic import Output
from sparsezc.io.pieces import integers, rows_of, unweighted
from sparsezc.io.source import Stream, existing
from sparsezc.io.weights import Weights
from sparsezc.semirings import types

SUFFIXES = (".bel", ".bel.col", ".bel.dst", ".bel.val")
_HEAD = 16


def _part(path: Path, ending: str) -> Path:
    """The file of one array, whichever of them (or the common name) was given."""
    name = path.name
    base = name[: name.lower().rindex(".bel") + 4] if ".bel" in name.lower() else name
    return path.with_name(base + ending)


def read(path: Path, *, weights: Weights, placement: str | None, direct: bool) -> Csr | build.Edges:
    """The graph of the two or three files; without a .val (or an empty one) it has no weights.

    Raises
    ------
    FileNotFoundError
        The .col or the .dst is not there.
    FileFormatError
        Counts and sizes do not fit each other.
    """
    return stream.load(stored(path, weights), weights, placement, direct)


def stored(path: Path, weights: Weights) -> stream.Stored:
    """The rows as they lie in the files."""
    edges, values = _part(path, ".dst"), _part(path, ".val")
    with Stream(existing(_part(path, ".col"))) as offsets:
        count = _count(offsets)
        if count < 1 or _width(offsets, count) != 8:
            raise FileFormatError(f"{offsets.path} needs {_HEAD + 8 * count:,} bytes for {count:,} offsets of 8 bytes")
        indptr = stream.read_offsets(offsets, count, "<u8")
    n = count - 1
    with Stream(existing(edges)) as file:
        ids = _count(file)
        id_type = np.dtype(f"<u{_width(file, ids)}") if ids else np.dtype("<u8")
    if ids != indptr[-1]:
        raise FileFormatError(f"{edges} has {ids:,} ids; the offsets of the .col end at {indptr[-1]:,}")
    value_type = _value_type(values, ids)

    @contextmanager
    def entries() -> Iterator[stream.Take]:
        names = [edges] + ([values] if value_type is not None and weights.kind == "file" else [])
        with ExitStack() as stack:
            files = [stack.enter_context(Stream(name)) for name in names]
            for file in files:
                _count(file)

            def take(size: int) -> tuple[Any, Any]:
                part = stream.read_exactly(files[0], size, id_type, "ids")
                more = stream.read_exactly(files[1], size, value_type, "weights") if len(files) > 1 else None
                return part, more

            yield take

    dtype = None if value_type is None else types.lookup(value_type)
    return stream.Stored(edges, n, n, indptr, entries, dtype)


def _count(file: Stream) -> int:
    return int(stream.read_exactly(file, 2, "<u8", "header")[0])


def _width(file: Stream, count: int) -> int:
    """Bytes of one number, from the file's size."""
    body = file.path.stat().st_size - _HEAD
    width = body // count if count else 8
    if width not in (4, 8) or body != width * count:
        raise FileFormatError(
            f"{file.path} has {body + _HEAD:,} bytes; its header says {count:,} numbers, "
            f"so {_HEAD + 8 * count:,} (or {_HEAD + 4 * count:,}) are needed"
        )
    return width


def _value_type(path: Path, ids: int) -> Any:
    """The type of the weights; None where there are none."""
    if not path.exists() or path.stat().st_size <= _HEAD:
        return None
    with Stream(path) as file:
        count = _count(file)
        if count != ids:
            raise FileFormatError(f"{path} has {count:,} weights; the graph has {ids:,} edges")
        return np.dtype(f"<u{_width(file, count)}")


def write(csr: Csr, out: Output) -> None:
    """Write .col, .dst and, unless all values are 1 by being iso-valued, .val (uint32); an old .val is emptied then."""
    if csr.nrows != csr.ncols:
        raise InvalidValue(f"a .bel graph is a square matrix, not {csr.nrows} x {csr.ncols}")
    with out.open(_part(out.path, ".col")) as file:
        file.write(np.array([csr.nrows + 1, 0], "<u8").tobytes())
        file.write(csr.indptr.astype("<i8", copy=False).data)
    with out.open(_part(out.path, ".dst")) as file:
        file.write(np.array([csr.nvals, 0], "<u8").tobytes())
        for _, _, _, cols, _ in rows_of(csr, values=False):
            file.write(cols.astype("<u8", copy=False).data)
    weights = _part(out.path, ".val")
    if unweighted(csr):
        if weights.exists():  # another graph's, which would be taken for this one's
            with out.open(weights) as file:
                file.write(np.zeros(2, "<u8").tobytes())
        return
    with out.open(weights) as file:
        file.write(np.array([csr.nvals, 0], "<u8").tobytes())
        for _, _, _, _, values in rows_of(csr):
            file.write(integers(values, np.uint32, ".bel.val").data)
