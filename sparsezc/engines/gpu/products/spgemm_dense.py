"""Rows of a product by dense accumulators in shared memory (spgemm_dense_*.cu), for a part of the columns at a time.

A product costs one atomic, where a hash table costs a search, and nothing is sorted. But each row costs a check of
every column, so it must have enough products.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.products import spgemm_heavy_rows
from sparsezc.engines.gpu.runtime import codegen, groups, launch
from sparsezc.engines.gpu.runtime.codegen import flags, typedefs
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.memory.placement import RECORDS

BYTES = 36 << 10  # bytes of shared memory of a block: six blocks fit a multiprocessor
COLUMNS = 32  # columns whose checks cost as much as a product in a hash table
_LOOKS = 2  # searches of a row of B for a part's columns that cost as much as a product
_LARGEST = 4  # products added by a block in the time in which it would put one into a map


@dataclass(frozen=True)
class Sums:
    """The storage of a product's sums in shared memory.

    Attributes
    ----------
    counts : bool
        Whether each sum is the number of its products, which fits 32 bits.
    ctype : str
        The type of a sum.
    width : int
        The number of columns whose sums, or only presence bits if there are no values, fit a block.
    """

    counts: bool
    ctype: str
    width: int

    @classmethod
    def of(cls, semiring: Any, values: bool, a: Rows) -> Sums:
        """Return the storage for a semiring; `values`: the result has values to compute."""
        counts = values and _counts(semiring) and a.ncols < 2**32
        kind = semiring.return_type
        bits = 32 if counts else 1 + 8 * kind.np_type.itemsize * values
        return cls(counts, "u32" if counts else kind.ctype, BYTES * 8 // bits // 32 * 32)

    def prelude(self) -> str:
        """Return the part of spgemm_dense_fill.cu's prelude that depends on the storage."""
        return f"{typedefs(Sum=self.ctype)}\n{flags(COUNTS=self.counts)}\nconstexpr u32 WIDTH = {self.width};"

    def parts(self, b: Rows) -> int:
        """Return the number of parts of B's columns."""
        return -(-b.ncols // self.width)


def _counts(semiring: Any) -> bool:
    """Return whether all products are 1 and their sum is exact, which FP32 is only up to 2^24."""
    kind = semiring.return_type
    if semiring.reads & set("xyijk") or semiring.monoid.name != "plus" or kind.is_bool:
        return False
    if semiring.monoid.op.user_function is not None or not (kind.is_integer or kind.np_type == np.float64):
        return False
    one = np.ones(1, semiring.type.np_type)
    return bool(np.asarray(semiring.binaryop.numpy(one, one)).ravel()[0] == 1)


def chosen(a: Rows, b: Rows, products: Any, few: int, sums: Sums) -> Any:
    """Return which rows are computed by dense accumulators, as an array of bool; `products`: those of each row.

    `few`: the most products of a row for a warp's hash table. Rows of B are read once for each part of the columns.
    """
    near = all(RECORDS[rows.indices.placement].resident for rows in (a, b))
    if not near:
        return products < 0
    largest = _LARGEST * spgemm_heavy_rows.least(products)
    enough = (products > few) & (products >= b.ncols // COLUMNS if COLUMNS else products < 0)
    enough &= cuda.current().xp.diff(a.indptr) * sums.parts(b) <= _LOOKS * products
    return enough & (products // max(1, sums.parts(b)) <= largest)


@dataclass(frozen=True)
class DenseRows:
    """The rows of a product that are computed by dense accumulators, with their numbers of entries.

    Attributes
    ----------
    rows : array of uint64 on the device
        Those with the most products first, as the rows that start last determine when the launch ends.
    found : array of uint32 on the device, shape (rows, parts)
        The number of entries of each row in each part of the columns.
    """

    a: Rows
    b: Rows
    sums: Sums
    rows: Any
    found: Any

    @classmethod
    def counted(cls, a: Rows, b: Rows, sums: Sums, chosen: Any, products: Any, marking: str) -> DenseRows:
        """Return the chosen rows after counting their entries; `marking`: the prelude of spgemm_count.cu."""
        gpu = cuda.current()
        xp = gpu.xp
        rows = xp.flatnonzero(chosen)
        rows = rows[xp.argsort(-products[rows])].astype(np.uint64)
        parts = sums.parts(b)
        found = xp.zeros((rows.size, parts), np.uint32)
        if rows.size:
            words = max(1, 8 * BYTES // sums.width) * sums.width // 32
            prelude = f"{marking}\nconstexpr u32 WIDTH = {sums.width};\nconstexpr u32 WORDS = {words};"
            codegen.kernel(gpu, "spgemm_dense_count.cu", prelude, "dense_count").launch(
                launch.blocks(gpu, launch.THREADS * rows.size * -(-b.ncols // (32 * words))),
                groups.LeftIds(*a.arguments[1:3]), groups.RightIds(*b.arguments[1:3]),
                nrows=rows.size, rows=rows, parts=parts, ncols=b.ncols, counter=xp.zeros(1, np.uint64), found=found,
            )  # fmt: skip
        return cls(a, b, sums, rows, found)

    def among(self, nrows: int) -> Any:
        """Return these rows as an array of bool over all `nrows` rows."""
        there = cuda.current().xp.zeros(nrows, bool)
        there[self.rows.astype(np.int64)] = True
        return there

    def counts(self) -> Any:
        """Return the number of entries of each row."""
        return self.found.sum(axis=1, dtype=np.int64)

    def fill(self, first: int, last: int, offsets: Any, names: Any, adding: str, ids: Any, values: Any) -> None:
        """Compute those of these rows that are among rows first .. last-1 of the product.

        Parameters
        ----------
        offsets : array of int64 on the device
            The offsets of the product's rows.
        names : device array or 0
            The columns of B's renumbered ids; 0 if they are not renumbered.
        adding : str
            The prelude of spgemm_fill.cu.
        """
        gpu = cuda.current()
        xp = gpu.xp
        here = xp.flatnonzero((self.rows >= first) & (self.rows < last))
        if not here.size:
            return
        rows, found = self.rows[here], self.found[here]
        before = xp.cumsum(found, axis=1, dtype=np.int64) - found
        starts = offsets[rows.astype(np.int64)][:, None] + before
        codegen.kernel(gpu, "spgemm_dense_fill.cu", f"{adding}\n{self.sums.prelude()}", "dense_fill").launch(
            launch.blocks(gpu, launch.THREADS * found.size),
            groups.Left(*self.a.arguments[1:]), groups.Right(*self.b.arguments[1:]),
            nrows=rows.size, rows=rows, parts=found.shape[1], ncols=self.b.ncols, starts=starts, found=found,
            base=int(offsets[first]), names=names, counter=xp.zeros(1, np.uint64), ids=ids, values=values,
        )  # fmt: skip
