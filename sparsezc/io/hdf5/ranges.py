"""Ranges of the arrays of a file with checksums, compared only with the checksums of the pieces that they touch.

A rank that has a thousandth of a matrix reads a thousandth of its file. Bytes come by reads, not by a mapping, as the
pages of a mapping count as the process's memory.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sparsezc.device.processors import processors
from sparsezc.exceptions import FileFormatError
from sparsezc.io.hdf5.aligned_file import MappableFile
from sparsezc.memory.mapped import MappedBuffer, Part


class Ranges:
    """A reader of ranges; used in a ``with`` block.

    Attributes
    ----------
    compared : int
        The pieces that were compared so far, each once.
    """

    def __init__(self, mappable: MappableFile) -> None:
        self.mappable = mappable
        self.compared = 0
        self._known: dict[str, set[int]] = {name: set() for name in mappable.places}
        self._file = os.open(mappable.path, os.O_RDONLY)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def read(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """Return the entries ``start:stop`` of an array.

        Raises
        ------
        FileFormatError
            A piece differs from its checksum, or the file is shorter than it was.
        """
        kind, piece = self.mappable.places[name][2], self.mappable.piece
        low, high = start * kind.itemsize, stop * kind.itemsize
        made = np.empty(max(stop - start, 0), kind)
        buffer = made.view(np.uint8)

        def copy(number: int) -> bool:
            first, last = number * piece, min((number + 1) * piece, self.mappable.nbytes(name))
            known = number in self._known[name]
            begin, end = (max(first, low), min(last, high)) if known else (first, last)
            part = buffer[begin - low : end - low] if low <= begin and end <= high else np.empty(end - begin, np.uint8)
            self._fill(name, begin, part)
            if not known:
                self.mappable.check(name, number, part)
            if part.base is None or not np.shares_memory(part, buffer):
                wanted = slice(max(begin, low), min(end, high))
                buffer[wanted.start - low : wanted.stop - low] = part[wanted.start - begin : wanted.stop - begin]
            return not known

        numbers = range(low // piece, -(-high // piece)) if high > low else range(0)
        if len(numbers) < 4:
            fresh = [copy(number) for number in numbers]
        else:
            with ThreadPoolExecutor(processors(16)) as pool:
                fresh = list(pool.map(copy, numbers))
        self.compared += sum(fresh)
        self._known[name].update(numbers)
        return made

    def mapped(self, name: str, start: int, stop: int, dtype: Any, below: int | None = None) -> MappedBuffer:
        """Return the entries ``start:stop`` of an array, of type `dtype`, as a mapped buffer.

        The mapping reaches to the ends of pieces, which begin on pages; they are compared at its first use.
        """
        offset, piece = self.mappable.places[name][0], self.mappable.piece
        width, total = np.dtype(dtype).itemsize, self.mappable.nbytes(name)
        low, high = start * width, stop * width
        first, last = low // piece * piece, min(-(-high // piece) * piece, total)
        part = Part(start, low - first, last - high)
        made = MappedBuffer(self.mappable.path, offset + low, stop - start, dtype, below, part)

        def compare(data: NDArray[np.uint8]) -> None:
            def look(number: int) -> None:
                at = number * piece - first
                self.mappable.check(name, number, data[at : at + piece])

            with ThreadPoolExecutor(processors(16)) as pool:
                list(pool.map(look, range(first // piece, -(-last // piece))))

        made.compare_first(compare)
        made.elsewhere = lambda start, stop: self.mapped(name, start, stop, dtype, below)
        return made

    def _fill(self, name: str, start: int, part: NDArray[np.uint8]) -> None:
        at, got = self.mappable.places[name][0] + start, 0
        while got < part.size:
            more = os.preadv(self._file, [part[got:].data], at + got)
            if not more:
                raise FileFormatError(f"{self.mappable.path} is truncated: {name} ends before byte {at + part.size:,}")
            got += more
