"""l1-regularised PageRank around seed vertices without the host (local_pagerank.cu): one launch runs all steps.

The host reads few rows as fast, but it looks up each of their vertices, and it processes one seed after the other; the
device processes many seeds at once.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.device.launcher import THREADS, Launcher
from sparsezc.device.protocol import Device
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.graphs import cooperative_launch
from sparsezc.engines.gpu.graphs.search import serves
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.memory import budget

# Entries of the solutions of a launch, at most 1 / rho of each seed: fewer take the host less time. Then entries of one
# solution: most never have as many, and their arrays would take too much memory.
_FEWEST, _MOST = 1 << 17, 1 << 26
_FINEST = 2.0**-52  # the least tolerated growth: sums are in units of 2^-62
_BLOCKS = 2  # blocks of a multiprocessor: more wait longer for each other
_MANY = 8  # least seeds that are solved at once, each by one block; with fewer a launch solves one, by all blocks
_THREADS = 512  # threads of a block that solves for a seed alone
_STATE = 8  # numbers of local_pagerank.cu's state of a seed
_SETTLED, _FULL = 1, 2  # values of the state's number 2: why a solution ended


class Solutions(NamedTuple):
    """The solutions of the first seeds, concatenated in the order of seeds; the vertices of each are in any order.

    Attributes
    ----------
    sizes : array of int64
        The number of vertices of each solution.
    vertex, degree : arrays of int64
    y : array of float64
    settled : bool
        Whether all solutions have converged.
    grown : float
        The largest growth in the last step of the solutions that have not converged; 0 if all have.
    ends : callable
        Takes the rank of each vertex, from 0 on; those of a seed are consecutive. Returns, by rank, the number of
        entries between the vertex and vertices of lower rank of the same seed, in both directions.
    """

    sizes: NDArray[np.int64]
    vertex: NDArray[np.int64]
    degree: NDArray[np.int64]
    y: NDArray[np.float64]
    settled: bool
    grown: float
    ends: Any


class _Capacity(NamedTuple):
    """The capacity of a seed's arrays: vertices, entries, and 2^bits slots of the hash table of all vertices met."""

    vertices: int
    entries: int
    bits: int

    @classmethod
    def within(cls, rows: Rows, rho: float) -> _Capacity:
        entries = min(rows.nvals, int(1 / rho) + 1)
        vertices = min(rows.nrows, entries)
        return cls(vertices, entries, (2 * min(rows.nrows, entries + 1)).bit_length())  # at most half full

    def nbytes(self, wide: bool) -> int:
        return 40 * self.vertices + 12 * self.entries + ((20 if wide else 16) << self.bits)


@launch.locked
def local_pagerank(
    matrix: MatrixStore, seeds: NDArray[np.int64], limits: tuple[float, float, float, int, int]
) -> Solutions | None:
    """Return the solutions of the first seeds, as many as fit in device memory; None if the host must solve.

    The host solves if searches run by statements (search.py), if the matrix has another vertex order, and if a solution
    may be too small or too large for the device.
    """
    rows = matrix.in_stored_order()[0]
    _, rho, most, max_iter, _ = limits
    if rows is None or rows.order is not None or not serves(rows, None):
        return None
    if _MOST * rho < 1 or most < _FINEST or max_iter > cooperative_launch.ROUNDS:
        return None
    capacity = _Capacity.within(rows, rho)
    nbytes = capacity.nbytes(rows.wide)
    fit = min(budget.make_available(nbytes * min(seeds.size, _MANY)) // nbytes, seeds.size)
    count = fit if (each := fit >= _MANY) else 1
    if fit < 1 or count < _FEWEST * rho:
        return None
    return _solved(rows, seeds[:count], limits, capacity, each)


def _solved(
    rows: Rows, seeds: NDArray[np.int64], limits: tuple[float, float, float, int, int], capacity: _Capacity, each: bool
) -> Solutions | None:
    gpu, xp, k = rows.device, rows.device.xp, seeds.size
    alpha, rho, most, max_iter, every = limits
    kernel, count_ends = _kernels(gpu, stats.collecting is not None, rows.wide, each)  # type: ignore[arg-type]  # hashable, as in plan.py
    key = xp.full(k << capacity.bits, -1, np.int64 if rows.wide else np.int32).view(
        np.uint64 if rows.wide else np.uint32
    )
    place, flow = xp.zeros(k << capacity.bits, np.uint32), xp.zeros(k << capacity.bits, np.uint64)
    vertex, begin, degree, come = xp.zeros((4, k * capacity.vertices), np.uint64)
    y, (owner, number) = xp.empty(k * capacity.vertices), xp.empty((2, k * capacity.entries), np.uint32)
    slot = xp.empty(k * capacity.entries, np.uint32)
    state, wait = xp.zeros(k * _STATE, np.uint64), xp.zeros(cooperative_launch.WAIT, np.uint64)
    around = xp.asarray(np.ascontiguousarray(seeds))
    if each:
        run, blocks = stats.counted(kernel, placements.in_device_memory(rows)), k
    else:
        run = stats.together(kernel, placements.in_device_memory(rows))
        blocks = min(launch.blocks(gpu, capacity.entries), _BLOCKS * gpu.multiprocessors)
    run(
        blocks, indptr=rows.indptr, indices=rows.arguments.indices, seeds=around, alpha=alpha, rho=rho,
        most=most, max_iter=max_iter, every=every, key=key, place=place, flow=flow, bits=capacity.bits, vertex=vertex,
        begin=begin, degree=degree, y=y, come=come, vertex_capacity=capacity.vertices, entry_capacity=capacity.entries,
        owner=owner, number=number, slot=slot, state=state, wait=wait,
    )  # fmt: skip
    read = gpu.asnumpy(state).reshape(k, _STATE)
    if (read[:, 2] == _FULL).any():
        return None
    sizes, open_ = read[:, 0].view(np.int64), read[:, 2] != _SETTLED
    grown = float(read[open_, 4].view(np.float64).max(initial=0))
    first = np.cumsum(sizes) - sizes
    # one copy of the positions that each seed uses
    at = xp.asarray(np.repeat(np.arange(k) * capacity.vertices - first, sizes) + np.arange(sizes.sum()))
    found = gpu.asnumpy(xp.stack([x[at] for x in (vertex, degree, y.view(np.uint64))]))
    ends = partial(_ends, count_ends, first, state, owner, number, capacity.entries)
    vertices, degrees = found[:2].view(np.int64)
    return Solutions(sizes, vertices, degrees, found[2].view(np.float64), not open_.any(), grown, ends)


@launch.locked
def _ends(
    count: Launcher,
    first: NDArray[np.int64],
    state: Any,
    owner: Any,
    number: Any,
    capacity: int,
    rank: NDArray[np.int64],
) -> NDArray[np.int64]:
    gpu = cuda.current()
    ends = gpu.xp.zeros(rank.size, np.uint64)
    of_each = max(1, launch.blocks(gpu, first.size * capacity) // first.size)
    count.launch(
        of_each * first.size, seeds=first.size, state=state, owner=owner, number=number, entry_capacity=capacity,
        first=gpu.xp.asarray(first), rank=gpu.xp.asarray(rank.astype(np.uint32)), ends=ends,
    )  # fmt: skip
    return gpu.asnumpy(ends).view(np.int64)


@lru_cache(maxsize=8)
def _kernels(device: Device, _counting: bool, wide: bool, each: bool) -> tuple[Launcher, Launcher]:
    solve, ends = (
        codegen.kernel(device, "local_pagerank.cu", kernel_prelude(wide, each), name)
        for name in ("solve", "later_ends")
    )
    if each:
        solve.resize(_THREADS)
    return solve, ends


def kernel_prelude(wide: bool, each: bool) -> str:
    """Return the prelude of local_pagerank.cu; `each`: one block solves for each of many seeds."""
    threads = _THREADS if each else THREADS
    constants = codegen.flags(ONE_EACH=each, THREADS=threads)
    return f"{codegen.typedefs(Id='u64' if wide else 'u32')}\n{constants}"
