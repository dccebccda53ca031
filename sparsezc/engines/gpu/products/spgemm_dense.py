"""Rows of a product with a place in shared memory for each column (spgemm_dense_*.cu), a part of the columns at a time.

A product costs one atomic, where a hash table costs a search, and nothing is sorted. A row costs a look at each column,
so it must have enough products.
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

BYTES = 36 << 10  # of shared memory, a block: six blocks fit a multiprocessor
COLUMNS = 32  # looking at so many columns costs as much as a product in a hash table
_LOOKS = 2  # searches of a row of B for a part's columns that cost as much as a product
_LARGEST = 4  # a block adds as many times the products that it would put into a map, in the same time


@dataclass(frozen=True)
class Sums:
    """How the sums of one product are stored.

    Attributes
    ----------
    counts : bool
        Whether each sum is the number of its products, which 32 bits hold.
    ctype : str
        The type of a sum.
    width : int
        The columns whose sums, or presence bits where there are no values, fit a block.
    """

    counts: bool
    ctype: str
    width: int

    @classmethod
    def of(cls, semiring: Any, values: bool, a: Rows) -> Sums:
        """Return those of a semiring."""
        counts = values and _counts(semiring) and a.ncols < 2**32
        kind = semiring.return_type
        bits = 32 if counts else 1 + 8 * kind.np_type.itemsize * values
        return cls(counts, "u32" if counts else kind.ctype, BYTES * 8 // bits // 32 * 32)

    def prelude(self) -> str:
        """Return the prelude of spgemm_dense_fill.cu beside the semiring's."""
        return f"{typedefs(Sum=self.ctype)}\n{flags(COUNTS=self.counts)}\nconstexpr u32 WIDTH = {self.width};"

    def parts(self, b: Rows) -> int:
        """Return the number of parts of B's columns."""
        return -(-b.ncols // self.width)


def _counts(semiring: Any) -> bool:
    """Return whether products are 1 and are added up exactly: FP32 holds no numbers above 2^24."""
    kind = semiring.return_type
    if semiring.reads & set("xyijk") or semiring.monoid.name != "plus" or kind.is_bool:
        return False
    if semiring.monoid.op.user_function is not None or not (kind.is_integer or kind.np_type == np.float64):
        return False
    one = np.ones(1, semiring.type.np_type)
    return bool(np.asarray(semiring.binaryop.numpy(one, one)).ravel()[0] == 1)


def chosen(a: Rows, b: Rows, products: Any, few: int, sums: Sums) -> Any:
    """Return which rows of the product are computed so, as an array of bool; `products`: of each row.

    `few`: the products of a row up to which a warp's hash table takes it. Rows of B are read once for each part.
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
    """The rows of a product that are computed so, once their entries are counted.

    Attributes
    ----------
    rows : array of uint64 on the device
        Those of most products first, as the last ones decide when all blocks are done.
    found : array of uint32 on the device, shape (rows, parts)
        The entries of each row in each part of the columns.
    """

    a: Rows
    b: Rows
    sums: Sums
    rows: Any
    found: Any

    @classmethod
    def counted(cls, a: Rows, b: Rows, sums: Sums, chosen: Any, products: Any, marking: str) -> DenseRows:
        """Count entries; `marking`: the prelude of spgemm_count.cu."""
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
        """Return which of all rows these are, as an array of bool."""
        there = cuda.current().xp.zeros(nrows, bool)
        there[self.rows.astype(np.int64)] = True
        return there

    def counts(self) -> Any:
        """Return the entries of each row."""
        return self.found.sum(axis=1, dtype=np.int64)

    def fill(self, first: int, last: int, offsets: Any, names: Any, adding: str, ids: Any, values: Any) -> None:
        """Write those rows that are among first .. last-1 of the product.

        Parameters
        ----------
        offsets : array of int64 on the device
            Of the product's rows.
        names : device array or 0
            The columns that B's ids stand for.
        adding : str
            The prelude of spgemm_fill.cu; `values` 0: all are equal.
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
