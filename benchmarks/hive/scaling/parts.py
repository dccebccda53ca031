"""The model of a graph in parts, and its counts: entries that each part reads, and bytes that parts exchange.

Rows of every matrix, and entries of every vector, belong to parts: contiguous ranges with equally many entries of the
graph each, the scheme "1D" of Gunrock's scaling study. Every part reads its own rows. Other values that it needs are
sent by the parts that have them:

* a *pull* (``A v``, ``A B``, labels of neighbours): each value of a vector, or row of a matrix, that a part's rows
  refer to, once a part, and again only if it has changed, as parts keep received values;
* a *push* (``v A``, ``Y A`` with few rows Y): each result that a part's rows compute for another part, summed before
  it is sent, once a part.

Objects of few rows are on every part. Statements on single entries exchange nothing.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

SHARED = 64  # most rows of an object that every part has whole
ID = 4  # bytes of a vertex's id


@dataclass
class Counts:
    """Counts for one number of parts.

    Attributes
    ----------
    parts : int
    operations, received : float
        Entries read, and bytes received from other parts, by the busiest part of each statement, as all parts wait for
        it; summed over statements.
    all_operations, exchanged : float
        The same of all parts together.
    """

    parts: int
    operations: float = 0.0
    received: float = 0.0
    all_operations: float = 0.0
    exchanged: float = 0.0

    def add(self, operations: Array | float, received: Array | float = 0.0) -> None:
        """Add a statement's counts: an array with a number for each part, or a total that parts share evenly."""
        for name, total, each in (
            ("operations", "all_operations", operations), ("received", "exchanged", received),
        ):  # fmt: skip
            if isinstance(each, np.ndarray):
                setattr(self, name, getattr(self, name) + float(each.max(initial=0)))
                setattr(self, total, getattr(self, total) + float(each.sum()))
            else:
                setattr(self, name, getattr(self, name) + each / self.parts)
                setattr(self, total, getattr(self, total) + each)


@dataclass
class Partition:
    """The parts of rows for several numbers of parts, and the counts.

    Attributes
    ----------
    counts : list of Counts
        One for each number of parts.
    """

    numbers: Iterable[int] = range(1, 9)
    counts: list[Counts] = field(init=False)
    _entries: dict[int, Array] = field(default_factory=dict)
    _owners: dict[tuple[int, int], Array] = field(default_factory=dict)
    _sent: dict[tuple[int, int], tuple[Array, Array]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.counts = [Counts(parts) for parts in self.numbers]

    def cut(self, lengths: Array) -> None:
        """Divide objects of ``lengths.size`` rows by the entries of rows, unless they are divided already."""
        self._entries.setdefault(lengths.size, lengths)

    def owner(self, size: int, parts: int) -> Array:
        """Return the part of each position of an object of `size` positions."""
        if (size, parts) not in self._owners:
            lengths = self._entries.get(size, np.ones(size, np.int64))
            middle = np.cumsum(lengths) - (lengths + 1) // 2
            total = max(int(lengths.sum()), 1)
            found = np.clip(middle * parts // total, 0, parts - 1).astype(np.int8)
            self._owners[size, parts] = np.maximum.accumulate(found)
        return self._owners[size, parts]

    def local(self, entries: float) -> None:
        """Count a statement that reads `entries` entries in place."""
        for counts in self.counts:
            counts.add(float(entries))

    def pull(
        self, rows: Array, cols: Array, shape: tuple[int, int], nbytes: Array, work: Array | None = None,
        version: tuple[Any, Array] | None = None,
    ) -> None:  # fmt: skip
        """Count a product whose entries (rows, cols) are read by the rows' parts, which need the values at the columns.

        Parameters
        ----------
        nbytes : array
            Bytes in which each column's value is sent.
        work : array, optional
            Operations of an entry, by column; one by default.
        version : (object, array), optional
            The object of these values, and a hash of the value at each column, which changes with it.
        """
        for counts in self.counts:
            p = counts.parts
            if shape[0] <= SHARED:
                counts.add(float(rows.size if work is None else work[cols].sum()))
                continue
            reader = self.owner(shape[0], p)[rows]
            operations = np.bincount(reader, None if work is None else work[cols], minlength=p)
            received: Array | float = 0.0
            if shape[1] > SHARED and p > 1:
                needed = np.zeros((p, shape[1]), np.bool_)
                needed[reader, cols] = True
                needed[self.owner(shape[1], p), np.arange(shape[1])] = False
                if version is not None:
                    needed = self._changed(*version, p, needed)
                received = needed @ nbytes.astype(np.float64)
            counts.add(operations, received)

    def _changed(self, source: Any, values: Array, parts: int, needed: Array) -> Array:
        """Return the needed values of which a part lacks the current version, and mark them as sent."""
        key = id(source), parts
        if key not in self._sent:
            weakref.finalize(source, self._sent.pop, key, None)  # a later object may have the same id
        if key not in self._sent or self._sent[key][1].shape != needed.shape:
            self._sent[key] = np.zeros(needed.shape, np.bool_), np.zeros(needed.shape, values.dtype)
        has, kept = self._sent[key]
        changed = needed & ~(has & (kept == values))
        has[changed] = True
        kept[changed] = np.broadcast_to(values, kept.shape)[changed]
        return changed

    def push(
        self, rows: Array, cols: Array, other: tuple[Array, Array], shape: tuple[int, int, int], nbytes: float
    ) -> None:
        """Count a product of entries (rows, cols) with a CSR `other`, whose rows are read by their parts.

        `shape`: the rows of the first operand, the rows of the other, its columns.
        """
        indptr, ids = other
        lengths = np.diff(indptr)[cols]
        starts = indptr[cols]
        at = np.repeat(starts - np.r_[0, np.cumsum(lengths)[:-1]], lengths) + np.arange(int(lengths.sum()))
        into, of = ids[at], np.repeat(rows, lengths)
        for counts in self.counts:
            p = counts.parts
            if shape[1] <= SHARED:
                counts.add(float(at.size))
                continue
            reader = self.owner(shape[1], p)[cols]
            operations = np.bincount(reader, lengths, minlength=p)
            received: Array | float = 0.0
            if shape[2] > SHARED and p > 1:
                sent = np.zeros((p, shape[0], shape[2]), np.bool_)
                sent[np.repeat(reader, lengths), of, into] = True
                target = self.owner(shape[2], p)
                sent[target, :, np.arange(shape[2])] = False
                received = np.bincount(target, sent.sum(axis=(0, 1)), minlength=p) * nbytes
            counts.add(operations, received)

    def messages(self, sender: Array, receiver: Array, sizes: tuple[int, int], nbytes: float, work: Array) -> None:
        """Count messages between positions of two objects, and `work` operations for each at the sender's part."""
        for counts in self.counts:
            p = counts.parts
            left, right = self.owner(sizes[0], p)[sender], self.owner(sizes[1], p)[receiver]
            received = np.bincount(right[left != right], minlength=p) * nbytes
            counts.add(np.bincount(left, work, minlength=p), received)

    def fold(self, rows: Array, sums: Array, owners: Array, sizes: tuple[int, int], nbytes: float) -> None:
        """Count partial sums that the rows' parts compute and send to the owners of the sums.

        For each entry, `sums` has the number of its sum, and `owners` the position of that sum in an object of
        ``sizes[1]`` positions; rows are of an object of ``sizes[0]``.
        """
        for counts in self.counts:
            p = counts.parts
            if sizes[1] <= SHARED or not sums.size:
                continue
            sender = self.owner(sizes[0], p)[rows].astype(np.int64)
            _, first = np.unique(np.stack([sender, sums]), axis=1, return_index=True)
            target = self.owner(sizes[1], p)[owners[first]]
            counts.add(0.0, np.bincount(target[target != sender[first]], minlength=p) * nbytes)
