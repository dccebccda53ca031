"""The sizes of launches whose blocks wait for each other, of kernels that run whole loops (grid_sync.cuh)."""

from __future__ import annotations

from typing import NamedTuple

from sparsezc.device.launcher import Launcher
from sparsezc.engines.gpu.runtime import launch
from sparsezc.engines.gpu.storage.matrix_store import Rows

#: Numbers of 8 bytes by which blocks wait for each other (grid_sync.cuh).
WAIT = 32
#: The most rounds of one launch: until it ends no other kernel runs, and Python handles no signal.
ROUNDS = 1 << 16
# Mean entries of a row. With fewer a search has many rounds of little work, and half as many blocks wait for each other
# in less time: a search of the 4096 x 4096 grid took 83 ms, with all blocks 100.
_DEEP = 8


class Shares(NamedTuple):
    """The numbers of items of rows, presence words, and row chunks that a warp takes at once."""

    piece: int
    words: int
    spread: int


def has_many_rounds(rows: Rows) -> bool:
    """Return whether the rows are so short, on average, that a search has many rounds of little work."""
    return rows.nvals < _DEEP * rows.nrows


def shares(rows: Rows, kernel: Launcher, rows_at_once: int, *, few_waits: bool = False) -> tuple[int, Shares]:
    """Return the number of blocks of a launch over some rows, and the shares of a warp."""
    nwords, chunks = -(-rows.nrows // 32), rows.chunks.count
    items = nwords * 32 // rows_at_once
    most = max(kernel.at_once // 2, 1) if has_many_rounds(rows) and not few_waits else kernel.at_once
    blocks = min(launch.blocks(rows.device, 32 * max(items, chunks)), most)
    piece, words = (launch.sparse_piece(blocks, n) for n in (items, nwords))
    return blocks, Shares(piece, words, launch.spread(blocks, chunks))


def rows_text(long: int, rows_at_once: int) -> str:
    """Return the constants of a prelude that frontier_rows.cuh needs."""
    return f"constexpr u64 LONG = {long};\nconstexpr u32 ROWS_PER_WARP = {rows_at_once};"
