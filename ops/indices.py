"""Indices as users write them, checked and made into :class:`~sparsezc.expr.expression.IndexList`."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from sparsezc.exceptions import IndexOutOfBound
from sparsezc.expr.expression import Deferred, IndexList, Operand, says
from sparsezc.expr.mask import Mask

__all__ = ["parse"]


def parse(keys: Any, shape: tuple[int, ...], name: str) -> tuple[IndexList, ...]:
    """Parse ``name[keys]`` into index lists, one for each dimension.

    Parameters
    ----------
    keys : int, slice, list, array of integers or ..., a pair of them for a matrix
    shape : tuple of int
    name : str
        The object's name, for messages.

    Raises
    ------
    IndexOutOfBound
        A position is outside.
    TypeError
        A key is no index, or there are too many or too few.
    """
    if keys is Ellipsis:
        return tuple(IndexList("all", None, size) for size in shape)
    if len(shape) == 1:
        if isinstance(keys, tuple):
            raise TypeError(f"{name} is a Vector: one index is needed, got the tuple {keys!r}")
        return (_one_dimension(keys, shape[0], name),)
    if not isinstance(keys, tuple) or len(keys) != 2:
        raise TypeError(f"{name} is a Matrix: an index is a pair [rows, columns], got {keys!r}")
    return _one_dimension(keys[0], shape[0], name), _one_dimension(keys[1], shape[1], name)


def _one_dimension(key: Any, size: int, name: str) -> IndexList:
    if isinstance(key, slice):
        steps = range(size)[key]
        if len(steps) == size and steps.step == 1:
            return IndexList("all", None, size)
        return IndexList("range", steps, len(steps))
    if isinstance(key, tuple | Mask) or (isinstance(key, Operand) and key.ndim):
        hint = "" if isinstance(key, tuple) else "; a mask is given as in x(mask) << value or x.dup(mask=mask)"
        raise TypeError(
            f"{name}: Invalid type for index: {type(key).__name__}. An index is an integer, a slice, a list or an"
            f" array of integers; got {key!r}{hint}"
        )
    if not isinstance(key, list | np.ndarray) or getattr(key, "ndim", 1) == 0:
        if isinstance(key, Operand | Deferred) and not key.dtype.is_integer:
            raise TypeError(f"{name}: An integer is required for indexing; got {says(key)}")
        try:
            return IndexList("one", _single(operator.index(key), size, name), 1)
        except (TypeError, AttributeError):
            pass
    try:
        array = np.asarray(key if isinstance(key, list | np.ndarray) else list(key))
    except (TypeError, ValueError):
        raise TypeError(
            f"{name}: Invalid type for index: {type(key).__name__}. An index is an integer, a slice or a list of"
            f" integers; got {says(key)}"
        ) from None
    if array.size == 0 and not isinstance(key, np.ndarray):
        array = array.astype(np.uint64)
    if array.ndim != 1:
        raise TypeError(f"{name}: Invalid number of dimensions for index: {array.ndim}; a row of integers is needed")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name}: Invalid dtype for index: {array.dtype}; a row of integers is needed")
    if array.size and array.dtype.kind == "i" and int(array.min()) < 0:
        if int(array.min()) < -size:
            _single(int(array.min()), size, name)
        array = np.where(array < 0, array + size, array)
    if array.size and int(array.max()) >= size:
        _single(int(array.max()), size, name)
    return IndexList("list", np.ascontiguousarray(array, np.uint64), array.size)


def _single(index: int, size: int, name: str) -> int:
    if not -size <= index < size:
        raise IndexOutOfBound(f"{name}: index {index} is outside; this dimension has {size} positions")
    return index + size if index < 0 else index
