"""Segments: 2^BITS consecutive entries, the unit in which placements count reads and copy.

A segment has 16 KiB of 4-byte ids, as in Ascetic (Tang et al., Ascetic: enhancing cross-iterations data efficiency in
out-of-memory graph processing on GPUs, ICPP 2021).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.device.launcher import Launcher
from sparsezc.engines.gpu.placements import Wanted
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.memory import Buffer

BITS = 12


def count(nvals: int) -> int:
    """Return the number of segments of `nvals` entries."""
    return -(-nvals >> BITS)


def _kernel(name: str, entry: str = "u32") -> Launcher:
    prelude = f"constexpr u32 SEGMENT_BITS = {BITS};\n{codegen.typedefs(A=entry)}"
    return codegen.kernel(cuda.current(), "segments.cu", prelude, name)


def touch(rows: Rows, wanted: Wanted, counts: Any) -> None:
    """Add to counts[s] (u32) the number of entries of segment s that a product will read."""
    gpu = cuda.current()
    words = 0 if wanted.words is None else wanted.words
    _kernel("touch").launch(
        launch.blocks(gpu, rows.nrows),
        nrows=rows.nrows, indptr=rows.indptr, wanted=words, flip=wanted.flip, most=wanted.most, counts=counts,
    )  # fmt: skip


def resident(rows: Rows, segments: Any) -> Any:
    """Return presence words of the rows whose segments are all in device memory."""
    gpu = cuda.current()
    bits = gpu.xp.empty(-(-rows.nrows // 32), np.uint32)
    _kernel("resident").launch(
        launch.blocks(gpu, rows.nrows), nrows=rows.nrows, indptr=rows.indptr, segments=segments, bits=bits
    )
    return bits


def copy(which: Any, slots: Any, source: Buffer, target: Any) -> None:
    """Copy segments into slots of a device array, by a kernel that reads host pages at the link's rate."""
    gpu = cuda.current()
    kernel = _kernel("copy", launch.BY_SIZE[source.dtype.itemsize])
    kernel.launch(
        launch.blocks(gpu, 32 * which.size), nsegments=which.size, which=which, to=slots, array=source.pointer,
        count=source.count, kept=target, counter=gpu.xp.zeros(1, np.uint64),
    )  # fmt: skip
