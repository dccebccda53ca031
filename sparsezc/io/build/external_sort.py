"""Edges sorted on disk: runs as large as the memory allows, each sorted and written, then merged in one pass or more.

Source: D. Knuth, The Art of Computer Programming, volume 3, section 5.4, external sorting by merging.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.io.build import csr_builder, edge_list
from sparsezc.io.build.csr_builder import Positions
from sparsezc.io.build.edge_list import Chunk, narrow_ids
from sparsezc.terminal.progress import bar

_SORTING = 40, 72  # bytes of an edge without and with a value while a run is sorted
_MERGING = 56, 128  # bytes of an edge without and with a value while runs are merged
_BLOCK = 1 << 13  # entries of a run that are read at a time, at least


@dataclass(frozen=True)
class Run:
    """Entries in ascending order, each position once, in files of one array each: `path` and its `.cols`, `.values`.

    Positions are keys, or rows and columns (int64) where ids take more than 32 bits.
    """

    path: Path
    count: int
    wide: bool
    dtype: np.dtype[Any] | None

    @classmethod
    def write(cls, path: Path, chunks: Iterable[tuple[Positions, NDArray[Any] | None]]) -> Run:
        """Write a run of entries that come in order."""
        count, wide, dtype = 0, False, None
        with ExitStack() as stack:
            files = [stack.enter_context(name.open("wb")) for name in _files(path)]
            for found, values in chunks:
                count, wide = count + found[0].size, len(found) == 2
                for part, file in zip(found, files, strict=False):
                    file.write(np.ascontiguousarray(part).data)
                if values is not None:
                    dtype = values.dtype
                    files[2].write(np.ascontiguousarray(values).data)
        return cls(path, count, wide, dtype)

    def read(self, start: int, count: int, wide: bool, dtype: Any) -> tuple[list[NDArray[Any]], NDArray[Any] | None]:
        """Return entries from `start` on: positions as keys or, if `wide`, as rows and columns; values in `dtype`."""
        first, second, third = _files(self.path)
        kind = np.int64 if self.wide else np.uint64
        parts = [_part(name, kind, start, count) for name in (first, second)[: 1 + self.wide]]
        if wide and not self.wide:
            parts = list(csr_builder.block(tuple(parts), 0, parts[0].size))
            parts[1] = parts[1].astype(np.int64)
        if self.dtype is None:
            return parts, None
        return parts, edge_list.retyped(_part(third, self.dtype, start, count), dtype)

    def remove(self) -> None:
        """Remove the files."""
        for name in _files(self.path):
            name.unlink()


def _files(path: Path) -> tuple[Path, Path, Path]:
    return path, path.with_suffix(".cols"), path.with_suffix(".values")


def _part(path: Path, dtype: Any, start: int, count: int) -> NDArray[Any]:
    """Read a part of an array, and nothing beyond it.

    The system would read ahead, several times what is asked for: of a run among many this is dropped, where memory is
    short, before its turn comes, and read again.
    """
    with path.open("rb", buffering=0) as file:
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        return np.fromfile(file, dtype, count, offset=np.dtype(dtype).itemsize * start)


class Sorter:
    """A sorter of edges in any order into runs in a folder; each run has every position once.

    With `mirror` each edge off the diagonal is also added reversed, as if it came after all given edges.
    """

    def __init__(self, folder: Path, space: int, *, valued: bool, mirror: bool, dup_op: str) -> None:
        self._folder, self._mirror, self._dup_op = folder, mirror, dup_op
        self._space, self._bytes = space, _SORTING[valued]
        self._chunks: list[Chunk] = []
        self._count = self._number = 0
        self.listed = 0  # edges that were added, with those that `mirror` adds
        self._wide = False
        self._runs: list[Run] = []
        self._mirrored: list[Run] = []

    def add(self, rows: NDArray[Any], cols: NDArray[Any], values: NDArray[Any] | None) -> None:
        """Add some edges."""
        rows, cols = narrow_ids(rows), narrow_ids(cols)
        self._chunks.append((rows, cols, values))
        self._count += rows.size
        self.listed += rows.size + (int(np.count_nonzero(rows != cols)) if self._mirror else 0)
        self._wide = self._wide or (rows.size > 0 and max(int(rows.max()), int(cols.max())) >= 2**32)
        if self._count * self._bytes * (1 + self._wide) >= self._space:
            self._flush()

    def finish(self) -> list[Run]:
        """Return all runs, in the order in which duplicates count."""
        self._flush()
        return self._runs + self._mirrored

    def _flush(self) -> None:
        if not self._chunks:
            return
        parts, values = self._taken()
        found, values = csr_builder.ascending(parts, values, self._dup_op in ("first", "second"))
        found, values = csr_builder.merge(found, values, self._dup_op)
        self._runs.append(self._write(found, values))
        if self._mirror:
            self._mirrored.append(self._write(*_mirrored(found, values)))

    def _taken(self) -> tuple[list[NDArray[Any]], NDArray[Any] | None]:
        """Return the chunks as one: keys, or rows and columns; and the values."""
        kinds = [np.int64, np.int64] if self._wide else [np.uint64]
        parts: list[NDArray[Any]] = [np.empty(self._count, kind) for kind in kinds]
        valued = [chunk[2].dtype for chunk in self._chunks if chunk[2] is not None]
        values = np.empty(self._count, edge_list.value_type(valued)) if valued else None
        at = 0
        self._chunks.reverse()
        while self._chunks:
            rows, cols, weights = self._chunks.pop()
            here = slice(at, at + rows.size)
            parts[0][here] = rows
            if not self._wide:
                parts[0][here] <<= csr_builder.SHIFT
                parts[0][here] |= cols.astype(np.uint64)
            else:
                parts[1][here] = cols
            if values is not None and weights is not None:
                values[here] = edge_list.retyped(weights, values.dtype)
            at += rows.size
        self._count, self._wide = 0, False
        return parts, values

    def _write(self, found: Positions, values: NDArray[Any] | None) -> Run:
        self._number += 1
        return Run.write(self._folder / f"run{self._number}", [(found, values)])


def _mirrored(found: Positions, values: NDArray[Any] | None) -> tuple[Positions, NDArray[Any] | None]:
    """Return the same entries reversed, without the diagonal."""
    off, parts = csr_builder.flipped(found)
    return csr_builder.ascending(parts, None if values is None else values[off], stable=False)


def merged(
    runs: list[Run], space: int, dup_op: str, label: str = "merging"
) -> Iterator[tuple[Positions, NDArray[Any] | None]]:
    """Yield the entries of all runs in order, in chunks, with entries of equal positions merged."""
    if not runs:
        return
    wide = any(run.wide for run in runs)
    kinds = [run.dtype for run in runs if run.dtype is not None]
    dtype = edge_list.value_type(kinds) if kinds else None
    block = max(space // (_MERGING[dtype is not None] * (1 + wide) * len(runs)), 1)
    cursors = [_Cursor(run, block, wide, dtype) for run in runs]
    progress = bar(sum(run.count for run in runs), label, " edges")
    while cursors := [cursor for cursor in cursors if cursor.fill()]:
        limit = min(cursor.last for cursor in cursors)
        taken = [cursor.take(limit) for cursor in cursors]
        parts = [np.concatenate(column) for column in zip(*(positions for positions, _ in taken), strict=True)]
        values = np.concatenate([part for _, part in taken if part is not None]) if dtype is not None else None
        del taken
        progress.update(parts[0].size)
        found, values = csr_builder.ascending(parts, values, dup_op in ("first", "second"))
        found, values = csr_builder.merge(found, values, dup_op)
        yield found, values
    progress.close()


def few(runs: list[Run], space: int, dup_op: str, folder: Path) -> list[Run]:
    """Return as many runs as can be merged at once, each read a block at a time; they replace the given ones."""
    most = max(space // (_MERGING[any(run.dtype is not None for run in runs)] * _BLOCK), 2)
    turn = 0
    while len(runs) > most:
        turn += 1
        made = []
        for at in range(0, len(runs), most):
            some = runs[at : at + most]
            made.append(Run.write(folder / f"merged{turn}-{at}", merged(some, space, dup_op)))
            for run in some:
                run.remove()
        runs = made
    return runs


class _Cursor:
    """A position in a run, read a block ahead."""

    def __init__(self, run: Run, block: int, wide: bool, dtype: Any) -> None:
        self._run, self._block, self._wide, self._dtype = run, block, wide, dtype
        self._at = 0
        self._parts, self._values = run.read(0, 0, wide, dtype)

    def fill(self) -> bool:
        """Read on where little is left; return False at the end."""
        have = self._parts[0].size
        count = min(self._block - have, self._run.count - self._at)
        if count and have <= self._block // 2:
            parts, values = self._run.read(self._at, count, self._wide, self._dtype)
            self._at += count
            self._parts = [np.concatenate(pair) for pair in zip(self._parts, parts, strict=True)] if have else parts
            if values is not None:
                self._values = np.concatenate([self._values, values]) if have and self._values is not None else values
        return self._parts[0].size > 0

    @property
    def last(self) -> tuple[int, ...]:
        """Return the last position that was read."""
        return tuple(int(part[-1]) for part in self._parts)

    def take(self, limit: tuple[int, ...]) -> tuple[list[NDArray[Any]], NDArray[Any] | None]:
        """Return the entries up to a position."""
        low, high = 0, self._parts[0].size
        for part, bound in zip(self._parts, limit, strict=True):
            here = part[low:high]
            last = part is self._parts[-1]
            high = low + int(np.searchsorted(here, part.dtype.type(bound), side="right"))
            low += 0 if last else int(np.searchsorted(here, part.dtype.type(bound), side="left"))
        parts = [part[:high] for part in self._parts]
        self._parts = [part[high:] for part in self._parts]
        values = None
        if self._values is not None:
            values, self._values = self._values[:high], self._values[high:]
        return parts, values
