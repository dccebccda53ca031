"""Other forms of a matrix for algorithms (its transpose, a fast copy, a sample), and new objects on its engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.expr import engines
from sparsezc.memory.csr import Csr
from sparsezc.process.locks import hold_locks
from sparsezc.semirings.types.datatypes import BOOL, DataType

if TYPE_CHECKING:
    from sparsezc.core.transposed import TransposedMatrix

__all__ = ["full_beside", "pointers", "resident", "sampled", "turned", "vector_beside", "vector_like", "whole"]

M = TypeVar("M", bound=Matrix)


def turned(A: Matrix) -> Matrix | TransposedMatrix:
    """Return the transpose for repeated products; the engine also stores its rows, if that pays and memory allows."""
    with hold_locks(A):
        if A._symmetric:
            return A
        engine, store = A._need()
        engines.capability(engine, "afford_transpose")(store)
        return A.T


def resident(A: Matrix, times: int) -> Matrix:
    """Return a copy in the engine's fastest memory, if `times` copies fit there, else the matrix itself.

    Statements that read the matrix often use it; their results are then in that memory, too.
    """
    with hold_locks(A):
        engine, store = A._need()
        made = engines.capability(engine, "resident")(store, times)
        if made is None:
            return A
        return Matrix._from_store(engine, made, A.dtype, A.shape)._known_symmetric(A._symmetric)


def sampled(A: Matrix) -> Matrix | None:
    """Return a matrix of the first entries of each row, hubs first, if the engine has these in its head cache."""
    with hold_locks(A):
        engine, _ = A._need()
        sample = engines.capability(engine, "sample")(A)
        return None if sample is None else Matrix._from_store(engine, sample, A.dtype, A.shape)


def whole(A: M, what: str) -> M:
    """Return the matrix itself, after reporting to the engine that each process will read all entries for `what`.

    A distributed engine then warns, or raises an error, as ``config.fallback`` requires.
    """
    engine, store = A._need()
    engines.capability(engine, "on_whole")(store, what)
    return A


def pointers(v: Vector) -> Matrix:
    """Make a square BOOL matrix with a true entry at (i, v(i)) for each entry of a vector of positions."""
    with hold_locks(v):
        (engine, store), n = v._need(), v.size
        made = engines.capability(engine, "pointers")(store)
        if made is None:
            at, values = engines.in_use(engine).vector_to_coo(store)
            indptr = np.searchsorted(at, np.arange(n + 1))
            made = engine.matrix_from_csr(Csr.from_arrays(indptr, values.astype(np.uint64), [1], n, dtype=BOOL))
        return Matrix._from_store(engine, made, BOOL, (n, n))


def vector_beside(A: Matrix, dtype: DataType) -> Vector:
    """Make an empty vector of `A.nrows` positions, for ``v @ A``, on the matrix's engine."""
    v = Vector(dtype, A.nrows)
    v._settle(A._need()[0])
    return v


def vector_like(v: Vector, dtype: DataType) -> Vector:
    """Make an empty vector of the size of `v`, on its engine."""
    made = Vector(dtype, v.size)
    made._settle(v._need()[0])
    return made


def full_beside(A: Matrix, values: NDArray[Any] | Matrix, dtype: DataType) -> Matrix:
    """Make a full matrix on the engine of `A` from an array or another full matrix."""
    engine = A._need()[0]
    if isinstance(values, Matrix):
        copy = values.dup(dtype)
        if copy._engine is engine:
            return copy
        values = copy.to_dense()
    store = engines.capability(engine, "matrix_from_full")(values, dtype)
    if store is not None:
        return Matrix._from_store(engine, store, dtype, values.shape)
    made: Matrix = Matrix.from_dense(values, dtype=dtype)
    return made.to(engine.name)
