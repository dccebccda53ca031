"""How many rows a warp reads together: one, as EMOGI does, or the 32 of a presence word (kernels/rows.cuh).

Where rows are long, a slice of 32 entries seldom holds two of them, so reading rows together saves nothing, and one row
a warp spreads the work over 32 times as many warps. Where rows are short, 32 of them share their requests.
"""

from __future__ import annotations

from sparsezc.config import config
from sparsezc.engines.gpu.stores import Rows

_LONG_ROWS = 256  # entries of a row on average, from which one row a warp was measured to be no slower
_PIECE = 512  # entries that a warp takes at least, on average, so that the counter of work is asked seldom


def choose(rows: Rows) -> int:
    """Return 1 or 32: ``gb.config.rows_per_warp``, or by the mean length of a row where that is "auto"."""
    if config.rows_per_warp != "auto":
        return config.rows_per_warp
    return 1 if rows.nvals >= _LONG_ROWS * rows.nrows else 32


def most_rows(rows: Rows) -> int:
    """Return how many rows, one after another, a warp takes at once where it reads one at a time."""
    return max(1, min(32, _PIECE * rows.nrows // max(rows.nvals, 1)))
