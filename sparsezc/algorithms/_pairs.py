"""Common neighbours of given pairs of vertices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms.loops import pairs as loop
from sparsezc.core import engine_loops
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings.types import datatypes


class Common(NamedTuple):
    """The pairs (i, j) that have common neighbours: number and summed weights of these, and the degrees of i and j."""

    i: NDArray[np.int64]
    j: NDArray[np.int64]
    number: NDArray[np.int64]
    weight: NDArray[np.float64]
    degrees: NDArray[np.int64]  # shape (2, number of pairs)

    def matrix(self, values: NDArray[Any], n: int) -> Matrix:
        """Make a matrix with a value for each pair."""
        made: Matrix = Matrix.from_coo(self.i, self.j, values, nrows=n, ncols=n)
        return made


#: The arguments `by_degree`: a common neighbour of degree d counts as 1, as 1 / d, or as 1 / log(d).
EQUALLY, INVERSE, LOGARITHMIC = (False, False), (True, False), (True, True)


def common(
    A: Matrix, pairs: Matrix | None, weight: Vector | None = None, by_degree: tuple[bool, bool] = EQUALLY
) -> Common | None:
    """Count the common neighbours of each pair by a loop; None if the engine runs no loop, or `pairs` is None."""
    if pairs is None or not engine_loops.runs_loops(A):
        return None
    i, j = (ids.astype(np.int64) for ids in pairs.to_coo(values=False)[:2])
    own = None if weight is None else weight.dup(datatypes.FP64)
    found = engine_loops.run_loop(loop.common, A, (i, j), lambda: (*_everywhere(own), *by_degree))
    if found is None:
        return None
    has = found[0] > 0
    return Common(i[has], j[has], *(x[..., has] for x in found))


def _everywhere(weight: Vector | None) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return arrays of the vertices' weights, and of which vertices have one; two empty arrays if all count equally."""
    if weight is None:
        return np.empty(0), np.empty(0, np.bool_)
    at, has = weight.to_coo(values=False)[0], np.zeros(weight.size, np.bool_)
    has[at] = True
    return weight.to_dense(0.0), has
