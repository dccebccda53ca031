"""The *halo* of a rank's rows: the positions of other ranks' ranges that they read. Once known, only those travel.

Each rank asks the owners once; the lists stay with the matrix until it changes. Packing takes time, so a halo is used
where all ranks together ask for less than a share of what they would receive, which the transport gives
(``packs_below``): 0 where neighbours' memory is read faster than values are packed.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.distributed.layout import ROWS

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine
    from sparsezc.engines.distributed.layout import Layout
    from sparsezc.engines.distributed.stores import Store

__all__ = ["Halo", "get_or_build"]

_PART = 1 << 24  # ids that are looked at together


class Halo(NamedTuple):
    """The positions that ranks asked each other for.

    Attributes
    ----------
    asked : array of int64
        Positions of the whole that this rank's rows read, ascending, none of them its own; in the engine's memory.
    given : array of int64
        Positions of this rank's range that the others read, by rank.
    sent, received : ndarray of int64, shape (ranks,)
        How many are of each rank.
    layout : Layout
        Of the vectors.
    """

    asked: Any
    given: Any
    sent: NDArray[np.int64]
    received: NDArray[np.int64]
    layout: Layout


def get_or_build(engine: DistributedEngine, matrix: Store, vector: Layout) -> Halo | None:
    """Return the halo of a matrix's rows; None where the whole vector should travel. A collective, at first use."""
    if not engine.transport.packs_below or matrix.layout.along != ROWS or vector.along != ROWS:
        return None
    if matrix.halo is None or matrix.halo[0] is not vector:
        matrix.halo = vector, _built(engine, matrix, vector)
    found: Halo | None = matrix.halo[1]
    return found


def _built(engine: DistributedEngine, matrix: Store, vector: Layout) -> Halo | None:
    n, size = int(vector.bounds[-1]), engine.size
    read = engine.as_local(np.zeros(n, np.bool_))
    parts = [matrix.local] if matrix.long is None else [matrix.local, matrix.long.local]
    for part in parts if not matrix.is_empty_range else parts[1:]:
        ids = part._to_csr().indices
        for first in range(0, ids.count, _PART):
            read[engine.as_local(ids.read(first, min(first + _PART, ids.count))).astype(np.int64)] = True
    read[vector.lo : vector.hi] = False
    asked = read.nonzero()[0]
    table = engine.transport.numbers(*(int(read[lo:hi].sum()) for lo, hi in pairwise(vector.bounds.tolist())))
    if int(table.sum()) >= engine.transport.packs_below * n * (size - 1):
        return None
    received, sent = table[engine.rank].copy(), table[:, engine.rank].copy()
    given = engine.transport.scatter(asked.astype(np.int64), received, sent) - vector.lo
    return Halo(asked, given, sent, received, vector)
