"""Presence words on the device: counts, positions, and words made of positions or values (presence_words.cu).

Bit i of word k, in an array of uint32, is set if a vector has entry 32 k + i.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.device.launcher import Launcher
from sparsezc.engines.gpu.runtime import codegen
from sparsezc.engines.gpu.runtime.launch import blocks
from sparsezc.semirings.types.datatypes import DataType

_SAMPLE = 1 << 16  # words that an estimate reads


def _kernel(name: str) -> Launcher:
    return codegen.kernel(cuda.current(), "presence_words.cu", "", name)


def count(bits: Any) -> int:
    """Return the number of bits that are set. Waits for the device."""
    gpu = cuda.current()
    total = gpu.xp.zeros(1, np.uint64)
    _kernel("count").launch(blocks(gpu, bits.size), nwords=bits.size, bits=bits, total=total)
    return int(gpu.asnumpy(total)[0])


def nonzero(values: Any, bits: Any, dtype: DataType, size: int) -> Any:
    """Return presence words of a vector's entries that are not zero; `bits`: its own, 0 if it is full."""
    gpu = cuda.current()
    out = gpu.xp.empty(-(-size // 32), np.uint32)
    kernel = codegen.kernel(gpu, "value_mask.cu", codegen.typedefs(X=dtype), "truth")
    kernel.launch(blocks(gpu, size), size=size, x=values, x_bits=bits, bits=out)
    return out


def count_frontier(bits: Any, size: int, indptr: Any) -> tuple[int, int]:
    """Return the number of rows whose bits are set, and of their entries. Waits for the device."""
    gpu = cuda.current()
    totals = gpu.xp.zeros(2, np.uint64)
    _kernel("frontier").launch(blocks(gpu, size), size=size, bits=bits, indptr=indptr, totals=totals)
    rows, entries = gpu.asnumpy(totals).tolist()
    return rows, entries


def count_wanted(indptr: Any, nrows: int, mask: Any, flip: int) -> tuple[int, int, int]:
    """Count the rows that a mask allows, the entries among the first 32 of each, and all their entries.

    With more than `_SAMPLE` words of rows the counts are estimates from every n-th word. Waits for the device.
    """
    gpu = cuda.current()
    step = max(1, nrows // 32 // _SAMPLE)
    totals = gpu.xp.zeros(3, np.uint64)
    _kernel("wanted").launch(
        blocks(gpu, nrows // step), nrows=nrows, indptr=indptr, mask=mask, flip=flip, step=step, totals=totals
    )
    rows, first, entries = (n * step for n in gpu.asnumpy(totals).tolist())
    return rows, first, entries


def popcounts(bits: Any) -> Any:
    """Return the number of bits that are set in each word (int64)."""
    gpu = cuda.current()
    counts = gpu.xp.empty(bits.size, np.int64)
    _kernel("popcounts").launch(blocks(gpu, bits.size), nwords=bits.size, bits=bits, counts=counts)
    return counts


def positions(bits: Any, size: int) -> Any:
    """Return the positions (int64, ascending) of the bits that are set."""
    gpu = cuda.current()
    xp = gpu.xp
    counts = popcounts(bits)
    before = xp.cumsum(counts)
    at = xp.empty(int(before[-1]) if bits.size else 0, np.int64)
    if at.size:
        _kernel("positions").launch(blocks(gpu, size), nwords=bits.size, bits=bits, before=before - counts, at=at)
    return at


def mark(positions: Any, size: int) -> Any:
    """Return presence words with the bits of `positions` (u64, on the device) set."""
    gpu = cuda.current()
    bits = gpu.xp.zeros(-(-size // 32), np.uint32)
    if positions.size:
        _kernel("mark").launch(blocks(gpu, positions.size), count=positions.size, index=positions, bits=bits)
    return bits


def full(size: int) -> Any:
    """Return presence words of which every bit below `size` is set."""
    bits = cuda.current().xp.full(-(-size // 32), 2**32 - 1, np.uint32)
    if size % 32:
        bits[-1] = 2 ** (size % 32) - 1
    return bits


def clear(bits: Any, number: Any) -> None:
    """Clear presence words, if given, and add one to a number on the device, unless it is 0 (null)."""
    gpu = cuda.current()
    nwords = 0 if bits is None else bits.size
    _kernel("turn").launch(blocks(gpu, nwords), nwords=nwords, bits=0 if bits is None else bits, number=number)
