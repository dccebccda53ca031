"""A rank's rows from sorted edges: merged once to count entries and agree on the values' type, once into arrays."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.io.build import csr_builder
from sparsezc.io.build import weights as weighting
from sparsezc.io.build.weights import Weights
from sparsezc.io.hdf5.merge_runs import Look, Merger, looked_at, steps
from sparsezc.io.ranks.agreement import Communicator, together
from sparsezc.io.ranks.rank_rows import RankRows
from sparsezc.memory import allocate_all
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.csr import Csr
from sparsezc.semirings.types import datatypes


class Piece(NamedTuple):
    """Consecutive merged entries of this rank, of which the first is entry `start` of its rows."""

    start: int
    rows: NDArray[Any]
    cols: NDArray[Any]
    values: NDArray[Any] | None


class SortedRows:
    """The merged entries of this rank's rows, and the facts about those of all ranks.

    Parameters
    ----------
    merger : Merger
        Sorted runs of edges whose rows are this rank's.
    kind : dtype or None
        The type that holds the values of all ranks.
    stated : DataType or None
        The type that the source states.

    Attributes
    ----------
    count, total : int
        The numbers of entries of this rank, and of all ranks.
    dtype : DataType
    one : ndarray, shape (1,), or None
        The value of all entries of all ranks, if they are equal.
    """

    def __init__(
        self, merger: Merger, kind: np.dtype[Any] | None, stated: datatypes.DataType | None, weights: Weights,
        comm: Communicator,
    ) -> None:  # fmt: skip
        self._merger, self.weights = merger, weights

        def count() -> Look:
            look = Look()
            deque(looked_at(look, merger), maxlen=0)
            return look

        look = together(comm, count)
        whole = look.joined(comm.objects(look))
        self.count, self.total = look.count, whole.count
        self.dtype, one = together(comm, lambda: whole.values(weights, stated, kind))
        self.one = one if whole.count else None

    def pieces(self, label: str) -> Iterator[Piece]:
        """Yield the entries in order, with their values in the final type; None where one value stands for all."""
        start = 0
        for rows, cols, found in steps(self._merger, label):
            values = None
            if self.weights.kind == "hash":
                values = weighting.hashed(rows, cols, self.weights)
            elif self.one is None and found is not None:
                if self.weights.dtype is not None:
                    weighting.check_fit(found, self.weights.dtype)
                values = datatypes.cast(found, self.dtype)
            yield Piece(start, rows, cols, values)
            start += rows.size

    def block(
        self, bounds: NDArray[np.int64], ncols: int, comm: Communicator, placement: str | None, *, symmetric: bool
    ) -> RankRows:
        """Return this rank's rows in a placement."""
        first, last = (int(row) for row in bounds[comm.rank : comm.rank + 2])

        def fill() -> Csr:
            nrows, iso = last - first, self.one is not None
            where = csr_builder.place(placement, nrows, ncols, self.count, self.dtype, iso)
            sizes = (self.count, index_dtype(ncols, where)), (1 if iso else self.count, self.dtype.np_type)
            indices, values = allocate_all(where, *sizes)
            if self.one is not None:
                values.write(0, self.one)
            indptr = csr_builder.offsets(nrows)
            for piece in self.pieces("placing"):
                indices.write(piece.start, piece.cols)
                if piece.values is not None:
                    values.write(piece.start, piece.values)
                found = np.bincount((piece.rows - first).astype(np.int64))
                indptr[1 : 1 + found.size] += found
            np.cumsum(indptr, out=indptr)
            return Csr(nrows, ncols, indptr, indices, values, self.dtype, iso, symmetric)

        return RankRows(together(comm, fill), bounds, self.total)
