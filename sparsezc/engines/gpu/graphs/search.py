"""Breadth-first searches without the host (search.cu): one launch runs the levels, and chooses between push and pull.

The levels of a search of a social or web graph are few and short: where the host launched each statement and waited for
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

# The cost of an entry of a push or a pull, where a row costs 1: near, then over the link.
_NEAR_COST, _LINK_COST = (3.0, 1.0), (16.0, 16.0)
_BY_HEADS = 2  # the argument of search.cu
# Items of rows over the link: of 32 some warps have so many rows that others wait (7% on urand:24). Where rounds are
# many, few rows are read, and to find them takes a warp a look at each piece (a round of a grid 14.3 us, with 32 11.0).
_LINK_PIECE = 8


class FirstSlices:
    """Fact: the share of the entries of some rows that are among the first 32 of each."""

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
    """The properties of a search that its kernel is specialised for."""

    wide: bool
    result: DataType  # INT32: levels, INT64: parents, BOOL: none
    grows: bool
    heads: bool
    near: bool
    long: int
    rows_at_once: int


class _Back(NamedTuple):
    """The rows that pulls read: those of the transpose."""

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
    """Return the level of each vertex, INT32, or the one before it, INT64; None where statements have to search.

    `start`: the vertex where the search starts, or several; with `parents` their values are the results there.
    Statements search where products are served by parts, as these need the host, and over compressed ids, which no lane
    can read alone.
    """
    rows, back = matrix.held(matrix.order)
    if rows is None or not serves(rows, back) or (parents and rows.order is not None):
        return None
    if not isinstance(start, int) and start.bits is None:
        return None
    found = VectorStore(INT64 if parents else INT32, rows.nrows, rows.order)
    found.make()
    words, x = rows.device.xp.zeros((3, found.nwords), np.uint32), found.values
    if isinstance(start, int):  # no vector is made for it: that took as long as the first levels
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
    """Return whether one launch can search along some rows and their transpose."""
    sides = [rows] if back is None or back is rows else [rows, back]
    return ENGINE_STATE.pool is None and not any(x.compressed or RECORDS[x.indices.placement].serves for x in sides)


class Search:
    """A search along some rows, of which each launch expands some levels.

    Attributes
    ----------
    near : bool
        All entries are in device memory.
    heads : Heads
        Those of the rows, which pushes read.
    by_heads : bool
        Pulls read heads and no rows, and vertices are left.
    words : tuple of arrays of uint32, shape (nwords,)
        Presence words: vertices that need not be found, that were so before, the frontier, and those that were met.
        Before the first launch the first is where the search starts, and the others are empty. At the end the first
        holds the vertices that were met, and some of those that no row names.
    state : array of uint64
        What search.cu counts.

    Parameters
    ----------
    leaves : bool
        Vertices may be left, where pulls over the link can do with heads.
    """

    def __init__(
        self, rows: Rows, back: Rows | None, result: DataType, words: tuple[Any, ...], *, leaves: bool = False
    ) -> None:
        gpu = rows.device
        self.near = placements.lie_near(rows) and (back is None or placements.lie_near(back))
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
        """Expand at most so many levels, and write the results."""
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
        """Tell the head caches how many vertices were pushed from, and the entries that were read besides."""
        rows, back = self._rows, self._back
        if not placements.lie_near(rows):  # heads are built once a search has read enough for it
            rows.layouts[HeadCache].to_push(rows, back, pushed)
            if back is not None:
                back.layouts[HeadCache].get_or_build(back, Demand(read, BOOL, columns=rows))


def _back(back: Rows | None, heads: Heads) -> _Back:
    if back is None:
        return _NO_BACK
    return _Back(back.indptr, back.arguments.indices, *back.chunks.all, heads.ids, heads.k)


@lru_cache(maxsize=64)
def _kernel(device: Device, _counting: bool, case: _Case) -> Launcher:
    return codegen.kernel(device, "search.cu", text(case), "search")


def text(case: _Case) -> str:
    """Return the text before search.cu."""
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
