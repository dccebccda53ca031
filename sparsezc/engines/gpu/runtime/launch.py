"""Launching kernels: grid sizes, and the small kernels over presence words that everything else uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from sparsezc import locks
from sparsezc.device import cuda
from sparsezc.device.cuda import Device
from sparsezc.device.launcher import THREADS as THREADS
from sparsezc.device.launcher import Launcher
from sparsezc.engines.gpu.runtime import codegen
from sparsezc.memory import Buffer
from sparsezc.semirings.types.datatypes import DataType

_Function = TypeVar("_Function", bound=Callable[..., Any])
#: Of the whole engine: launches go to one stream, and spares, orders, caches and recordings are all launches'.
lock = locks.shared()
#: The type that stands for all of a size, where values are moved only.
BY_SIZE = {1: "u8", 2: "u16", 4: "u32", 8: "u64", 16: "c128"}
_MANY = 512  # entries of a word of rows on average
_SAMPLE = 1 << 16  # words that an estimate looks at
_BLOCKS_PER_MULTIPROCESSOR = 8  # 64 warps: as many as fit, to keep as many requests in flight as possible


def alone(function: _Function) -> _Function:
    """A function that launches and that no other launch meets, for no object's lock may be the engine's yet."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with lock:
            return function(*args, **kwargs)

    return call  # type: ignore[return-value]


def blocks(gpu: Device, threads: int) -> int:
    """Blocks for `threads` threads of work, at most what the device runs at once: kernels loop over the rest."""
    return max(1, min(gpu.multiprocessors * _BLOCKS_PER_MULTIPROCESSOR, -(-threads // THREADS)))


def warps(blocks: int) -> int:
    """Of a launch."""
    return blocks * THREADS // 32


def most_warps(gpu: Device) -> int:
    """Of a launch that fills the device."""
    return warps(gpu.multiprocessors * _BLOCKS_PER_MULTIPROCESSOR)


def piece(blocks: int, nwords: int, most: int) -> int:
    """Words that a warp takes at once: enough to keep the counter cool, few enough to share the work evenly."""
    return max(1, min(most, nwords // (4 * warps(blocks))))


def words(nvals: int, nwords: int, everything: bool) -> int:
    """Words of rows that a warp takes at once, at most. One where all rows are wanted, so that nobody has two heavy
    ones: in the order of degrees hubs are neighbours. Words of few entries would ask the counter too often.
    """
    return 1 if everything and nvals >= _MANY * nwords else 4


def share(blocks: int, nwords: int) -> int:
    """Words, at most 32, that a warp looks at together where few have anything to do: these may lie side by side, and
    go to as many warps as there are.
    """
    return max(1, min(32, -(-nwords // warps(blocks))))


def spread(blocks: int, nchunks: int) -> int:
    """Chunks of long rows that a warp looks at together where few may be wanted: no more than leave every warp some, as
    else, where all are wanted after all, a few warps have all the work.
    """
    return max(1, min(32, nchunks // warps(blocks)))


def _small(name: str) -> Launcher:
    return codegen.kernel(cuda.current(), "bits.cu", "", name)


def count(bits: Any) -> int:
    """How many bits are set. Waits for the device."""
    gpu = cuda.current()
    total = gpu.xp.zeros(1, np.uint64)
    _small("count").launch(blocks(gpu, bits.size), nwords=bits.size, bits=bits, total=total)
    return int(gpu.asnumpy(total)[0])


def truth(values: Any, bits: Any, dtype: DataType, size: int) -> Any:
    """Presence words of the entries that are present and not zero; `bits` 0 for a full vector."""
    gpu = cuda.current()
    out = gpu.xp.empty(-(-size // 32), np.uint32)
    kernel = codegen.kernel(gpu, "truth.cu", codegen.typedefs(X=dtype), "truth")
    kernel.launch(blocks(gpu, size), size=size, x=values, x_bits=bits, bits=out)
    return out


def frontier(bits: Any, size: int, indptr: Any) -> tuple[int, int]:
    """How many rows are present, and their entries. Waits for the device."""
    gpu = cuda.current()
    totals = gpu.xp.zeros(2, np.uint64)
    _small("frontier").launch(blocks(gpu, size), size=size, bits=bits, indptr=indptr, totals=totals)
    rows, entries = gpu.asnumpy(totals).tolist()
    return rows, entries


def wanted(indptr: Any, nrows: int, mask: Any, flip: int) -> tuple[int, int, int]:
    """Rows that a mask lets through, the entries in the first 32 of each, all their entries. Waits for the device.

    Estimated from one word of rows in so many, where there are more than `_SAMPLE` words.
    """
    gpu = cuda.current()
    step = max(1, nrows // 32 // _SAMPLE)
    totals = gpu.xp.zeros(3, np.uint64)
    _small("wanted").launch(
        blocks(gpu, nrows // step), nrows=nrows, indptr=indptr, mask=mask, flip=flip, step=step, totals=totals
    )
    rows, first, entries = (n * step for n in gpu.asnumpy(totals).tolist())
    return rows, first, entries


def popcounts(bits: Any) -> Any:
    """How many bits of each word are set (int64)."""
    gpu = cuda.current()
    counts = gpu.xp.empty(bits.size, np.int64)
    _small("popcounts").launch(blocks(gpu, bits.size), nwords=bits.size, bits=bits, counts=counts)
    return counts


@dataclass(frozen=True)
class OnDevice:
    """A number that the device keeps: an array of one."""

    array: Any
    dtype: DataType


@dataclass(eq=False)
class _Spare:
    """Arrays of a vector that has got others."""

    values: Any
    bits: Any
    monoid: Any  # its neutral value lies wherever there is no entry; None: nobody knows what does
    clear: bool = False  # the presence words are 0


class _Spares(list[_Spare]):
    """What the next results take; `neutral`: the arrays of values that were given out filled, and for which monoid;
    `held`: what else recorded kernels have the addresses of.
    """

    def __init__(self) -> None:
        super().__init__()
        self.held: list[Any] = []
        self.neutral: dict[int, tuple[Any, Any]] = {}  # by the array's id


#: None while rounds are attended.
_spare: _Spares | None = None


@contextmanager
def unattended() -> Iterator[Any]:
    """Statements that must not wait for the device, nor decide by what it says, and that find their arrays again.

    Gives the arrays that they changed for others, and what else they read, all of which must stay for as long as what
    was recorded may run.
    """
    global _spare
    before, _spare = _spare, _Spares()
    try:
        yield _spare
    finally:
        _spare = before


def is_attended() -> bool:
    """Whether statements may wait for the device."""
    return _spare is None


def spare(values: Any, bits: Any) -> None:
    """Keep a vector's former arrays for the next result, if rounds run unattended."""
    if _spare is not None and values is not None and bits is not None:
        _spare.append(_Spare(values, bits, _spare.neutral.pop(id(values), (values, None))[1]))


def hold(x: Any) -> None:
    """Keep something whose address a kernel was given, for as long as what is recorded may run."""
    if _spare is not None:
        _spare.held.append(x)


def written(values: Any) -> None:
    """Somebody writes into a vector's own arrays, and may leave anything where there is no entry."""
    if _spare is not None:
        _spare.neutral.pop(id(values), None)


def next_round(number: OnDevice) -> None:
    """Add one, and clear the arrays that the next round takes, in one kernel where they are those of one vector."""
    gpu = cuda.current()
    counter = number.array
    for pair in _spare or ():
        if pair.clear:
            continue
        if pair.monoid is None:
            _small("turn").launch(blocks(gpu, pair.bits.size), nwords=pair.bits.size, bits=pair.bits, number=counter)
        else:
            prelude = f"{codegen.typedefs(Z=pair.monoid.type)}\n{codegen.monoid(pair.monoid)}"
            kernel = codegen.kernel(gpu, "neutral.cu", prelude, "neutral")
            kernel.launch(
                blocks(gpu, pair.bits.size), nwords=pair.bits.size, bits=pair.bits, values=pair.values, number=counter
            )
        pair.clear, counter = True, 0
    if not isinstance(counter, int):
        _small("turn").launch(1, nwords=0, bits=0, number=counter)


def vector_arrays(size: int, dtype: DataType, monoid: Any = None) -> tuple[Any, Any]:
    """Values that mean nothing, or a monoid's neutral one everywhere, and presence words without entries."""
    xp = cuda.current().xp
    fits = [p for p in _spare or () if p.clear and p.values.size == size and p.values.dtype == dtype.np_type]
    if fits:
        pair = next((p for p in fits if p.monoid is monoid), fits[0])
        _spare.remove(pair)  # type: ignore[union-attr]
        values, bits, filled = pair.values, pair.bits, pair.monoid is monoid
    else:
        values, bits, filled = xp.empty(size, dtype.np_type), xp.zeros(-(-size // 32), np.uint32), False
    if monoid is not None:
        if not filled:
            values.fill(codegen.neutral(monoid))
        if _spare is not None:
            _spare.neutral[id(values)] = values, monoid
    return values, bits


def positions(bits: Any, size: int) -> Any:
    """The positions (int64, ascending) of the bits that are set."""
    gpu = cuda.current()
    xp = gpu.xp
    counts = popcounts(bits)
    before = xp.cumsum(counts)
    at = xp.empty(int(before[-1]) if bits.size else 0, np.int64)
    if at.size:
        _small("positions").launch(blocks(gpu, size), nwords=bits.size, bits=bits, before=before - counts, at=at)
    return at


def mark(positions: Any, size: int) -> Any:
    """Presence words with the bits of `positions` (u64, on the device) set."""
    gpu = cuda.current()
    bits = gpu.xp.zeros(-(-size // 32), np.uint32)
    if positions.size:
        _small("mark").launch(blocks(gpu, positions.size), count=positions.size, index=positions, bits=bits)
    return bits


def move(name: str, at: Any, source: Any, target: Any) -> None:
    """Launch ``gather`` or ``place`` of filter.cu: entries of any type, by their size."""
    if not at.size:
        return
    gpu = cuda.current()
    array = target if name == "gather" else source
    types = codegen.typedefs(Id="u32", A=BY_SIZE[array.dtype.itemsize])
    kernel = codegen.kernel(gpu, "filter.cu", types, name)
    places = {"at" if name == "gather" else "to": at.astype(np.uint64, copy=False)}
    kernel.launch(blocks(gpu, at.size), count=at.size, values=source, out=target, **places)


def gather(buffer: Buffer, at: Any) -> Any:
    """The entries of a buffer at the positions `at`, as a device array."""
    out = cuda.current().xp.empty(at.size, buffer.dtype)
    move("gather", at, np.uint64(buffer.pointer), out)
    return out
