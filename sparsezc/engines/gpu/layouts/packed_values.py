"""Packed values: ids and small whole values in one word, for products that read both over the link (packed_values.cu).

A row's ids and its values are separate requests, and the cost of a scattered row is its number of requests. With 2^24
columns an id leaves 8 bits: enough for the values 0 to 255, whatever their type. The packed words are a third array
beside the ids and the values, in the same placement; ``gb.config.packing`` turns packing on and off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsezc.config import config
from sparsezc.device import cuda
from sparsezc.engines.gpu.layouts.pull_cache import KeptPulls
from sparsezc.engines.gpu.placements import Wholes
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.runtime.engine_state import ENGINE_STATE
from sparsezc.engines.gpu.storage.layout import Demand
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.memory import Buffer, allocate
from sparsezc.memory.placement import RECORDS
from sparsezc.semirings.types.datatypes import DataType

_MOST_COLUMNS = 1 << 31  # with more columns an id leaves no bit for a value
_PASSES = 2  # cost of building in reads of all ids and values: these are read, and about as many bytes are written


@dataclass(frozen=True)
class Packed:
    """Packed entries: `words` has the id in the low `bits`, the value above; None if nothing is packed."""

    bits: int
    words: Buffer | None


NOT_PACKED = Packed(0, None)


class PackedValues:
    """Layout: ids and values in one word.

    Attributes
    ----------
    built : Packed or None
        The words; ``NOT_PACKED`` if values do not fit or host memory is short, and building is not tried again.
    read : int
        The number of entries that products have read as ids and values apart, or would have without the words.
    """

    def __init__(self) -> None:
        self.built: Packed | None = None
        self.read = 0
        # The launch parts and kept launches that contain the address of the words, dropped with them.
        self._launched, self._kept = Wholes(), KeptPulls()

    def get_or_build(self, rows: Rows, demand: Demand) -> Packed:
        """Return the packed entries for a product that reads ids and values; ``NOT_PACKED`` while there are none.

        Built words are returned whatever the settings; the caller checks whether ``packing`` is "off".
        """
        if not are_wanted(rows):
            return NOT_PACKED
        if self.built is None and self.is_worth(rows, demand):
            self.build(rows, demand)
        return self.built or NOT_PACKED

    def is_worth(self, rows: Rows, demand: Demand) -> bool:
        """Return True with ``packing="on"``; with "auto" once products have read as much as building costs."""
        if demand.dtype.is_complex or ENGINE_STATE.pool is not None:
            return False
        self.count(int(demand.entries))
        return config.packing != "auto" or self._has_paid(rows)

    def count(self, entries: int) -> None:
        """Add to `read` the entries that products read, or would read without the words."""
        self.read += entries

    def is_due(self, rows: Rows) -> bool:
        """Return whether the next product tries to build the words."""
        return self.built is None and self._has_paid(rows) and are_wanted(rows)

    def _has_paid(self, rows: Rows) -> bool:
        return self.read >= _PASSES * rows.nvals

    def build(self, rows: Rows, demand: Demand) -> None:
        self.drop()
        self._launched, self._kept = rows.layouts[Wholes], rows.layouts[KeptPulls]
        self.built = _make(rows, demand.dtype, _bits(rows))

    @property
    def nbytes(self) -> int:
        """Return the bytes of the words, which have the placement of the ids: mostly host memory."""
        return 0 if self.built is None or self.built.words is None else self.built.words.nbytes

    def drop(self) -> None:
        self.built = None
        self._launched.pop(False, None)
        self._kept.drop()


def are_wanted(rows: Rows) -> bool:
    """Return whether the settings, the placement and the width of ids allow packed words."""
    if config.packing == "off" or (config.packing == "auto" and not RECORDS[rows.indices.placement].in_place):
        return False
    return not (rows.iso or rows.wide or rows.compressed) and rows.ncols <= _MOST_COLUMNS and rows.nvals > 0


def _bits(rows: Rows) -> int:
    """Return the number of bits of an id."""
    return max(1, (rows.ncols - 1).bit_length())


def _make(rows: Rows, dtype: DataType, bits: int) -> Packed:
    gpu = cuda.current()
    try:
        words = allocate(rows.indices.placement, rows.nvals, np.uint32)
    except MemoryError:
        return NOT_PACKED
    kernel = codegen.kernel(gpu, "packed_values.cu", codegen.typedefs(A=dtype), "pack")
    unfit = gpu.xp.zeros(1, np.uint32)
    kernel.launch(
        launch.blocks(gpu, rows.nvals), nvals=rows.nvals, indices=rows.indices.pointer, values=rows.values.pointer,
        bits=bits, most=_most(dtype, bits), out=words.pointer, unfit=unfit,
    )  # fmt: skip
    return NOT_PACKED if int(gpu.asnumpy(unfit)[0]) else Packed(bits, words)


def _most(dtype: DataType, bits: int) -> int:
    """Return the largest value that fits in the bits beside an id and that the type represents exactly."""
    most: int = 2 ** (32 - bits) - 1
    if dtype.is_bool:
        return 1
    return min(most, np.iinfo(dtype.np_type).max if dtype.is_integer else 2**24)
