"""Checks of applications' arguments other than graphs and vertices, which algorithms/_check.py checks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check as graphs
from sparsezc.core.access import forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from sparsezc.semirings.types.datatypes import FP64, lookup

_NARROW = tuple(np.dtype(name) for name in ("float32", "int8", "uint8", "int16", "uint16", "int32", "uint32"))


def table(x: Any, name: str, nrows: int, ncols: int | None = None) -> NDArray[np.float64]:
    """Check a table of numbers with `nrows` rows; return an array, NaN where a Matrix has no entry."""
    if isinstance(x, Matrix | Vector):
        x = real(x, name).dup("FP64").to_dense(np.nan)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)  # NumPy drops imaginary parts
            found = np.array(x, np.float64)
    except np.exceptions.ComplexWarning:
        raise DomainMismatch(f"{name} has complex values; real numbers are needed") from None
    except (TypeError, ValueError):
        raise _no_table(x, name, ncols) from None
    if found.ndim == 1 and ncols in (None, 1):
        found = found[:, None]
    if found.ndim != 2 or found.shape[0] != nrows or ncols not in (None, found.shape[1]):
        needed = f"({nrows}, {'any' if ncols is None else ncols})"
        raise DimensionMismatch(f"{name} has shape {np.shape(x)}; {needed} is needed")
    return found


def beside(A: Matrix, x: Any, name: str, nrows: int, ncols: int | None = None, *, as_it_is: bool = False) -> Matrix:
    """Check a table as :func:`table` does; return it as a full FP64 Matrix, NaN included, on the engine of A.

    A full Matrix on that engine, and arrays of real numbers, are not converted in host memory: narrow types are copied
    to the device as they are, and with `as_it_is` they keep their type there. The copy of an array is asynchronous, so
    the array must not change until a statement has read the Matrix.
    """
    if isinstance(x, Matrix) and x.nvals == nrows * x.ncols and x.shape == (nrows, x.ncols if ncols is None else ncols):
        return forms.full_beside(A, real(x, name), FP64)
    plain = isinstance(x, np.ndarray) and x.ndim == 2 and x.shape == (nrows, x.shape[1] if ncols is None else ncols)
    if plain and x.dtype in _NARROW:
        made = forms.full_beside(A, x, lookup(x.dtype))
        return made if as_it_is else made.dup(FP64)
    return forms.full_beside(A, x if plain and x.dtype == np.float64 else table(x, name, nrows, ncols), FP64)


def table_beside(A: Matrix, x: Any, name: str, nrows: int, ncols: int | None = None) -> Matrix:
    """Check a table of finite numbers; return it as :func:`beside` does."""
    made = beside(A, x, name, nrows, ncols)
    if not made.apply("isfinite").new().reduce_scalar("land").new().get(True):
        finite(made.to_dense(), name)
    return made


def _no_table(x: Any, name: str, ncols: int | None) -> DomainMismatch | DimensionMismatch:
    """Return the error for `x`, which is no table; it names the first row of other values or of another shape."""
    first: tuple[int, ...] | None = None if ncols is None else (ncols,)
    for k, row in enumerate(x if isinstance(x, list | tuple) else ()):
        try:
            shape = np.array(row, np.float64).shape
        except (TypeError, ValueError):
            if isinstance(row, complex):
                return DomainMismatch(f"{name} has complex values, {row!r} in row {k}; real numbers are needed")
            return DomainMismatch(f"{name} has {row!r} in row {k}; an array of numbers is needed")
        first = shape if first is None else first
        if shape != first:
            return DimensionMismatch(f"{name} has {row!r}, of shape {shape}, in row {k}; shape {first} is needed")
    return DomainMismatch(f"{name} is a {type(x).__name__}; an array of numbers is needed")


def real(A: Any, name: str) -> Any:
    """Check that a Matrix or Vector is not complex; return it."""
    if A.dtype.is_complex:
        raise DomainMismatch(f"{name} is of {A.dtype}; real values are needed")
    return A


def finite(x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Check that an array has neither NaN nor infinity, else name the first row with one; return the array."""
    wrong = np.flatnonzero(~np.isfinite(x).all(axis=tuple(range(1, x.ndim))))
    if wrong.size:
        raise InvalidValue(f"{name} has a value that is NaN or infinite in row {wrong[0]}; finite numbers are needed")
    return x


def values(x: Any, name: str, n: int) -> NDArray[np.float64]:
    """Check that `x` has a finite number for each of `n` vertices; return an FP64 array."""
    if np.ndim(x) != 1:
        raise DimensionMismatch(f"{name} has {np.ndim(x)} dimensions; a number for each of {n} vertices is needed")
    if (count := np.shape(x)[0]) != n:
        raise DimensionMismatch(f"{name} has {count} numbers; one for each of {n} vertices is needed")
    return finite(table(x, name, n)[:, 0], name)


def number(value: Any, name: str) -> float:
    """Check that `value` is a number; return it as a float."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise DomainMismatch(f"{name} is {value!r}; a number is needed") from None


def finite_number(value: Any, name: str) -> float:
    """Check that `value` is a finite number; return it as a float."""
    found = number(value, name)
    if not np.isfinite(found):
        raise InvalidValue(f"{name} is {value}; a finite number is needed")
    return found


def between(value: Any, name: str, least: float, most: float = np.inf) -> float:
    """Check that `value` is a finite number in ``least..most``; return it as a float."""
    found = number(value, name)
    if not (least <= found <= most and found < np.inf):
        needed = f"a finite number >= {least:g}" if most == np.inf else f"a number in {least:g}..{most:g}"
        raise InvalidValue(f"{name} is {value}; {needed} is needed")
    return found


def above(value: Any, name: str, least: float, most: float = np.inf) -> float:
    """Check that `value` is a finite number above `least` and at most `most`; return it as a float."""
    found = number(value, name)
    if not (least < found <= most and found < np.inf):
        needed = f"a finite number > {least:g}" if most == np.inf else f"a number > {least:g} and <= {most:g}"
        raise InvalidValue(f"{name} is {value}; {needed} is needed")
    return found


def one_of(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """Check that `value` is one of `choices`; return it."""
    if value not in choices:
        raise InvalidValue(f"{name} is {value!r}; one of {', '.join(choices)} is needed")
    return str(value)


def seeds(values: Any, n: int, name: str = "seeds") -> NDArray[np.int64]:
    """Check that `values` are one or more different vertices; return them as an INT64 array."""
    found = graphs.vertices(values, n, name)
    if found.size == 0:
        raise InvalidValue(f"{name} is empty; at least one vertex is needed")
    once, times = np.unique(found, return_counts=True)
    if once.size < found.size:
        raise InvalidValue(f"{name} has vertex {once[times.argmax()]} {times.max()} times; each may come once")
    return found
