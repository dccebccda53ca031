"""Vertex orders other than the users', which are invisible in results.

A matrix may be stored in a vertex order in which its ids take fewer bytes (``A.compress(order="degree")``). Vectors
that it multiplies are permuted into this order and stay in it until a statement needs the users' numbers. A store
records the order of its arrays; each statement chooses one before it runs (statement_order.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.runtime.engine_state import ENGINE_STATE


@dataclass(eq=False)
class Order:
    """A permutation of vertices; arrays of uint32 on the device.

    Attributes
    ----------
    vertices : the vertex at each position
    places : the position of each vertex
    """

    vertices: Any
    places: Any

    @property
    def size(self) -> int:
        return int(self.vertices.size)

    @classmethod
    def of(cls, vertices: Any) -> Order:
        """Return the order in which vertices are at the positions of this array."""
        ENGINE_STATE.note_order()
        xp = cuda.current().xp
        vertices = vertices.astype(np.uint32)
        places = xp.empty(vertices.size, np.uint32)
        places[vertices.astype(np.int64)] = xp.arange(vertices.size, dtype=np.uint32)
        return cls(vertices, places)


def moved(values: Any, bits: Any, size: int, before: Order | None, after: Order | None) -> tuple[Any, Any]:
    """Return a vector's arrays permuted from the order `before` to the order `after`; `values` may be None."""
    if before is not None:
        values, bits = _gather(before.places, values, bits, size)
    if after is not None:
        values, bits = _gather(after.vertices, values, bits, size)
    return values, bits


def _gather(at: Any, values: Any, bits: Any, size: int) -> tuple[Any, Any]:
    gpu = cuda.current()
    xp = gpu.xp
    new_bits = xp.empty(bits.size, np.uint32)
    new_values = None if values is None else xp.empty(size, values.dtype)
    kind = "u8" if values is None else launch.BY_SIZE[values.dtype.itemsize]
    kernel = codegen.kernel(gpu, "permute_vector.cu", codegen.typedefs(A=kind), "reorder")
    kernel.launch(
        launch.blocks(gpu, size), size=size, at=at, bits=bits, new_bits=new_bits,
        values=0 if values is None else values, new_values=0 if values is None else new_values,
    )  # fmt: skip
    return new_values, new_bits
