"""Assignment to a part: a vector, matrix or scalar into ``w[I]`` or ``C[I, J]``."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.exceptions import DimensionMismatch, InvalidValue
from sparsezc.expr.expression import Deferred, Expression, IndexList, Operand, adopted, says, says_noun
from sparsezc.expr.mask import Mask
from sparsezc.ops.checks import scalar

__all__ = ["assign"]


def assign(
    out: Any, keys: tuple[IndexList, ...], value: Any, mask: Mask | None = None, submask: bool = False
) -> Expression:
    """Assign: ``out(mask)[I] << value``, or ``out[I](mask) << value`` with `submask`.

    Parameters
    ----------
    out : Vector or Matrix
    keys : tuple of IndexList
        One for each dimension of `out`, from :func:`sparsezc.ops.indices.parse`.
    value : Vector, Matrix, Scalar, number or array-like
        A value of the shape of the assigned positions; a number fills these, and an empty Scalar deletes their entries.
    mask : Mask, optional
        A mask of `out`'s shape (or of the row or column written to); with `submask`, of the shape of the assigned
        positions.
    submask : bool

    Returns
    -------
    Expression
        The expression has `out`'s shape.

    Raises
    ------
    DimensionMismatch
        The value does not have the shape of the assigned positions.
    TypeError
        The value is of a wrong kind, or a submask is given for a single element.
    """
    region = tuple(key.size for key in keys if key.kind != "one")
    if mask is not None and mask.parent.ndim < out.ndim and len(region) != 1:
        what = "Matrix assignment" if region else "single element assignment"
        raise TypeError(f"assign: Unable to use Vector mask on {what} to a Matrix: {mask.name} for {out.name}")
    if submask and not region:
        raise TypeError(
            f"assign: Single element assign does not accept a submask: {out.name}[{_list(keys)}] is one element"
        )
    value = _value(out, region, value)
    if value.ndim and value._shape != region:
        raise DimensionMismatch(
            f"assign: {says(value)} is written to {out.name}[{_list(keys)}], which has shape {region}"
        )
    operation = "subassign" if submask else "assign"
    if mask is not None and submask and mask.parent.ndim != len(region):
        if mask.parent.ndim > out.ndim:
            raise TypeError(f"assign: Mask object must be type Vector: {mask.name} is of {says(mask.parent)}")
        raise TypeError(
            f"assign: Indices for subassign imply {says_noun(len(region))} submask, but got"
            f" {says_noun(mask.parent.ndim)} mask instead: {mask.name}"
        )
    return Expression(
        operation, (value, *keys), None, out.dtype, out._shape, _mask_shape(out, keys, region, mask, submask)
    )


def _mask_shape(
    out: Any, keys: tuple[IndexList, ...], region: tuple[int, ...], mask: Mask | None, submask: bool
) -> tuple[int, ...]:
    if submask:
        return region
    if mask is not None and mask.parent.ndim == 1 and out.ndim == 2 and len(region) == 1:
        row = keys[0].kind == "one"  # the mask of one row has a position for each column
        return (out.shape[1] if row else out.shape[0],)
    shape: tuple[int, ...] = out._shape
    return shape


def _value(out: Any, region: tuple[int, ...], value: Any) -> Any:
    """Return the assigned value as an operand of as many dimensions as the assigned positions, or as a Scalar."""
    if isinstance(value, Deferred):
        value = value.new()
    elif not isinstance(value, Operand):
        value = adopted(value)
    if isinstance(value, Operand) and value.ndim:
        if value.ndim != len(region):
            need = {0: "a number or a Scalar", 1: "a Vector or a number", 2: "a Matrix or a number"}[len(region)]
            raise TypeError(
                f"assign: Bad type for argument `value`: {says(value)} does not fit the assigned positions of"
                f" {out.name}, of shape {region}; {need} is needed"
            )
        return value
    try:
        return scalar(value, "assign: `value`", may_be_empty=True, like=out.dtype)
    except TypeError:
        if not region:
            raise
    kind: Any = Operand._kinds[len(region)]
    if out.dtype.is_udt:
        return _of_users(out, region, kind, value)
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.empty((), object)
    if array.dtype.kind not in "biufc" or (not array.ndim and region):
        raise TypeError(
            f"assign: Bad type for argument `value`: {out.name} is given {value!r}; numbers of shape {region} are"
            " needed (Literal scalars also accepted). Assignment value must be a valid expression, an object or numbers"
        )
    if array.shape != region:
        raise InvalidValue(
            f"assign: shape mismatch: {out.name} is given an array of shape {array.shape}; {region} is needed"
        )
    return kind.from_dense(array)


def _of_users(out: Any, region: tuple[int, ...], kind: Any, value: Any) -> Any:
    """Return an array of values of a user-defined type."""
    made = None
    try:
        made = kind.from_dense(value, dtype=out.dtype)
    except (TypeError, InvalidValue) as error:
        why = f": {error}"
    else:
        why = f", and it has {made.shape}"
    if made is None or made.shape != region:
        ends = f"; array shape should include dtype shape, {out.dtype.shape}" if out.dtype.shape else ""
        raise InvalidValue(f"assign: shape mismatch: {out.name} needs values of shape {region}{why}{ends}")
    return made


def _list(keys: tuple[IndexList, ...]) -> str:
    return ", ".join(map(repr, keys))
