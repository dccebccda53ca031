"""Checks of numbers and Scalars among operands; ``stored`` of expression.py checks the other operands."""

from __future__ import annotations

import operator
from typing import Any

from sparsezc.exceptions import EmptyObject, InvalidValue
from sparsezc.expr.expression import Deferred, Operand, adopted, says
from sparsezc.ops.arrays import must_be_read, must_fit
from sparsezc.semirings.types.datatypes import DataType, lookup

__all__ = ["everywhere", "scalar", "stored_scalar", "whole_number"]


def scalar(x: Any, where: str, *, may_be_empty: bool = False, like: DataType | None = None) -> Any:
    """Return `x` as a Scalar; a number gets its own type, or the type `like` if that is user-defined.

    Raises
    ------
    TypeError
        It is neither a number nor a Scalar.
    EmptyObject
        It is a Scalar without a value, where one is needed.
    InvalidValue
        It is a Python integer that needs more bits than the integers of type `like` are read with.
    """
    kind: Any = Operand._kinds[0]
    if isinstance(x, Deferred):
        x = x.operand(where)
    if type(x) is not kind:
        x = adopted(x)
        if like is not None:
            must_be_read(x, like, where)
        try:
            x = kind.from_value(x, like if like is not None and like.is_udt and type(x) is not kind else None)
        except TypeError:
            raise TypeError(
                f"Bad type for argument: {where} must be a number or a Scalar (Literal scalars also accepted); got"
                f" {says(x)}"
            ) from None
    if x.value is None and not may_be_empty:
        raise EmptyObject(f"{where} is the Scalar {x.name}, which is empty; a value is needed")
    return x


def everywhere(x: Any, dtype: Any, where: str) -> tuple[Any, DataType]:
    """Return a number for all positions, as a Scalar, and the type of the entries: `dtype`, or the number's.

    Raises
    ------
    TypeError, InvalidValue
        As for :func:`scalar`; a Python integer must also fit a given integer type.
    """
    kind = None if dtype is None else lookup(dtype)
    if type(x) is int and kind is not None:
        must_fit(x, kind, where)
    given = scalar(x, where, like=kind)
    return given, given.dtype if kind is None else kind


def stored_scalar(x: Any, where: str) -> Any:
    """Return `x` as a Scalar that may be empty, for an operation with a Scalar.

    Raises
    ------
    TypeError
        It is neither a number nor a Scalar.
    """
    if getattr(x, "ndim", 0):
        raise TypeError(f"Bad type: {where} must be a Scalar (Literal scalars also accepted); got {says(x)}")
    return scalar(x, where, may_be_empty=True)


def whole_number(x: Any, where: str, least: int | None = 0) -> int:
    """Return `x` as a Python integer; `least`: the smallest that is allowed.

    Raises
    ------
    TypeError
        It is no integer.
    InvalidValue
        It is less than `least`.
    """
    try:
        number = operator.index(x)
    except TypeError:
        raise TypeError(f"{where} is {x!r} of type {type(x).__name__}; an integer is needed") from None
    if least is not None and number < least:
        raise InvalidValue(f"{where} is {number}; at least {least} is needed")
    return number
