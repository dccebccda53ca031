"""The model of a graph in parts: the entries that each reads, the bytes that they exchange; and their counts.

Rows of every matrix, and entries of every vector, belong to parts: contiguous ranges with equally many entries of the
graph each, the scheme "1D" of Gunrock's scaling study. Every part reads its own rows. What it lacks for that comes from
the part that has it:

* a *pull* (``A v``, ``A B``, labels of neighbours): each value of a vector, or row of a matrix, that a part's rows
  refer to, once a part, and again only when it has changed: parts keep what they were sent;
* a *push* (``v A``, ``Y A`` with few rows Y): each result that a part's rows make for another part, added up there
  before, once a part.

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

SHARED = 64  # rows up to which an object is on every part
ID = 4  # bytes of a vertex's number


@dataclass
class Counts:
    """Counts of one number of parts.

    Attributes
    ----------
    parts : int
    operations, received : float
        Entries that were read, and bytes that came from other parts; of the busiest part, added up over statements,
        as every part waits for it.
    all_operations, exchanged : float
        The same of all parts together.
    """

    parts: int
    operations: float = 0.0
    received: float = 0.0
    all_operations: float = 0.0
    exchanged: float = 0.0

    def add(self, operations: Array | float, received: Array | float = 0.0) -> None:
        """Add a statement: one number a part, or what all of them do, evenly shared."""
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
    """The owners of rows, for some numbers of parts; and what was counted.

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
        """Cut everything of so many rows by the entries of these rows, unless another matrix came first."""
        self._entries.setdefault(lengths.size, lengths)

    def owner(self, size: int, parts: int) -> Array:
        """Return the part of each position of an object of this size."""
        if (size, parts) not in self._owners:
            lengths = self._entries.get(size, np.ones(size, np.int64))
            middle = np.cumsum(lengths) - (lengths + 1) // 2
            total = max(int(lengths.sum()), 1)
            found = np.clip(middle * parts // total, 0, parts - 1).astype(np.int8)
            self._owners[size, parts] = np.maximum.accumulate(found)
        return self._owners[size, parts]

    def local(self, entries: float) -> None:
        """Count a statement that reads so many entries where they are."""
        for counts in self.counts:
            counts.add(float(entries))

    def pull(
        self, rows: Array, cols: Array, shape: tuple[int, int], nbytes: Array, work: Array | None = None,
        version: tuple[Any, Array] | None = None,
    ) -> None:  # fmt: skip
        """Count a product whose entries (rows, cols) are read by the rows' parts, which need what is at the columns.

        Parameters
        ----------
        nbytes : array
            What each column's value takes on the way.
        work : array, optional
            Operations of an entry, by column; one by default.
        version : (object, array), optional
            What is needed, and a number for the content of each of its columns that changes with it.
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
        """Return where a part does not have the content of now."""
        key = id(source), parts
        if key not in self._sent:
            weakref.finalize(source, self._sent.pop, key, None)  # another object may get its id
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
        """Count a product of entries (rows, cols) with the CSR `other`, whose rows are read by their own parts.

        `shape` is the number of rows of the first, the number of rows and that of columns of the other.
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
        """Count sums that the rows' parts add up, each on its own, and send to the owners of the sums.

        `sums` numbers the sum that an entry adds to, `owners` the position of that sum in an object of size
        ``sizes[1]``; rows are those of an object of size ``sizes[0]``.
        """
        for counts in self.counts:
            p = counts.parts
            if sizes[1] <= SHARED or not sums.size:
                continue
            sender = self.owner(sizes[0], p)[rows].astype(np.int64)
            _, first = np.unique(np.stack([sender, sums]), axis=1, return_index=True)
            target = self.owner(sizes[1], p)[owners[first]]
            counts.add(0.0, np.bincount(target[target != sender[first]], minlength=p) * nbytes)
