"""Rows in groups, the entries of each row group sorted by column, for vectors larger than the card's cache.

A product with a full vector reads a value of the vector from the cache for each entry, and waits for nothing else. 256
rows of about the same length are a row group, whose entries are sorted by column, with the columns numbered by
descending length (hub_columns.py): consecutive entries read neighbouring values, so a warp's 32 entries need few
requests. The rows' sums are kept in shared memory. The 32 entries of a slice are of 32 different rows, so that each
lane adds to a sum of its own (row_groups.cu); an entry whose row is in the slice already is put into a later one
(row_slices.cu). The entries take the memory of a copy of the ids, which is dropped when memory runs short; sorting
takes ten times as much while it runs. If a few rows of a group have most of its entries, slices would be nearly empty:
such a matrix is not grouped.
Source: A. Buluc, J. T. Fineman, M. Frigo, J. R. Gilbert, C. E. Leiserson, Parallel sparse matrix-vector and
matrix-transpose-vector multiplication using compressed sparse blocks, SPAA 2009, doi:10.1145/1583991.1584053 (blocks
whose entries name their rows by few bits).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.device.launcher import Launcher
from sparsezc.engines.gpu.layouts.hub_columns import HubColumns
from sparsezc.engines.gpu.runtime import codegen, launch, presence_words
from sparsezc.engines.gpu.runtime.engine_state import ENGINE_STATE
from sparsezc.engines.gpu.storage.layout import BuiltAfter, Demand
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.memory import budget
from sparsezc.semirings.types.datatypes import INT64, DataType

_PRODUCTS = 60  # products before building, which takes 53 ms on kron:24; each later product takes 0.9 ms less
_GROUP = 256  # rows of a group, as in row_groups.cuh
_MOST_COLUMNS = (1 << 24) - 1  # with entries: a word has 24 bits for the column, 8 for the row; all ones are no entry
_ITEM = 1 << 15  # entries that a warp takes at once, at most
_SORTING = 10  # times the memory of the ids that sorting takes
_MOST_WORDS = 1.5  # words an entry: with more, empty places cost more than grouping saves (kron:24 has 1.003)


@dataclass(frozen=True, eq=False)
class Groups:
    """The rows in groups, as arguments of row_groups.cu; a group is cut into items, each the work of a warp.

    Attributes
    ----------
    words : array of uint32, shape (slices, 32)
    begins, group : arrays of uint64 and uint32
        The first slice of each item, and the end of the last; the group of each item.
    first : array of uint32
        The first item of each group, and the end of the last.
    places : array of uint32
        The rows that have entries, by descending length.
    bits : array of uint32
        Presence words of these rows.
    several : tuple of int
        The number of groups that have several items, which are the first groups, and the number of their items.
    """

    words: Any
    begins: Any
    group: Any
    first: Any
    places: Any
    bits: Any
    several: tuple[int, int]

    @property
    def nbytes(self) -> int:
        arrays = self.words, self.begins, self.group, self.first, self.places, self.bits
        return sum(int(array.nbytes) for array in arrays)

    def product(
        self, kernels: tuple[Launcher, ...], vector: VectorStore, values: Any, sums: DataType, result: VectorStore
    ) -> None:
        """Compute the product of all rows and a vector in the columns' order into `result`, a vector without entries.

        `kernels`: row_groups and row_sums, compiled for sums of type `sums`.
        """
        gpu, (groups, items), count = cuda.current(), self.several, int(self.group.size)
        xp, size = gpu.xp, int(self.places.size)
        w, partial = xp.empty(result.size, result.dtype.np_type), xp.empty(items * _GROUP, sums.np_type)
        stats.counted(kernels[0], near=True)(
            launch.blocks(gpu, 32 * count), count=count, many=items, begins=self.begins, group=self.group,
            words=self.words, values=values, x=vector.operands()[0], places=self.places, size=size, partial=partial,
            w=w, counter=xp.zeros(1, np.uint64),
        )  # fmt: skip
        if groups:
            stats.counted(kernels[1], near=True)(
                launch.blocks(gpu, _GROUP // 32 * 256 * groups), count=groups, first=self.first, partial=partial,
                places=self.places, size=size, w=w,
            )  # fmt: skip
        result.set(w, self.bits.copy(), size)


class RowGroups(BuiltAfter[Groups]):
    """Layout: rows in groups whose entries are sorted by column.

    Attributes
    ----------
    built : Groups or None
    products : float
        The number of products that hub columns serve and that read no values; -inf if the matrix cannot be grouped.
    """

    def __init__(self) -> None:
        super().__init__(_PRODUCTS)

    def get_or_build(self, rows: Rows, demand: Demand) -> Groups | None:
        """Return the row groups for a product with a full vector that hub columns serve; None while there are none."""
        if demand.values or ENGINE_STATE.pool is not None:
            return None
        if self.built is None and self.is_worth(rows, demand):
            self.build(rows, demand)
        return self.built

    def is_worth(self, rows: Rows, demand: Demand) -> bool:
        if not self.count():
            return False
        hubs = rows.layouts[HubColumns].built
        if (rows.ncols if hubs is None or hubs.columns is None else hubs.columns.size) > _MOST_COLUMNS:
            self.products = -math.inf
            return False
        return _SORTING * rows.indices.nbytes <= budget.available() // 2

    def build(self, rows: Rows, demand: Demand) -> None:
        try:
            self.built = _grouped(rows)
        except MemoryError:  # less memory is free than the driver reported
            self.pause()
            return
        if self.built is None:
            self.products = -math.inf
            return
        budget.register_cache(self)


def _grouped(rows: Rows) -> Groups | None:
    """Return the rows in groups; None if there would be many more words than entries."""
    gpu = cuda.current()
    xp, hubs = gpu.xp, rows.layouts[HubColumns].built
    lengths = rows.indptr[1:] - rows.indptr[:-1]
    order = xp.argsort(-lengths, kind="stable")
    descending = lengths[order]
    used = int(xp.searchsorted(-descending, xp.zeros(1, np.int64), side="left")[0])
    last = np.minimum(np.arange(_GROUP, used + _GROUP, _GROUP), used) - 1
    begins, group, first = _items(gpu.asnumpy(xp.cumsum(descending)[xp.asarray(last)]))
    keys = _keys(rows if hubs is None or hubs.rows is None else hubs.rows, order)
    several = int(np.count_nonzero(np.diff(first) > 1))
    if (made := _slices(keys, begins)) is None:
        return None
    words, at = made
    return Groups(
        words=words,
        begins=at,
        group=xp.asarray(group),
        first=xp.asarray(first),
        places=order[:used].astype(np.uint32),
        bits=presence_words.nonzero(lengths, 0, INT64, rows.nrows),
        several=(several, int(first[several])),
    )


def _keys(rows: Rows, order: Any) -> Any:
    """Return the keys of all entries, sorted by row group, then column (entry_keys.cu)."""
    gpu = cuda.current()
    xp = gpu.xp
    places = xp.empty(rows.nrows, np.uint32)
    places[order] = xp.arange(rows.nrows, dtype=np.uint32)
    keys = xp.empty(rows.nvals, np.uint64)
    codegen.kernel(gpu, "entry_keys.cu", "", "entry_keys").launch(
        launch.blocks(gpu, rows.nrows), nrows=rows.nrows, indptr=rows.indptr, indices=rows.arguments.indices,
        places=places, keys=keys, counter=xp.zeros(1, np.uint64),
    )  # fmt: skip
    keys.sort()
    return keys


def _slices(keys: Any, begins: NDArray[np.uint64]) -> tuple[Any, Any] | None:
    """Return the words of all items and the bounds of their slices (row_slices.cu); None if words are too many."""
    gpu = cuda.current()
    xp, count = gpu.xp, begins.size - 1
    kernel, lengths = codegen.kernel(gpu, "row_slices.cu", "", "row_slices"), xp.empty(count, np.uint32)
    given: dict[str, Any] = {"count": count, "begins": xp.asarray(begins), "keys": keys}
    blocks = launch.blocks(gpu, 32 * count)
    kernel.launch(blocks, **given, slices=lengths, at=0, words=0, counter=xp.zeros(1, np.uint64))
    at = xp.zeros(count + 1, np.uint64)
    at[1:] = xp.cumsum(lengths.astype(np.uint64))
    slices = int(at[-1])
    if 32 * slices > _MOST_WORDS * keys.size + 32 * count:  # the last slice of an item may be partly empty
        return None
    words = xp.full((slices, 32), 0xFFFFFFFF, np.uint32)
    kernel.launch(blocks, **given, slices=0, at=at, words=words, counter=xp.zeros(1, np.uint64))
    return words, at


def _items(ends: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
    """Cut groups, which end at these entries, into items: their first entries, their groups, groups' first items."""
    starts = np.append(0, ends[:-1])
    items = -(-(ends - starts) // _ITEM)
    first = np.append(0, np.cumsum(items))
    group = np.repeat(np.arange(ends.size), items)
    step = -(-(ends - starts) // (32 * items)) * 32
    begins = np.minimum(starts[group] + (np.arange(group.size) - first[group]) * step[group], ends[group])
    return np.append(begins, ends[-1]).astype(np.uint64), group.astype(np.uint32), first.astype(np.uint32)
