"""The cutting of rows that are longer than a row block, at the same columns in several matrices."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import gather_scatter
from sparsezc.engines.gpu.storage import row_blocks
from sparsezc.engines.gpu.storage.matrix_store import Rows


def by_columns(sides: Sequence[Rows]) -> row_blocks.Cut:
    """Return a cut of a row at the same columns of all matrices; a part is start and stop in each matrix in turn."""

    def cut(row: int, limit: int) -> list[tuple[int, ...]]:
        xp = cuda.current().xp
        step = max(1, limit // len(sides))
        ends = [rows.ends(row, row + 1) for rows in sides]
        # Between two of these columns each matrix has at most `step` entries.
        sampled = [_ids(rows, xp.arange(start, stop, step)) for rows, (start, stop) in zip(sides, ends, strict=True)]
        columns = xp.unique(xp.concatenate(sampled))[1:]
        bounds = []
        for rows, (start, stop) in zip(sides, ends, strict=True):
            inner = cuda.current().asnumpy(_not_below(rows, start, stop, columns)).tolist()
            bounds.append([start, *inner, stop])
        return [tuple(at for side in part for at in side) for part in zip(*map(pairwise, bounds), strict=True)]

    return cut


def _ids(rows: Rows, at: Any) -> Any:
    """Return the ids of the entries at these positions."""
    return gather_scatter.gather(rows.indices, at).astype(np.uint64)


def _not_below(rows: Rows, start: int, stop: int, columns: Any) -> Any:
    """Return, for each of `columns`, the row's first entry whose id is not below it, by bisection for all at once."""
    xp = cuda.current().xp
    low, high = xp.full(columns.size, start, np.int64), xp.full(columns.size, stop, np.int64)
    if start == stop:
        return low
    for _ in range(int(stop - start).bit_length()):
        middle = (low + high) // 2
        below = (low < high) & (_ids(rows, middle.clip(start, stop - 1)) < columns)
        low, high = xp.where(below, middle + 1, low), xp.where(below, high, middle)
    return low
