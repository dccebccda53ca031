"""Rows of a matrix product with so many multiplies that all blocks share each row (spgemm_heavy_*.cu)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sparsezc.device import cuda
from sparsezc.device.launcher import Launcher
from sparsezc.engines.gpu.elementwise.filter import Kept
from sparsezc.engines.gpu.runtime import codegen, launch, presence_words
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.memory import budget

PRODUCTS = 1 << 22  # least products of a shared row: fewer are left to one block
ROWS = 256  # most rows that are shared: more rows keep all blocks busy without sharing
PIECE = 1 << 12  # products that a warp takes at once
PARTS = 64  # parts of a row's products, each added by one block, if sums depend on their order


def least(products: Any) -> int:
    """Return the number of products above which all blocks share a row, as a single block would end too late."""
    return max(PRODUCTS, int(products.sum()) // ROWS)


class _Walk(NamedTuple):
    """Kernel arguments: a row of A, and the rows of B that its ids refer to (spgemm_heavy_rows.cuh)."""

    start: int  # the row's first entry in A
    count: Any  # an int, but tuples have a method of this name
    starts: Any  # the number of products before each entry's
    a_ids: np.uint64
    a_values: np.uint64
    b_indptr: Any
    b_ids: np.uint64


class HeavyRow:
    """One row of A B that all blocks share.

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
        self.walk = _Walk(start, stop - start, starts, *a.arguments[2:], *b.arguments[1:3])

    def columns(self) -> Kept:
        """Return the columns in which the row has entries."""
        xp = self.gpu.xp
        bits = xp.zeros(-(-self.b.ncols // 32), np.uint32)
        kernel = codegen.kernel(self.gpu, "spgemm_heavy_mark.cu", self.marking, "heavy_mark")
        self._share(kernel, piece=PIECE, counter=xp.zeros(1, np.uint64), bits=bits)
        return Kept.of(self.b.ncols, bits)

    def fill(self, semiring: Any, adding: str, ordered: bool, names: Any, ids: Any, values: Any) -> None:
        """Write the row's ids, and its values unless all are equal.

        Parameters
        ----------
        adding : str
            The prelude of spgemm_heavy_add.cu.
        ordered : bool
            Whether sums depend on their order.
        names : device array or 0
            The columns of B's renumbered ids; 0 if they are not renumbered.
        ids, values : device arrays, of as many entries as the row has
            `values` None: all values are equal.
        """
        xp = self.gpu.xp
        kept = self.columns()
        ids[...] = presence_words.positions(kept.bits, self.b.ncols).astype(ids.dtype)
        if values is None:
            return
        neutral = codegen.neutral(semiring.monoid)
        values.fill(neutral)
        kernel = codegen.kernel(self.gpu, "spgemm_heavy_add.cu", adding, "heavy_add")
        place = {
            "b_values": self.b.values.pointer, "row_number": self.row, "names": names, "bits": kept.bits,
            "before": kept.before, "n": ids.size,
        }  # fmt: skip
        if not ordered:
            self._share(kernel, **place, piece=PIECE, counter=xp.zeros(1, np.uint64), sums=values)
            return
        join = codegen.kernel(self.gpu, "spgemm_heavy_add.cu", adding, "heavy_join")
        piece = -(-self.products // PARTS)
        at_once = max(1, budget.available() // 4 // values.nbytes)  # parts whose sums fit in memory at a time
        for first in range(0, PARTS, at_once):
            count = min(at_once, PARTS - first)
            partial = xp.full(count * ids.size, neutral, values.dtype)
            number = xp.full(1, first, np.uint64)
            kernel.launch(count, self.walk, **place, piece=piece, counter=number, sums=partial)
            join.launch(launch.blocks(self.gpu, ids.size), n=ids.size, parts=count, partial=partial, sums=values)

    def _share(self, kernel: Launcher, **arguments: Any) -> None:
        kernel.launch(launch.blocks(self.gpu, 32 * -(-self.products // PIECE)), self.walk, **arguments)
