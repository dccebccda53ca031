"""Bytes that ranks on GPUs exchange for many searches, level by level, as statements/searches.py sends them.

All bytes are counted from the answer. The searches of a level are divided into pushes and pulls as in the engine, by
sums over ranks. For pulls a rank receives other ranks' vertices that are in any frontier; for pushes, its own vertices
that other ranks' vertices reach, known ones too, as a push reads no mask. A listed vertex is sent as its id and a word
of bits; if the bits of all vertices take fewer bytes, these are sent. Exchanges of a few numbers are not counted.
Cards that access each other's memory exchange words alone, for 64 searches: of their own vertices that others' pushes
reached, and words of the frontier that change from level to level.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import sparsezc as gb
from sparsezc.engines.gpu.products import multi_source_bfs
from sparsezc.semirings.types.datatypes import BOOL

Array = NDArray[Any]
WORD = 8  # bytes of a vertex's bits for 64 searches


class Setting(NamedTuple):
    """The parameters of the engine's choices that do not depend on the graph.

    Attributes
    ----------
    bounds : ndarray of int64, shape (ranks + 1,)
        Rank r has the vertices ``bounds[r]:bounds[r + 1]``.
    push_cost : float
        Cost of a pushed entry, in pulled entries.
    slots : int
        Ids of each row that a pull reads first, in the row-head cache.
    packing : int
        Bytes that lists of vertices must save over bits to be sent.
    windows : bool
        Cards access each other's memory.
    """

    bounds: Array
    push_cost: float
    slots: int
    packing: int
    windows: bool = False


def many_searches(A: gb.Matrix, levels: Array, rank: int, setting: Setting) -> int:
    """Return the bytes that a rank receives in all levels.

    Parameters
    ----------
    A : Matrix, shape (n, n)
        The whole graph, symmetric, on one process.
    levels : ndarray of int, shape (k, n)
        The answer, k <= 64 searches: -1 at vertices that are not reached.
    """
    (k, n), depths = levels.shape, int(levels.max()) + 1
    degrees = A.reduce_rowwise(gb.agg.count).new().to_dense(0)
    entries = np.stack([np.bincount(row + 1, degrees, depths + 1)[1:] for row in levels], 1).astype(np.int64)
    there = np.zeros((depths, n), np.bool_)
    for row in levels:
        reached = np.flatnonzero(row >= 0)
        there[row[reached], reached] = True
    latest = np.where((levels < 0).any(0), depths, levels.max(0))  # the level of the last search that reaches a vertex
    windows = setting.windows and k == 64
    total = _changed(there, rank, setting) if windows else 0
    for depth in range(depths):
        wanted = degrees[latest > depth]
        first = int(np.minimum(wanted, 32).sum())
        work = multi_source_bfs.Work(
            int(degrees[there[depth]].sum()), wanted.size, first, int(wanted.sum()), entries[depth], A.nvals
        )
        pushing, pulling = multi_source_bfs.divide(work, setting.push_cost, setting.slots)
        if pulling.any() and not windows:
            total += _pulled(there[depth], rank, k, setting)
        if pushing.any():
            sent = _sent(A, (levels[pushing] == depth).any(0), setting.bounds)
            total += WORD * int(sent[:, rank].sum()) if windows else _pushed(sent, rank, k, setting)
    return total


def _bytes(listed: Array, coming: int, bits: int, receivers: int, n: int, k: int, packing: int) -> int:
    """Return the bytes of `coming` listed vertices, or of the bits if these are fewer for all ranks together."""
    vertex = (4 if n < 1 << 32 else 8) + WORD
    return vertex * coming if int(listed.sum()) * vertex + packing < receivers * n * k // 8 else 4 * bits


def _changed(there: Array, rank: int, setting: Setting) -> int:
    """Return the bytes of other ranks' words of frontiers that differ from those of the level before."""
    nothing = np.zeros((1, there.shape[1]), np.bool_)
    changes = np.r_[nothing, there] | np.r_[there, nothing]  # a vertex is in a search's frontier at one level only
    lo, hi = setting.bounds[rank : rank + 2].tolist()
    return WORD * int(changes.sum() - changes[:, lo:hi].sum())


def _pulled(there: Array, rank: int, k: int, setting: Setting) -> int:
    """Return the bytes received of other ranks' frontier vertices, or of the bits of all their vertices."""
    ranges = list(pairwise(setting.bounds.tolist()))
    counts = np.array([int(there[lo:hi].sum()) for lo, hi in ranges])
    words = np.array([-(-(hi - lo) * k // 32) for lo, hi in ranges])
    coming, bits = (int(x.sum() - x[rank]) for x in (counts, words))
    return _bytes(counts, coming, bits, 1, there.size, k, setting.packing)


def _sent(A: gb.Matrix, frontier: Array, bounds: Array) -> Array:
    """Return the number of vertices that each rank's part of a frontier (row) reaches in each other rank (column)."""
    n, ranges = frontier.size, list(pairwise(bounds.tolist()))
    sent = np.zeros((len(ranges), len(ranges)), np.int64)
    for r, (lo, hi) in enumerate(ranges):
        q = gb.Vector.from_coo(lo + np.flatnonzero(frontier[lo:hi]), True, BOOL, size=n)
        at = q.vxm(A, gb.semiring.any_pair[BOOL]).new().to_coo(values=False)[0]
        sent[r] = np.diff(np.searchsorted(at, bounds))
        sent[r, r] = 0
    return sent


def _pushed(sent: Array, rank: int, k: int, setting: Setting) -> int:
    """Return the bytes received of the rank's vertices that others reach, or of the bits of all, from each rank."""
    n, others = int(setting.bounds[-1]), sent.shape[0] - 1
    bits = others * -(-int(np.diff(setting.bounds)[rank]) * k // 32)
    return _bytes(sent, int(sent[:, rank].sum()), bits, others, n, k, setting.packing)
