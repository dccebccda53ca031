"""How many rows a warp reads together: one, as EMOGI's warps do, or the 32 of a presence word (rows.cuh).

Where rows are short, 32 of them share their requests. Where rows are long this saves nothing, and a warp with 32 rows
reads as many slices one after another as a row has entries, while warps of the device that got no word of rows are
idle: one row a warp then takes as little as a fifth of the time (``python -m benchmarks.rows_per_warp``).
"""

from __future__ import annotations

from sparsezc.config import config
from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import launch
from sparsezc.engines.gpu.storage.matrix_store import Rows

_MIN_SLICES = 2400  # slices in series, over the share of warps that have them, from which one row was no slower
_MIN_ENTRIES = 1 << 18  # smaller matrices were not measured
_PIECE = 512  # entries that a warp takes at least, on average, so that the counter of work is asked seldom


def choose(rows: Rows) -> int:
    """Return 1 or 32: ``gb.config.rows_per_warp``, or what was measured to be no slower where that is "auto"."""
    if config.rows_per_warp != "auto":
        return config.rows_per_warp
    if rows.nvals < _MIN_ENTRIES:
        return 32
    words, mean = -(-rows.nrows // 32), rows.nvals / rows.nrows
    return 1 if mean * launch.most_warps(cuda.current()) >= _MIN_SLICES * words else 32


def most_rows(rows: Rows) -> int:
    """Return how many rows, one after another, a warp takes at once where it reads one at a time."""
    return max(1, min(32, _PIECE * rows.nrows // max(rows.nvals, 1)))
