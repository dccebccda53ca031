"""A matrix's rows in groups, each group's entries sorted by column, for vectors larger than the card's cache.

In a product with a full vector each entry asks the cache for a value of the vector, and these requests are all that it
waits for. Rows of about the same length are a group, whose entries are sorted by column, with the columns numbered by
descending length (hub_columns.py): then neighbouring entries read neighbouring values, and a warp's 32 entries need few
requests. The rows' sums are in shared memory meanwhile (row_groups.cu). The entries take the memory of a copy of the
ids, which is dropped when memory runs short; sorting them takes five times as much for a moment.
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
from sparsezc.engines.gpu.runtime import array_pool, codegen, launch, presence_words
from sparsezc.engines.gpu.storage.layout import BuiltAfter, Demand
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.memory import budget
from sparsezc.semirings.types.datatypes import INT64

_PRODUCTS = 20  # sorting takes as long as some twenty products, of which each later one saves about half
_SUMS = 256  # rows of a group, at most: those of row_groups.cu
_MOST, _FEWEST = 8, 5  # bits of a row's place in its group
_ITEM = 1 << 14  # entries that a warp takes at once, about
_SORTING = 5  # times the memory of the ids


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows in groups (arguments of row_groups.cu).

    Attributes
    ----------
    words : array of uint32, shape (nvals,)
    begins, group : arrays of uint64 and uint32
        The first entry of each item, and the end; the group of each.
    first : array of uint32
        The first item of each group, and the end.
    places : array of uint32
        The rows that have entries, by descending length.
    bits : array of uint32
        Presence words of these rows.
    several : tuple of int
        The groups of several items, which are the first, and their items.
    tag_bits : int
        The bits of a row's place in its group.
    """

    words: Any
    begins: Any
    group: Any
    first: Any
    places: Any
    bits: Any
    several: tuple[int, int]
    tag_bits: int

    @property
    def nbytes(self) -> int:
        arrays = self.words, self.begins, self.group, self.first, self.places, self.bits
        return sum(int(array.nbytes) for array in arrays)

    def sums(self, kernel: Launcher, vector: VectorStore, values: Any, result: VectorStore) -> None:
        """Compute the product of all rows and a vector in the columns' order, into a vector without entries."""
        gpu, (groups, items), count = cuda.current(), self.several, int(self.group.size)
        xp, dtype = gpu.xp, result.dtype.np_type
        w, partial, arrived = xp.empty(result.size, dtype), xp.empty(items * _SUMS, dtype), xp.zeros(groups, np.uint32)
        stats.counted(kernel, near=True)(
            launch.blocks(gpu, 32 * count), count=count, begins=self.begins, group=self.group, first=self.first,
            words=self.words, values=values, x=vector.operands()[0], tag_bits=self.tag_bits, places=self.places,
            size=self.places.size, partial=partial, arrived=arrived, w=w, counter=xp.zeros(1, np.uint64),
        )  # fmt: skip
        result.set(w, self.bits.copy(), int(self.places.size))


class RowGroups(BuiltAfter[Groups]):
    """Layout: rows in groups whose entries are sorted by column.

    Attributes
    ----------
    built : Groups or None
    products : float
        Counts products that hub columns serve and that read no values; -inf where columns have too many numbers.
    """

    def __init__(self) -> None:
        super().__init__(_PRODUCTS)

    def get_or_build(self, rows: Rows, demand: Demand) -> Groups | None:
        """Return the groups for a product with a full vector that hub columns serve, or None."""
        if demand.values or array_pool.serving() is not None:
            return None
        if self.built is None and self.is_worth(rows, demand):
            self.build(rows, demand)
        return self.built

    def is_worth(self, rows: Rows, demand: Demand) -> bool:
        self.products += 1
        if self.products <= self.after:
            return False
        if _tag_bits(rows) < _FEWEST:
            self.products = -math.inf
            return False
        return _SORTING * rows.indices.nbytes <= budget.available() // 2

    def build(self, rows: Rows, demand: Demand) -> None:
        try:
            self.built = _grouped(rows)
        except MemoryError:  # less memory is free than the driver reported
            self.pause()
            return
        budget.register_cache(self)


def _tag_bits(rows: Rows) -> int:
    hubs = rows.layouts[HubColumns].built
    used = rows.ncols if hubs is None or hubs.rows is None else hubs.columns.size
    return min(_MOST, 32 - max(used - 1, 1).bit_length())


def _grouped(rows: Rows) -> Groups:
    gpu = cuda.current()
    xp, hubs, tag_bits = gpu.xp, rows.layouts[HubColumns].built, _tag_bits(rows)
    lengths = rows.indptr[1:] - rows.indptr[:-1]
    order = xp.argsort(-lengths, kind="stable")
    places = xp.empty(rows.nrows, np.uint32)
    places[order] = xp.arange(rows.nrows, dtype=np.uint32)
    keys = xp.empty(rows.nvals, np.uint64)
    numbered = rows if hubs is None or hubs.rows is None else hubs.rows
    codegen.kernel(gpu, "entry_keys.cu", "", "entry_keys").launch(
        launch.blocks(gpu, rows.nrows), nrows=rows.nrows, indptr=rows.indptr, indices=numbered.arguments.indices,
        places=places, tag_bits=tag_bits, keys=keys, counter=xp.zeros(1, np.uint64),
    )  # fmt: skip
    keys.sort()
    descending = lengths[order]
    used = int(xp.searchsorted(-descending, xp.zeros(1, np.int64), side="left")[0])
    last = np.minimum(np.arange(1, -(-used // (1 << tag_bits)) + 1) << tag_bits, used) - 1
    ends = gpu.asnumpy(xp.cumsum(descending)[xp.asarray(last)])
    begins, group, first = _items(ends)
    several = int(np.count_nonzero(np.diff(first) > 1))
    return Groups(
        words=keys.astype(np.uint32),
        begins=xp.asarray(begins),
        group=xp.asarray(group),
        first=xp.asarray(first),
        places=order[:used].astype(np.uint32),
        bits=presence_words.nonzero(lengths, 0, INT64, rows.nrows),
        several=(several, int(first[several])),
        tag_bits=tag_bits,
    )


def _items(ends: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
    """Cut groups, which end at these entries, into items: `begins`, `group`, `first`."""
    starts = np.append(0, ends[:-1])
    items = -(-(ends - starts) // _ITEM)
    first = np.append(0, np.cumsum(items))
    group = np.repeat(np.arange(ends.size), items)
    step = -(-(ends - starts) // (32 * items)) * 32
    begins = np.minimum(starts[group] + (np.arange(group.size) - first[group]) * step[group], ends[group])
    return np.append(begins, ends[-1]).astype(np.uint64), group.astype(np.uint32), first.astype(np.uint32)
