"""Conversion between python-graphblas objects and ours, without a copy on the CPU engine."""

from __future__ import annotations

from typing import Any

from sparsezc.core.matrix import Matrix, TransposedMatrix
from sparsezc.core.scalar import Scalar
from sparsezc.core.vector import Vector
from sparsezc.engines import cpu
from sparsezc.engines.cpu.suitesparse import native

__all__ = ["from_graphblas", "to_graphblas"]


def from_graphblas(x: Any, *, copy: bool = False) -> Any:
    """Convert a python-graphblas Matrix, Vector or Scalar to ours.

    Parameters
    ----------
    x : graphblas.Matrix, graphblas.Vector or graphblas.Scalar
        A transpose becomes a Matrix; an expression is computed.
    copy : bool
        False: both objects share one store, so a change to one is visible in the other. A Scalar's value is always
        copied, and an expression is computed once, into the returned object.

    Returns
    -------
    Matrix, Vector or Scalar
        The object, on the CPU engine.

    Raises
    ------
    TypeError
        `x` is any other object.

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
    store.wait()  # in nonblocking mode, pending operations must end before our statements run
    if x.ndim == 1:
        return Vector._from_store(engine, store, dtype, x.shape[0], x.name)
    return Matrix._from_store(engine, store, dtype, x.shape, x.name)


def to_graphblas(x: Any, *, copy: bool = False) -> Any:
    """Convert our Matrix, Vector or Scalar to python-graphblas's.

    Parameters
    ----------
    x : Matrix, TransposedMatrix, Vector or Scalar
    copy : bool
        False: the result shares the store of an object on the CPU engine, so a change to one is visible in the other;
        an object on a GPU is copied once, and so is a Scalar's value; a TransposedMatrix is formed.

    Raises
    ------
    TypeError
        `x` is any other object.
    """
    if not isinstance(x, Matrix | TransposedMatrix | Vector | Scalar):
        raise TypeError(f"to_graphblas: a Matrix, Vector or Scalar of sparsezc is needed; got {type(x)}")
    return x.to_graphblas() if isinstance(x, Scalar) else x.to_graphblas(copy=copy)
