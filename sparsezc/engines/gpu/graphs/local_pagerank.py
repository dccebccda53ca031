"""l1-regularised PageRank around a vertex without the host (local_pagerank.cu): one launch takes all steps.

The host reads rows as fast where there are few of them, but has to look up each vertex that they name; on the device
these have places of their own.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.device.launcher import Launcher
from sparsezc.device.protocol import Device
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.graphs import whole_loops
from sparsezc.engines.gpu.graphs.search import serves
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore

# The most entries of a solution, 1 / rho: the host solves for smaller ones in less time, and larger ones, of which most
# never fill it, would take too much memory.
_FEWEST, _MOST = 1 << 17, 1 << 26
_FINEST = 2.0**-52  # the least growth: sums are in units of 2^-62
_BLOCKS = 2  # of a multiprocessor: more wait longer for each other
_STATE = 8  # numbers that local_pagerank.cu counts in, before those in which blocks wait for each other
_SETTLED, _FULL = 1, 2  # how it says that it ended


class Solution(NamedTuple):
    """The solution of one seed, in any order.

    Attributes
    ----------
    vertex, degree : arrays of int64
    y : array of float64
    settled : bool
        Whether all steps that it takes were taken.
    grown : float
        The largest growth in the last step.
    ends : callable
        Takes the rank of each vertex, from 0 on, and returns by rank how many entries end there that begin at a lower
        one, in both directions.
    """

    vertex: NDArray[np.int64]
    degree: NDArray[np.int64]
    y: NDArray[np.float64]
    settled: bool
    grown: float
    ends: Any


@launch.locked
def local_pagerank(matrix: MatrixStore, seed: int, limits: tuple[float, float, float, int, int]) -> Solution | None:
    """Return the solution around a vertex; None where the host has to find it.

    It does where searches are those of statements (search.py), and in another vertex order.
    """
    rows = matrix.in_stored_order()[0]
    alpha, rho, most, max_iter, every = limits
    if rows is None or rows.order is not None or not serves(rows, None):
        return None
    if not _FEWEST * rho <= 1 <= _MOST * rho or most < _FINEST or max_iter > whole_loops.ROUNDS:
        return None
    gpu, xp = rows.device, rows.device.xp
    room = min(rows.nvals, int(1 / rho) + 1)
    rooms = min(rows.nrows, room)
    counting = stats.collecting is not None
    kernel, count_ends = _kernels(gpu, counting, rows.wide)  # type: ignore[arg-type]  # hashable, as in plan.py
    place, flow = xp.zeros(rows.nrows, np.uint32), xp.zeros(rows.nrows, np.uint64)
    vertex, begin, degree, come = xp.zeros((4, rooms), np.uint64)
    y, ids = xp.empty(rooms, np.float64), xp.empty(room, np.uint64 if rows.wide else np.uint32)
    owner, number = xp.empty((2, room), np.uint32)
    state = xp.zeros(_STATE + whole_loops.WAIT, np.uint64)
    blocks = min(launch.blocks(gpu, room), _BLOCKS * gpu.multiprocessors)
    stats.together(kernel, placements.lie_near(rows))(
        blocks, indptr=rows.indptr, indices=rows.arguments.indices, seed=seed, alpha=alpha, rho=rho, most=most,
        max_iter=max_iter, every=every, place=place, flow=flow, vertex=vertex, begin=begin, degree=degree,
        y=y, come=come, rooms=rooms, ids=ids, owner=owner, number=number, room=room, state=state, wait=state[_STATE:],
    )  # fmt: skip
    read = gpu.asnumpy(state[:_STATE])
    found, entries, ended = read[:3].tolist()
    if ended == _FULL:
        return None
    vertices, degrees = gpu.asnumpy(xp.stack((vertex[:found], degree[:found]))).view(np.int64)
    # Copies, as more seeds follow and these arrays have room for more entries than were read.
    ends = partial(_ends, count_ends, *(x[:entries].copy() for x in (owner, number)))
    grown = float(read[4:5].view(np.float64)[0])
    return Solution(vertices, degrees, gpu.asnumpy(y[:found]), ended == _SETTLED, grown, ends)


@launch.locked
def _ends(count: Launcher, owner: Any, number: Any, rank: NDArray[np.int64]) -> NDArray[np.int64]:
    gpu, entries = cuda.current(), owner.size
    ends = gpu.xp.zeros(rank.size, np.uint64)
    ranks = gpu.xp.asarray(rank.astype(np.uint32))
    count.launch(launch.blocks(gpu, entries), entries=entries, owner=owner, number=number, rank=ranks, ends=ends)
    return gpu.asnumpy(ends).view(np.int64)


@lru_cache(maxsize=4)
def _kernels(device: Device, _counting: bool, wide: bool) -> tuple[Launcher, Launcher]:
    solve, ends = (codegen.kernel(device, "local_pagerank.cu", text(wide), name) for name in ("solve", "later_ends"))
    return solve, ends


def text(wide: bool) -> str:
    """Return the text before local_pagerank.cu."""
    return codegen.typedefs(Id="u64" if wide else "u32")
