"""Reduction of a vector to one value by a monoid (reduce.cu)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import codegen, groups, launch
from sparsezc.engines.gpu.runtime.codegen import function, typedefs
from sparsezc.engines.gpu.storage.vector_store import VectorStore

# The result, whether there is one, and those of blocks begin at these bytes of an array.
_HAS, _PARTS = 16, 32


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
    dtype = np.dtype(monoid.type.np_type)
    held = xp.empty(_PARTS + (dtype.itemsize + 1) * grid, np.uint8)
    result, parts = held[:_HAS].view(dtype), held[_PARTS:]
    kernel.launch(
        grid, groups.Vector(*u.operands()), size=u.size, partial=parts[: dtype.itemsize * grid].view(dtype),
        partial_has=parts[dtype.itemsize * grid :], arrived=xp.zeros(1, np.uint32), result=result,
        result_has=held[_HAS:],
    )  # fmt: skip
    found = gpu.asnumpy(held[:_PARTS])  # both at once: each reading waits
    return found[:_HAS].view(dtype)[0] if found[_HAS] else None
