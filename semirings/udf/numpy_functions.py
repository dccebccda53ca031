"""NumPy functions for operators without a NumPy function of the same semantics.

Operands are already converted to the operator's type, warnings are off, and the caller converts the result to the
operator's result type (so a float returned by an integer operator saturates). Semantics are SuiteSparse:GraphBLAS's;
``operators.cuh`` is the CUDA counterpart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sparsezc.semirings.types import datatypes

Array = Any


def itself(x: Array) -> Array:
    """Return ``x``."""
    return x


def first(x: Array, y: Array) -> Array:
    """Return ``x`` in the common shape of both operands."""
    return np.broadcast_arrays(x, y)[0]


def second(x: Array, y: Array) -> Array:
    """Return ``y`` in the common shape of both operands."""
    return np.broadcast_arrays(x, y)[1]


def pair(x: Array, y: Array) -> Array:
    """Return 1 wherever both operands are present."""
    return np.ones(np.broadcast_shapes(np.shape(x), np.shape(y)), np.int8)


def one(x: Array) -> Array:
    """Return 1 wherever x is present."""
    return np.ones(np.shape(x), np.int8)


def negative(x: Array) -> Array:
    """Return -x; integers wrap, BOOL is its own negative."""
    return x if x.dtype == np.bool_ else np.negative(x)


def minus(x: Array, y: Array) -> Array:
    """Return x - y; of booleans: whether they differ."""
    return np.not_equal(x, y) if x.dtype == np.bool_ else np.subtract(x, y)


def quotient(x: Array, y: Array) -> Array:
    """Return x / y, for integers towards zero; x / 0 is the type's end on x's side, 0 / 0 is 0; of booleans: x."""
    if x.dtype == np.bool_:
        return first(x, y)
    if x.dtype.kind in "fc":
        return np.divide(x, y)
    low, high = np.iinfo(x.dtype).min, np.iinfo(x.dtype).max
    x, y = np.broadcast_arrays(x, y)
    by_zero = np.where(x == 0, x, np.where(x < 0, x.dtype.type(low), x.dtype.type(high)))
    if x.dtype.kind == "u":
        return np.where(y == 0, by_zero, x // np.where(y == 0, 1, y))
    usual = ~np.isin(y, (0, -1))
    divisor = np.where(usual, y, 1)
    floor = x // divisor
    truncated = floor + ((floor < 0) & (floor * divisor != x))
    return np.where(usual, truncated, np.where(y == 0, by_zero, -x))


def inverse(x: Array) -> Array:
    """Return 1 / x by the rule of :func:`quotient`; true for booleans."""
    return quotient(np.ones_like(x), x)


def absolute(x: Array) -> Array:
    """Return |x|; the smallest signed integer is its own absolute value."""
    return np.abs(x)


def power(x: Array, y: Array) -> Array:
    """Return x to the power y; integers saturate (through FP64), booleans give x or not y, NaN wins over y = 0."""
    if x.dtype == np.bool_:
        return x | ~y
    if x.dtype.kind not in "fc":
        x, y = x.astype(np.float64), y.astype(np.float64)
    return np.where(np.isnan(x) | np.isnan(y), np.nan, np.power(x, y)).astype(x.dtype)


def lesser(x: Array, y: Array) -> Array:
    """Return the smaller; a number rather than a NaN."""
    return np.fmin(x, y) if x.dtype.kind == "f" else np.minimum(x, y)


def greater(x: Array, y: Array) -> Array:
    """Return the larger; a number rather than a NaN."""
    return np.fmax(x, y) if x.dtype.kind == "f" else np.maximum(x, y)


def round_half_away(x: Array) -> Array:
    """Return the nearest integer; halves are rounded away from zero."""
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1, x), whole).astype(x.dtype)


def by_part(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Make a function of real numbers apply to each part of complex ones."""

    def either(x: Array) -> Array:
        return function(x) if x.dtype.kind != "c" else (function(x.real) + 1j * function(x.imag)).astype(x.dtype)

    return either


def remainder(x: Array, y: Array) -> Array:
    """Return the IEEE 754 remainder: x - n y with n the whole number nearest to x / y (the even one of two)."""
    size, step = np.abs(x), np.abs(y)
    rest = np.where(step > np.finfo(x.dtype).max / 2, size, np.fmod(size, step + step))
    rest = np.where(np.isnan(step) | np.isinf(size), np.nan, rest).astype(x.dtype)
    # rest < 2 step now. The type has no half of its smallest numbers and no double of its largest.
    small = step < np.finfo(x.dtype).tiny * 2
    half = step * x.dtype.type(0.5)
    beyond = np.where(small, rest + rest > step, rest > half)
    rest = np.where(beyond, rest - step, rest)
    beyond &= np.where(small, rest + rest >= step, rest >= half)
    rest = np.where(beyond, rest - step, rest)
    return np.where(np.signbit(x), -rest, rest)


def truth(x: Array) -> Array:
    """Return whether x is not zero."""
    return np.not_equal(x, 0)


def bit_shift(x: Array, y: Array) -> Array:
    """Return x shifted left by y bits, or right by -y (with its sign). y is read as INT8."""
    bits = x.dtype.itemsize * 8
    k = y.astype(np.int8).astype(np.int64)
    left = np.left_shift(x, np.clip(k, 0, bits - 1).astype(x.dtype))
    right = np.right_shift(x, np.clip(-k, 0, bits - 1).astype(x.dtype))
    gone = np.where(x < 0, -1, 0).astype(x.dtype)
    return np.where(k >= bits, np.zeros_like(x), np.where(k <= -bits, gone, np.where(k >= 0, left, right)))


def _bit(x: Array, y: Array) -> tuple[Array, Array]:
    """Return bit number y (from 1) as a mask of x's type, and whether x has such a bit."""
    bits = x.dtype.itemsize * 8
    valid = (y >= 1) & (y <= bits)
    position = np.where(valid, y, 1).astype(np.int64) - 1
    mask = np.left_shift(np.uint64(1), position.astype(np.uint64)).astype(x.dtype)
    return mask, valid


def bit_get(x: Array, y: Array) -> Array:
    """Return bit y of x, counted from 1; 0 outside x."""
    mask, valid = _bit(x, y)
    return valid & ((x & mask) != 0)


def bit_set(x: Array, y: Array) -> Array:
    """Return x with bit y set; x itself if it has no such bit."""
    mask, valid = _bit(x, y)
    return np.where(valid, x | mask, x)


def bit_clear(x: Array, y: Array) -> Array:
    """Return x with bit y cleared; x itself if it has no such bit."""
    mask, valid = _bit(x, y)
    return np.where(valid, x & ~mask, x)


def floor_quotient(x: Array, y: Array) -> Array:
    """Return x / y rounded down; integers divided by zero give 0."""
    return np.floor_divide(x, y)


def modulo(x: Array, y: Array) -> Array:
    """Return the remainder of :func:`floor_quotient`, with the sign of y; integers modulo zero give 0."""
    return np.mod(x, y)


def integer_power(x: Array, y: Array) -> Array:
    """Return x ** y as in Python: integers wrap, and negative exponents give 0 (but 1 or -1 for those bases)."""
    if x.dtype.kind in "fc":
        return np.power(x, y)
    base = x.astype(np.int8) if x.dtype == np.bool_ else x
    negative_exponent = y < 0
    left = y.astype(np.uint64)
    left = np.where(negative_exponent, np.uint64(0) - left, left)  # the exponent's bits still to be used
    square, result = base.astype(np.uint64), np.ones(left.shape, np.uint64)
    while left.any():
        result = np.where(left & np.uint64(1), result * square, result)
        square, left = square * square, left >> np.uint64(1)
    result = result.astype(base.dtype)
    return np.where(negative_exponent & ~np.isin(base, (1, -1)), 0, result)


def binomial(n: Array, k: Array) -> Array:
    """Return n choose k; 0 if k is outside 0..n or an intermediate product exceeds INT64."""
    return np.asarray(np.frompyfunc(_binomial, 2, 1)(n, k)).astype(np.int64)


def _binomial(n: int, k: int) -> int:
    n, k = int(n), int(k)
    if k > n or k < 0:
        return 0
    value = 1
    for step in range(min(k, n - k)):
        if value > 2**63 // (n - step):
            return 0
        value = value * (n - step) // (step + 1)
    return value


def exponent(x: Array) -> Array:
    """Return the integer e with x = m 2^e, 0.5 <= |m| < 1; 0 for 0, inf and NaN."""
    return np.frexp(x)[1]


def mantissa(x: Array) -> Array:
    """Return the m of :func:`exponent`; x itself for 0, inf and NaN."""
    return np.frexp(x)[0]


def scale(x: Array, y: Array) -> Array:
    """Return x times two to the power y, with y clamped to a C int."""
    return np.ldexp(x, datatypes.cast(y, datatypes.INT32))


def special(name: str) -> Any:
    """Make a function of scipy.special, imported when first called: importing SciPy costs a tenth of a second."""

    def function(x: Array) -> Array:
        import scipy.special

        return getattr(scipy.special, name)(x)

    return function
