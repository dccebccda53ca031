"""Scalar: one value, or none."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from sparsezc.engines import cpu
from sparsezc.errors import InvalidValue
from sparsezc.expression import Expression
from sparsezc.semirings.operators import TypedOp
from sparsezc.semirings.types import BOOL, FP64, INT64, DataType, cast, lookup
from sparsezc.write import Position, Writable

__all__ = ["Scalar"]

_numbers = itertools.count()
_PLAIN: dict[type, DataType] = {bool: BOOL, int: INT64, float: FP64}


class Scalar(Writable):
    """One value of a GraphBLAS type, or none. It lives on the host, whatever engine computes it.

    Parameters
    ----------
    dtype : DataType, str, NumPy dtype or Python type
    name : str, optional

    Raises
    ------
    UnknownDtype
        `dtype` is no type.

    Examples
    --------
    >>> import sparsezc as gb
    >>> s = gb.Scalar.from_value(3)
    >>> s.dtype, s.value, s == 3, gb.Scalar(float).is_empty
    (INT64, 3, True, True)
    >>> s(gb.binary.plus) << 4
    >>> s.value
    7
    """

    __slots__ = ("_value",)
    ndim = 0
    _stored = False

    def __init__(self, dtype: Any = FP64, *, name: str | None = None) -> None:
        self.dtype = lookup(dtype)
        self.name = f"s_{next(_numbers)}" if name is None else name
        self._engine = None
        self._store = None
        self._value: bool | int | float | None = None

    @classmethod
    def _blank(cls, dtype: DataType, shape: tuple[int, ...], name: str | None) -> Scalar:
        return cls(dtype, name=name)

    @classmethod
    def from_value(cls, value: Any, dtype: Any = None, *, name: str | None = None) -> Scalar:
        """A Scalar with this value.

        Parameters
        ----------
        value : number, NumPy scalar or Scalar
        dtype : optional
            By default the value's own: INT64, FP64 or BOOL for Python's numbers.
        name : str, optional

        Raises
        ------
        TypeError
            `value` is no number.
        """
        if isinstance(value, Expression | Position):
            value = value.new()
        if isinstance(value, Scalar):
            made = cls(value.dtype if dtype is None else dtype, name=name)
            made.value = value.value
            return made
        plain = _PLAIN.get(type(value))
        if plain is None and not isinstance(value, np.generic | np.ndarray | bool | int | float | complex):
            raise TypeError(f"value must be a number; got {value!r} of type {type(value).__name__}")
        if dtype is None:
            dtype = lookup(np.asarray(value).dtype) if plain is None else plain
        made = cls(dtype, name=name)
        made.value = value
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        """``()``."""
        return ()

    @property
    def value(self) -> Any:
        """The value as a Python bool, int or float; None where there is none. Assigning converts to the type."""
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        if isinstance(value, Expression | Position):
            value = value.new()
        if isinstance(value, Scalar):
            value = value._value
        dtype = self.dtype
        if value is None or (_PLAIN.get(type(value)) is dtype and (dtype is not INT64 or -(2**63) <= value < 2**63)):
            self._value = value
            return
        try:
            array = np.asarray(value)
        except ValueError:
            array = np.empty(2)
        if array.ndim or array.dtype.kind not in "biufc":
            if isinstance(value, int):
                raise InvalidValue(f"{self.name}: {value} needs more than 64 bits, and {dtype} has fewer")
            raise TypeError(f"{self.name}: the value must be a number; got {value!r} of type {type(value).__name__}")
        self._value = cast(array, dtype).item()

    @property
    def is_empty(self) -> bool:
        """Whether there is no value."""
        return self._value is None

    @property
    def nvals(self) -> int:
        """1 where there is a value, else 0."""
        return int(self._value is not None)

    def get(self, default: Any = None) -> Any:
        """The value, or `default` where there is none."""
        return default if self._value is None else self._value

    def clear(self) -> None:
        """Forget the value."""
        self._value = None

    def dup(self, dtype: Any = None, *, clear: bool = False, name: str | None = None) -> Scalar:
        """A copy, of another type where one is given."""
        made = Scalar(self.dtype if dtype is None else dtype, name=name)
        if not clear:
            made.value = self._value
        return made

    def wait(self, how: str = "materialize") -> Scalar:
        """Nothing is ever pending; for programs that ask."""
        return self

    def isequal(self, other: Any, *, check_dtype: bool = False) -> bool:
        """Whether both have the same value, or both have none; with `check_dtype`, of the same type.

        Raises
        ------
        TypeError
            `other` is neither a number nor a Scalar.
        """
        if other is None:
            return self._value is None
        if not isinstance(other, Scalar):
            other, check_dtype = Scalar.from_value(other), False
        if check_dtype and self.dtype is not other.dtype:
            return False
        return bool(self._value == other._value)

    def isclose(self, other: Any, *, rel_tol: float = 1e-7, abs_tol: float = 0.0, check_dtype: bool = False) -> bool:
        """Whether both values differ by at most ``max(rel_tol * max(|a|, |b|), abs_tol)``, or both are missing."""
        if other is None:
            return self._value is None
        if not isinstance(other, Scalar):
            other, check_dtype = Scalar.from_value(other), False
        if check_dtype and self.dtype is not other.dtype:
            return False
        if self._value is None or other._value is None:
            return self._value is other._value
        return math.isclose(self._value, other._value, rel_tol=rel_tol, abs_tol=abs_tol)

    def __eq__(self, other: object) -> bool:
        return self.isequal(other)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self._value)

    def __float__(self) -> float:
        return float(self._need())

    def __int__(self) -> int:
        return int(self._need())

    def __index__(self) -> int:
        if not self.dtype.is_integer:
            raise TypeError(f"{self.name} is of type {self.dtype}; an index needs an integer type")
        return int(self._need())

    def _need(self) -> Any:
        if self._value is None:
            raise TypeError(f"{self.name} is empty, and so no number")
        return self._value

    def __array__(self, dtype: Any = None, *, copy: Any = None) -> Any:
        return np.array(self._need(), self.dtype.np_type if dtype is None else dtype)

    def to_graphblas(self) -> Any:
        """A python-graphblas Scalar of the same type and value."""
        return cpu.engine().scalar(self._value, self.dtype)

    def _take(self, value: Any, accum: TypedOp | None) -> None:
        given = Scalar.from_value(value) if value is not None else Scalar(self.dtype)
        self._merge(given._value, accum)

    def _receive(self, expression: Expression, value: Any, accum: TypedOp | None) -> None:
        """An engine's result: `value` is None where nothing was there to reduce or to read."""
        if value is None:
            value = expression.empty
        self._merge(None if value is None else cast(value, expression.dtype).item(), accum)

    def _merge(self, value: Any, accum: TypedOp | None) -> None:
        if accum is not None:
            if value is None:
                return
            if self._value is not None:
                value = accum.numpy(self._value, value)
        self.value = value

    def __repr__(self) -> str:
        return f"<Scalar {self.name} {self.dtype}: {'empty' if self._value is None else repr(self._value)}>"
