"""Launches of kernels: the engine's lock, the size of a grid, and how much work a warp takes at once."""

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
#: The type that stands for all types of a size, where values are only moved.
BY_SIZE = {1: "u8", 2: "u16", 4: "u32", 8: "u64", 16: "c128"}
_MANY = 512  # entries of a word of rows, on average
_BLOCKS_PER_MULTIPROCESSOR = 8  # 64 warps: as many as fit, to keep as many requests in flight as possible


def locked(function: _Function) -> _Function:
    """Return the function under the engine's lock, for launches outside of an object's statement."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with lock:
            return function(*args, **kwargs)

    return call  # type: ignore[return-value]


def blocks(gpu: Device, threads: int) -> int:
    """Return the blocks for `threads` threads, at most as many as the device runs at once: kernels loop."""
    wanted, most = -(-threads // THREADS), gpu.multiprocessors * _BLOCKS_PER_MULTIPROCESSOR
    return most if wanted > most else wanted if wanted > 1 else 1


def warps(blocks: int) -> int:
    """Return the warps of a launch."""
    return blocks * THREADS // 32


def most_warps(gpu: Device) -> int:
    """Return the warps of a launch that fills the device."""
    return warps(gpu.multiprocessors * _BLOCKS_PER_MULTIPROCESSOR)


def piece(warps: int, nwords: int, most: int) -> int:
    """Return the words that a warp takes at once: enough to avoid contention, few enough to share the work evenly."""
    each = nwords // (4 * warps)
    return most if each > most else each or 1


def words(nvals: int, nwords: int, everything: bool) -> int:
    """Return the most words of rows that a warp takes at once.

    One where all rows are wanted, so that no warp gets two heavy words: in degree order hubs are neighbours. Words of
    few entries are taken together, as the counter would be contended.
    """
    return 1 if everything and nvals >= _MANY * nwords else 4


def sparse_piece(blocks: int, nwords: int) -> int:
    """Return the words, at most 32, that a warp reads together where few have work.

    Words with work may be neighbours, so they are divided among all warps.
    """
    each = -(-nwords // warps(blocks))
    return 32 if each > 32 else each or 1


def spread(blocks: int, nchunks: int) -> int:
    """Return the chunks of long rows that a warp checks together where few may be wanted.

    Every warp must get some: otherwise, if all are wanted after all, a few warps would have all the work.
    """
    each = nchunks // warps(blocks)
    return 32 if each > 32 else each or 1
