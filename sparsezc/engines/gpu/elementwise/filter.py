"""The compaction of entries whose presence bits are set (filter.cu)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.device.launcher import Launcher
from sparsezc.engines.gpu.runtime import codegen, launch, presence_words
from sparsezc.engines.gpu.runtime.codegen import typedefs
from sparsezc.semirings.types.datatypes import DataType


@dataclass(frozen=True)
class Kept:
    """The entries to keep of `nvals`: `bits`, 32 a word; `before`: the number kept before each word, then in all."""

    nvals: int
    bits: Any
    before: Any

    @classmethod
    def of(cls, nvals: int, bits: Any) -> Kept:
        """Return the entries to keep, given their presence words."""
        xp = cuda.current().xp
        before = xp.zeros(-(-nvals // 32) + 1, np.int64)
        xp.cumsum(presence_words.popcounts(bits), out=before[1:])
        return cls(nvals, bits, before)

    def count(self) -> int:
        """Return the number of entries to keep. Waits for the device."""
        return int(self.before[-1])

    def move(self, ids: Any, values: Any, to_ids: Any, to_values: Any, wide: bool, dtype: DataType) -> None:
        """Copy the kept entries to other arrays (or addresses), without gaps; `values` 0: there are no values to copy.

        `wide`: ids take 8 bytes; `dtype`: the type of the values.
        """
        if self.nvals:
            types = {"ids": "u64" if wide else "u32", "values": launch.BY_SIZE[dtype.np_type.itemsize]}
            _kernel("move", **types).launch(
                launch.blocks(cuda.current(), self.nvals), nvals=self.nvals, bits=self.bits, before=self.before,
                indices=ids, values=values, moved=to_ids, moved_values=to_values,
            )  # fmt: skip

    def offsets(self, indptr: Any) -> Any:
        """Return the row offsets of the kept entries; `indptr`: the row offsets of all entries."""
        gpu = cuda.current()
        moved = gpu.xp.empty(indptr.size, np.int64)
        _kernel("offsets").launch(
            launch.blocks(gpu, indptr.size),
            nrows=indptr.size - 1, indptr=indptr, bits=self.bits, before=self.before, moved=moved,
        )  # fmt: skip
        return moved


def _kernel(name: str, ids: str = "u32", values: str = "u8") -> Launcher:
    return codegen.kernel(cuda.current(), "filter.cu", typedefs(Id=ids, A=values), name)
