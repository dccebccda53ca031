"""The number of rows that a warp reads together: one, or the 32 of a presence word (rows.cuh).

EMOGI's warps read one row each. If rows are short, 32 of them share their requests. If rows are long, sharing saves
nothing: a warp with 32 rows reads as many slices in series as its longest row has entries, while warps without rows are
idle. One row a warp then takes as little as an eighth of the time (``python -m benchmarks.rows_per_warp``). The setting
1 holds for every product: plan.py then uses no layout that reorders entries, and ``Rows.as_configured`` cuts no row
into chunks. "auto" cuts long rows with either number.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from sparsezc.config import config
from sparsezc.device import cuda
from sparsezc.device.protocol import Device
from sparsezc.engines.gpu.layouts import hub_columns
from sparsezc.engines.gpu.runtime import launch
from sparsezc.engines.gpu.storage.matrix_store import Rows

# Slices in series, divided by the share of busy warps, from which one row a warp was measured to be no slower.
_MIN_SLICES = 2400
_MIN_ENTRIES = 1 << 18  # entries of a matrix: with fewer, one row a warp was not measured
_PIECE = 512  # mean entries that a warp takes at once, at least: the shared work counter is then rarely contended
_WORDS_TO_SKIP = 16  # words of rows a warp: with fewer, skipping empty ones saves less than the extra request costs
_STAYING = 4  # least words that a warp of a persistent block takes: with one, kron:24 took 2.97 ms instead of 2.83


class Grid(NamedTuple):
    """The division of rows among the warps of a launch.

    Attributes
    ----------
    at_once : int
        The number of rows that a warp reads together: 1 or 32.
    blocks, warps : int
        The numbers of blocks and warps of the launch.
    most : int
        The most words of rows, or rows, that a warp takes at once.
    skips : bool
        A warp first determines which words of rows have entries.
    """

    at_once: int
    blocks: int
    warps: int
    most: int
    skips: bool


class Sizes(NamedTuple):
    """The sizes by which a grid is chosen: the numbers of rows, entries and row chunks."""

    nrows: int
    nvals: int
    nchunks: int


def choose(rows: Rows) -> int:
    """Return 1 or 32: ``gb.config.rows_per_warp`` or, if that is "auto", the faster number by measurements."""
    return _choose(cuda.current(), config.rows_per_warp, rows.nrows, rows.nvals)


def _choose(gpu: Device, setting: int | str, nrows: int, nvals: int) -> int:
    if isinstance(setting, int):
        return setting
    if nvals < _MIN_ENTRIES:
        return 32
    return 1 if nvals / nrows * launch.most_warps(gpu) >= _MIN_SLICES * -(-nrows // 32) else 32


@lru_cache(maxsize=1024)
def grid(
    gpu: Device, _multiprocessors: int, setting: int | str, sizes: Sizes, everything: bool, pulls: bool, looks: bool
) -> Grid:
    """Return the division of rows among warps; `setting`: that of ``gb.config.rows_per_warp``.

    `everything`: all rows are wanted; `looks`: a pull reads the row-head cache first.
    """
    nrows, nvals, nchunks = sizes
    at_once, nwords = _choose(gpu, setting, nrows, nvals), -(-nrows // 32)
    nblocks = launch.blocks(gpu, 32 * max(nwords * 32 // at_once, nchunks))
    warps = launch.warps(nblocks)
    skips = pulls and at_once == 32 and skips_words(nrows, nvals, warps)
    if skips:
        most = 32
    elif looks:
        most = 16
    elif at_once == 1:
        most = max(1, min(32, _PIECE * nrows // max(nvals, 1)))
    else:
        most = launch.words(nvals, nwords, everything)
    return Grid(at_once, nblocks, warps, most, skips)


def staying(grid: Grid, gpu: Device) -> Grid:
    """Return the grid with one persistent block a multiprocessor, which keeps hubs' values in shared memory."""
    most = max(grid.most, _STAYING) if grid.at_once == 32 else grid.most
    return grid._replace(blocks=gpu.multiprocessors, warps=gpu.multiprocessors * hub_columns.THREADS // 32, most=most)


def skips_words(nrows: int, nvals: int, warps: int) -> bool:
    """Return whether a pull first determines the words of rows with entries: there are many a warp, most are empty."""
    nwords = -(-nrows // 32)
    return nvals < 2 * nwords and nwords >= _WORDS_TO_SKIP * warps
