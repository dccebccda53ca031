"""Vertices in another order, which users never see.

A matrix may number its vertices by an order of its own, in which its ids pack better (``A.compress(order="degree")``).
Vectors that meet it are put into that order and stay in it, a word in the store says so, until they meet something that
asks for the users' numbers: then they are put back. Who computes says in which order with :func:`within`; a store's
arrays are always those of that order (matrix_store.py). Without it, it is the users' own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import codegen, launch


@dataclass(eq=False)
class Order:
    """A permutation of vertices; arrays of uint32 on the device.

    Attributes
    ----------
    vertices : the vertex at each place
    places : the place of each vertex
    """

    vertices: Any
    places: Any

    @property
    def size(self) -> int:
        return int(self.vertices.size)

    @classmethod
    def of(cls, vertices: Any) -> Order:
        """From the vertices in their order."""
        global _exist
        _exist = True
        xp = cuda.current().xp
        vertices = vertices.astype(np.uint32)
        places = xp.empty(vertices.size, np.uint32)
        places[vertices.astype(np.int64)] = xp.arange(vertices.size, dtype=np.uint32)
        return cls(vertices, places)


_now: Order | None = None
_exist = False


def exist() -> bool:
    """Whether there has been any: else nobody has to ask for one."""
    return _exist


def now() -> Order | None:
    """The order in which stores give their arrays; None: the users' own."""
    return _now


@contextmanager
def within(order: Order | None) -> Iterator[None]:
    """Compute in this order."""
    global _now
    before, _now = _now, order
    try:
        yield
    finally:
        _now = before


def moved(values: Any, bits: Any, size: int, before: Order | None, after: Order | None) -> tuple[Any, Any]:
    """A vector's arrays, as `before` has them, in the order `after`; None stays None."""
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
    kernel = codegen.kernel(gpu, "reorder.cu", codegen.typedefs(A=kind), "reorder")
    kernel.launch(
        launch.blocks(gpu, size), size=size, at=at, bits=bits, new_bits=new_bits,
        values=0 if values is None else values, new_values=0 if values is None else new_values,
    )  # fmt: skip
    return new_values, new_bits
