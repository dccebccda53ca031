"""Launches of pulls that are kept for reuse: a repeated product needs no plan, only its own vectors and mask.

What a plan depends on besides the rows, which never change, is a key of few facts and settings. Only pulls whose plan
follows from the key alone are kept (``repeats`` of products/plan.py): none that counts entries first, and none that a
layout serves or counts, as the layout may be built or dropped before the next product.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sparsezc import stats
from sparsezc.config import config
from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime.engine_state import ENGINE_STATE
from sparsezc.engines.gpu.runtime.groups import PullAgain
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import MaskBits, VectorStore
from sparsezc.expr.dispatch import Write

_MOST = 64  # launches of some rows: a program may define operators without limit


class Pull(NamedTuple):
    """The launch of a pull over all rows, but for its vectors.

    Attributes
    ----------
    launch : callable
        It takes the arguments that change.
    shares : bool
        Warps take rows by a counter, which each launch has zeros for.
    reads_vector : bool
        Values of the vector are read, not only which it has.
    """

    launch: Callable[[PullAgain], None]
    shares: bool
    reads_vector: bool

    def again(self, vector: VectorStore, out: VectorStore, write: Write[MaskBits]) -> None:
        """Launch it for other vectors, or the same; `out` has arrays and is not `vector`."""
        (mask, flip), accum, replace = write
        values, bits, count = out.values, out.bits, out.count
        x, x_bits = vector.operands() if self.reads_vector else (0, vector.presence())
        old_w, old_bits = (0, 0) if count == 0 else (values, bits)
        counters = cuda.current().xp.zeros(2, np.uint64) if self.shares else 0
        self.launch(PullAgain(x, x_bits, values, bits, old_w, old_bits, mask, flip, 1 if replace else 0, counters))
        out.written(count if count == out.size and accum is not None and not replace else None)


class KeptPulls(dict[tuple[Any, ...], Pull]):
    """Layout: the launches of pulls over some rows, by their keys."""

    nbytes = 0  # they hold no memory beside the rows

    @staticmethod
    def key(
        matrix: MatrixStore, columns: Rows | None, vector: VectorStore, semiring: Any, out: VectorStore,
        write: Write[MaskBits], vector_left: bool,
    ) -> tuple[Any, ...] | None:  # fmt: skip
        """Return the other facts on which the plan of a pull over some rows depends; None if they are not all known.

        `columns`: the rows of the transpose, if there are any.
        """
        count, full = vector.count, vector.count == vector.size
        if not full and (columns is not None or count == 0):  # a push may read less
            return None
        (mask, _), accum, _ = write
        if out.bits is None or vector is out or mask is out.bits:  # the result is written to arrays of its own
            return None
        if stats.collecting is not None or ENGINE_STATE.pool is not None:
            return None
        gpu = cuda.current()
        return (
            semiring, vector_left, matrix.dtype, vector.dtype, full, columns is None, accum, out.dtype,
            type(mask) is int, config.packing, config.rows_per_warp, gpu.multiprocessors, gpu.cache_bytes,
        )  # fmt: skip

    def keep(self, key: tuple[Any, ...], pull: Pull) -> None:
        """Keep a launch whose plan repeats."""
        if len(self) >= _MOST:
            self.clear()
        self[key] = pull

    def drop(self) -> None:
        self.clear()
