"""Launches of kernels: the engine's lock, the size of a grid, and the amount of work that a warp takes at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from sparsezc.device.launcher import THREADS as THREADS
from sparsezc.device.protocol import Device
from sparsezc.process import locks

_Function = TypeVar("_Function", bound=Callable[..., Any])
#: The lock of the whole engine: launches share one stream, array pools, vertex orders, caches and recordings.
lock = locks.shared()
#: The C++ type by which values of each size are moved.
BY_SIZE = {1: "u8", 2: "u16", 4: "u32", 8: "u64", 16: "c128"}
_MANY = 512  # mean entries of a word of rows from which words are heavy
_BLOCKS_PER_MULTIPROCESSOR = 8  # 64 warps: the most that fit, for the most requests in flight


def locked(function: _Function) -> _Function:
    """Wrap a function that launches kernels outside of a statement, to hold the engine's lock."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with lock:
            return function(*args, **kwargs)

    return call  # type: ignore[return-value]


def blocks(gpu: Device, threads: int) -> int:
    """Return the blocks for `threads` threads, at most as many as the device runs at once, as kernels loop."""
    wanted, most = -(-threads // THREADS), gpu.multiprocessors * _BLOCKS_PER_MULTIPROCESSOR
    return most if wanted > most else wanted if wanted > 1 else 1


def warps(blocks: int) -> int:
    """Return the number of warps of a launch of `blocks` blocks."""
    return blocks * THREADS // 32


def most_warps(gpu: Device) -> int:
    """Return the number of warps of a launch that fills the device."""
    return warps(gpu.multiprocessors * _BLOCKS_PER_MULTIPROCESSOR)


def piece(warps: int, nwords: int, most: int) -> int:
    """Return the words that a warp takes at once: enough to avoid contention, few enough for an even division."""
    each = nwords // (4 * warps)
    return most if each > most else each or 1


def words(nvals: int, nwords: int, everything: bool) -> int:
    """Return the most words of rows that a warp takes at once.

    One if all rows are wanted and words have many entries, so that no warp takes two heavy words: in degree order hubs
    are neighbours. Words of few entries are taken together, as the counter would be contended.
    """
    return 1 if everything and nvals >= _MANY * nwords else 4


def sparse_piece(blocks: int, nwords: int) -> int:
    """Return the number of words, at most 32, that a warp reads together if few of them have work.

    Words are divided among all warps, as those with work may be neighbours.
    """
    each = -(-nwords // warps(blocks))
    return 32 if each > 32 else each or 1


def spread(blocks: int, nchunks: int) -> int:
    """Return the number of row chunks that a warp checks together if few may be wanted.

    Every warp must get some: otherwise a few warps would have all the work if all chunks are wanted after all.
    """
    each = nchunks // warps(blocks)
    return 32 if each > 32 else each or 1
