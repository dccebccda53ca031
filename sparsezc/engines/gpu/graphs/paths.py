"""Shortest paths without the host (paths.cu): one launch runs the rounds of delta-stepping.

Over the link it serves `zerocopy` matrices of short rows, whose searches have many rounds that read few rows each. For
longer rows, and in placements that serve rows from device memory, statements run instead, which read lengths packed
with their ids.
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
from sparsezc.engines.gpu.products import rows_per_warp
from sparsezc.engines.gpu.runtime import codegen, groups, launch
from sparsezc.engines.gpu.runtime.engine_state import ENGINE_STATE
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.memory.placement import RECORDS
from sparsezc.semirings.types.datatypes import FP64, INT64, DataType


class _Case(NamedTuple):
    """The properties of a search by which paths.cu is specialised."""

    wide: bool
    lengths: DataType
    distances: DataType
    iso: bool
    long: int
    rows_at_once: int
    bounds: bool


class _Back(NamedTuple):
    """The kernel arguments of the rows that pulls read: those of the transpose."""

    b_indptr: Any
    b_ids: Any
    b_values: Any
    b_nchunks: Any
    b_long_rows: Any
    b_long_first: Any
    b_chunk_slot: Any


_COUNTS = ("round", "ended", "entries", "first")  # numbers of the kernel's state, kept from one launch to the next
_UNREACHED = 255
# The cost of an entry of a push, which needs an atomic, where an entry of a pull costs 1.
_PUSH_COST = 2.0
# Units of distance bounds in a bucket's width: a bound exceeds its distance by less than one; a byte spans 16 buckets.
_UNITS = 16


@launch.locked
def shorten(
    matrix: MatrixStore, near: VectorStore, distance: VectorStore, limits: tuple[float, float, float, int | None]
) -> bool | None:
    """Lower distances until none changes, and return True; None if statements must do it.

    See :meth:`sparsezc.expr.engines.Capabilities.shorten`.
    """
    rows, back = matrix.held(matrix.order)
    if rows is None or near.bits is None or ENGINE_STATE.pool is not None:
        return None
    if rows.compressed or RECORDS[rows.indices.placement].serves:
        return None
    near_rows, many = placements.in_device_memory(rows), has_many_rounds(rows)
    if not near_rows and not many:
        return None
    step, last, shortest, target = limits
    if target is not None and rows.order is not None:
        return None
    near.arrange(rows.order)
    distance.arrange(rows.order)
    gpu, dtype = rows.device, distance.dtype
    xp, limit = gpu.xp, INT64 if dtype.is_integer else FP64
    at_once = rows_per_warp.choose(rows)
    unit = 0.0 if many else _unit(step, dtype)  # each distance that falls writes its bound: few rows do not repay it
    if not unit or (back is not None and (back.compressed or not placements.in_device_memory(back))):
        back = None
    case = _Case(rows.wide, matrix.dtype, dtype, rows.iso, rows.chunks.length, at_once, unit > 0)
    kernel = _kernel(gpu, stats.collecting is not None, case)  # type: ignore[arg-type]  # hashable, as in plan.py
    never = dtype.np_type.type(np.iinfo(dtype.np_type).max if dtype.is_integer else np.inf)
    form = np.dtype(
        [("limit", limit.np_type), *((name, np.uint64) for name in _COUNTS), ("least", dtype.np_type, 3)], align=True
    )
    state = xp.asarray(np.array([(min(step, last), 0, 0, 0, 0, [never] * 3)], form).view(np.uint8))
    wait, met = xp.zeros(cooperative_launch.WAIT, np.uint64), xp.zeros(distance.nwords, np.uint32)
    dirty, taken = near.bits.copy(), xp.empty(distance.nwords, np.uint32)
    bounds = xp.full(rows.nrows, _UNREACHED, np.uint8) if unit else groups.NULL
    blocks, shared = shares(rows, kernel, at_once)
    run, ended = stats.together(kernel, near_rows), False
    while not ended:
        run(
            blocks, rows.chunks.all, shared, _back(back), size=rows.nrows, nvals=rows.nvals, indptr=rows.indptr,
            indices=rows.arguments.indices, values=rows.arguments.values, distance=distance.values, bounds=bounds,
            near=taken, dirty=dirty, met=met, state=state, wait=wait, step=limit.np_type.type(step),
            last=limit.np_type.type(last), shortest=dtype.np_type.type(shortest), unit=dtype.np_type.type(unit),
            never=never, target=rows.nrows if target is None else target, rounds=cooperative_launch.ROUNDS,
            pulls=int(back is not None),
        )  # fmt: skip
        ended = bool(gpu.asnumpy(state).view(form)["ended"][0])
    near.clear()
    return True


def _unit(step: float, dtype: DataType) -> float:
    """Return the unit of distance bounds; 0, for none, if 256 units are not representable in the type."""
    unit = max(step // _UNITS, 1) if dtype.is_integer else step / _UNITS
    most = np.iinfo(dtype.np_type).max if dtype.is_integer else np.finfo(dtype.np_type).max
    least = 0 if dtype.is_integer else np.finfo(dtype.np_type).tiny
    return unit if least < unit < most / 256 else 0.0


def _back(back: Rows | None) -> _Back:
    if back is None:
        return _Back(*[groups.NULL] * len(_Back._fields))
    return _Back(back.indptr, back.arguments.indices, back.arguments.values, *back.chunks.all)


@lru_cache(maxsize=64)
def _kernel(device: Device, _counting: bool, case: _Case) -> Launcher:
    return codegen.kernel(device, "paths.cu", kernel_prelude(case), "paths")


def kernel_prelude(case: _Case) -> str:
    """Return the prelude of paths.cu."""
    bits = 8 * case.distances.np_type.itemsize
    return "\n".join(
        (
            codegen.typedefs(
                Id="u64" if case.wide else "u32", A=case.lengths, Z=case.distances,
                Bits=f"{'i' if case.distances.is_integer else 'u'}{bits}",
                S=INT64 if case.distances.is_integer else FP64, Seen="u8" if case.bounds else case.distances,
            ),
            codegen.flags(ISO=case.iso, BOUNDS=case.bounds),
            rows_text(case.long, case.rows_at_once),
            f"constexpr float PUSH_COST = {_PUSH_COST}f;",
        )
    )  # fmt: skip
