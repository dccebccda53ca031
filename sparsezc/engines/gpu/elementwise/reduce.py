"""Reduction of a vector to one value by a monoid (reduce.cu)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import codegen, groups, launch
from sparsezc.engines.gpu.runtime.codegen import function, typedefs
from sparsezc.engines.gpu.storage.vector_store import VectorStore


def reduce_vector(monoid: Any, u: VectorStore) -> Any:
    """Return the value as a NumPy scalar, or None where there is no entry. Waits for the device."""
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
    results = xp.empty(grid + 1, monoid.type.np_type)
    present = xp.empty(grid + 1, np.uint8)
    kernel.launch(
        grid, groups.Vector(*u.operands()), size=u.size, partial=results, partial_has=present,
        arrived=xp.zeros(1, np.uint32), result=results[grid:], result_has=present[grid:],
    )  # fmt: skip
    return gpu.asnumpy(results[grid:])[0] if gpu.asnumpy(present[grid:])[0] else None
