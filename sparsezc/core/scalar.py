"""Scalar: one value, or none."""

from __future__ import annotations

import cmath
import itertools
from typing import Any

import numpy as np

from sparsezc import ops
from sparsezc.core import formatting
from sparsezc.engines import cpu
from sparsezc.expr.expression import Deferred, Expression
from sparsezc.expr.writable import Writable
from sparsezc.ops.arrays import must_be_read
from sparsezc.ops.compare import check_how
from sparsezc.process import locks
from sparsezc.process.locks import hold_locks
from sparsezc.semirings import binary, monoid
from sparsezc.semirings.algebra.operators import TypedOp
from sparsezc.semirings.types.datatypes import FP64, INT64, DataType, cast, lookup
from sparsezc.semirings.types.numbers import PLAIN, converted, type_of

__all__ = ["NotAnIndex", "Scalar"]


class NotAnIndex(TypeError, AttributeError):
    """A Scalar of a non-integer type was used where Python needs an integer."""


_numbers = itertools.count()


class Scalar(Writable["Scalar"]):
    """One value of a GraphBLAS type, or none, kept in host memory whichever engine computes it.

    Parameters
    ----------
    dtype : DataType, str, NumPy dtype or Python type
    name : str, optional

    Raises
    ------
    UnknownDtype
        `dtype` is not a type.

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

    __slots__ = ("_is_cscalar", "_value")
    ndim = 0
    _stored = False
    _shape = ()

    def __init__(self, dtype: Any = FP64, *, is_cscalar: bool = False, name: str | None = None) -> None:
        self.dtype = lookup(dtype)
        self.name = f"s_{next(_numbers)}" if name is None else name
        self._engine = None
        self._store = None
        self._lock = locks.new()
        self._is_cscalar = is_cscalar
        self._value: bool | int | float | complex | None = None

    @classmethod
    def _blank(cls, dtype: DataType, shape: tuple[int, ...], name: str | None) -> Scalar:
        return cls(dtype, name=name)

    def _become_cscalar(self) -> None:
        """Behave as python-graphblas's Scalar with ``is_cscalar=True``."""
        self._is_cscalar = True

    @classmethod
    def from_value(cls, value: Any, dtype: Any = None, *, is_cscalar: bool = False, name: str | None = None) -> Scalar:
        """Make a Scalar that holds `value`.

        Parameters
        ----------
        value : number, NumPy scalar, Scalar, or None with a `dtype`
            With a user-defined `dtype` also a tuple or a dict of a record's fields.
        dtype : optional
            The type; by default the value's own: for Python's numbers INT64 (UINT64 from 2**63 on), FP64 or BOOL.
        is_cscalar : bool
            See :attr:`is_cscalar`.
        name : str, optional

        Raises
        ------
        TypeError
            `value` is not a number.
        InvalidValue
            `value` is a Python integer that needs more than 64 bits, or more bits than INT64 has if `dtype` is an
            integer type other than UINT64.
        """
        plain = PLAIN.get(type(value))
        if plain is not None and dtype is None and (plain is not INT64 or -(2**63) <= value < 2**63):
            made = cls(plain, is_cscalar=is_cscalar, name=name)
            made._value = value
            return made
        if isinstance(value, Deferred):
            value = value.new()
        if isinstance(value, Scalar):
            made = cls(value.dtype if dtype is None else dtype, is_cscalar=is_cscalar, name=name)
            made.value = value
            return made
        if value is None and dtype is not None:
            return cls(dtype, is_cscalar=is_cscalar, name=name)
        made = cls(type_of(value, dtype), is_cscalar=is_cscalar, name=name)
        must_be_read(value, made.dtype, made.name)
        made._convert(value)
        return made

    @classmethod
    def _on_device(cls, value: Any) -> Scalar:
        """Make a Scalar of a number in device memory: statements can assign or compare it, the host cannot read it."""
        made = cls(value.dtype)
        made._value = value
        return made

    @property
    def is_cscalar(self) -> bool:
        """True for a C scalar, as in python-graphblas: it refuses numbers that its type cannot hold."""
        return self._is_cscalar

    @property
    def is_grbscalar(self) -> bool:
        """True for a GraphBLAS scalar, the opposite of :attr:`is_cscalar`: any number is converted to its type."""
        return not self._is_cscalar

    @property
    def value(self) -> int | Any:
        """The value as a Python bool, int, float or complex, or a NumPy record or array; None if the Scalar is empty.

        Type checkers accept it as a number of any type, as they cannot see :attr:`dtype`. An assigned value is
        converted to that type.
        """
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        if isinstance(value, Deferred):
            value = value.new()
        if isinstance(value, Scalar):
            value = value._value
        else:
            must_be_read(value, self.dtype, self.name)
        with self._lock:
            self._convert(value)

    def _convert(self, value: Any) -> None:
        """Convert a number of any type to `dtype`, and store it."""
        self._value = converted(value, self.dtype, self.name, self._is_cscalar)

    @property
    def is_empty(self) -> bool:
        """True if there is no value."""
        return self._value is None

    @property
    def nvals(self) -> int:
        """1 if there is a value, else 0."""
        return int(self._value is not None)

    def get(self, default: Any = None) -> Any:
        """Return the value, or `default` if there is none."""
        value = self._value
        return default if value is None else value

    def clear(self) -> None:
        """Remove the value."""
        with self._lock:
            self._convert(None)

    def dup(
        self, dtype: Any = None, *, clear: bool = False, is_cscalar: bool | None = None, name: str | None = None
    ) -> Scalar:
        """Return a copy, converted to `dtype`, or without the value (`clear`); see :attr:`is_cscalar`."""
        made = Scalar(
            self.dtype if dtype is None else dtype,
            is_cscalar=self._is_cscalar if is_cscalar is None else is_cscalar,
            name=name,
        )
        if not clear:
            made._convert(self._value)
        return made

    def wait(self, how: str = "materialize") -> Scalar:
        """Return the Scalar itself: no operation is ever pending."""
        check_how(how)
        return self

    def isequal(self, other: Any, *, check_dtype: bool = False) -> bool:
        """Return whether the values are equal or both missing; with `check_dtype`, types must be equal too.

        Raises
        ------
        TypeError
            `other` is neither a number nor a Scalar.
        """
        if other is None:
            return self._value is None
        if not isinstance(other, Scalar):
            other, check_dtype = Scalar.from_value(other, self.dtype if self.dtype.is_udt else None), False
        if check_dtype and self.dtype is not other.dtype:
            return False
        mine, its = self._with(other)
        if mine is None or its is None:
            return mine is its
        return bool(np.all(mine == its))

    def _with(self, other: Scalar) -> tuple[Any, Any]:
        """Return this Scalar's value and the other's, read under both locks."""
        with hold_locks(self, other):
            return self._value, other._value

    def isclose(self, other: Any, *, rel_tol: float = 1e-7, abs_tol: float = 0.0, check_dtype: bool = False) -> bool:
        """Return whether ``|a - b| <= max(rel_tol * max(|a|, |b|), abs_tol)``, or both values are missing."""
        if other is None:
            return self._value is None
        if not isinstance(other, Scalar):
            other, check_dtype = Scalar.from_value(other), False
        if check_dtype and self.dtype is not other.dtype:
            return False
        mine, its = self._with(other)
        if mine is None or its is None:
            return mine is its
        return cmath.isclose(mine, its, rel_tol=rel_tol, abs_tol=abs_tol)

    def __eq__(self, other: object) -> bool:
        return self.isequal(other)  # one bool; == of matrices is elementwise

    def __ne__(self, other: object) -> bool:
        return not self.isequal(other)

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, keys: Any) -> Any:
        raise TypeError(f"the Scalar {self.name} is not subscriptable")

    def __setitem__(self, keys: Any, value: Any, **options: Any) -> None:
        raise TypeError(f"the Scalar {self.name} does not support item assignment")

    def __delitem__(self, keys: Any) -> None:
        raise TypeError(f"the Scalar {self.name} does not support item deletion")

    def _indexed(self, keys: Any) -> Any:
        raise TypeError(f"Indexing not supported for Scalars: {self.name}(...)[...]")

    def __bool__(self) -> bool:
        return bool(self._value)

    def __complex__(self) -> complex:
        return complex(self._need())

    def __float__(self) -> float:
        return float(self._need())

    def __int__(self) -> int:
        return int(self._need())

    def __index__(self) -> int:
        if not self.dtype.is_integer:
            raise NotAnIndex(
                f"Scalar {self.name} is of type {self.dtype}; it only has __index__ if its type is integral"
            )
        return int(self._need())

    def _need(self) -> Any:
        value = self._value
        if value is None:
            raise TypeError(f"Scalar {self.name} is empty; a value is needed")
        return value

    def __array__(self, dtype: Any = None, *, copy: Any = None) -> Any:
        return np.array(self._need(), self.dtype.base if dtype is None else dtype)

    # Operations
    def ewise_add(self, other: Any, op: Any = monoid.plus) -> Expression[Scalar]:
        """Apply `op` to both values, or return the only one present: see :func:`sparsezc.ops.ewise_add`."""
        return ops.ewise_add(self, other, op)

    def ewise_mult(self, other: Any, op: Any = binary.times) -> Expression[Scalar]:
        """Apply `op` to both values: see :func:`sparsezc.ops.ewise_mult`."""
        return ops.ewise_mult(self, other, op)

    def ewise_union(self, other: Any, op: Any, left_default: Any, right_default: Any) -> Expression[Scalar]:
        """Apply `op`, with defaults for missing values: see :func:`sparsezc.ops.ewise_union`."""
        return ops.ewise_union(self, other, op, left_default, right_default)

    def apply(self, op: Any, right: Any = None, *, left: Any = None) -> Expression[Scalar]:
        """Apply `op` to the value: see :func:`sparsezc.ops.apply`."""
        return ops.apply(self, op, right, left)

    def select(self, op: Any, thunk: Any = None) -> Expression[Scalar]:
        """Keep the value if `op` accepts it: see :func:`sparsezc.ops.select`."""
        return ops.select(self, op, thunk)

    def to_graphblas(self) -> Any:
        """Return a python-graphblas Scalar of the same type and value."""
        return cpu.engine().scalar(self._value, self.dtype)

    def _take(self, value: Any, accum: TypedOp | None) -> None:
        kind = self.dtype if value is None or self.dtype.is_udt or type(value) is int else None
        given = Scalar.from_value(value, kind)
        self._merge(given._value, accum)

    def _receive(self, expression: Expression, value: Any, accum: TypedOp | None) -> None:
        """Store an engine's result; `value` is None if there was no entry to reduce or to read."""
        if value is None:
            value = expression.empty
        if value is not None and PLAIN.get(type(value)) is not expression.dtype:
            value = cast(value, expression.dtype)
            value = value if expression.dtype.is_udt else value.item()
        self._merge(value, accum)

    def _merge(self, value: Any, accum: TypedOp | None) -> None:
        if accum is not None:
            if value is None:
                return
            if self._value is not None:
                value = accum.numpy(self._value, value)
        self._convert(value)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._value, self.dtype, self._is_cscalar, self.name)

    def __repr__(self) -> str:
        return formatting.scalar_text(self)

    def _repr_html_(self) -> str:
        return formatting.scalar_html(self)


def _unpickle(value: Any, dtype: Any, is_cscalar: bool, name: str) -> Scalar:
    return Scalar.from_value(value, dtype, is_cscalar=is_cscalar, name=name)
