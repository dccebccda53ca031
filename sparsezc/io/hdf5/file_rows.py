"""The rows of a matrix in a file with checksums, a range of them at a time, with plain or compressed ids.

Offsets are found by bisection, so a reader of a few rows reads a few pieces of the file's three arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError
from sparsezc.io.hdf5.aligned_file import MappableFile
from sparsezc.io.hdf5.csr_file import BLOCKS, value_type
from sparsezc.io.hdf5.ranges import Ranges
from sparsezc.memory import Buffer, id_blocks
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.mapped import MappedBuffer, check_ids
from sparsezc.memory.placement import FILES, HOSTS

_GROUP = 32  # blocks that share a start


class FileRows:
    """The rows of a matrix in a mappable file, of which any range can be read.

    Attributes
    ----------
    nrows, ncols, nvals : int
    dtype : DataType
    iso, symmetric, compressed : bool
    kept_in_file : bool
        Placement "mapped" leaves the rows in the file.
    """

    kept_in_file = True

    def __init__(self, mappable: MappableFile, ranges: Ranges) -> None:
        self.path, self._ranges = mappable.path, ranges
        found = mappable.descriptor
        self.nrows, self.ncols = (int(size) for size in found["shape"])
        self.nvals = int(found["number_of_stored_values"])
        self.dtype, self.iso = value_type(str(found["data_types"]["values"]))
        self.symmetric, self.compressed = mappable.symmetric, BLOCKS[0] in mappable.places
        self._kind = index_dtype(self.ncols, "device")
        self._words = mappable.places[BLOCKS[0]][1] if self.compressed else 0
        known = [
            ("pointers_to_1", self.nrows + 1, 8),
            ("values", 1 if self.iso else self.nvals, self.dtype.np_type.itemsize),
        ]
        if self.compressed:
            known += [
                (BLOCKS[1], id_blocks.padded(self.nvals), 2),
                (BLOCKS[2], id_blocks.padded(self.nvals) // _GROUP, 8),
            ]
        else:
            known += [("indices_1", self.nvals, self._kind.itemsize)]
        for name, count, width in known:
            if mappable.nbytes(name) != count * width:
                raise FileFormatError(
                    f"{self.path}: {name} has {mappable.nbytes(name):,} bytes; {count:,} entries of {width} are needed"
                )

    def offsets(self, first: int, last: int) -> NDArray[np.int64]:
        """Return the offsets of the rows ``first:last``; the offset of row `nrows` is the number of entries.

        Raises
        ------
        FileFormatError
            The offsets descend, or are no positions of entries.
        """
        found = self._ranges.read("pointers_to_1", first, last).astype(np.int64, copy=False)
        low, high = (int(found[0]), int(found[-1])) if found.size else (0, 0)
        ends = (first == 0 and low > 0) or (last > self.nrows and high != self.nvals)
        if ends or not 0 <= low <= high <= self.nvals or (found[1:] < found[:-1]).any():
            raise FileFormatError(
                f"{self.path}: the offsets of the rows {first:,} to {last - 1:,} are not those of {self.nrows:,} rows "
                f"with {self.nvals:,} entries"
            )
        return found

    def ids(self, start: int, stop: int) -> NDArray[Any]:
        """Return the ids of the entries ``start:stop``, checked against the number of columns."""
        if not self.compressed:
            found = self._ranges.read("indices_1", start, stop)
        elif stop > start:
            span, skipped = self._span(start, stop), start % id_blocks.SIZE
            body = self._ranges.read(BLOCKS[0], span.line, span.end)
            blocks = id_blocks.Blocks(skipped + stop - start, span.headers, span.starts, body)
            found = id_blocks.decode(blocks, skipped)
        else:
            return np.empty(0, np.uint32)
        check_ids(self.path, found, start, self.ncols)
        return found

    def values(self, start: int, stop: int) -> NDArray[Any]:
        """Return the values of the entries ``start:stop``, or the one value of an iso-valued matrix."""
        low, high = (0, 1) if self.iso else (start, stop)
        width = self.dtype.np_type.itemsize // self._ranges.mappable.places["values"][2].itemsize
        return self._ranges.read("values", width * low, width * high).view(self.dtype.np_type)

    def placed_ids(self, start: int, stop: int, placement: str) -> Buffer | None:
        """Return the ids of the entries ``start:stop``: left in the file, or compressed in a placement for kernels.

        None: the caller must read them. Compressed ids must begin with a block, which has 32 ids of any rows.
        """
        if placement in HOSTS:
            return None
        if not self.compressed:
            mapped = placement in FILES
            return self._ranges.mapped("indices_1", start, stop, self._kind, self.ncols) if mapped else None
        if start % id_blocks.SIZE or stop <= start:
            return None
        found, mapped = self._span(start, stop), placement in FILES
        made = id_blocks.BlocksBuffer(
            stop - start, found.headers, found.starts, self._body(found, mapped=mapped), self.ncols
        )
        return made if mapped else made.placed(placement)

    def mapped_values(self, start: int, stop: int) -> MappedBuffer:
        """Return the values of the entries ``start:stop``, left in the file."""
        low, high = (0, 1) if self.iso else (start, stop)
        return self._ranges.mapped("values", low, high, self.dtype.np_type)

    def _body(self, found: _Span, *, mapped: bool) -> MappedBuffer:
        """Return the words of some blocks, mapped or read."""
        if mapped:
            return self._ranges.mapped(BLOCKS[0], found.line, found.end, np.uint32)
        return MappedBuffer.of(self._ranges.read(BLOCKS[0], found.line, found.end))

    def _span(self, start: int, stop: int) -> _Span:
        """Return the blocks that hold the entries ``start:stop``."""
        first, last = start // id_blocks.SIZE, -(-stop // id_blocks.SIZE)
        group = first // _GROUP
        headers = self._ranges.read(BLOCKS[1], group * _GROUP, -(-last // _GROUP) * _GROUP)
        starts = self._ranges.read(BLOCKS[2], group, -(-last // _GROUP))
        words = (headers >> 10).astype(np.int64)
        if not np.array_equal(starts, starts[0] + id_blocks.starts_of(headers)):
            raise FileFormatError(f"{self.path}: the starts of its blocks do not fit their headers")
        low, high = first - group * _GROUP, last - group * _GROUP
        begin = int(starts[0]) + int(words[:low].sum())
        line, end = (
            at // id_blocks.LINE * id_blocks.LINE
            for at in (begin, begin + int(words[low:high].sum()) + id_blocks.LINE - 1)
        )
        if end > self._words:
            raise FileFormatError(f"{self.path}: blocks has {self._words:,} words, fewer than its headers require")
        own = np.zeros(id_blocks.padded((last - first) * id_blocks.SIZE), np.uint16)
        own[: last - first] = headers[low:high]
        return _Span(own, id_blocks.starts_of(own) + np.uint64(begin - line), line, end)


class _Span(NamedTuple):
    """Some blocks: their headers, and the start of every 32nd in the words ``line:end`` of the file's blocks."""

    headers: NDArray[np.uint16]
    starts: NDArray[np.uint64]
    line: int
    end: int
