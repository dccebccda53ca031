"""Entries of which some stay (filter.cu): presence words say which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.runtime.codegen import typedefs
from sparsezc.semirings.types.datatypes import DataType


@dataclass(frozen=True)
class Kept:
    """Which of `nvals` entries stay: `bits`, 32 a word; `before`: how many stay before each word, and in the end."""

    nvals: int
    bits: Any
    before: Any

    @classmethod
    def of(cls, nvals: int, bits: Any) -> Kept:
        """From presence words."""
        xp = cuda.current().xp
        before = xp.zeros(-(-nvals // 32) + 1, np.int64)
        xp.cumsum(launch.popcounts(bits), out=before[1:])
        return cls(nvals, bits, before)

    def count(self) -> int:
        """How many stay. Waits for the device."""
        return int(self.before[-1])

    def move(self, ids: Any, values: Any, to_ids: Any, to_values: Any, wide: bool, dtype: DataType) -> None:
        """Move what stays to other arrays (or pointers); values may be 0: there are none to move.

        `wide`: ids take 8 bytes; `dtype`: of the values.
        """
        if self.nvals:
            types = "u64" if wide else "u32", launch.BY_SIZE[dtype.np_type.itemsize]
            arguments = np.uint64(self.nvals), self.bits, self.before, ids, values, to_ids, to_values
            _launch("move", self.nvals, arguments, *types)

    def offsets(self, indptr: Any) -> Any:
        """Where rows begin among what stays; `indptr`: where they began."""
        moved = cuda.current().xp.empty(indptr.size, np.int64)
        _launch("offsets", indptr.size, (np.uint64(indptr.size - 1), indptr, self.bits, self.before, moved))
        return moved


def _launch(name: str, work: int, arguments: tuple[Any, ...], ids: str = "u32", values: str = "u8") -> None:
    gpu = cuda.current()
    kernel = codegen.kernel(gpu, "filter.cu", typedefs(Id=ids, A=values), name)
    kernel(launch.blocks(gpu, work), launch.THREADS, arguments)
