"""python-graphblas objects to ours and back, without a copy on the CPU engine."""

from __future__ import annotations

from typing import Any

from sparsezc.core.matrix import Matrix, TransposedMatrix
from sparsezc.core.scalar import Scalar
from sparsezc.core.vector import Vector
from sparsezc.engines import cpu
from sparsezc.engines.cpu import native

__all__ = ["from_graphblas", "to_graphblas"]


def from_graphblas(x: Any, *, copy: bool = False) -> Any:
    """Convert a python-graphblas Matrix, Vector or Scalar to ours.

    Parameters
    ----------
    x : graphblas.Matrix, graphblas.Vector or graphblas.Scalar
        Or a transpose, which becomes one; or an expression, which is computed.
    copy : bool
        Without a copy both are views of one content: a change through one shows in the other. A Scalar's value is
        always copied, and so is what an expression computes: once, into what is returned.

    Returns
    -------
    Matrix, Vector or Scalar
        On the CPU engine.

    Raises
    ------
    TypeError
        `x` is something else.

    Examples
    --------
    >>> import graphblas, sparsezc as gb
    >>> v = gb.from_graphblas(graphblas.Vector.from_coo([1], [2.5], size=3))
    >>> v.to_dict(), gb.to_graphblas(v).nvals
    ({1: 2.5}, 1)
    """
    engine = cpu.engine()
    gb = native.gb
    if type(x) not in (gb.Matrix, gb.Vector, gb.Scalar) and hasattr(x, "new"):  # a transpose or an expression
        transpose = getattr(x, "T", None) if not hasattr(x, "op") else None
        if type(transpose) is gb.Matrix:
            return from_graphblas(transpose, copy=copy).T
        x = x.new()
    if type(x) is gb.Scalar:
        return Scalar.from_value(x.value, native.our_type(x.dtype))
    if type(x) not in (gb.Matrix, gb.Vector):
        raise TypeError(f"from_graphblas: a Matrix, Vector or Scalar of graphblas is needed; got {type(x)}")
    dtype = native.our_type(x.dtype)
    store = x.dup() if copy else x
    store.wait()  # in nonblocking mode something may be pending, which must not meet our statements
    if x.ndim == 1:
        return Vector._from_store(engine, store, dtype, x.shape[0], x.name)
    return Matrix._from_store(engine, store, dtype, x.shape, x.name)


def to_graphblas(x: Any, *, copy: bool = False) -> Any:
    """Convert our Matrix, Vector or Scalar to python-graphblas's.

    Parameters
    ----------
    x : Matrix, TransposedMatrix, Vector or Scalar
    copy : bool
        Without a copy what lies on the CPU engine is given out itself, and a change through one shows in the other;
        what lies on a GPU is copied once, and so is a Scalar's value; of a TransposedMatrix the transpose is made.

    Raises
    ------
    TypeError
        `x` is something else.
    """
    if not isinstance(x, Matrix | TransposedMatrix | Vector | Scalar):
        raise TypeError(f"to_graphblas: a Matrix, Vector or Scalar of sparsezc is needed; got {type(x)}")
    return x.to_graphblas() if isinstance(x, Scalar) else x.to_graphblas(copy=copy)
