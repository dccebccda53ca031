"""Checksums of whole Parquet files: Parquet's own do not cover page headers and the footer.

A table between the last row group and the footer, which readers skip, holds a CRC-32 of each mebibyte before it, of the
footer, and of the table itself. The files remain plain Parquet. A file that another program rewrites has no table, and
is read like any file of another program.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from sparsezc.device.processors import processors
from sparsezc.exceptions import FileFormatError
from sparsezc.terminal.progress import bar

PIECE = 1 << 20  # bytes for each checksum
_NAME = b"sparsezc"
# The name, the number of pieces, the footer's checksum, and the checksum of these and the table.
_TABLE = struct.Struct("<8sIII")
_TAIL = 8  # bytes after the footer: its length, and the name of the format


def seal(path: Path) -> None:
    """Insert the table of checksums into a finished file."""
    with path.open("r+b") as file:
        end = _footer(file)
        file.seek(end)
        footer = file.read()
        sums = np.array([zlib.crc32(part) for part in _parts(file, 0, end)], np.uint32).tobytes()
        crc = zlib.crc32(footer)
        whole = zlib.crc32(sums + struct.pack("<II", len(sums) // 4, crc))
        file.seek(end)
        file.write(sums + _TABLE.pack(_NAME, len(sums) // 4, crc, whole) + footer)


def check(path: Path, spans: Callable[[], list[tuple[int, int]]] | None = None) -> None:
    """Compare a file with its table of checksums, if it has one.

    Parameters
    ----------
    path : Path
    spans : callable, optional
        Returns the ranges of bytes that will be read; called after the footer was compared. None: the whole file.

    Raises
    ------
    FileFormatError
        A checksum differs; the message names the bytes.
    """
    with path.open("rb") as file:
        end = _footer(file)
        if end < _TABLE.size:
            return
        file.seek(end - _TABLE.size)
        name, count, crc, whole = _TABLE.unpack(file.read(_TABLE.size))
        start = end - _TABLE.size - 4 * count
        if start < 0 or count != -(-start // PIECE):  # in other programs' files this may be any number
            if name != _NAME:
                _refuse_moved_table(path, end)
                return
            raise FileFormatError(f"{path} is damaged: its table of checksums says that it has {count:,} of them")
        file.seek(start)
        sums = file.read(end - _TABLE.size - start)
        file.seek(end)
        footer = file.read()
    right = zlib.crc32(sums + struct.pack("<II", count, crc)) == whole
    if name != _NAME and not right:
        _refuse_moved_table(path, end)
        return  # no table: neither its name nor its checksum is there
    if name != _NAME or not right:
        raise FileFormatError(f"{path} is damaged: its table of checksums has another checksum")
    if (found := zlib.crc32(footer)) != crc:
        raise FileFormatError(f"{path} is damaged: the checksum of its footer is {found:08x}; {crc:08x} is needed")
    table = np.frombuffer(sums, np.uint32)
    pieces = list(range(table.size))
    if spans is not None:
        touched = np.zeros(table.size, np.bool_)
        for first, last in spans():
            touched[first // PIECE : -(-last // PIECE)] = True
        pieces = np.flatnonzero(touched).tolist()
    _compare(path, start, table, pieces)


def _refuse_moved_table(path: Path, end: int) -> None:
    """Raise FileFormatError if bytes were added between a table and the footer, which begins at `end`."""
    with path.open("rb") as file:
        first = max(0, end - PIECE)
        file.seek(first)
        before = file.read(end - first)
    at = before.rfind(_NAME)
    while at >= 0:
        if at + _TABLE.size <= len(before):
            _, count, crc, whole = _TABLE.unpack_from(before, at)
            sums = before[at - 4 * count : at] if 4 * count <= at else b""
            if count and zlib.crc32(sums + struct.pack("<II", count, crc)) == whole:
                extra = len(before) - at - _TABLE.size
                raise FileFormatError(f"{path} is damaged: {extra:,} bytes are between its checksums and its footer")
        at = before.rfind(_NAME, 0, at)


def _compare(path: Path, stop: int, table: NDArray[np.uint32], pieces: list[int]) -> None:
    """Compare some pieces of the file with the table, by at most 16 threads."""
    progress = bar(min(stop, len(pieces) * PIECE), f"checking {path.name}")
    with ThreadPoolExecutor(processors(16)) as pool:
        found = pool.map(lambda number: _sum(path, number, stop), pieces)
        for number, made, known in zip(pieces, found, table[pieces].tolist(), strict=True):
            first, last = number * PIECE, min(stop, (number + 1) * PIECE)
            if made != known:
                raise FileFormatError(
                    f"{path} is damaged: the checksum of bytes {first:,} to {last - 1:,} of the file is {made:08x}; "
                    f"{known:08x} is needed"
                )
            progress.update(last - first)
    progress.close()


def _footer(file: BinaryIO) -> int:
    """Return the position of the footer's first byte; 0 if there is no footer."""
    size = file.seek(0, os.SEEK_END)
    if size < _TAIL:
        return 0
    file.seek(size - _TAIL)
    return max(0, size - _TAIL - int.from_bytes(file.read(4), "little"))


def _sum(path: Path, number: int, stop: int) -> int:
    with path.open("rb", buffering=0) as file:
        return zlib.crc32(next(_parts(file, number * PIECE, min(stop, (number + 1) * PIECE))))


def _parts(file: BinaryIO, start: int, stop: int) -> Iterator[bytes]:
    """Yield the bytes ``start:stop``, a piece at a time."""
    file.seek(start)
    for at in range(start, stop, PIECE):
        yield file.read(min(PIECE, stop - at))
