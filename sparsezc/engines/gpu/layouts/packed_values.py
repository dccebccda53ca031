"""Ids and small whole values packed into one word, for products that read both over the link (packed_values.cu).

A row's ids and its values are separate requests, and what a scattered row costs are requests. With 2^24 columns an id
leaves 8 bits: enough for the lengths 0 to 255, whatever their type. The packed words are a third array beside the
ids and the values, in the same placement; ``gb.config.packing`` says whether it is made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparsezc.config import config
from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import array_pool, codegen, launch
from sparsezc.engines.gpu.storage.matrix_store import Rows
from sparsezc.memory import Buffer, allocate
from sparsezc.memory.placement import RECORDS
from sparsezc.semirings.types.datatypes import DataType

_PASSES = 2  # what making the words costs, in reads of all ids and values: it reads and writes as much


@dataclass(frozen=True)
class Packed:
    """`words`: id in the low `bits`, value above; None where nothing is packed."""

    bits: int
    words: Buffer | None


NOT_PACKED = Packed(0, None)


def of(rows: Rows, dtype: DataType, entries: int) -> Packed:
    """The packed entries of some rows, for a product that reads the ids and the values of so many.

    With ``packing="auto"`` they are made once products have read as much as making them does; never beyond the memory
    that there is.
    """
    if not _are_wanted(rows):
        return NOT_PACKED
    if rows.packed is not None:
        made: Packed = rows.packed
        return made
    if dtype.is_complex or array_pool.serving() is not None:
        return NOT_PACKED
    rows.multiplied += entries
    if config.packing == "auto" and not _has_paid(rows):
        return NOT_PACKED
    made = rows.packed = _make(rows, dtype, _bits(rows))
    return made


def is_due(rows: Rows) -> bool:
    """Whether products have read so much that the next one makes the words, or finds that there can be none."""
    return rows.packed is None and _has_paid(rows) and _are_wanted(rows)


def _has_paid(rows: Rows) -> bool:
    return rows.multiplied >= _PASSES * rows.nvals


def _are_wanted(rows: Rows) -> bool:
    """Whether the settings, the placement and the width of ids let there be any."""
    if config.packing == "off" or (config.packing == "auto" and not RECORDS[rows.indices.placement].in_place):
        return False
    return not (rows.iso or rows.wide or rows.compressed) and _bits(rows) <= 31 and rows.nvals > 0


def _bits(rows: Rows) -> int:
    """Of an id."""
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
    """The largest value that the bits beside an id hold, and the type too."""
    most: int = 2 ** (32 - bits) - 1
    if dtype.is_bool:
        return 1
    return min(most, np.iinfo(dtype.np_type).max if dtype.is_integer else 2**24)
