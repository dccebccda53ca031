"""The thirteen built-in GraphBLAS types, their lookup, and the common type of two.

User-defined types are in :mod:`sparsezc.semirings.types.user_types`.

A type is one object: compare with ``is`` where speed matters, with ``==`` against names and NumPy types elsewhere.

>>> from sparsezc.semirings.types import datatypes as types
>>> types.INT64.ctype, types.lookup("float32"), types.unify(types.INT32, types.FP32)
('i64', FP32, FP64)
>>> types.FP64 == "FP64" == types.lookup(float)
True
"""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import numpy as np

from sparsezc.exceptions import DomainMismatch, UnknownDtype


class DataType:
    """One of the built-in types.

    Attributes
    ----------
    name : str
        The GraphBLAS name, such as ``"INT64"``.
    np_type : numpy.dtype
        The NumPy type that holds its values.
    ctype : str
        Its name in our CUDA files: ``bool``, ``i8`` ... ``u64``, ``float``, ``double``, ``c64`` or ``c128``.
    base : numpy.dtype
        The type of arrays of its values: `np_type`, or the element type of a sub-array type.
    shape : tuple of int
        The shape of one value in such arrays: ``()`` but for sub-array types.
    is_udt : bool
        The type is user-defined.
    """

    __slots__ = ("_kind", "base", "ctype", "name", "np_type", "shape")
    name: str
    np_type: np.dtype[Any]
    ctype: str
    base: np.dtype[Any]
    shape: tuple[int, ...]
    _kind: str
    is_udt: ClassVar[bool] = False
    _is_udt: ClassVar[bool] = False  # python-graphblas's name, which programs read

    def __init__(self, name: str, np_type: Any, ctype: str) -> None:
        probe = np.empty(0, np_type)
        given = {"name": name, "np_type": np.dtype(np_type), "ctype": ctype, "base": probe.dtype}
        for key, value in (given | {"shape": probe.shape[1:], "_kind": probe.dtype.kind}).items():
            object.__setattr__(self, key, value)

    def __setattr__(self, key: str, value: object) -> None:
        raise AttributeError(f"{self.name} cannot be changed")

    def __repr__(self) -> str:
        return self.name

    @property
    def c_type(self) -> str:
        """Its name in C: ``_Bool``, ``int8_t`` ... ``float``, ``double``, ``float _Complex``."""
        return _C_NAMES.get(self.name) or f"{self.np_type.name}_t"

    __hash__ = object.__hash__  # a type is one object; this is also the fastest key

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, DataType) or other is None:
            return False
        return lookup(other) is self  # a TypeError if it names no type, as in python-graphblas

    def __lt__(self, other: Any) -> bool:
        mine, other = self.np_type, lookup(other).np_type
        return (mine.kind, mine.itemsize, mine.name) < (other.kind, other.itemsize, other.name)

    def __reduce__(self) -> Any:
        return self.name

    @property
    def is_bool(self) -> bool:
        """True if this is BOOL."""
        return self._kind == "b"

    @property
    def is_float(self) -> bool:
        """True if this is FP32 or FP64."""
        return self._kind == "f"

    @property
    def is_integer(self) -> bool:
        """True if this is one of the eight integer types."""
        return self._kind in "iu"

    @property
    def is_complex(self) -> bool:
        """True if this is FC32 or FC64."""
        return self._kind == "c"

    def literal(self, value: Any) -> str:
        """Return the value as a C++ constant of this type; needs no header, so NVRTC takes it.

        >>> from sparsezc.semirings.types import datatypes as types
        >>> types.INT8.literal(-128), types.UINT64.literal(7), types.FP64.literal(0.1), types.BOOL.literal(1)
        ('i8(-128)', 'u64(7ull)', '0.1', 'true')
        """
        scalar = self.np_type.type(value)
        if self.is_complex:
            part = FP32 if self is FC32 else FP64
            return f"{self.ctype}({part.literal(scalar.real)}, {part.literal(scalar.imag)})"
        if self.is_bool:
            return "true" if scalar else "false"
        if self.is_float:
            single = self is FP32
            if np.isfinite(scalar):
                return f"{scalar!s}f" if single else f"{scalar!s}"
            bits = int(scalar.view(np.uint32 if single else np.uint64))
            return f"__int_as_float({bits:#x})" if single else f"__longlong_as_double({bits:#x}ll)"
        number = int(scalar)
        if number == -(2**63):
            return "i64(-9223372036854775807ll - 1)"
        suffix = {"i64": "ll", "u64": "ull", "u32": "u"}.get(self.ctype, "")
        return f"{self.ctype}({number}{suffix})"


_C_NAMES = {"BOOL": "_Bool", "FP32": "float", "FP64": "double", "FC32": "float _Complex", "FC64": "double _Complex"}

BOOL = DataType("BOOL", np.bool_, "bool")
INT8 = DataType("INT8", np.int8, "i8")
INT16 = DataType("INT16", np.int16, "i16")
INT32 = DataType("INT32", np.int32, "i32")
INT64 = DataType("INT64", np.int64, "i64")
UINT8 = DataType("UINT8", np.uint8, "u8")
UINT16 = DataType("UINT16", np.uint16, "u16")
UINT32 = DataType("UINT32", np.uint32, "u32")
UINT64 = DataType("UINT64", np.uint64, "u64")
FP32 = DataType("FP32", np.float32, "float")
FP64 = DataType("FP64", np.float64, "double")
FC32 = DataType("FC32", np.complex64, "c64")
FC64 = DataType("FC64", np.complex128, "c128")

SIGNED = (INT8, INT16, INT32, INT64)
UNSIGNED = (UINT8, UINT16, UINT32, UINT64)
INTEGERS = SIGNED + UNSIGNED
FLOATS = (FP32, FP64)
COMPLEX = (FC32, FC64)
ALL = (BOOL, *INTEGERS, *FLOATS)
"""The real types: those that every engine computes with."""

_found: dict[Any, DataType] = {bool: BOOL, int: INT64, float: FP64, complex: FC64}
_found |= {"int": INT64, "float": FP64, "complex": FC64}
for _t in (*ALL, *COMPLEX):
    for _key in (_t.name, _t.name.lower(), _t.np_type, _t.np_type.type, _t.np_type.name, _t.c_type):
        _found.setdefault(_key, _t)


def lookup(x: Any) -> DataType:
    """Find the type that ``x`` denotes.

    Parameters
    ----------
    x : DataType, str, numpy.dtype, numpy scalar type, Python type or dict
        ``"INT64"``, ``"int64"``, ``np.int64``, ``np.dtype("int64")`` and ``int`` all mean INT64; ``float`` means FP64.
        NumPy's records and sub-arrays are user-defined types, which need not be registered first: ``"INT64[2]"``,
        ``{"x": int, "y": float}``; see :func:`sparsezc.semirings.types.user_types.register_anonymous`.

    Raises
    ------
    exceptions.UnknownDtype
        No type has that name.

    >>> from sparsezc.semirings.types import datatypes as types
    >>> types.lookup("uint8"), types.lookup(bool), types.lookup("INT64[2]").np_type
    (UINT8, BOOL, dtype(('<i8', (2,))))
    """
    if isinstance(x, DataType):
        return x
    try:
        return _found[x]
    except (KeyError, TypeError):
        pass
    if x is not None:
        try:
            dtype = np.dtype(getattr(x, "np_type", x)).newbyteorder("=")
            return _found.setdefault(x, _found[dtype])
        except (KeyError, TypeError, ValueError, SyntaxError):  # NumPy parses some strings as Python's
            pass
        from sparsezc.semirings.types import user_types  # imported late: its types are made of these

        user = user_types.find(x)
        if user is not None:
            return user
    raise UnknownDtype(
        f"{'Bad' if x is None else 'Unknown'} dtype: {x!r} names no GraphBLAS type; the types are"
        f" {', '.join(t.name for t in (*ALL, *COMPLEX))}, NumPy's records and sub-arrays, and registered types"
    )


def lookup_real(x: Any) -> DataType:
    """Find the type that ``x`` denotes, for holders of real numbers only, such as graph files.

    Raises
    ------
    exceptions.UnknownDtype
        No type has that name, or it is a complex or a user-defined type.
    """
    found = lookup(x)
    if found.is_complex or found.is_udt:
        kind = "a user-defined type" if found.is_udt else "a complex type"
        raise UnknownDtype(f"{found} is {kind}; the real types are {', '.join(t.name for t in ALL)}")
    return found


@cache
def unify(a: DataType, b: DataType, *, is_left_scalar: bool = False, is_right_scalar: bool = False) -> DataType:
    """Return the common type, to which operands of types ``a`` and ``b`` are converted.

    This is python-graphblas's rule, which is NumPy's: INT8 and UINT16 give INT32, INT64 and UINT64 give FP64.

    Raises
    ------
    exceptions.DomainMismatch
        They differ, and one is user-defined.

    >>> from sparsezc.semirings.types import datatypes as types
    >>> types.unify(types.INT8, types.UINT16), types.unify(types.INT64, types.UINT64)
    (INT32, FP64)
    """
    if a is b:
        return a
    if a.is_udt or b.is_udt:
        raise DomainMismatch(f"{a} and {b} have no common type; a user-defined type is not converted to another")
    if is_left_scalar != is_right_scalar:
        left = np.array(0, a.np_type) if is_left_scalar else a.np_type
        right = np.array(0, b.np_type) if is_right_scalar else b.np_type
        return lookup(np.result_type(left, right))
    return lookup(np.promote_types(a.np_type, b.np_type))


def lowest(dtype: DataType) -> Any:
    """Return the smallest value of the type: False, -128, 0, -inf ..."""
    if dtype.is_float:
        return dtype.np_type.type(-np.inf)
    return np.bool_(False) if dtype.is_bool else dtype.np_type.type(np.iinfo(dtype.np_type).min)


def highest(dtype: DataType) -> Any:
    """Return the largest value of the type: True, 127, 255, inf ..."""
    if dtype.is_float:
        return dtype.np_type.type(np.inf)
    return np.bool_(True) if dtype.is_bool else dtype.np_type.type(np.iinfo(dtype.np_type).max)


def cast(values: Any, dtype: DataType) -> Any:
    """Convert as GraphBLAS does: integers wrap; floats saturate when converted to integers, and NaN becomes 0.

    A complex number converted to a real one loses its imaginary part; it is true if either part is not zero.

    Parameters
    ----------
    values : array_like
        Numbers of any shape.
    dtype : DataType
        The type wanted.

    Returns
    -------
    numpy.ndarray or NumPy scalar
        The same shape; ``values`` itself if nothing changes.

    >>> from sparsezc.semirings.types import datatypes as types
    >>> types.cast([1e30, float("nan"), -2.7], types.INT8).tolist(), int(types.cast(300, types.UINT8))
    ([127, 0, -2], 44)
    """
    if dtype.is_udt:
        from sparsezc.semirings.types import user_types

        return user_types.converted(values, dtype)
    array = np.asarray(values)
    if array.dtype == dtype.np_type:
        return array[()]
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{array.dtype} is a user-defined type, whose values are not converted to {dtype}")
    if array.dtype.kind == "c" and not (dtype.is_complex or dtype.is_bool):
        return cast(array.real, dtype)
    if array.dtype.kind == "f" and dtype.is_integer:
        # float(max) of a 64-bit type rounds up to 2**63 or 2**64, which is out of range: so >= picks the maximum.
        low, high = lowest(dtype), highest(dtype)
        inside = (array > float(low)) & (array < float(high))
        out = np.where(inside, array, 0).astype(dtype.np_type)
        out[array >= float(high)] = high
        out[array <= float(low)] = low
        return out[()]
    with np.errstate(all="ignore"):
        return array.astype(dtype.np_type)[()]
