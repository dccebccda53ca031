"""The second half of a conversion in bounded memory: sorted runs become the arrays of a mappable file.

The runs are merged twice: once to count the entries, to find the type of their values and, if requested, the best
packing of their ids; once into the file.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import naming
from sparsezc.io.build import csr_builder, edge_list, external_sort
from sparsezc.io.build import weights as weighting
from sparsezc.io.build.csr_builder import Positions
from sparsezc.io.build.edge_list import EdgeFacts
from sparsezc.io.build.weights import Weights
from sparsezc.io.files.atomic_write import Output
from sparsezc.io.hdf5 import aligned_file, compressing, csr_file, vertex_ids
from sparsezc.memory.buffer import index_dtype
from sparsezc.semirings.types import datatypes

_STEP = 1 << 17  # entries that are written at a time


@dataclass(frozen=True)
class Facts:
    """The facts about the file that was written."""

    nrows: int
    ncols: int
    nvals: int
    dtype: datatypes.DataType
    symmetric: bool
    merged: int


@dataclass(frozen=True)
class Merger:
    """Sorted runs that can be merged any number of times."""

    runs: list[external_sort.Run]
    left: Callable[[], int]  # bytes that merging may use
    dup_op: str

    @property
    def kind(self) -> np.dtype[Any] | None:
        """Return the type that holds the values of all runs; None: there are no values."""
        kinds = [run.dtype for run in self.runs if run.dtype is not None]
        return edge_list.value_type(kinds) if kinds else None

    def chunks(self, label: str) -> Iterator[tuple[Positions, NDArray[Any] | None]]:
        """Merge the runs, and yield their entries chunk by chunk."""
        return external_sort.merged(self.runs, self.left(), self.dup_op, label)


@dataclass
class Look:
    """The number of entries and the bounds of their values, found in a pass over the merged entries."""

    count: int = 0
    low: Any = None
    high: Any = None
    first: Any = None
    same: bool = True

    def add(self, count: int, values: NDArray[Any] | None) -> None:
        """Add some entries to the facts."""
        self.count += count
        if values is None or not count:
            return
        low, high = values.min(), values.max()
        self.low, self.high = (low, high) if self.first is None else (min(low, self.low), max(high, self.high))
        self.first = values[0] if self.first is None else self.first
        self.same = self.same and bool((values == self.first).all())

    def joined(self, others: Sequence[Look]) -> Look:
        """Return the facts about all entries from those about their parts in order, `others`, including these."""
        some = [each for each in others if each.count]
        if not some:
            return Look()
        same = all(each.same and each.first == some[0].first for each in some)
        count = sum(each.count for each in some)
        if some[0].first is None:
            return Look(count)
        low, high = min(each.low for each in some), max(each.high for each in some)
        return Look(count, low, high, some[0].first, same)

    def values(
        self, weights: Weights, stated: datatypes.DataType | None, kind: np.dtype[Any] | None
    ) -> tuple[datatypes.DataType, NDArray[Any] | None]:
        """Return the final type of values that were read as `kind`, and the value of all if equal, else None."""
        few = None if kind is None else np.array([self.first, self.low, self.high] if self.count else [], kind)
        one, dtype, _ = csr_builder.final_values(few, weights, stated)
        if few is None:
            return dtype, one
        return dtype, datatypes.cast(np.array([self.first]), dtype) if self.same and self.count > 1 else None


def write(
    facts: EdgeFacts, weights: Weights, merger: Merger, both: bool, out: Output, packer: compressing.Packer | None,
    listed: int, vertices: NDArray[Any] | None = None,
) -> Facts:  # fmt: skip
    """Merge the runs into the file; with a packer, ids are compressed into blocks.

    `listed`: the number of entries before duplicates were merged; `vertices`: the ids of rows.
    """
    look, packer = Look(), None if facts.ncols > 2**32 else packer
    counted = looked_at(look, merger)
    if packer is None:
        deque(counted, maxlen=0)
    else:
        packer.measure(counted)
        packer = packer if look.count else None
    dtype, one = look.values(weights, facts.dtype, merger.kind)
    symmetric = both and csr_builder.alike(merger.kind is not None, dtype, merger.dup_op)
    id_type, iso = index_dtype(facts.ncols, "device"), one is not None and look.count > 0
    with naming(out.path), aligned_file.Writer(out.reserve()) as writer:
        offsets = _Offsets(writer.array("pointers_to_1", facts.nrows + 1, np.int64))
        ids = writer.array("indices_1", look.count, id_type) if packer is None else packer.arrays(writer, look.count)
        target = writer.array("values", 1 if iso else look.count, dtype.np_type)
        if iso and one is not None:
            target.write(one)

        def columns() -> Iterator[NDArray[Any]]:
            """Yield the column ids of the entries, after writing their offsets and values."""
            for rows, cols, values in steps(merger, f"writing {out.path.name}"):
                offsets.add(rows)
                if weights.kind == "hash":
                    target.write(weighting.hashed(rows, cols, weights))
                elif not iso and values is not None:
                    if weights.dtype is not None:
                        weighting.check_fit(values, weights.dtype)
                    target.write(datatypes.cast(values, dtype))
                yield cols

        for part in columns() if packer is None else packer.pack(columns()):
            ids.write(part.astype(id_type, copy=False))
        offsets.finish(facts.nrows)
        vertex_ids.write(writer, vertices)
        described = csr_file.descriptor(facts.nrows, facts.ncols, look.count, id_type, dtype, iso)
        described["format"] = csr_file.FORMS[packer is not None]
        writer.finish(described, symmetric=symmetric)
    return Facts(facts.nrows, facts.ncols, look.count, dtype, symmetric, listed - look.count)


def steps(merger: Merger, label: str) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]]:
    """Yield rows, columns and values of the merged entries, at most `_STEP` entries at a time."""
    for entries, values in merger.chunks(label):
        count = entries[0].size
        for start in range(0, count, _STEP):
            stop = min(start + _STEP, count)
            yield *csr_builder.block(entries, start, stop), None if values is None else values[start:stop]


def looked_at(look: Look, merger: Merger) -> Iterator[NDArray[Any]]:
    """Yield the column ids of the merged entries, after adding each part of the entries to `look`."""
    for _, cols, values in steps(merger, "counting edges"):
        look.add(cols.size, values)
        yield cols


class _Offsets:
    """A writer of row offsets from entries in order, which never has all offsets in memory."""

    def __init__(self, target: aligned_file.Filled) -> None:
        self._target = target
        self._next = self._count = 0  # the next row whose offset is to be written, and the entries before it

    def add(self, rows: NDArray[Any]) -> None:
        """Add the row ids of the next entries."""
        self._to(int(rows[-1]) + 1, rows)
        self._count += rows.size

    def finish(self, nrows: int) -> None:
        """Write the remaining offsets."""
        self._to(nrows + 1, np.empty(0, np.int64))

    def _to(self, stop: int, rows: NDArray[Any]) -> None:
        while self._next < stop:
            some = np.arange(self._next, min(self._next + _STEP, stop))
            self._target.write(self._count + np.searchsorted(rows, some))
            self._next += some.size
