"""Compressed ids in NumPy: id blocks of 32 entries, in the format of kernels/common/id_blocks.cuh.

It is for hosts without a GPU and for tests of the kernels. Every block has the smallest packing: the best number of
`low` bits for a gap, with or without a base.

>>> import numpy as np
>>> ids = np.array([3, 4, 7, 1, 2], np.uint32)  # two rows: an id that does not ascend is stored itself
>>> coded = encode(ids)
>>> decode(coded, 1, 4)
array([4, 7, 1], dtype=uint32)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsezc.device import cuda
from sparsezc.exceptions import InvalidObject
from sparsezc.memory.buffer import Buffer, copied
from sparsezc.memory.mapped import MappedBuffer, check_ids
from sparsezc.memory.placement import BY_ADDRESS, RECORDS

SIZE = 32  # entries of a block
RAW = 32  # words of a block whose ids are not packed
LINE = 32  # words that a warp reads at once: the body has whole lines
PART = 1 << 19  # entries that are processed at a time
_NONE = 1 << 40  # marker of an entry without a gap: the first of a block, or an id that does not ascend


@dataclass(frozen=True)
class Blocks:
    """Compressed ids.

    Attributes
    ----------
    nvals : int
    headers : array of uint16, a multiple of 32 of them
        ``words << 10 | low << 5 | high`` of each block; 0 after the last.
    starts : array of uint64
        The first word of every 32nd block.
    body : array of uint32
    """

    nvals: int
    headers: NDArray[np.uint16]
    starts: NDArray[np.uint64]
    body: NDArray[np.uint32]

    @property
    def nbytes(self) -> int:
        return self.headers.nbytes + self.starts.nbytes + self.body.nbytes


def padded(nvals: int) -> int:
    """Return the number of headers for `nvals` entries, a multiple of 32."""
    return -(-nvals // (SIZE * 32)) * 32


def encode(ids: NDArray[np.unsignedinteger]) -> Blocks:
    """Compress ids below 2^32, in any order."""

    def part(start: int) -> NDArray[Any]:
        return ids[start : start + PART]

    headers = np.zeros(padded(ids.size), np.uint16)
    for start in range(0, ids.size, PART):
        made = measure(part(start))
        headers[start // SIZE : start // SIZE + made.size] = made
    words = [pack(part(start), headers[start // SIZE :]) for start in range(0, ids.size, PART)]
    used = np.concatenate([*words, np.empty(0, np.uint32)])
    body = np.zeros(-(-used.size // LINE) * LINE, np.uint32)
    body[: used.size] = used
    return Blocks(ids.size, headers, starts_of(headers), body)


def starts_of(headers: NDArray[np.uint16]) -> NDArray[np.uint64]:
    """Return the first word of every 32nd block."""
    words: NDArray[np.uint64] = (headers >> 10).reshape(-1, 32).sum(1, dtype=np.uint64)
    return np.cumsum(words, dtype=np.uint64) - words


def _gaps(ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return ids, and gaps minus one, as rows of a block each; the last block is padded with the smallest gap."""
    count = -(-ids.size // SIZE)
    line = np.full(count * SIZE, ids[-1])
    line[: ids.size] = ids
    table = line.reshape(count, SIZE)
    gaps = np.full(table.shape, _NONE)
    gaps[:, 1:] = np.diff(table) - 1
    gaps[gaps < 0] = _NONE
    gaps.reshape(-1)[ids.size :] = 0
    return table, gaps


def _width(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of bits that numbers below 2^52 need."""
    return np.frexp(numbers.astype(np.float64))[1].astype(np.int64)


def measure(ids: NDArray[Any]) -> NDArray[np.uint16]:
    """Return the headers of the blocks' smallest packings."""
    words, low, high, _ = _choose(*_gaps(ids.astype(np.int64)))
    return (words << 10 | low << 5 | high).astype(np.uint16)


def pack(ids: NDArray[Any], headers: NDArray[np.uint16]) -> NDArray[np.uint32]:
    """Return the words of the blocks of these ids; the first of `headers` are theirs."""
    table, gaps = _gaps(ids.astype(np.int64))
    known = headers[: len(table)].astype(np.int64)
    words, low, high = known >> 10, known >> 5 & 31, known & 31
    starts = np.cumsum(words) - words
    bits = np.zeros(32 * int(words.sum()), np.uint8)
    packed = words < RAW
    own = _width(gaps) > low[:, None]
    based = packed & (words > 1 + low + -(-own.sum(1) * high // 32))
    base = np.where(based, np.where(own, table, _NONE).min(1), 0)
    firsts = starts * 32
    _put(bits, firsts[~packed, None] + 32 * np.arange(SIZE), table[~packed], 32)
    mask = (own[packed].astype(np.int64) << np.arange(SIZE)).sum(1) & ~1 | based[packed]
    _put(bits, firsts[packed, None], mask[:, None], 32)
    _put(bits, firsts[based, None] + 32, base[based, None], 32)
    codes = np.where(own, table - base[:, None], gaps)
    firsts = firsts + 32 * (1 + based)
    ranks = np.cumsum(own, 1) - 1
    for width in np.unique(low[packed]).tolist():
        some = packed & (low == width)
        _put(bits, firsts[some, None] + width * np.arange(SIZE), codes[some], width)
    for width in np.unique(high[packed]).tolist():
        row, lane = np.nonzero(own & (packed & (high == width))[:, None])
        at = firsts[row] + 32 * low[row] + width * ranks[row, lane]
        _put(bits, at, codes[row, lane] >> low[row], width)
    return np.packbits(bits, bitorder="little").view("<u4").astype(np.uint32)


def _choose(table: NDArray[np.int64], gaps: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Return each block's smallest packing: words, bits of a gap, further bits of an id, and whether it has a base."""
    count = len(table)
    words = np.full(count, RAW)
    low, high, bases = (np.zeros(count, np.int64) for _ in range(3))
    wide = _width(gaps)
    for bits in range(31):
        own = wide > bits
        least = np.where(own, table, _NONE).min(1)
        most = np.where(own, table, 0).max(1)
        for has_base in (False, True):
            extra = np.maximum(_width(most - least if has_base else most) - bits, 0)
            needed = 1 + has_base + bits + -(-own.sum(1) * extra // 32)
            better = (needed < words) & (extra < 32)
            words[better], low[better], high[better] = needed[better], bits, extra[better]
            bases[better] = has_base
    return words, low, high, bases


def _put(bits: NDArray[np.uint8], at: NDArray[np.int64], values: NDArray[np.int64], width: int) -> None:
    """Write the lowest `width` bits of each value, from its position in `at` on."""
    for k in range(width):
        bits[at + k] = values >> k & 1


def decode(blocks: Blocks, start: int = 0, stop: int | None = None) -> NDArray[np.uint32]:
    """Return the ids of the entries ``start:stop``, or of those that exist."""
    stop = blocks.nvals if stop is None else min(stop, blocks.nvals)
    made = np.empty(max(stop - start, 0), np.uint32)
    for first in range(start // SIZE, -(-stop // SIZE), PART // SIZE):
        last = min(first + PART // SIZE, -(-stop // SIZE))
        at = max(first * SIZE, start)
        part = _decode(blocks, first, last).reshape(-1)[at - first * SIZE : stop - first * SIZE]
        made[at - start : at - start + part.size] = part
    return made


def _decode(blocks: Blocks, first: int, last: int) -> NDArray[np.uint32]:
    """Return the ids of blocks first .. last-1, a row for each block."""
    group = first // 32 * 32
    headers = blocks.headers[group:last].astype(np.int64)
    words = headers >> 10
    firsts = int(blocks.starts[group // 32]) + np.cumsum(words) - words
    words, firsts, headers = (a[first - group :] for a in (words, firsts, headers))
    low, high = (headers >> 5 & 31)[:, None], (headers & 31)[:, None]
    lanes = np.arange(SIZE)

    def read(at: NDArray[np.int64], width: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of `width` bits (at most 32) that begin at bits `at`."""
        word = np.minimum(at >> 5, blocks.body.size - 1)
        after = np.minimum(word + 1, blocks.body.size - 1)
        both = blocks.body[word].astype(np.uint64) | blocks.body[after].astype(np.uint64) << np.uint64(32)
        found: NDArray[np.int64] = (both >> (at & 31).astype(np.uint64)).astype(np.int64) & ((1 << width) - 1)
        return found

    at = 32 * firsts[:, None]
    raw = read(at + 32 * lanes, np.full((1, 1), 32))
    mask = raw[:, :1]
    based = mask & 1
    own = (mask | 1) >> lanes & 1 > 0
    base = np.where(based > 0, raw[:, 1:2], 0)
    at = at + 32 * (1 + based)
    below = read(at + low * lanes, low)
    above = read(at + 32 * low + high * (np.cumsum(own, 1) - 1), high)
    steps = np.where(own, below + (above << low) + base, below + 1)
    sums = np.cumsum(steps, 1)
    heads = np.maximum.accumulate(np.where(own, lanes, 0), axis=1)
    ids = sums - np.take_along_axis(sums - steps, heads, axis=1)
    return np.where(words[:, None] == RAW, raw, ids).astype(np.uint32)


class BlocksBuffer(Buffer):
    """A buffer of compressed ids with the body in a placement; reads decode the requested entries.

    `headers` and `starts` are host arrays or, for kernels, device arrays. `below`: the bound of all ids, if `body` is
    in a file, which may be damaged; ids are then checked before they are returned.
    """

    def __init__(self, count: int, headers: Any, starts: Any, body: Buffer, below: int | None = None) -> None:
        super().__init__(count, np.dtype(np.uint32))
        self.headers, self.starts, self.body, self.below = headers, starts, body, below
        self.placement, self.pages = body.placement, body.pages
        self.nbytes = body.nbytes + int(headers.nbytes) + int(starts.nbytes)

    @property
    def pointer(self) -> int:
        raise InvalidObject("compressed ids have no address of their own")

    def write(self, start: int, array: ArrayLike) -> None:
        raise InvalidObject("compressed ids are made as a whole; none of them can be changed")

    def read(self, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        ids = decode(Blocks(self.count, self.headers, self.starts, self.body.read()), start, stop)
        if isinstance(self.body, MappedBuffer) and self.below is not None:
            check_ids(self.body.path, ids, start, self.below)
        return ids

    def load(self, start: int = 0, stop: int | None = None) -> Any:
        return cuda.current().xp.asarray(self.read(start, stop))

    def placed(self, placement: str) -> BlocksBuffer:
        """Return the ids with the body in another placement, or in zero-copy memory if that is not `near`."""
        body = copied(self.body, placement if RECORDS[placement].near else BY_ADDRESS, self.body.dtype, PART)
        return BlocksBuffer(self.count, self.headers, self.starts, body)
