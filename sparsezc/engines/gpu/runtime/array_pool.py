"""The array pool of recorded rounds: arrays that a vector no longer uses, for the results of later rounds.

Recorded rounds (graph_replay.py) run again with the addresses that their kernels were given. Arrays that a vector no
longer uses must therefore stay allocated, and later results must reuse them: after two rounds each has its role again.

A recording makes an :class:`ArrayPool`, which serves the statements of its rounds, and keeps it until the last replay
has ended. A vector store owns its arrays and records their content at absent positions (``VectorStore.neutral``); it
gives them to the pool when it is given others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import codegen, launch, presence_words
from sparsezc.engines.gpu.runtime.engine_state import ENGINE_STATE
from sparsezc.semirings.types.datatypes import DataType


@dataclass(frozen=True)
class DeviceScalar:
    """A number in device memory that kernels read: an array of one element."""

    array: Any
    dtype: DataType


@dataclass(eq=False)
class _Arrays:
    """The former arrays of a vector."""

    values: Any
    bits: Any
    neutral: Any  # the monoid whose neutral value is at all absent positions; None: values there are undefined
    is_clear: bool = False  # all presence words are 0


class ArrayPool:
    """The arrays of one recording's vectors, and all other objects whose addresses its kernels have."""

    def __init__(self) -> None:
        self._arrays: list[_Arrays] = []
        self._held: list[Any] = []

    def hold(self, x: Any) -> None:
        """Keep an object alive whose address a kernel was given."""
        self._held.append(x)

    def give(self, values: Any, bits: Any, neutral: Any) -> None:
        """Add a vector's former arrays to the pool."""
        self._arrays.append(_Arrays(values, bits, neutral))

    def take(self, size: int, dtype: DataType, neutral: Any) -> tuple[Any, Any] | None:
        """Return cleared arrays of this size and type, filled with `neutral`'s value if given; None if none exist."""
        fits = [x for x in self._arrays if x.is_clear and x.values.size == size and x.values.dtype == dtype.np_type]
        if not fits:
            return None
        found = next((x for x in fits if x.neutral is neutral), fits[0])
        self._arrays.remove(found)
        if neutral is not None and found.neutral is not neutral:
            found.values.fill(codegen.neutral(neutral))
        return found.values, found.bits

    def next_round(self, number: DeviceScalar) -> None:
        """Add one to `number`, and clear the arrays that the next round may reuse, if possible by one kernel."""
        gpu = cuda.current()
        counter = number.array
        for arrays in self._arrays:
            if arrays.is_clear:
                continue
            size, bits = arrays.bits.size, arrays.bits
            if arrays.neutral is None:
                presence_words.clear(bits, counter)
            else:
                prelude = f"{codegen.typedefs(Z=arrays.neutral.type)}\n{codegen.monoid(arrays.neutral)}"
                kernel = codegen.kernel(gpu, "neutral.cu", prelude, "neutral")
                kernel.launch(launch.blocks(gpu, size), nwords=size, bits=bits, values=arrays.values, number=counter)
            arrays.is_clear, counter = True, 0
        if not isinstance(counter, int):
            presence_words.clear(None, counter)


def allocate(size: int, dtype: DataType, neutral: Any = None) -> tuple[Any, Any]:
    """Return values (undefined, or a monoid's neutral value everywhere) and presence words without entries."""
    if (pool := ENGINE_STATE.pool) is not None and (found := pool.take(size, dtype, neutral)) is not None:
        return found
    xp = cuda.current().xp
    values = xp.empty(size, dtype.np_type)
    if neutral is not None:
        values.fill(codegen.neutral(neutral))
    return values, xp.zeros(-(-size // 32), np.uint32)
