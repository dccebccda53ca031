"""One mappable .h5 file written by all ranks: rank 0 creates it, each writes its rows and computes some checksums.

The file must be on a file system that all ranks see. Like all files that sparsezc writes, it appears complete or not at
all.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.io.files.atomic_write import Output
from sparsezc.io.hdf5 import csr_file
from sparsezc.io.hdf5.aligned_file import PIECE, Placed, Writer, plain
from sparsezc.io.ranks.agreement import Communicator, together
from sparsezc.memory.buffer import index_dtype
from sparsezc.semirings.types.datatypes import DataType


class SharedFile:
    """A new file with arrays of known sizes; ranks write ranges of them in any order.

    `path` is the file's temporary name.
    """

    def __init__(self, path: Path, places: dict[str, Placed], handle: int) -> None:
        self.path, self._places, self._handle = path, places, handle

    def write(self, name: str, start: int, part: NDArray[Any]) -> None:
        """Write the entries of an array from `start` on, in its type."""
        data = np.ascontiguousarray(plain(part)).data.cast("B")
        at, done = self._places[name].offset + start * part.dtype.itemsize, 0
        while done < len(data):
            done += os.pwrite(self._handle, data[done:], at + done)

    def sync(self) -> None:
        """Wait until this rank's bytes are on disk."""
        os.fsync(self._handle)

    def sums(self, name: str, rank: int, size: int) -> NDArray[np.uint32]:
        """Return the checksums of a rank's part of an array's pieces, once all bytes are written."""
        place = self._places[name]
        pieces = -(-place.nbytes // PIECE)
        found = []
        for number in range(pieces * rank // size, pieces * (rank + 1) // size):
            start = number * PIECE
            data = os.pread(self._handle, min(PIECE, place.nbytes - start), place.offset + start)
            found.append(zlib.crc32(data))
        return np.array(found, np.uint32)


@contextmanager
def made(
    path: Path, shape: tuple[int, int, int], dtype: DataType, comm: Communicator, *, iso: bool, symmetric: bool
) -> Iterator[SharedFile]:
    """Create a file for a matrix of `shape` (rows, columns, entries), which gets its name when the block is left.

    Raises
    ------
    FileNotWritten, RankFailure
        A rank could not write; no file is left.
    """
    nrows, ncols, nvals = shape
    ids = index_dtype(ncols, "device")
    arrays = {
        "pointers_to_1": (nrows + 1, np.dtype(np.int64)), "indices_1": (nvals, ids),
        "values": (1 if iso else nvals, dtype.np_type),
    }  # fmt: skip
    with ExitStack() as stack:

        def begin() -> tuple[str, dict[str, Placed], Writer] | None:
            if comm.rank:
                return None
            temporary = stack.enter_context(Output(path)).reserve()
            writer = stack.enter_context(Writer(temporary))
            return str(temporary), {name: writer.placed(name, *of) for name, of in arrays.items()}, writer

        mine = together(comm, begin)
        name, places = comm.objects(mine[:2] if mine else None)[0]
        own = ExitStack()
        stack.push(own)

        def open_file() -> SharedFile:
            handle = os.open(name, os.O_RDWR)
            own.callback(os.close, handle)
            return SharedFile(Path(name), places, handle)

        file = together(comm, open_file)
        yield file
        together(comm, file.sync)
        mine_of = together(comm, lambda: {each: file.sums(each, comm.rank, comm.size) for each in arrays})
        parts = comm.objects(mine_of)
        own.close()

        def finish() -> None:
            if mine is None:
                return
            for each, place in mine[1].items():
                place.filled(np.concatenate([sums[each] for sums in parts]))
            mine[2].finish(csr_file.descriptor(nrows, ncols, nvals, ids, dtype, iso), symmetric=symmetric)

        together(comm, finish)
        together(comm, stack.pop_all().close)
