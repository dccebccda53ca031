"""Masks and outputs as kernel arguments: those behind ``struct Output`` of write.cuh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import groups, presence_words
from sparsezc.engines.gpu.storage.matrix_store import VectorStore
from sparsezc.expr.dispatch import Write

_FLIP = 0xFFFFFFFF


@dataclass(frozen=True)
class MaskBits:
    """Presence words of the entries that a mask lets through, before `flip`; `bits` 0: no mask."""

    bits: Any = 0
    flip: int = 0

    @property
    def allows_all(self) -> bool:
        return isinstance(self.bits, int)

    def arguments(self) -> groups.Mask:
        return groups.Mask(self.bits, self.flip)


_EVERYWHERE = MaskBits()
#: Every entry of a result is written.
ALL: Write[MaskBits] = Write(_EVERYWHERE, None, False)


def in_bits(write: Write[Any]) -> Write[MaskBits]:
    """Return the write options of a vector, with the mask as presence words."""
    mask, accum, replace = write
    return Write(_EVERYWHERE if mask is None else bits_of(mask, mask.parent._store), accum, replace)


def bits_of(kind: Any, store: VectorStore) -> MaskBits:
    """Return the bits of a vector as a mask; `kind` says whether values count and whether it is complemented."""
    if store.bits is None:
        store.make()
    bits = store.bits if kind.structure else presence_words.nonzero(*store.operands(), store.dtype, store.size)
    return MaskBits(bits, _FLIP if kind.complement else 0)


class Out:
    """An output vector for one kernel call: its arrays before and after.

    Results are written in place, unless a kernel still reads the old content at other positions (`apart`): then they
    are written to new arrays, which :meth:`done` makes the vector's own.
    """

    def __init__(self, store: VectorStore, *, apart: bool) -> None:
        self.store = store
        bits = store.bits
        self.was_empty = bits is None or store.count == 0
        self.old_values: Any = 0 if self.was_empty else store.values
        self.old_bits: Any = 0 if self.was_empty else bits
        if bits is None or apart:
            xp = cuda.current().xp
            self.values = xp.empty(store.size, store.dtype.np_type)
            self.bits = xp.empty(store.nwords, np.uint32)
        else:
            self.values, self.bits = store.values, bits
            store.neutral = None  # a kernel may leave any value at absent positions

    def arguments(self, mask: MaskBits, replace: bool) -> groups.Output:
        """Return the kernel arguments of the write rule for this vector."""
        return groups.Output(
            self.values, self.bits, self.old_values, self.old_bits, mask.bits, mask.flip, 1 if replace else 0
        )

    def done(self, count: int | None = None) -> None:
        self.store.set(self.values, self.bits, count)
