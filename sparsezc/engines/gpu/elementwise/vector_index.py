"""Assignment to and extraction from vectors, by lists, ranges and single positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise import vector_map
from sparsezc.engines.gpu.runtime import codegen, launch, presence_words
from sparsezc.engines.gpu.runtime.codegen import typedefs
from sparsezc.engines.gpu.storage.vector_store import MaskBits, VectorStore
from sparsezc.expr.dispatch import Write
from sparsezc.semirings.types.datatypes import DataType


def positions_of(index: Any) -> Any:
    """Return an IndexList's positions as u64 on the device."""
    xp = cuda.current().xp
    if index.kind == "list":
        return xp.asarray(index.key)
    steps = index.key
    return xp.arange(steps.start, steps.stop, steps.step, np.int64).astype(np.uint64)


def assign(x: Any, index: Any, out: VectorStore, write: Write[MaskBits]) -> None:
    """Assign w<mask>(I) = accum(w(I), x), where x is a Vector or a Scalar."""
    if x.ndim:
        _assign_vector(x._store, index, out, write)
    else:
        _assign_scalar(x.value, x.dtype, index, out, write)


def submask(mask: MaskBits, index: Any, size: int) -> MaskBits:
    """Return a mask of assigned positions as one of the whole vector; it allows all others, which are not assigned."""
    if mask.allows_all:
        return mask
    xp = cuda.current().xp
    positions = xp.arange(size, dtype=np.uint64) if index.kind == "all" else positions_of(index)
    allowed = xp.unpackbits((mask.bits ^ np.uint32(mask.flip)).view(np.uint8), bitorder="little")[: index.size]
    inside = presence_words.mark(positions[xp.flatnonzero(allowed)], size)
    return MaskBits(inside | ~presence_words.mark(positions, size))


def _assign_scalar(value: Any, dtype: DataType, index: Any, out: VectorStore, write: Write[MaskBits]) -> None:
    region: Any = 0
    if index.kind == "one":  # one bit is set at less cost from the host than by a kernel over positions
        region = _one_bit(index.key, out.size)
    elif index.kind != "all":
        region = presence_words.mark(positions_of(index), out.size)
    vector_map.write_scalar(value, dtype, out, write, region=region)


def _one_bit(position: int, size: int) -> Any:
    bits = cuda.current().xp.zeros(-(-size // 32), np.uint32)
    bits[position >> 5] = 1 << (position & 31)
    return bits


def _assign_vector(u: VectorStore, index: Any, out: VectorStore, write: Write[MaskBits]) -> None:
    if index.kind == "all":
        vector_map.write_vector(u, out, write)
        return
    gpu = cuda.current()
    positions = positions_of(index)
    spread = VectorStore(u.dtype, out.size)
    spread.make()
    region = gpu.xp.zeros(out.nwords, np.uint32)
    kernel = codegen.kernel(gpu, "scatter.cu", typedefs(U=u.dtype), "scatter")
    if positions.size:
        values, u_bits = u.operands()
        kernel.launch(
            launch.blocks(gpu, positions.size), count=positions.size, index=positions,
            u=values, u_bits=u_bits, t=spread.values, t_bits=spread.bits, region=region,
        )  # fmt: skip
    spread.written()
    vector_map.write_vector(spread, out, write, region=region)


def moved(offset: int, old: int, new: int) -> tuple[Any, Any]:
    """Return the positions of 0 .. old-1 that `offset` moves to within 0 .. new-1, and their new positions."""
    first = max(0, -offset)
    at = cuda.current().xp.arange(first, max(first, min(old, new - offset)), dtype=np.int64)
    return at, at + offset


def extract_vector(u: VectorStore, index: Any, out: VectorStore, write: Write[MaskBits]) -> None:
    """Compute w<mask> = accum(w, u(I))."""
    if index.kind == "all":
        vector_map.write_vector(u, out, write)
    else:
        vector_map.gather(u, positions_of(index), out, write)


def element(u: VectorStore, position: int) -> Any:
    """Return u(position) as a NumPy scalar, or None if there is no entry. Waits for the device."""
    if u.bits is None:
        return None
    gpu = cuda.current()
    word = gpu.asnumpy(u.bits[position >> 5 : (position >> 5) + 1])[0]
    return (
        gpu.asnumpy(u.values[position : position + 1])[0] if word >> np.uint32(position & 31) & np.uint32(1) else None
    )
