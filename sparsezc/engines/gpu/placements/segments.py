"""Segments: pieces of 2^BITS entries, the unit by which placements count what is read and move it.

16 KiB of 4-byte ids, as in Ascetic (Tang et al., Ascetic: enhancing cross-iterations data efficiency in out-of-memory
graph processing on GPUs, ICPP 2021).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.placements import Wanted
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.memory import Buffer

BITS = 12


def count(nvals: int) -> int:
    """Segments of so many entries."""
    return -(-nvals >> BITS)


def _kernel(name: str, entry: str = "u32") -> Any:
    prelude = f"constexpr u32 SEGMENT_BITS = {BITS};\n{codegen.typedefs(A=entry)}"
    return codegen.kernel(cuda.current(), "segments.cu", prelude, name)


def touch(rows: Rows, wanted: Wanted, counts: Any) -> None:
    """Add to counts[s] how many entries of segment s the product will read (u32)."""
    gpu = cuda.current()
    words = 0 if wanted.words is None else wanted.words
    arguments = np.uint64(rows.nrows), rows.indptr, words, np.uint32(wanted.flip), np.uint64(wanted.most), counts
    _kernel("touch")(launch.blocks(gpu, rows.nrows), launch.THREADS, arguments)


def resident(rows: Rows, segments: Any) -> Any:
    """Presence words of the rows all of whose segments lie in device memory."""
    gpu = cuda.current()
    bits = gpu.xp.empty(-(-rows.nrows // 32), np.uint32)
    arguments = np.uint64(rows.nrows), rows.indptr, segments, bits
    _kernel("resident")(launch.blocks(gpu, rows.nrows), launch.THREADS, arguments)
    return bits


def copy(which: Any, slots: Any, source: Buffer, target: Any) -> None:
    """Bring segments into slots of a device array, by a kernel that reads the host's pages at the link's rate."""
    gpu = cuda.current()
    kernel = _kernel("copy", launch.BY_SIZE[source.dtype.itemsize])
    arguments = np.uint64(which.size), which, slots, np.uint64(source.pointer), np.uint64(source.count), target
    kernel(launch.blocks(gpu, 32 * which.size), launch.THREADS, (*arguments, gpu.xp.zeros(1, np.uint64)))
