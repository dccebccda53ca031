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
from sparsezc.engines.gpu.graphs import whole_loops
from sparsezc.engines.gpu.graphs.whole_loops import rows_text, shares
from sparsezc.engines.gpu.layouts.head_cache import NO_HEADS, HeadCache, Heads
from sparsezc.engines.gpu.products import rows_per_warp
from sparsezc.engines.gpu.runtime import array_pool, codegen, groups, launch, presence_words
from sparsezc.engines.gpu.storage.layout import Demand
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.memory.placement import RECORDS
from sparsezc.semirings.types.datatypes import BOOL, INT32, INT64

# The cost of an entry of a push or a pull, where a row costs 1: near, then over the link.
_NEAR_COST, _LINK_COST = (3.0, 1.0), (16.0, 16.0)


class FirstSlices:
    """Layout: the share of the entries of some rows that are among the first 32 of each."""

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
    parents: bool
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
def search(matrix: MatrixStore, frontier: VectorStore, parents: bool) -> VectorStore | None:
    """Return the level of each vertex, INT32, or the one before it, INT64; None where statements have to search.

    `frontier`: where the search starts; with `parents` its values are the results there. Statements search where
    products are served by parts, as these need the host, and over compressed ids, which no lane can read alone.
    """
    rows, back = matrix.in_stored_order()
    if rows is None or frontier.bits is None or array_pool.serving() is not None:
        return None
    sides = [rows] if back is None or back is rows else [rows, back]
    if any(x.compressed or RECORDS[x.indices.placement].serves for x in sides) or (parents and rows.order is not None):
        return None
    frontier.arrange(rows.order)
    found = VectorStore(INT64 if parents else INT32, rows.nrows)
    found.make()
    found.order = rows.order
    pushed, read = _run(rows, back, frontier, found)
    if not placements.lie_near(rows):  # heads are built once a search has read enough for it
        rows.layouts[HeadCache].to_push(rows, back, pushed)
        if back is not None:
            back.layouts[HeadCache].get_or_build(back, Demand(read, BOOL, columns=rows))
    return found


def _run(rows: Rows, back: Rows | None, frontier: VectorStore, found: VectorStore) -> tuple[int, int]:
    """Search, and return how many vertices were pushed from, and the entries that pulls read."""
    gpu, near = rows.device, placements.lie_near(rows) and (back is None or placements.lie_near(back))
    xp, nwords, parents = gpu.xp, found.nwords, found.dtype is INT64
    pulled = NO_HEADS if back is None else back.layouts[HeadCache].get_or_build(back, Demand(0, BOOL, columns=rows))
    heads = rows.layouts[HeadCache].to_push(rows, back, 0)
    at_once = rows_per_warp.choose(rows)
    case = _Case(rows.wide, parents, heads.k + pulled.k > 0, near, rows.chunks.length, at_once)
    kernel = _kernel(gpu, stats.collecting is not None, case)  # type: ignore[arg-type]  # hashable, as in plan.py
    bitmaps, state = xp.zeros((3, nwords), np.uint32), xp.zeros(8 + whole_loops.WAIT, np.uint64)
    bitmaps[0] = frontier.bits
    blocks, shared = shares(rows, kernel, at_once)
    sliced = 0.0 if near or back is None else back.layouts[FirstSlices].share_of(back)
    run, started = stats.together(kernel, near), 0
    while True:
        run(
            blocks, rows.chunks.all, _back(back, pulled), shared, size=rows.nrows, nvals=rows.nvals,
            indptr=rows.indptr, indices=rows.arguments.indices, heads=heads.ids, k=heads.k, seen=bitmaps[0],
            before=bitmaps[1], near=bitmaps[2], w=found.values, w_bits=found.bits, x=frontier.values if parents else 0,
            state=state, wait=state[8:], levels=whole_loops.ROUNDS, sliced=sliced, started=started,
            pulls=int(back is not None),
        )  # fmt: skip
        met, pushed, read, met_before = gpu.asnumpy(state[:4]).tolist()
        started = 1
        if met == met_before:
            break
    found.count = met
    return pushed, read


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
            codegen.typedefs(Id="u64" if case.wide else "u32", W=INT64 if case.parents else INT32),
            codegen.flags(PARENTS=case.parents, HEADS=case.heads, NEAR=case.near),
            rows_text(case.long, case.rows_at_once),
            f"constexpr float PUSH_COST = {push}f, PULL_COST = {pull}f;",
        )
    )
