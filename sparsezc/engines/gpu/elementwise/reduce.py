"""Reduction of a vector to one value by a monoid (reduce.cu)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import codegen, groups, launch
from sparsezc.engines.gpu.runtime.codegen import function, typedefs
from sparsezc.engines.gpu.storage.vector_store import VectorStore


def reduce_vector(monoid: Any, u: VectorStore) -> Any:
    """Return the monoid's sum of all entries as a NumPy scalar; None if there is no entry. Waits for the device."""
    if u.count == 0:
        return None
    gpu = cuda.current()
    xp = gpu.xp
    prelude = "\n".join(
        (
            typedefs(X=u.dtype, Z=monoid.type),
            codegen.monoid(monoid),
            function("Z", "load", "X v", "return cast<Z>(v);"),
        )
    )
    kernel = codegen.kernel(gpu, "reduce.cu", prelude, "reduce")
    grid = launch.blocks(gpu, u.size)
    dtype = monoid.type.np_type
    both = xp.empty(3, np.uint64)  # the result (at most 16 bytes) and its presence flag, for one copy to the host
    kernel.launch(
        grid, groups.Vector(*u.operands()), size=u.size, partial=xp.empty(grid, dtype),
        partial_has=xp.empty(grid, np.uint8), arrived=xp.zeros(1, np.uint32), result=both[:2].view(dtype),
        result_has=both[2:].view(np.uint8),
    )  # fmt: skip
    held = gpu.asnumpy(both)
    return held[:2].view(dtype)[0] if held[2:].view(np.uint8)[0] else None
