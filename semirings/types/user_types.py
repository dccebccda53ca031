"""User-defined types: NumPy's records and sub-arrays, and all other NumPy types that hold no Python objects.

One NumPy type is one type here, under any name. Its values are compared, moved, chosen and passed to users'
functions; there is no arithmetic on them and no conversion to or from another type, except for literals:
``1`` means a record of ones, ``(1, 2)`` or ``{"x": 1, "y": 2}`` its fields, ``0`` a sub-array of zeros.

>>> from sparsezc import dtypes
>>> point = dtypes.register_new("DocPoint", {"x": "INT32", "y": float})
>>> point.np_type["y"], point.is_udt, dtypes.lookup_dtype("FP64[2, 3]").np_type.shape
(dtype('float64'), True, (2, 3))
"""

from __future__ import annotations

from ast import literal_eval
from math import prod
from typing import Any, ClassVar

import numpy as np

from sparsezc.exceptions import InvalidValue, UnknownDtype
from sparsezc.semirings.types import datatypes
from sparsezc.semirings.types.datatypes import DataType
from sparsezc.semirings.types.datatypes import lookup as lookup_dtype

__all__ = [
    "UserType", "converted", "default_name", "find", "inferred", "known", "lookup_dtype", "packed", "plain",
    "register_anonymous", "register_new", "unify",
]  # fmt: skip

unify = datatypes.unify
#: The types that have a name in the namespace.
named: dict[str, UserType] = {}
any_made = False  # whether there is any such type: if not, no statement has to look for one


class UserType(DataType):
    """A type that a user defined; see :class:`~sparsezc.semirings.types.datatypes.DataType` for its attributes."""

    __slots__ = ()
    is_udt: ClassVar[bool] = True
    _is_udt: ClassVar[bool] = True

    def __init__(self, name: str, np_type: np.dtype[Any]) -> None:
        global any_made
        any_made = True
        super().__init__(name, np_type, "")
        object.__setattr__(self, "_kind", "V")  # not numeric, whatever its bytes mean

    @property
    def is_anonymous(self) -> bool:
        """True if it has no name in the namespace."""
        return named.get(self.name) is not self

    @property
    def c_type(self) -> str:
        """Its bytes: ``uint8_t[16]``."""
        return f"uint8_t[{self.np_type.itemsize}]"

    _is_anonymous = is_anonymous  # python-graphblas's name

    def __reduce__(self) -> Any:
        return _restored, (self.name, self.np_type, self.is_anonymous)


def _restored(name: str, np_type: np.dtype[Any], is_anonymous: bool) -> DataType:
    if not is_anonymous and _is_free(name):
        return register_new(name, np_type)
    known = named.get(name)
    return known if known is not None and known.np_type == np_type else register_anonymous(np_type, name)


def register_new(name: str, dtype: Any) -> DataType:
    """Register a user-defined type by name: ``gb.dtypes.NAME``, and ``"NAME"`` wherever a type is given.

    Parameters
    ----------
    name : str
        A Python identifier.
    dtype : numpy.dtype, or what makes one, str or dict
        As in :func:`register_anonymous`.

    Returns
    -------
    DataType

    Raises
    ------
    InvalidValue
        `name` is no identifier, or is taken; or `dtype` is a built-in type, or holds Python objects.
    UnknownDtype
        NumPy has no such type.

    Examples
    --------
    >>> import sparsezc as gb
    >>> edge = gb.dtypes.register_new("DocEdge", {"length": float, "lanes": "INT8"})
    >>> A = gb.Matrix.from_coo([0, 1], [1, 2], [(2.5, 1), (0.5, 2)], "DocEdge", nrows=3, ncols=3)
    >>> A[0, 1].new().value["length"], A.dtype is gb.dtypes.DocEdge
    (np.float64(2.5), True)
    """
    if not name.isidentifier():
        raise InvalidValue(f"`name` argument must be a valid Python identifier; got: {name!r}")
    if not _is_free(name):
        raise InvalidValue(f"{name!r} name for dtype is unavailable: it is taken")
    made = register_anonymous(dtype, name)
    assert isinstance(made, UserType)
    named[name] = made
    datatypes._found[name] = made
    return made


def _is_free(name: str) -> bool:
    return not (name in datatypes._found or name in vars(datatypes) or name in globals() or name in named)


def register_anonymous(dtype: Any, name: str | None = None) -> DataType:
    """Make a user-defined type; equal NumPy types give the same object, under the name given last.

    Parameters
    ----------
    dtype : numpy.dtype, or what makes one, str or dict
        ``np.dtype([("x", bool), ("y", float)])``, ``{"x": bool, "y": "FP64"}``, ``np.dtype("(3,)uint16")``,
        ``"UINT16[3]"``.
    name : str, optional
        By default it is made of the parts' names.

    Returns
    -------
    DataType

    Raises
    ------
    InvalidValue
        `dtype` holds Python objects; or it is a built-in type, and `name` is another name than its own.
    UnknownDtype
        NumPy has no such type.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.dtypes.register_anonymous({"x": bool, "y": float})
    {'x': BOOL, 'y': FP64}
    >>> gb.Vector.from_coo([0, 2], [[1, 2, 3], [4, 5, 6]], "UINT16[3]").to_dict()
    {0: [1, 2, 3], 2: [4, 5, 6]}
    """
    np_type = _numpy_type(dtype)
    known = datatypes._found.get(np_type)
    if known is None:
        if np_type.hasobject:
            raise InvalidValue(f"dtype must not allow Python objects; got {np_type}")
        if not np_type.itemsize:
            raise InvalidValue(f"dtype must have a size; the values of {np_type} take no memory")
        known = datatypes._found[np_type] = UserType(default_name(np_type), np_type)
    if name is not None and name != known.name:
        if not known.is_udt:
            raise InvalidValue(f"dtype must not be a builtin type; {name!r} would be {known}")
        object.__setattr__(known, "name", name)
    return known


def find(x: Any) -> DataType | None:
    """Find the type of a record or a sub-array, registered or not; None for any other object."""
    try:
        np_type = _numpy_type(x)
    except (TypeError, ValueError, SyntaxError):
        return None
    known = datatypes._found.get(np_type)
    if known is None and not np_type.hasobject and np_type.itemsize and (np_type.names or np_type.subdtype):
        known = register_anonymous(np_type)
    return known


def _numpy_type(x: Any) -> np.dtype[Any]:
    if isinstance(x, DataType):
        return x.np_type
    if isinstance(x, dict):
        return np.dtype([(key, lookup_dtype(part).np_type) for key, part in x.items()], align=True)
    if isinstance(x, str) and x.endswith("]"):
        base, _, shape = x[:-1].rpartition("[")
        return np.dtype((lookup_dtype(base.strip()).np_type, _shape(shape, x)))
    if x is None:  # for NumPy this means float64
        raise UnknownDtype("Bad dtype: None; a type is needed")
    try:
        made: np.dtype[Any] = np.dtype(getattr(x, "np_type", x))
    except (TypeError, ValueError, SyntaxError):
        raise UnknownDtype(f"Unknown dtype: {x!r}; NumPy makes no type of it") from None
    return made if made.isnative else made.newbyteorder("=")


def _shape(text: str, whole: str) -> tuple[int, ...]:
    try:
        found = literal_eval(f"({text},)")
    except (SyntaxError, ValueError):
        found = ()
    if not found or any(type(n) is not int or n < 1 for n in found):
        raise UnknownDtype(f"Unknown dtype: {whole!r}; sizes are needed in the brackets, as in 'INT64[3, 4]'")
    return tuple(found)


def default_name(np_type: np.dtype[Any]) -> str:
    """Return the default name of an unnamed type."""
    known = datatypes._found.get(np_type)
    if known is not None and not known.is_udt:
        return known.name
    if np_type.subdtype is not None:
        base, shape = np_type.subdtype
        return f"{default_name(base)}[{', '.join(map(str, shape))}]"
    if np_type.names is not None and np_type.fields is not None:
        parts = (f"{field!r}: {default_name(np_type.fields[field][0])}" for field in np_type.names)
        return f"{{{', '.join(parts)}}}"
    return repr(np_type)


# Values


def converted(values: Any, dtype: DataType) -> Any:
    """Return values as an array of ``dtype.base``: their own shape, followed by the shape of one value.

    Parameters
    ----------
    values : array_like
        Of records: records, tuples or dicts of their fields, or numbers, which stand for every field. Of sub-arrays: an
        array that ends in their shape, or one number, which stands for every element.
    dtype : DataType

    Returns
    -------
    numpy.ndarray, or numpy.void for one record
        `values` itself if nothing changes.

    Raises
    ------
    TypeError
        They are no values of this type.

    >>> from sparsezc.semirings.types import datatypes as types, user_types
    >>> user_types.converted([(1, 2), (3, 4)], types.lookup({"x": int, "y": float}))["y"]
    array([2., 4.])
    """
    try:
        array = np.asarray(_fields(values, dtype.base), dtype.base)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{values!r} has no values of {dtype}: {error}") from None
    if dtype.shape and not array.ndim:
        array = np.broadcast_to(array, dtype.shape)
    if dtype.shape and array.shape == (0,):
        array = array.reshape(0, *dtype.shape)
    if dtype.shape and array.shape[-len(dtype.shape) :] != dtype.shape:
        raise TypeError(f"values of {dtype} are arrays that end in the shape {dtype.shape}; got shape {array.shape}")
    return array[()]


def _fields(values: Any, np_type: np.dtype[Any]) -> Any:
    """Convert dicts to tuples of their fields, at any depth."""
    if isinstance(values, dict):
        if np_type.names is None or np_type.fields is None or values.keys() != set(np_type.names):
            raise TypeError(f"the fields are {np_type.names}, and not {tuple(values)}")
        return tuple(_fields(values[name], np_type.fields[name][0]) for name in np_type.names)
    if isinstance(values, list) and any(isinstance(value, dict) for value in values):
        return [_fields(value, np_type) for value in values]
    return values


def packed(array: Any, dtype: DataType) -> Any:
    """Pack values as arrays hold them inside, one element each: sub-arrays become records of one field.

    >>> from sparsezc.semirings.types import datatypes as types, user_types
    >>> user_types.packed(np.arange(6).reshape(2, 3), types.lookup("INT64[3]")).shape
    (2,)
    """
    if not dtype.shape:
        return array
    array = np.ascontiguousarray(array, dtype.base)
    lead = array.shape[: array.ndim - len(dtype.shape)]
    return array.reshape(*lead, prod(dtype.shape)).view([("value", dtype.np_type)])[..., 0]


def plain(array: Any, dtype: DataType) -> Any:
    """Unpack values into the form that a user sees: the opposite of :func:`packed`."""
    return array["value"] if dtype.shape else array


def known(np_type: np.dtype[Any]) -> DataType | None:
    """Find the type of a NumPy type seen before."""
    return datatypes._found.get(np_type)


def inferred(array: Any, ndim: int) -> DataType:
    """Infer an array's type: if it has more than `ndim` dimensions, its values are sub-arrays."""
    base = datatypes.lookup(array.dtype)
    if array.ndim <= ndim:
        return base
    return register_anonymous(np.dtype((base.np_type, array.shape[ndim:])))
