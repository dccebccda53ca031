"""Comparison of whole objects: shared by isequal, isclose and to_dense of matrices and vectors."""

from __future__ import annotations

from typing import Any

from sparsezc.exceptions import InvalidValue
from sparsezc.ops.apply import apply
from sparsezc.ops.checks import scalar
from sparsezc.ops.ewise import ewise_mult
from sparsezc.ops.reduce import reduce
from sparsezc.semirings import binary, monoid, unary
from sparsezc.semirings.types.datatypes import BOOL, FC64, FP64, DataType, lookup, unify

__all__ = ["check_how", "filling", "isclose", "isequal"]


def _may_match(u: Any, v: Any, check_dtype: bool) -> bool:
    if check_dtype and u.dtype is not v.dtype:
        return False
    return bool(u.shape == v.shape and u.nvals == v.nvals)


def _all_true(matches: Any, nvals: int) -> bool:
    """Return whether `matches`, a BOOL object on the intersection of two patterns, is true for all `nvals` entries."""
    return matches.nvals == nvals and bool(reduce(matches, monoid.land, False).new().value)


def isequal(u: Any, v: Any, check_dtype: bool) -> bool:
    """Return whether two objects of one kind have the same shape, pattern and values."""
    return _may_match(u, v, check_dtype) and _all_true(ewise_mult(u, v, binary.eq).new(BOOL), u.nvals)


def isclose(u: Any, v: Any, rel_tol: float, abs_tol: float, check_dtype: bool) -> bool:
    """Return whether the patterns are the same, and ``|a - b| <= max(rel_tol * max(|a|, |b|), abs_tol)`` everywhere."""
    if not _may_match(u, v, check_dtype):
        return False
    same = ewise_mult(u, v, binary.eq).new(BOOL)
    if _all_true(same, u.nvals):
        return True
    if same.nvals != u.nvals:
        return False
    kind = FC64 if u.dtype.is_complex or v.dtype.is_complex else FP64
    a, b = apply(u, unary.identity).new(kind), apply(v, unary.identity).new(kind)
    gap = apply(ewise_mult(a, b, binary.minus).new(), unary.abs).new()
    allowed = ewise_mult(apply(a, unary.abs).new(), apply(b, unary.abs).new(), binary.max).new()
    allowed << apply(allowed, binary.times, float(rel_tol))
    allowed << apply(allowed, binary.max, float(abs_tol))
    near = ewise_mult(gap, allowed, binary.le).new(BOOL)
    # An infinite difference is within an infinite tolerance, which is only right if the values are equal.
    near << ewise_mult(near, apply(gap, unary.isfinite).new(), binary.land)
    near << ewise_mult(near, same, binary.lor)
    return _all_true(near, u.nvals)


def filling(u: Any, nvals: int, fill_value: Any, dtype: Any) -> tuple[DataType, Any]:
    """Return the type and the fill value of ``u.to_dense(fill_value, dtype)``; `nvals` is u's number of entries.

    Raises
    ------
    TypeError
        A position has to be filled and there is no value for it.
    """
    full = nvals == _count(u.shape)
    if fill_value is None:
        if not full:
            raise TypeError(
                f"{u.name}.to_dense: fill_value must be given, as {_count(u.shape) - nvals} entries are missing"
            )
        return (u.dtype if dtype is None else lookup(dtype)), 0
    try:
        fill = scalar(fill_value, "to_dense: fill_value", like=u.dtype if dtype is None else lookup(dtype))
    except TypeError as error:
        raise TypeError(f"Bad type for keyword argument `fill_value`: {error}") from None
    if dtype is not None:
        return lookup(dtype), fill.dup(dtype).value
    kind = u.dtype if full or u.dtype.is_udt else unify(fill.dtype, u.dtype)
    return kind, fill.dup(kind).value


def _count(shape: tuple[int, ...]) -> int:
    return shape[0] if len(shape) == 1 else shape[0] * shape[1]


def check_how(how: Any) -> None:
    """Raise InvalidValue for an argument that ``wait`` does not know."""
    if how not in ("materialize", "complete"):
        raise InvalidValue(f"wait: `how` argument must be one of 'materialize', 'complete'; got {how!r}")
