"""Bytes that ranks exchange for many searches from GPUs, level by level, as statements/searches.py sends them.

All is counted from the answer. The searches of a level are divided into those that push and those that pull as the
engine does, by sums over ranks. Of pulls a rank receives the vertices of other ranks that are in any frontier; of
pushes those of its own that other ranks' vertices reach, known ones too, as a push asks no mask. A listed vertex takes
its number and a word of bits; where the bits of all vertices are fewer bytes, these travel. Numbers are not counted.
Cards that reach each other's memory get words alone, for 64 searches: of their own vertices that pushes of others
reached, and those of the frontier that change from level to level.
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
WORD = 8  # bytes of a vertex's bits


class Setting(NamedTuple):
    """The numbers by which the engine decides, beside the graph.

    Attributes
    ----------
    bounds : ndarray of int64, shape (ranks + 1,)
        Rank r has the vertices ``bounds[r]:bounds[r + 1]``.
    push_cost : float
        Of an entry that is pushed, in entries that are pulled.
    slots : int
        Ids of each row that a pull looks at first.
    packing : int
        Bytes that lists of vertices must save.
    windows : bool
        Cards reach each other's memory.
    """

    bounds: Array
    push_cost: float
    slots: int
    packing: int
    windows: bool = False


def many_searches(A: gb.Matrix, levels: Array, rank: int, setting: Setting) -> int:
    """Return the bytes that a rank receives.

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
    latest = np.where((levels < 0).any(0), depths, levels.max(0))  # the level of the last search that wants a vertex
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
    """Return the bytes of vertices that come to a rank, or of the bits instead, by what all ranks send."""
    vertex = (4 if n < 1 << 32 else 8) + WORD
    return vertex * coming if int(listed.sum()) * vertex + packing < receivers * n * k // 8 else 4 * bits


def _changed(there: Array, rank: int, setting: Setting) -> int:
    """Return the bytes of other ranks' words of frontiers that differ from those of the level before."""
    nothing = np.zeros((1, there.shape[1]), np.bool_)
    changes = np.r_[nothing, there] | np.r_[there, nothing]  # a search is at a vertex in one level only
    lo, hi = setting.bounds[rank : rank + 2].tolist()
    return WORD * int(changes.sum() - changes[:, lo:hi].sum())


def _pulled(there: Array, rank: int, k: int, setting: Setting) -> int:
    """Return the bytes of the frontier's vertices, or of all vertices' bits, that other ranks have."""
    ranges = list(pairwise(setting.bounds.tolist()))
    counts = np.array([int(there[lo:hi].sum()) for lo, hi in ranges])
    words = np.array([-(-(hi - lo) * k // 32) for lo, hi in ranges])
    coming, bits = (int(x.sum() - x[rank]) for x in (counts, words))
    return _bytes(counts, coming, bits, 1, there.size, k, setting.packing)


def _sent(A: gb.Matrix, frontier: Array, bounds: Array) -> Array:
    """Return how many vertices of each rank, a column, the others reach from their parts of a frontier, a row each."""
    n, ranges = frontier.size, list(pairwise(bounds.tolist()))
    sent = np.zeros((len(ranges), len(ranges)), np.int64)
    for r, (lo, hi) in enumerate(ranges):
        q = gb.Vector.from_coo(lo + np.flatnonzero(frontier[lo:hi]), True, BOOL, size=n)
        at = q.vxm(A, gb.semiring.any_pair[BOOL]).new().to_coo(values=False)[0]
        sent[r] = np.diff(np.searchsorted(at, bounds))
        sent[r, r] = 0
    return sent


def _pushed(sent: Array, rank: int, k: int, setting: Setting) -> int:
    """Return the bytes of this rank's vertices that others reach, or of the bits of all of its vertices from each."""
    n, others = int(setting.bounds[-1]), sent.shape[0] - 1
    bits = others * -(-int(np.diff(setting.bounds)[rank]) * k // 32)
    return _bytes(sent, int(sent[:, rank].sum()), bits, others, n, k, setting.packing)
