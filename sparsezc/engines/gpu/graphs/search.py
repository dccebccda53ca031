"""Breadth-first search without the host (search.cu): one launch runs all levels, and chooses between push and pull.

The levels of a search of a social or web graph are few and short: when the host launched each statement and waited for
the frontier's size, it took half of the time.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sparsezc import stats
from sparsezc.device.launcher import Launcher
from sparsezc.device.protocol import Device
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.graphs import cooperative_launch
from sparsezc.engines.gpu.graphs.cooperative_launch import has_many_rounds, rows_text, shares
from sparsezc.engines.gpu.layouts.head_cache import NO_HEADS, HeadCache, Heads
from sparsezc.engines.gpu.products import rows_per_warp
from sparsezc.engines.gpu.runtime import codegen, groups, launch, presence_words
from sparsezc.engines.gpu.runtime.engine_state import ENGINE_STATE
from sparsezc.engines.gpu.storage.layout import Demand
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.memory.placement import RECORDS
from sparsezc.semirings.types.datatypes import BOOL, INT32, INT64, DataType

# The costs of an entry of a push and of a pull, where a row costs 1: in device memory, then over the link.
_NEAR_COST, _LINK_COST = (3.0, 1.0), (16.0, 16.0)
_BY_HEADS = 2  # search.cu's value of `pulls`: pulls read heads only
# Items of rows that a warp takes at once over the link: with 32 some warps have so many rows that others wait (7% of
# the time on urand:24). It is not used with many rounds: few rows are read, and smaller pieces take longer to check (a
# round of a grid 14.3 us, with 32 11.0).
_LINK_PIECE = 8


class FirstSlices:
    """Fact: the share of all entries that are among the first 32 of their rows."""

    nbytes = 0

    def __init__(self) -> None:
        self._share: float | None = None

    def share_of(self, rows: Rows) -> float:
        if self._share is None:
            _, first, entries = presence_words.count_wanted(rows.indptr, rows.nrows, 0, 0)
            self._share = first / max(entries, 1)
        return self._share

    def drop(self) -> None:
        self._share = None


class _Case(NamedTuple):
    """The properties of a search by which search.cu is specialised."""

    wide: bool
    result: DataType  # INT32: levels, INT64: parents, BOOL: none
    grows: bool
    heads: bool
    near: bool
    long: int
    rows_at_once: int


class _Back(NamedTuple):
    """The kernel arguments of the rows that pulls read: those of the transpose."""

    b_indptr: Any
    b_ids: Any
    b_nchunks: Any
    b_long_rows: Any
    b_long_first: Any
    b_chunk_slot: Any
    b_heads: Any
    b_k: int


_NO_BACK = _Back(groups.NULL, groups.NULL, groups.NULL, groups.NULL, groups.NULL, groups.NULL, groups.NULL, 0)


@launch.locked
def search(matrix: MatrixStore, start: VectorStore | int, parents: bool) -> VectorStore | None:
    """Return each vertex's level, INT32, or with `parents` its parent, INT64; None if statements must search.

    `start`: the start vertex, or a vector with an entry at each of several, whose values are their results (`parents`).
    Statements must search in placements that serve products by launch parts, which need the host, and over
    compressed ids, which a single lane cannot read.
    """
    rows, back = matrix.held(matrix.order)
    if rows is None or not serves(rows, back) or (parents and rows.order is not None):
        return None
    if not isinstance(start, int) and start.bits is None:
        return None
    found = VectorStore(INT64 if parents else INT32, rows.nrows, rows.order)
    found.make()
    words, x = rows.device.xp.zeros((3, found.nwords), np.uint32), found.values
    if isinstance(start, int):  # without a vector for it, which took as long as the first levels
        at = start if rows.order is None else int(rows.order.places[start])
        words[0, at >> 5] = 1 << (at & 31)
        if parents:
            x[at] = at
    else:
        start.arrange(rows.order)
        words[0], x = start.bits, start.values
    run = Search(rows, back, found.dtype, (*words, found.bits))
    while True:
        run.expand(cooperative_launch.ROUNDS, found.values, x if parents else 0)
        met, pushed, read, met_before = rows.device.asnumpy(run.state[:4]).tolist()
        if met == met_before:
            break
    found.written(met)
    run.count_for_heads(pushed, read)
    return found


def serves(rows: Rows, back: Rows | None) -> bool:
    """Return whether a launch can run whole searches along these rows and those of the transpose."""
    sides = [rows] if back is None or back is rows else [rows, back]
    return ENGINE_STATE.pool is None and not any(x.compressed or RECORDS[x.indices.placement].serves for x in sides)


class Search:
    """A search along some rows; each launch expands several levels.

    Attributes
    ----------
    near : bool
        All entries are in device memory.
    heads : Heads
        The heads of the rows, which pushes read.
    by_heads : bool
        Pulls read heads only, and some vertices are left unfound.
    words : tuple of arrays of uint32, shape (nwords,)
        Presence words: the vertices not to be found any more, the same before the level, the frontier, and the vertices
        found. Before the first launch the first array has the start vertices, and the others are empty. At the end the
        first has the vertices found, and some without entries.
    state : array of uint64
        The counts of search.cu.

    Parameters
    ----------
    leaves : bool
        Vertices may be left unfound, so that pulls over the link can read heads only.
    """

    def __init__(
        self, rows: Rows, back: Rows | None, result: DataType, words: tuple[Any, ...], *, leaves: bool = False
    ) -> None:
        gpu = rows.device
        self.near = placements.in_device_memory(rows) and (back is None or placements.in_device_memory(back))
        self._rows, self._back, self._started, self.words = rows, back, 0, words
        demand = Demand(0, BOOL, columns=rows)
        self._pulled = NO_HEADS if back is None else back.layouts[HeadCache].get_or_build(back, demand)
        self.heads = rows.layouts[HeadCache].to_push(rows, back, 0)
        self.by_heads = leaves and self._pulled.k > 0 and not self.near
        at_once, heads = rows_per_warp.choose(rows), self.heads.k + self._pulled.k > 0
        grows = result is BOOL and back is rows
        case = _Case(rows.wide, result, grows, heads, self.near, rows.chunks.length, at_once)
        kernel = _kernel(gpu, stats.collecting is not None, case)  # type: ignore[arg-type]  # hashable, as in plan.py
        self.state = gpu.xp.zeros(8 + cooperative_launch.WAIT, np.uint64)
        blocks, shared = shares(rows, kernel, at_once)
        if not self.near and not has_many_rounds(rows):
            shared = shared._replace(piece=min(shared.piece, _LINK_PIECE))
        self._grid = blocks, shared
        sliced = 0.0 if self.near or back is None else back.facts[FirstSlices].share_of(back)
        self._run, self._sliced = stats.together(kernel, self.near), sliced

    def expand(self, levels: int, w: Any = 0, x: Any = 0) -> None:
        """Expand at most `levels` levels and write results to `w`; `x`: those of the start vertices, or 0."""
        rows, (blocks, shared) = self._rows, self._grid
        pulls = 0 if self._back is None else _BY_HEADS if self.by_heads else 1
        seen, before, near, met = self.words
        self._run(
            blocks, rows.chunks.all, _back(self._back, self._pulled), shared, size=rows.nrows, nvals=rows.nvals,
            indptr=rows.indptr, indices=rows.arguments.indices, heads=self.heads.ids, k=self.heads.k, seen=seen,
            before=before, near=near, w=w, w_bits=met, x=x, state=self.state, wait=self.state[8:], levels=levels,
            sliced=self._sliced, started=self._started, pulls=pulls,
        )  # fmt: skip
        self._started = 1

    def count_for_heads(self, pushed: int, read: int) -> None:
        """Count, for the head caches, the vertices that were pushed and the entries that pulls read."""
        rows, back = self._rows, self._back
        if not placements.in_device_memory(rows):  # heads are built once searches have read enough to repay it
            rows.layouts[HeadCache].to_push(rows, back, pushed)
            if back is not None:
                back.layouts[HeadCache].get_or_build(back, Demand(read, BOOL, columns=rows))


def _back(back: Rows | None, heads: Heads) -> _Back:
    if back is None:
        return _NO_BACK
    return _Back(back.indptr, back.arguments.indices, *back.chunks.all, heads.ids, heads.k)


@lru_cache(maxsize=64)
def _kernel(device: Device, _counting: bool, case: _Case) -> Launcher:
    return codegen.kernel(device, "search.cu", kernel_prelude(case), "search")


def kernel_prelude(case: _Case) -> str:
    """Return the prelude of search.cu."""
    push, pull = _NEAR_COST if case.near else _LINK_COST
    return "\n".join(
        (
            codegen.typedefs(Id="u64" if case.wide else "u32", W=case.result),
            codegen.flags(PARENTS=case.result is INT64, LEVEL=case.result is INT32),
            codegen.flags(GROWS=case.grows, HEADS=case.heads, NEAR=case.near),
            rows_text(case.long, case.rows_at_once),
            f"constexpr float PUSH_COST = {push}f, PULL_COST = {pull}f;",
        )
    )
