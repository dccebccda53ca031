"""Frontiers of searches: a Vector for one search, a Matrix with a row for each of several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.core import engine_loops
from sparsezc.core.access import forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.memory import budget
from sparsezc.semirings.types.datatypes import DataType
from sparsezc.terminal.progress import steps

#: Searches that share a pass: as many as have CACHED positions in all, which fit the caches; FEW to MOST.
FEW, MOST, CACHED = 16, 64, 2**20
#: A vector with an entry in less than one of FEW_OF positions is stored as a list of positions and values.
FEW_OF = 16
#: The share of free memory that the searches of a pass may take.
SHARE = 0.25


def start(A: Matrix, source: Any, n: int, dtype: DataType, value: Any = None) -> Any:
    """Return the first frontier of a search of `A`: `value` at the source, or the source's own number if it is None.

    Returns
    -------
    Vector of size n, or Matrix of shape (k, n)
        The Vector for one source, the Matrix for an iterable of k: search i has row i.
    """
    if are_several(source):
        sources = _check.vertices(source, n)
        return rows(sources, n, dtype, sources if value is None else value)
    vertex = _check.vertex(source, n)
    one = forms.vector_beside(A, dtype)
    one[vertex] = vertex if value is None else value
    return one


def are_several(source: Any) -> bool:
    """Return whether `source` is an iterable of vertices; a str or a zero-dimensional array counts as one vertex."""
    return isinstance(source, Iterable) and not isinstance(source, str) and getattr(source, "ndim", None) != 0


def vector(values: NDArray[Any], met: NDArray[np.bool_], queue: NDArray[np.int64], count: int) -> Vector:
    """Make a Vector of a loop's results where `met` is true; the first `count` items of `queue` are these positions."""
    if count * FEW_OF > values.size:
        return engine_loops.vector(values, None if count == values.size else met)
    at = queue[:count].copy()
    at.sort()
    return engine_loops.vector(values[at], at=at, size=values.size)


def empty(q: Any, dtype: DataType) -> Any:
    """Make a Vector or Matrix without entries, of the shape of `q`."""
    return forms.vector_like(q, dtype) if q.ndim == 1 else Matrix(dtype, *q.shape)


def rows(sources: NDArray[np.int64], n: int, dtype: DataType, values: Any) -> Matrix:
    """Make a matrix whose row i has one entry, at ``sources[i]``."""
    made: Matrix = Matrix.from_coo(np.arange(sources.size), sources, values, dtype, nrows=sources.size, ncols=n)
    return made


def batches(sources: NDArray[np.int64], n: int, nbytes: int) -> Iterator[NDArray[np.int64]]:
    """Yield groups of sources whose searches run together; each has a row of `n` entries and takes `nbytes` bytes."""
    size = max(FEW, min(MOST, CACHED // max(n, 1)))
    space = budget.workspace()
    if space is not None:
        size = max(1, min(size, int(SHARE * space) // max(nbytes, 1)))
    groups = (sources[first : first + size] for first in range(0, sources.size, size))
    yield from steps(groups, "sources", total=sources.size, size=len)
