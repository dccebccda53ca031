"""Rows that move between labels in label turns (ops/labels.py): all rounds of a statement, with one wait a round.

A label turn is several launches of label_turns.cu and label_choose.cu. Counts stay on the device: a grid is large
enough for all rows of a length class, and kernels read from `counts` how many of them have the turn. The host reads the
number of moved rows once a round.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.elementwise import vector_map
from sparsezc.engines.gpu.products import labels
from sparsezc.engines.gpu.products.labels import Case, full_values
from sparsezc.engines.gpu.runtime import codegen, groups, launch
from sparsezc.engines.gpu.storage.assembly import near, rows_of
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.engines.gpu.storage.vector_store import VectorStore, in_bits
from sparsezc.expr import label_turns
from sparsezc.expr.dispatch import Write
from sparsezc.expr.mask import Mask
from sparsezc.semirings.types.datatypes import INT64

_MOVED = slice(5, 7)  # where a turn's counts have the numbers of moved rows, short and long
COUNTS = 16  # counts of a turn, which label_rows.cuh names
_TABLE_CLASS = 4  # the length class whose rows need tables in device memory


class Network(NamedTuple):
    """The kernel arguments that all launches of a statement have in common."""

    label: Any
    within: Any
    shares: Any
    totals: Any
    scale: float
    cut: Any
    whole: Any
    alone: Any


class Turn(NamedTuple):
    """The kernel arguments that select the rows of a label turn, and its counts."""

    given: Any
    a: Any
    b: Any
    turn: int
    counts: Any


def move_labels(e: Any, out: Any, write: Write[Mask | None]) -> None:
    """Run rounds until few rows move, and write the rows' labels to a vector."""
    A, label, k, given, scale, seed, least = e.operands
    if not A._store.nrows:
        return
    xp = cuda.current().xp
    start = labels.checked_labels(e, label)
    shares = full_values(e, k) if k.ndim else None
    walk = LabelRows(e.op, rows_of(A._store), A.dtype, shares, joins=False)
    network = network_of(start.astype(walk.key), 0, shares, start, float(scale.value))
    active = xp.ones(start.size, np.uint8) if shares is None else (shares > 0).astype(np.uint8)
    size, count = int(active.sum()), label_turns.TURNS
    rounds: Any = label_turns.multipliers(int(seed.value))
    by_turn = 0
    if given.ndim:
        by_turn = labels.checked_labels(e, given)
        count = int(by_turn.max()) + 1
        rounds = repeat((groups.NULL, groups.NULL), label_turns.LAST)
    for a, b in rounds:
        counts = xp.zeros((count, COUNTS), np.uint64)
        for turn in range(count):
            walk.turn(network, Turn(by_turn, a, b, turn, counts[turn]), active, size)
        moved = int(counts[:, _MOVED].sum())
        if not moved if given.ndim else moved <= least.value * size:
            break
    _put(network.label, out, write)


def join_labels(e: Any, out: Any, write: Write[Mask | None]) -> None:
    """Run one round, in which each row has its turn once, and write the rows' labels to a vector."""
    A, group, k, scale, seed = e.operands
    if not A._store.nrows:
        return
    xp, n = cuda.current().xp, A._store.nrows
    shares = full_values(e, k)
    within = labels.checked_labels(e, group)
    walk = LabelRows(e.op, rows_of(A._store), A.dtype, shares, joins=True)
    inside = labels.sums_within(e, A, within, walk.rows)
    own, wide = xp.arange(n), float(scale.value)
    network = network_of(own.astype(walk.key), within.astype(walk.key), shares, own, wide)
    whole = xp.bincount(within, shares, n)
    rest = (whole[within] - shares) * shares * wide
    may = ((inside > 0) & (inside - rest >= 0)).astype(np.uint8)
    network = network._replace(cut=inside.copy(), whole=whole, alone=may)
    a, b = label_turns.multipliers(int(seed.value), 1)[0]
    counts = xp.zeros((label_turns.TURNS, COUNTS), np.uint64)
    for turn in range(label_turns.TURNS):
        walk.turn(network, Turn(0, a, b, turn, counts[turn]), inside, n)
    _put(network.label, out, write)


def network_of(label: Any, within: Any, shares: Any, start: Any, scale: float) -> Network:
    """Return the common arguments of moves between labels; `start`: the labels at the start."""
    if shares is None:
        return Network(label, within, 0, 0, scale, 0, 0, 0)
    totals = cuda.current().xp.bincount(start, shares, start.size)
    return Network(label, within, shares, totals, scale, 0, 0, 0)


def _put(label: Any, out: Any, write: Write[Mask | None]) -> None:
    found = VectorStore(INT64, label.size)
    found.put(cuda.current().xp.arange(label.size), label.astype(np.int64))
    vector_map.write_vector(found, out._store, in_bits(write))


class LabelRows:
    """The rows of a matrix in length classes, and the arrays for the lists of a turn."""

    def __init__(self, op: Any, rows: Rows, dtype: Any, shares: Any, *, joins: bool) -> None:
        xp, n = cuda.current().xp, rows.nrows
        reads = "x" in op.reads
        rows = near(rows, values=reads)  # each round reads them
        self.rows, self.joins = rows, joins
        whole = shares is not None and dtype.np_type.kind in "ub"
        small = not reads or (whole and float(shares.max()) < 2**32)
        penalty = shares is not None
        self.case = Case(dtype, rows.wide, rows.iso, reads, n >= 2**32, small, joins, penalty, joins)
        self.key = np.dtype(np.uint64 if self.case.long_labels else np.uint32)
        self.limits = (8, 32, *labels.most_entries(self.case))
        lengths = rows.indptr[1:] - rows.indptr[:-1]
        counts = [0, *(int((lengths <= limit).sum()) for limit in self.limits), n]
        ends = np.maximum.accumulate(counts)  # a warp's table may take fewer entries than its lanes compare
        self.capacities = np.diff(ends)
        self.first = xp.asarray(ends[:-1].astype(np.uint64))
        self.listed, self.best, self.moved = (xp.empty(n, self.key) for _ in range(3))
        longest = int(lengths.max()) if self.capacities[_TABLE_CLASS] else 0
        self.tables = (
            labels.tables(longest, int(self.capacities[_TABLE_CLASS]), self.case) if longest else labels.NO_TABLES
        )

    def turn(self, network: Network, turn: Turn, active: Any, size: int) -> None:
        """Move the rows of a turn; `active`: marks of rows that may move or, for joins, rows' sums in their group."""
        self.move(network, turn, network.alone if self.joins else active)
        if self.joins:
            self.join_cuts(network, turn, active)
        else:
            self.wake(turn, active, size // label_turns.MANY)

    def move(self, network: Network, turn: Turn, candidates: Any) -> None:
        """Move those of the candidates that have the turn to their best labels."""
        gpu, rows, n = cuda.current(), self.rows, self.rows.nrows
        lists = {"listed": self.listed, "first": self.first, "counts": turn.counts}
        full = launch.blocks(gpu, n)
        self._kernel("list_turn").launch(
            full, **lists, n=n, indptr=rows.indptr, active=candidates, clears=int(not self.joins),
            given=turn.given, a=turn.a, b=turn.b, turn=turn.turn,
        )  # fmt: skip
        for kind in np.flatnonzero(self.capacities).tolist():
            tables = self.tables if kind == _TABLE_CLASS else labels.NO_TABLES
            stats.counted(self._chooser(kind), placements.in_device_memory(rows))(
                self._grid(kind), network, tables, **lists, **self._matrix, a=turn.a, b=turn.b, turn=turn.turn,
                best=self.best,
            )  # fmt: skip
        self._kernel("move_rows").launch(
            full, **lists, best=self.best, indptr=rows.indptr, shares=network.shares, label=network.label,
            totals=network.totals, alone=network.alone, moved=self.moved, capacity=n,
        )  # fmt: skip

    def moved_rows(self, turn: Turn) -> Any:
        """Return the ids of the rows that moved in a turn. Waits for the device."""
        short, long = cuda.current().asnumpy(turn.counts[_MOVED]).tolist()
        return cuda.current().xp.concatenate([self.moved[:short], self.moved[self.moved.size - long :]])

    def wake(self, turn: Turn, active: Any, many: int) -> None:
        """Mark as active the neighbours of the rows that moved in a turn, or all rows if more than `many` did."""
        self._after("wake", turn.counts, n=self.rows.nrows, many=many, active=active)

    def join_cuts(self, network: Network, turn: Turn, inside: Any) -> None:
        """Update, after a turn, the sum of each label's entries to the rest of its group."""
        self._after(
            "join_cuts", turn.counts, label=network.label, within=network.within, inside=inside, a=turn.a, b=turn.b,
            turn=turn.turn, cut=network.cut,
        )  # fmt: skip

    @property
    def _matrix(self) -> dict[str, Any]:
        given = self.rows.arguments
        return {"indptr": self.rows.indptr, "indices": given.indices, "values": given.values}

    def _after(self, name: str, counts: Any, **given: Any) -> None:
        stats.counted(self._kernel(name), placements.in_device_memory(self.rows))(
            launch.blocks(cuda.current(), 32 * self.rows.nrows), moved=self.moved, capacity=self.rows.nrows,
            counts=counts, **self._matrix, **given,
        )  # fmt: skip

    def _grid(self, kind: int) -> int:
        gpu, count = cuda.current(), int(self.capacities[kind])
        if kind == _TABLE_CLASS:
            return int(self.tables.keys.size) // self.tables.slots
        threads = (8, 32, 32, launch.THREADS)[kind]
        return launch.blocks(gpu, threads * count)

    def _kernel(self, name: str) -> Any:
        most = f"constexpr u64 WARP_MOST = {self.limits[2]}, BLOCK_MOST = {self.limits[3]};"
        return codegen.kernel(cuda.current(), "label_turns.cu", f"{labels.types(self.case)}\n{most}", name)

    def _chooser(self, kind: int) -> Any:
        return codegen.kernel(
            cuda.current(), "label_choose.cu", f"{labels.types(self.case)}\n{codegen.flags(CLASS=kind)}", "label_choose"
        )
