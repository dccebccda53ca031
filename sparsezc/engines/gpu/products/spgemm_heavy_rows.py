"""Rows of a product with so many products that one block would take long: all blocks share each (heavy_*.cu)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise.filter import Kept
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.memory import budget

PRODUCTS = 1 << 22  # a row of fewer is left to one block
ROWS = 256  # that are shared, at most: more of them keep as many blocks busy
PIECE = 1 << 12  # products that a warp takes at once
PARTS = 64  # of a row's products, each added up by one block where the order of sums matters


def least(products: Any) -> int:
    """How many products a row may have, of all rows' `products`, until it would keep a block longer than all others."""
    return max(PRODUCTS, int(products.sum()) // ROWS)


class HeavyRow:
    """One row of A B.

    Parameters
    ----------
    a, b : Rows
    row : int
    marking : str
        The prelude of spgemm_heavy_mark.cu.
    """

    def __init__(self, a: Rows, b: Rows, row: int, marking: str) -> None:
        self.gpu, self.row, self.b, self.marking = cuda.current(), row, b, marking
        xp = self.gpu.xp
        start, stop = a.ends(row, row + 1)
        ids = a.indices.load(start, stop).astype(np.int64)
        starts = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(b.indptr[ids + 1] - b.indptr[ids])])
        self.products = int(starts[-1])
        self.walk = np.uint64(start), np.uint64(stop - start), starts, *a.arguments[2:], *b.arguments[1:3]

    def columns(self) -> Kept:
        """Which columns the row has."""
        xp = self.gpu.xp
        bits = xp.zeros(-(-self.b.ncols // 32), np.uint32)
        kernel = codegen.kernel(self.gpu, "spgemm_heavy_mark.cu", self.marking, "heavy_mark")
        self._share(kernel, np.uint64(PIECE), xp.zeros(1, np.uint64), bits)
        return Kept.of(self.b.ncols, bits)

    def fill(self, semiring: Any, adding: str, ordered: bool, names: Any, ids: Any, values: Any) -> None:
        """Write the row's ids, and its values if there are any.

        Parameters
        ----------
        adding : str
            The prelude of spgemm_heavy_add.cu.
        ordered : bool
            Whether it matters which sums come first.
        names : device array or 0
            The columns that B's ids stand for.
        ids, values : device arrays, of as many entries as the row has
            `values` None: all are the same.
        """
        xp = self.gpu.xp
        kept = self.columns()
        ids[...] = launch.positions(kept.bits, self.b.ncols).astype(ids.dtype)
        if values is None:
            return
        neutral = codegen.neutral(semiring.monoid)
        values.fill(neutral)
        kernel = codegen.kernel(self.gpu, "spgemm_heavy_add.cu", adding, "heavy_add")
        place = np.uint64(self.row), names, kept.bits, kept.before, np.uint64(ids.size)
        values_of_b = self.b.arguments[3]
        if not ordered:
            self._share(kernel, values_of_b, np.uint64(PIECE), xp.zeros(1, np.uint64), *place, values)
            return
        join = codegen.kernel(self.gpu, "spgemm_heavy_add.cu", adding, "heavy_join")
        piece = np.uint64(-(-self.products // PARTS))
        room = max(1, budget.available() // 4 // values.nbytes)  # parts whose sums are kept at a time
        for first in range(0, PARTS, room):
            count = min(room, PARTS - first)
            partial = xp.full(count * ids.size, neutral, values.dtype)
            number = xp.full(1, first, np.uint64)
            kernel(count, launch.THREADS, (*self.walk, values_of_b, piece, number, *place, partial))
            arguments = np.uint64(ids.size), np.uint64(count), partial, values
            join(launch.blocks(self.gpu, ids.size), launch.THREADS, arguments)

    def _share(self, kernel: Any, *arguments: Any) -> None:
        blocks = launch.blocks(self.gpu, 32 * -(-self.products // PIECE))
        kernel(blocks, launch.THREADS, (*self.walk, *arguments))
