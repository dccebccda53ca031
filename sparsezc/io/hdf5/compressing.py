"""Ids that come in order, encoded into the blocks of a file (memory/id_blocks.py), few in memory at any time.

The ids have to come twice: in the first round each block is measured, in the second it is packed in the form found
best. The form of each block, 2 bytes for 32 ids, is kept on disk in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device.processors import processors
from sparsezc.io.hdf5.aligned_file import Filled, Writer
from sparsezc.io.hdf5.csr_file import BLOCKS, in_turn
from sparsezc.memory import id_blocks

_PART = 1 << 15  # ids that are processed at a time
_SPACE = 200 * _PART  # bytes of memory for these


class Packer:
    """A packer of ids, with as many threads as `space` bytes suffice for, but at least one.

    Parameters
    ----------
    path : Path
        A file for the measured forms.
    space : int
        Bytes of memory.

    Attributes
    ----------
    nbytes : int
        The bytes of `space` that are used.
    """

    def __init__(self, path: Path, space: int) -> None:
        self._path = path
        self._threads = max(1, min(processors(), space // _SPACE))
        self._words = 0
        self.nbytes = self._threads * _SPACE

    def measure(self, ids: Iterable[NDArray[Any]]) -> None:
        """Measure the blocks: the first round."""
        with self._path.open("wb") as file, ThreadPoolExecutor(self._threads) as pool:
            for headers in in_turn(pool, id_blocks.measure, _parts(ids), 2 * self._threads):
                headers.tofile(file)
                self._words += int((headers >> 10).sum(dtype=np.int64))

    def arrays(self, writer: Writer, nvals: int) -> Filled:
        """Fill the arrays of a new file except the blocks, and return the array for these."""
        count = id_blocks.padded(nvals)
        headers, starts = (
            writer.array(*of) for of in ((BLOCKS[1], count, np.uint16), (BLOCKS[2], count // 32, np.uint64))
        )
        before = np.uint64(0)
        for start in range(0, count, _PART):
            some = np.zeros(min(_PART, count - start), np.uint16)
            known = self._headers(start, some.size)
            some[: known.size] = known
            headers.write(some)
            starts.write(before + id_blocks.starts_of(some))
            before += (some >> 10).sum(dtype=np.uint64)
        return writer.array(BLOCKS[0], self._lines(), np.uint32)

    def pack(self, ids: Iterable[NDArray[Any]]) -> Iterator[NDArray[np.uint32]]:
        """Yield the words of the blocks: the second round."""

        def words(numbered: tuple[int, NDArray[Any]]) -> NDArray[np.uint32]:
            number, part = numbered
            first = number * (_PART // id_blocks.SIZE)
            return id_blocks.pack(part, self._headers(first, -(-part.size // id_blocks.SIZE)))

        with ThreadPoolExecutor(self._threads) as pool:
            yield from in_turn(pool, words, enumerate(_parts(ids)), 2 * self._threads)
        yield np.zeros(self._lines() - self._words, np.uint32)

    def _headers(self, start: int, count: int) -> NDArray[np.uint16]:
        return np.fromfile(self._path, np.uint16, count, offset=2 * start)

    def _lines(self) -> int:
        """Return the words of the blocks, up to the end of a line."""
        return -(-self._words // id_blocks.LINE) * id_blocks.LINE


def _parts(ids: Iterable[NDArray[Any]]) -> Iterator[NDArray[np.uint32]]:
    """Yield the same ids, in parts that are processed together."""
    part, filled = np.empty(_PART, np.uint32), 0
    for some in ids:
        left = some
        while left.size:
            taken = left[: _PART - filled]
            part[filled : filled + taken.size] = taken
            left, filled = left[taken.size :], filled + taken.size
            if filled == _PART:
                yield part
                part, filled = np.empty(_PART, np.uint32), 0
    if filled:
        yield part[:filled]
