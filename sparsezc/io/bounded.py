"""A graph of any size into a file that lies ready, in a bounded amount of memory.

The edges come piece by piece, are sorted on disk beside the target (external.py) and merged twice: once to learn how
many there are and what their values are like, once into the arrays of the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.config import bytes_of, config
from sparsezc.csr import index_dtype
from sparsezc.errors import DimensionMismatch, InvalidValue, OutOfMemory
from sparsezc.io import build, external, order, paged, ready, stream
from sparsezc.io import weights as weighting
from sparsezc.io.atomic import Output
from sparsezc.io.listing import Listing, Piece
from sparsezc.io.optional import need
from sparsezc.io.order import Ordered
from sparsezc.io.reader import format_of, is_made, ready_file
from sparsezc.io.source import naming
from sparsezc.io.weights import Weights
from sparsezc.memory import machine
from sparsezc.progress import task, working
from sparsezc.semirings import types

_READING = 24 << 20  # bytes for what is read, taken apart and written meanwhile
_LEAST = 16 << 20  # bytes for sorting, without which it is not begun
_SPARE = 48 << 20  # bytes: what the next run may hold before it sorts, and this one did not
_STEP = 1 << 17  # entries that are written at a time


@dataclass(frozen=True)
class Facts:
    """What was written."""

    nrows: int
    ncols: int
    nvals: int
    dtype: types.DataType
    symmetric: bool


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    memory: int | str,
    directed: bool | None = None,
    symmetrize: bool = False,
    weights: Any = None,
    relabel: bool = False,
    *,
    dup_op: Any = "min",
    format: str | None = None,
    verify: bool = False,
) -> Facts:
    """What :func:`sparsezc.io.convert` does with `memory`."""
    limit = bytes_of("memory", memory)
    wanted, merge = weighting.parse(weights), order.merge_name(dup_op)
    if symmetrize and directed:
        raise InvalidValue("directed=True and symmetrize=True contradict each other; give one of them")
    if format_of(Path(target), exists=False) != "binsparse":
        raise InvalidValue(f"memory={memory!r} is for targets that lie ready (.h5), not for {target}")
    need("h5py", "hdf5")  # takes memory of its own
    both = symmetrize or directed is False
    with task(), config.set(host_budget=limit), _short(source), Output(target) as out:
        with naming(source):
            room = _Room(limit)
            _verify(source, format, needed=verify)
            ids = None
            if relabel:
                ids = _occurring(_listing(source, wanted, format)[0], room)
            found, wanted = _listing(source, wanted, format)
            if directed and found.undirected:
                raise InvalidValue(f"directed=True, but {source} is undirected by its format; leave directed out")
            if wanted.kind != "file":
                found.pieces = ((rows, cols, None) for rows, cols, _ in found.pieces)
            if ids is not None:
                found.pieces = _numbered(found, found.pieces, ids)
            both = both or found.undirected
            runs = _sorted(found, room, out.scratch(), both and not found.mirrored, merge)
            build.check_sizes(found.nrows, found.ncols)
            if both and found.nrows != found.ncols:
                raise DimensionMismatch(
                    f"a {found.nrows} x {found.ncols} matrix has no both directions; it must be square"
                )
            runs = external.few(runs, room.left(), merge, out.scratch())
        return _write(found, wanted, _Merger(runs, room, merge), both, out)


@contextmanager
def _short(source: str | os.PathLike[str]) -> Iterator[None]:
    """Say what the system's refusal of memory means."""
    try:
        yield
    except OutOfMemory:
        raise
    except MemoryError as error:
        raise OutOfMemory(f"{source} cannot be converted, for the system refuses memory: {error}") from None


def _verify(source: str | os.PathLike[str], format: str | None, *, needed: bool) -> None:
    """Compare a file with its checksums, if it has them."""
    known = ready_file(source, format)
    if known is not None:
        known.verify()
    elif needed:
        raise ready.unchecked(source)


class _Room:
    """The memory that may be used, and what is left of it."""

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def left(self) -> int:
        """Bytes for sorting, beside what the process holds.

        Raises
        ------
        OutOfMemory
            There are too few.
        """
        used = machine.used()
        left = self._limit - used - _READING
        if left < _LEAST:
            enough = -(-(used + used // 8 + _READING + _LEAST + _SPARE) // 10**6) * 10**6
            raise OutOfMemory(
                f"memory={self._limit:,} is too little: {used:,} bytes are in use already, and "
                f"{_READING + _LEAST:,} are needed at least beside them; {enough:,} are enough"
            )
        return left


@dataclass(frozen=True)
class _Merger:
    """Runs that can be merged as often as is needed."""

    runs: list[external.Run]
    room: _Room
    dup_op: str

    @property
    def kind(self) -> np.dtype[Any] | None:
        """The type that holds the values of all runs; None: there are no values."""
        kinds = [run.dtype for run in self.runs if run.dtype is not None]
        return np.result_type(*kinds) if kinds else None

    def pieces(self, label: str) -> Iterator[tuple[Ordered, NDArray[Any] | None]]:
        """The merged entries."""
        return external.merged(self.runs, self.room.left(), self.dup_op, label)


def _listing(source: str | os.PathLike[str], weights: Weights, format: str | None) -> tuple[Listing, Weights]:
    """The edges of a file or a made graph, and its weights."""
    if is_made(source):
        from sparsezc.io import drawn

        return drawn.listing(str(source), weights)
    path = Path(source)
    name = format_of(path, format)
    module: Any = import_module(f"sparsezc.io.{name}")
    if name == "gap":
        return stream.listed(module.stored(path)), weights
    if name == "emogi":
        return stream.listed(module.stored(path, weights)), weights
    return module.listing(path, weights) if name in ("npz", "binsparse") else module.listing(path), weights


def _occurring(found: Listing, room: _Room) -> NDArray[np.int64]:
    """The ids that occur, ascending."""
    ids = np.empty(0, np.int64)
    parts: list[NDArray[np.int64]] = []
    held = 0
    for rows, cols, _ in found.pieces:
        parts.append(np.union1d(rows, cols).astype(np.int64))
        held += parts[-1].size
        if held > max(ids.size, build.BLOCK):
            if 8 * 4 * (ids.size + held) > room.left():
                raise OutOfMemory(f"relabel=True holds {ids.size + held:,} ids in memory; a larger memory= is needed")
            ids, held = np.unique(np.concatenate([ids, *parts])), 0
            parts.clear()
    return np.unique(np.concatenate([ids, *parts]))


def _numbered(found: Listing, pieces: Iterator[Piece], ids: NDArray[np.int64]) -> Iterator[Piece]:
    """The pieces of a listing over the ids that occur."""
    for rows, cols, values in pieces:
        numbers = (build.narrow_ids(np.searchsorted(ids, part)) for part in (rows, cols))
        yield next(numbers), next(numbers), values
    found.nrows = found.ncols = ids.size


def _sorted(found: Listing, room: _Room, folder: Path, mirror: bool, dup_op: str) -> list[external.Run]:
    """All edges as sorted runs."""
    pieces = iter(found.pieces)
    first = next(pieces, None)  # what a reader needs is in memory now
    if first is None:
        return []
    sorter = external.Sorter(folder, room.left(), valued=first[2] is not None, mirror=mirror, dup_op=dup_op)
    for piece in chain([first], pieces):
        sorter.add(*piece)
    with working("sorting edges"):
        return sorter.finish()


@dataclass
class _Look:
    """What a pass over the merged entries finds."""

    count: int = 0
    low: Any = None
    high: Any = None
    first: Any = None
    same: bool = True

    def add(self, count: int, values: NDArray[Any] | None) -> None:
        """Look at some entries."""
        self.count += count
        if values is None or not count:
            return
        low, high = values.min(), values.max()
        self.low, self.high = (low, high) if self.first is None else (min(low, self.low), max(high, self.high))
        self.first = values[0] if self.first is None else self.first
        self.same = self.same and bool((values == self.first).all())

    def values(
        self, weights: Weights, stated: types.DataType | None, kind: np.dtype[Any] | None
    ) -> tuple[types.DataType, NDArray[Any] | None]:
        """The type of the values, which came as `kind`, and the one that stands for all, if there is one."""
        few = None if kind is None else np.array([self.first, self.low, self.high] if self.count else [], kind)
        one, dtype, _ = build.final_values(few, weights, stated)
        if few is None:
            return dtype, one
        return dtype, types.cast(np.array([self.first]), dtype) if self.same and self.count > 1 else None


def _write(found: Listing, weights: Weights, merger: _Merger, both: bool, out: Output) -> Facts:
    """Merge the runs into the file."""
    look = _Look()
    for entries, values in merger.pieces("counting edges"):
        look.add(len(entries), values)
    dtype, one = look.values(weights, found.dtype, merger.kind)
    symmetric = both and build.alike(merger.kind is not None, dtype, merger.dup_op)
    id_type, iso = index_dtype(found.ncols, "device"), one is not None and look.count > 0
    with naming(out.path), paged.Writer(out.reserve()) as writer:
        offsets = _Offsets(writer.array("pointers_to_1", found.nrows + 1, np.int64))
        columns = writer.array("indices_1", look.count, id_type)
        target = writer.array("values", 1 if iso else look.count, dtype.np_type)
        if iso and one is not None:
            target.write(one)
        for entries, values in merger.pieces(f"writing {out.path.name}"):
            for start in range(0, len(entries), _STEP):
                rows, cols = entries.block(start, min(start + _STEP, len(entries)))
                offsets.add(rows)
                columns.write(cols.astype(id_type))
                if weights.kind == "hash":
                    target.write(weighting.hashed(rows, cols, weights))
                elif not iso and values is not None:
                    target.write(types.cast(values[start : start + _STEP], dtype))
        offsets.finish(found.nrows)
        facts = ready.descriptor(found.nrows, found.ncols, look.count, id_type, dtype, iso)
        writer.finish(facts, symmetric=symmetric)
    return Facts(found.nrows, found.ncols, look.count, dtype, symmetric)


class _Offsets:
    """Writes the offsets of rows whose entries come in order, so that never all of them are in memory."""

    def __init__(self, target: paged.Filled) -> None:
        self._target = target
        self._next = self._count = 0  # the row whose offset comes next, and the entries before it

    def add(self, rows: NDArray[Any]) -> None:
        """The rows of some more entries."""
        self._to(int(rows[-1]) + 1, rows)
        self._count += rows.size

    def finish(self, nrows: int) -> None:
        """The offsets that are left."""
        self._to(nrows + 1, np.empty(0, np.int64))

    def _to(self, stop: int, rows: NDArray[Any]) -> None:
        while self._next < stop:
            some = np.arange(self._next, min(self._next + _STEP, stop))
            self._target.write(self._count + np.searchsorted(rows, some))
            self._next += some.size
