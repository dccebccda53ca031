"""Shortest paths without the host (paths.cu): one launch runs the rounds of delta-stepping, for edges in device memory.

Over the link statements search: these pull where that reads fewer edges, and read lengths packed beside their ids.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sparsezc import stats
from sparsezc.device.launcher import Launcher
from sparsezc.device.protocol import Device
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.graphs import whole_loops
from sparsezc.engines.gpu.graphs.whole_loops import rows_text, shares
from sparsezc.engines.gpu.products import rows_per_warp
from sparsezc.engines.gpu.runtime import array_pool, codegen, launch
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.memory.placement import RECORDS
from sparsezc.semirings.types.datatypes import FP64, INT64, DataType


class _Case(NamedTuple):
    """The properties of a search that its kernel is specialised for."""

    wide: bool
    lengths: DataType
    distances: DataType
    iso: bool
    long: int
    rows_at_once: int


@launch.locked
def shorten(
    matrix: MatrixStore, near: VectorStore, distance: VectorStore, limits: tuple[float, float, int | None]
) -> bool | None:
    """Lower distances until none changes, and return true; None where statements have to.

    See :meth:`sparsezc.expr.engines.Capabilities.shorten`.
    """
    rows = matrix.in_stored_order()[0]
    if rows is None or near.bits is None or array_pool.serving() is not None:
        return None
    if rows.compressed or not placements.lie_near(rows) or RECORDS[rows.indices.placement].serves:
        return None
    step, last, target = limits
    if target is not None and rows.order is not None:
        return None
    near.arrange(rows.order)
    distance.arrange(rows.order)
    gpu, dtype = rows.device, distance.dtype
    xp, limit = gpu.xp, INT64 if dtype.is_integer else FP64
    at_once = rows_per_warp.choose(rows)
    case = _Case(rows.wide, matrix.dtype, dtype, rows.iso, rows.chunks.length, at_once)
    kernel = _kernel(gpu, stats.collecting is not None, case)  # type: ignore[arg-type]  # hashable, as in plan.py
    never = dtype.np_type.type(np.iinfo(dtype.np_type).max if dtype.is_integer else np.inf)
    form = np.dtype(
        [("limit", limit.np_type), ("round", np.uint64), ("ended", np.uint64), ("least", dtype.np_type, 3)], align=True
    )
    state = xp.asarray(np.array([(min(step, last), 0, 0, [never] * 3)], form).view(np.uint8))
    wait = xp.zeros(whole_loops.WAIT, np.uint64)
    dirty, taken = near.bits.copy(), xp.empty(distance.nwords, np.uint32)
    blocks, shared = shares(rows, kernel, at_once)
    run, ended = stats.together(kernel, True), False
    while not ended:
        run(
            blocks, rows.chunks.all, shared, size=rows.nrows, indptr=rows.indptr, indices=rows.arguments.indices,
            values=rows.arguments.values, distance=distance.values, near=taken, dirty=dirty, state=state, wait=wait,
            step=limit.np_type.type(step), last=limit.np_type.type(last), never=never,
            target=rows.nrows if target is None else target, rounds=whole_loops.ROUNDS,
        )  # fmt: skip
        ended = bool(gpu.asnumpy(state).view(form)["ended"][0])
    near.clear()
    return True


@lru_cache(maxsize=64)
def _kernel(device: Device, _counting: bool, case: _Case) -> Launcher:
    return codegen.kernel(device, "paths.cu", text(case), "paths")


def text(case: _Case) -> str:
    """Return the text before paths.cu."""
    bits = 8 * case.distances.np_type.itemsize
    return "\n".join(
        (
            codegen.typedefs(
                Id="u64" if case.wide else "u32", A=case.lengths, Z=case.distances,
                Bits=f"{'i' if case.distances.is_integer else 'u'}{bits}",
                S=INT64 if case.distances.is_integer else FP64,
            ),
            codegen.flags(ISO=case.iso),
            rows_text(case.long, case.rows_at_once),
        )
    )  # fmt: skip
