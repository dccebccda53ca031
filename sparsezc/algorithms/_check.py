"""Checks of algorithms' arguments; each algorithm calls them once, at its top."""

from __future__ import annotations

import math
from collections.abc import Iterable
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.core.matrix import Matrix
from sparsezc.core.transposed import TransposedMatrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import DimensionMismatch, DomainMismatch, IndexOutOfBound, InvalidValue, maker
from sparsezc.ops.arrays import are_below
from sparsezc.ops.select import random_seed
from sparsezc.semirings import binary, monoid, select, unary
from sparsezc.semirings.types import datatypes

#: Pairs of vertices as an argument: the entries of a matrix, or a list.
Pairs = Matrix | Iterable[Iterable[int]]


def adjacency(A: Any, name: str = "A") -> int:
    """Check that `A` is a square Matrix; return its number of vertices."""
    if not isinstance(A, Matrix):
        formed = f", which {name}.T.new() makes" if isinstance(A, TransposedMatrix) else maker(A, name)
        raise DomainMismatch(f"{name} is a {type(A).__name__}; a Matrix is needed{formed}")
    n, columns = A.shape
    if n != columns:
        raise DimensionMismatch(f"{name} is {n} x {columns}; an adjacency matrix is square")
    return n


def vertex(value: Any, n: int, name: str = "source") -> int:
    """Check that `value` is a vertex number in 0..n-1; return it as an int."""
    try:
        number = index(value)
    except TypeError:
        raise DomainMismatch(f"{name} is {value!r}; a vertex number (an integer) is needed") from None
    if not 0 <= number < n:
        needed = f"the graph has vertices 0 to {n - 1}" if n else "the graph has no vertices"
        raise IndexOutOfBound(f"{name} is {number}; {needed}")
    return number


def vertices(values: Iterable[Any], n: int, name: str = "sources") -> NDArray[np.int64]:
    """Check that `values` are vertex numbers in 0..n-1; return them as an INT64 array."""
    if not isinstance(values, Iterable):
        raise DomainMismatch(f"{name} is {values!r}; an iterable of vertex numbers is needed")
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iu":
        if values.size and not are_below(values, n) and (int(values.min()) < 0 or int(values.max()) >= n):
            vertex(values[np.argmax((values < 0) | (values >= n))], n, name)
        return values.astype(np.int64, copy=False)
    return np.array([vertex(value, n, name) for value in values], np.int64)


def pairs(given: Any, A: Matrix) -> Matrix:
    """Return a matrix with an entry for each pair (i, j) to compute: the given matrix, or one made of a list."""
    n = A.nrows
    if isinstance(given, Matrix):
        if given.shape != A.shape:
            raise DimensionMismatch(f"pairs is {given.nrows} x {given.ncols}; A is {n} x {n}")
        return given
    try:
        listed = given if isinstance(given, np.ndarray) else [tuple(pair) for pair in given]
        ends = np.asarray(listed if len(listed) else np.empty((0, 2), np.int64))
    except (TypeError, ValueError):  # no iterable, or items of several lengths
        ends = np.empty(0)
    if ends.ndim != 2 or ends.shape[1] != 2:
        needed = "a Matrix of the shape of A, or pairs of vertices such as [(0, 1), (0, 2)], is needed"
        raise DomainMismatch(f"pairs is {given!r:.80}; {needed}")
    i, j = (vertices(side if side.dtype.kind in "iu" else side.tolist(), n, "pairs") for side in ends.T)
    made: Matrix = Matrix.from_coo(i, j, True, nrows=n, ncols=n)
    return made


def full(v: Any, n: int, name: str, beside: Vector | None = None) -> Vector:
    """Return `v` as a full FP64 vector, 0 where it has no entry, on the engine of the full vector `beside`.

    Without `beside`, if `v` is on no engine yet, the result is made on the CPU engine and copied to the GPU later.
    """
    if not isinstance(v, Vector):
        raise DomainMismatch(f"{name} is a {type(v).__name__}; a Vector is needed")
    if v.size != n:
        raise DimensionMismatch(f"{name} has size {v.size}; the graph has {n} vertices")
    made = Vector.from_scalar(0.0, n, datatypes.FP64)
    if beside is not None:
        made << beside.apply(binary.second, right=0.0)
    made(binary.plus) << v
    return made


def distribution(v: Any, n: int, name: str, beside: Vector | None = None) -> Vector:
    """Return `v` as a full FP64 vector scaled to sum 1, 0 where it has no entry; for `beside` see :func:`full`."""
    made = full(v, n, name, beside)
    total, lowest = made.reduce(monoid.plus).new().get(), made.reduce(monoid.min).new().get()
    if not (lowest >= 0 and 0 < total < float("inf")):
        raise InvalidValue(
            f"{name} has sum {total} and smallest entry {lowest}; entries >= 0 with a finite sum > 0 are needed"
        )
    made << made.apply(binary.truediv, right=total)
    return made


def first_of(A: Matrix, wrong: Matrix) -> str:
    """Return value and position, as text, of the first entry of A for which `wrong`, a Matrix of BOOL, is true."""
    i, j, _ = wrong.select(select.valueeq, True).new().to_coo()
    row, column = int(i[0]), int(j[0])
    return f"{A.get(row, column)} in row {row}, column {column}"


def weights(A: Matrix) -> None:
    """Check that values are weights; raise InvalidValue if one is below 0 or NaN, or their sum is infinite.

    Raises
    ------
    DomainMismatch
        Values are complex or of a user-defined type.
    """
    if A.dtype.is_complex or A.dtype.is_udt:
        raise DomainMismatch(f"A has values of type {A.dtype}, which are no weights; real numbers are needed")
    if A.nvals == 0:
        return
    if A.reduce_scalar(monoid.min).new().get() < 0:
        found = first_of(A, A.apply(binary.lt, right=0).new())
        raise InvalidValue(f"A has negative values, first {found}; weights >= 0 are needed")
    total = A.reduce_scalar(monoid.plus[datatypes.FP64]).new().get()
    if total < float("inf"):
        return
    if total == A.reduce_scalar(monoid.max).new().get() or total != total:  # the sum is NaN if a value is
        found = first_of(A, A.apply(unary.isfinite).new().apply(unary.lnot).new())
        raise InvalidValue(f"A has values that are NaN or infinite, first {found}; finite weights are needed")
    raise InvalidValue("A has weights whose sum is infinite; a finite sum is needed, so divide them by their largest")


def count(value: Any, name: str, least: int = 0) -> int:
    """Check that `value` is an integer of at least `least`; return it as an int."""
    try:
        number = index(value)
    except TypeError:
        raise DomainMismatch(f"{name} is {value!r}; an integer is needed") from None
    if number < least:
        raise InvalidValue(f"{name} is {number}; at least {least} is needed")
    return number


def number(value: Any, name: str, least: float = -math.inf, most: float = math.inf, *, infinite: bool = False) -> float:
    """Check that a number, or an array of one, is in `least`..`most` and, unless `infinite`, finite; return it."""
    one = value.item() if isinstance(value, np.ndarray | np.generic) and value.size == 1 else value
    try:
        found = math.ldexp(one, 0)  # float(one) would also convert a str
    except TypeError:
        raise DomainMismatch(f"{name} is {value!r}; a number is needed") from None
    except OverflowError:  # an int or a Fraction, perhaps of more digits than Python prints
        value = found = math.inf if one > 0 else -math.inf
    if not (least <= found <= most and (infinite or math.isfinite(found))):
        kind = "a number" if infinite or most < math.inf else "a finite number"
        bounds = f" in {least:g}..{most:g}" if most < math.inf else f" >= {least:g}" * (least > -math.inf)
        raise InvalidValue(f"{name} is {value}; {kind}{bounds} is needed")
    return found


def seed(value: Any, where: str) -> None:
    """Check a seed, or None, that may remain unused."""
    if value is not None:
        random_seed(value, where)


def generator(seed: Any, where: str) -> np.random.Generator:
    """Check a seed as :func:`sparsezc.ops.select.random_seed` does; return a NumPy generator with this seed."""
    return np.random.default_rng(random_seed(seed, where))
