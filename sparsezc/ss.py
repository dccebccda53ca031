"""SuiteSparse:GraphBLAS's extensions of the standard, for the whole library: python-graphblas's ``ss`` module.

``concat`` and ``diag`` make matrices and vectors. ``config``, ``about``, ``Context``, ``global_context`` and ``burble``
are python-graphblas's own objects and apply to the CPU engine.
"""

from __future__ import annotations

from typing import Any

from sparsezc import ops
from sparsezc.core.suitesparse import ours, theirs
from sparsezc.engines import cpu
from sparsezc.engines.cpu.suitesparse import native

__all__ = ["concat", "diag"]

_THEIRS = {"Context", "about", "burble", "config", "global_context"}


def concat(tiles: Any, dtype: Any = None, *, name: str | None = None, **options: Any) -> Any:
    """Make one matrix from a list of lists of matrices, or one vector from a list of vectors.

    Parameters
    ----------
    tiles : list of lists of Matrix (or Vector, a column), or list of Vector
        Tiles in a row have as many rows, those in a column as many columns.
    dtype : optional
        The type of the result; by default the common type of all tiles.
    name : str, optional

    Returns
    -------
    Matrix or Vector

    Raises
    ------
    TypeError, ValueError, DimensionMismatch
        The tiles are empty or do not fit.

    Examples
    --------
    >>> import sparsezc as gb
    >>> gb.ss.concat([gb.Vector.from_dense([1, 2]), gb.Vector.from_dense([3])]).to_dense()
    array([1, 2, 3])
    """
    cpu.engine()
    try:
        made = native.gb.ss.concat(theirs(tiles), theirs(dtype), name=name, **options)
    except native.gb.exceptions.GraphblasException as error:
        raise cpu.ours(error, "concat") from error
    return ours(made)


def diag(x: Any, k: int = 0, dtype: Any = None, *, name: str | None = None, **options: Any) -> Any:
    """Make a matrix with a vector on diagonal `k`, or extract a matrix's: see :func:`sparsezc.ops.diag`."""
    return ops.diag(x, k).new(dtype, name=name, **options)


def __getattr__(name: str) -> Any:
    if name not in _THEIRS:
        raise AttributeError(f"module 'sparsezc.ss' has no attribute {name!r}")
    cpu.engine()
    return getattr(native.gb.ss, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_THEIRS})
