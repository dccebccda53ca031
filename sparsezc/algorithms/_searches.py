"""The starts of searches: a Vector for one, a Matrix with a row each for several at once."""

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

#: Searches that share a pass: as many as have their rows within the caches, at least FEW and at most MOST.
FEW, MOST, CACHED = 16, 64, 2**20
#: A vector that has an entry in less than one of so many positions is stored as a list of positions and values.
FEW_OF = 16
#: The share of memory that the searches of a pass may take.
SHARE = 0.25


def start(A: Matrix, source: Any, n: int, dtype: DataType, value: Any = None) -> Any:
    """Place one value at the source of a search of `A`; `value` None stands for the source's number.

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
    """Return whether an argument is an iterable of vertices; a text, and a zero-dimensional array, is one vertex."""
    return isinstance(source, Iterable) and not isinstance(source, str) and getattr(source, "ndim", None) != 0


def vector(values: NDArray[Any], met: NDArray[np.bool_], queue: NDArray[np.int64], count: int) -> Vector:
    """Make a Vector of a loop's results where `met` is true: at the first `count` positions of a queue."""
    if count * FEW_OF > values.size:
        return engine_loops.vector(values, None if count == values.size else met)
    at = queue[:count].copy()
    at.sort()
    return engine_loops.vector(values[at], at=at, size=values.size)


def empty(q: Any, dtype: DataType) -> Any:
    """Make a Vector or Matrix without entries, of the shape of `q`."""
    return forms.vector_like(q, dtype) if q.ndim == 1 else Matrix(dtype, *q.shape)


def rows(sources: NDArray[np.int64], n: int, dtype: DataType, values: Any) -> Matrix:
    """Make a matrix whose row i holds a value at ``sources[i]``."""
    made: Matrix = Matrix.from_coo(np.arange(sources.size), sources, values, dtype, nrows=sources.size, ncols=n)
    return made


def batches(sources: NDArray[np.int64], n: int, nbytes: int) -> Iterator[NDArray[np.int64]]:
    """Yield the sources in groups searched together, each in a row of `n` entries of `nbytes` bytes."""
    size = max(FEW, min(MOST, CACHED // max(n, 1)))
    space = budget.workspace()
    if space is not None:
        size = max(1, min(size, int(SHARE * space) // max(nbytes, 1)))
    groups = (sources[first : first + size] for first in range(0, sources.size, size))
    yield from steps(groups, "sources", total=sources.size, size=len)
