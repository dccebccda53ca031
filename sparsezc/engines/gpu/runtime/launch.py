"""How kernels are launched: the engine's lock, the size of a grid, and how much work a warp takes at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from sparsezc import locks
from sparsezc.device.launcher import THREADS as THREADS
from sparsezc.device.protocol import Device

_Function = TypeVar("_Function", bound=Callable[..., Any])
#: Of the whole engine: launches go to one stream, and array pools, orders, caches and recordings are all launches'.
lock = locks.shared()
#: The type that stands for all of a size, where values are moved only.
BY_SIZE = {1: "u8", 2: "u16", 4: "u32", 8: "u64", 16: "c128"}
_MANY = 512  # entries of a word of rows on average
_BLOCKS_PER_MULTIPROCESSOR = 8  # 64 warps: as many as fit, to keep as many requests in flight as possible


def locked(function: _Function) -> _Function:
    """A function that launches and that no other launch meets, for no object's lock may be the engine's yet."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with lock:
            return function(*args, **kwargs)

    return call  # type: ignore[return-value]


def blocks(gpu: Device, threads: int) -> int:
    """Blocks for `threads` threads of work, at most what the device runs at once: kernels loop over the rest."""
    wanted, most = -(-threads // THREADS), gpu.multiprocessors * _BLOCKS_PER_MULTIPROCESSOR
    return most if wanted > most else wanted if wanted > 1 else 1


def warps(blocks: int) -> int:
    """Of a launch."""
    return blocks * THREADS // 32


def most_warps(gpu: Device) -> int:
    """Of a launch that fills the device."""
    return warps(gpu.multiprocessors * _BLOCKS_PER_MULTIPROCESSOR)


def piece(blocks: int, nwords: int, most: int) -> int:
    """Words that a warp takes at once: enough to keep the counter cool, few enough to share the work evenly."""
    each = nwords // (4 * warps(blocks))
    return most if each > most else each or 1


def words(nvals: int, nwords: int, everything: bool) -> int:
    """Words of rows that a warp takes at once, at most. One where all rows are wanted, so that no warp has two heavy
    ones: in the order of degrees hubs are neighbours. Words of few entries would ask the counter too often.
    """
    return 1 if everything and nvals >= _MANY * nwords else 4


def sparse_piece(blocks: int, nwords: int) -> int:
    """Words, at most 32, that a warp looks at together where few have anything to do: these may lie side by side, and
    go to as many warps as there are.
    """
    each = -(-nwords // warps(blocks))
    return 32 if each > 32 else each or 1


def spread(blocks: int, nchunks: int) -> int:
    """Chunks of long rows that a warp looks at together where few may be wanted: no more than leave every warp some, as
    else, where all are wanted after all, a few warps have all the work.
    """
    each = nchunks // warps(blocks)
    return 32 if each > 32 else each or 1
