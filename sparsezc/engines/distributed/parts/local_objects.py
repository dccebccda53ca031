"""Objects and statements of this rank: ordinary ones, on the local engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.distributed.parts.stores import Store
from sparsezc.expr import engines
from sparsezc.expr.dispatch import PLAIN, Write, update
from sparsezc.expr.expression import Expression, IndexList, Operand
from sparsezc.expr.mask import Mask
from sparsezc.memory.csr import Csr
from sparsezc.semirings import binary
from sparsezc.semirings.types.datatypes import INT64, DataType

if TYPE_CHECKING:
    from sparsezc.expr.engines import Engine

__all__ = ["Locals", "array_module", "assignment", "here", "new", "put", "shifted", "write_local"]


class Locals:
    """Maker of objects on the local engine.

    Attributes
    ----------
    engine : Engine
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._to_arrays = engines.capability(engine, "vector_to_arrays")
        self._from_arrays = engines.capability(engine, "vector_from_arrays")
        self._by_position = engines.capability(engine, "by_position")
        self._frontier_entries = engines.capability(engine, "frontier_entries")

    def vector(self, dtype: DataType, size: int, store: Any = None) -> Any:
        """Make a Vector, without entries or of a store."""
        made = self.engine.new_vector(dtype, size) if store is None else store
        return Operand._kinds[1]._from_store(self.engine, made, dtype, size)

    def matrix(self, dtype: DataType, shape: tuple[int, ...], store: Any = None) -> Any:
        """Make a Matrix, without entries or of a store."""
        made = self.engine.new_matrix(dtype, *shape) if store is None else store
        return Operand._kinds[2]._from_store(self.engine, made, dtype, shape)

    def matrix_of(self, csr: Csr, *, symmetric: bool = False) -> Any:
        """Make a Matrix of arrays, which must not be used afterwards."""
        store = engines.capability(self.engine, "adopt_csr")(csr)
        made = self.matrix(
            csr.dtype, (csr.nrows, csr.ncols), self.engine.matrix_from_csr(csr) if store is None else store
        )
        return made._known_symmetric(symmetric)

    def settled(self, x: Any) -> Any:
        """Move an object to the local engine, if it is on another; return it."""
        if x._engine is not self.engine:
            x._settle(self.engine)
        return x

    def arrays(self, vector: Any, form: str) -> tuple[Any, ...]:
        """Return a vector's content in a form of ``Capabilities.vector_to_arrays``."""
        if vector.dtype.is_udt:  # there is one form for all engines
            return self.engine.vector_to_coo(self.settled(vector)._store)
        found: tuple[Any, ...] = self._to_arrays(self.settled(vector)._store, form)
        return found

    def by_position(self, vector: Any) -> Any:
        """Store a vector such that products can look up its entries by position; return it."""
        self._by_position(self.settled(vector)._store)
        return vector

    def frontier_entries(self, vector: Any, matrix: Any) -> int | None:
        """Return the result of ``Capabilities.frontier_entries`` for local objects."""
        found: int | None = self._frontier_entries(self.settled(vector)._store, self.settled(matrix)._store)
        return found

    def from_arrays(self, form: str, arrays: tuple[Any, ...], dtype: DataType, size: int) -> Any:
        """Make a Vector of arrays in a form of ``Capabilities.vector_from_arrays``."""
        if not size:
            return self.vector(dtype, 0)
        if dtype.is_udt:
            at, values = arrays
            return self.vector(dtype, size, self.engine.vector_from_coo(at, values, dtype, size))
        return self.vector(dtype, size, self._from_arrays(form, arrays, dtype, size))


def array_module(array: Any) -> Any:
    """Return the module of an array's functions: NumPy, or the device's."""
    return np if isinstance(array, np.ndarray) else cuda.current().xp


def here(mask: Mask | None) -> Mask | None:
    """Return the mask of this rank's part."""
    return None if mask is None else Mask(mask.parent._store.local, mask.structure, mask.complement)


def write_local(out: Store, expression: Expression, write: Write[Mask | None]) -> None:
    """Run a statement on this rank's part; the mask's parent has the same partition."""
    if not out.is_empty_range:
        update(out.local, expression, Write(here(write.mask), write.accum, write.replace))


def put(out: Store, result: Any, write: Write[Mask | None]) -> None:
    """Write a computed result, a local object of the part's shape, to this rank's part."""
    if out.is_empty_range:
        return
    target = out.local
    if write.mask is None and write.accum is None and result.dtype is target.dtype and result is not target:
        target._put(result._engine, result._store)
    else:
        update(target, assignment(result, target), Write(here(write.mask), write.accum, write.replace))


def assignment(value: Any, target: Any) -> Expression:
    """Return the expression that writes an object to all of another of the same shape."""
    keys = tuple(IndexList("all", None, n) for n in target.shape)
    return Expression("assign", (value, *keys), None, target.dtype, target.shape)


def new(expression: Expression, local: Locals) -> Any:
    """Run an expression into a new local object, on the local engine."""
    shape, dtype = expression.shape, expression.dtype
    made = local.vector(dtype, *shape) if len(shape) == 1 else local.matrix(dtype, shape)
    update(made, expression, PLAIN)
    return made


def shifted(x: Any, offset: int) -> Any:
    """Add an offset to the values of a local object, which are positions within this rank's range."""
    if offset:
        s = Operand._kinds[0].from_value(offset, INT64)
        update(x, Expression("apply_right", (x, s), binary.plus[x.dtype], x.dtype, x.shape), PLAIN)
    return x
