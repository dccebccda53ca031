"""The rows of a matrix that one rank has, and the bounds of the rows of all ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsezc.memory.csr import Csr


@dataclass(eq=False)
class RankRows:
    """The rows of a matrix that one rank has: ``bounds[rank]:bounds[rank + 1]``.

    Attributes
    ----------
    csr : Csr
        These rows; ids are columns of the whole matrix, and `symmetric` refers to the whole matrix.
    bounds : ndarray of int64, shape (size + 1,)
        The first row of each rank; a rank may have none.
    nvals : int
        The number of entries of the whole matrix.
    """

    csr: Csr
    bounds: NDArray[np.int64]
    nvals: int

    @property
    def nrows(self) -> int:
        """Return the number of rows of the whole matrix."""
        return int(self.bounds[-1])
