"""The seal at the end of sparsezc's HDF5 files: the places of the arrays, which are then read without HDF5's code.

HDF5's own bytes are followed by a JSON text, a name of eight bytes, the text's length and its CRC-32. The text has the
descriptor, the place of each array, and a checksum of all bytes outside the arrays. A program that changes the file
with HDF5 cuts the seal off; the file is then opened like other programs' files (foreign.py). Every number in a seal is
checked against the file before it is used.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError
from sparsezc.io.hdf5.foreign import Array

_NAME = b"sparsezc"
_END = struct.Struct("<8sII")  # the name, the bytes of the text, its CRC-32
_HEAD = struct.Struct("<8sB19xQ")  # of HDF5's superblock: signature, version, and end of HDF5's bytes
_LONGEST = 16 << 20  # the most bytes of a text
_STEP = 1 << 20  # bytes that are read at a time
_NUMBERS = {np.dtype(kind).str for kind in "bhiqBHIQfd"}


class Sealed:
    """A file with a valid seal: descriptor and arrays by name, with the interface of ``Foreign`` (foreign.py)."""

    def __init__(self, path: Path, found: Mapping[str, Any]) -> None:
        self.path = path
        self.text, self.crc = str(found["text"]), int(found["crc"])
        self.arrays = {
            str(name): Array((int(count),), str(dtype), int(offset) if count else None, True)
            for name, (offset, count, dtype) in found["places"].items()
        }

    def close(self) -> None:
        """Do nothing, as no resource is held."""

    def read(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return the numbers ``start:stop`` of an array, without comparing checksums."""
        known = self.arrays[name]
        stop = known.size if stop is None else min(stop, known.size)
        kind = np.dtype(known.dtype)
        count = max(0, stop - start)
        made = np.empty(count, kind)
        with self.path.open("rb", buffering=0) as file:
            file.seek((known.offset or 0) + start * kind.itemsize)
            buffer, got = made.view(np.uint8).data, 0
            while got < made.nbytes:
                more = file.readinto(buffer[got:])
                if not more:
                    raise FileFormatError(f"{self.path} is truncated: {name} ends before entry {stop:,}")
                got += more
        return made


def put(path: Path, text: str, places: Mapping[str, tuple[int, int, str]], group: str) -> None:
    """Seal a file that HDF5 has closed.

    Parameters
    ----------
    path : Path
    text : str
        The descriptor.
    places : dict of str to (int, int, str)
        The first byte of each array, its count of numbers, and their type.
    group : str
        The group of the file in which the arrays are.
    """
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        head = {
            "text": text, "crc": zlib.crc32(text.encode()), "group": group, "size": size, "places": places,
            "rest": _rest(file, size, places),
        }  # fmt: skip
        body = json.dumps(head).encode()
        file.seek(size)
        file.write(body + _END.pack(_NAME, len(body), zlib.crc32(body)))


def find(path: Path, group: str | None) -> Sealed | None:
    """Open a file by its seal; return None if it has no seal, or that of another group.

    Raises
    ------
    FileFormatError
        The file has a seal, but was changed after it was sealed.
    """
    with (
        suppress(LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError),
        path.open("rb") as file,
    ):
        found = _text(file)
        if found is not None and found["rest"] == _rest(file, found["size"], found["places"]):
            return Sealed(path, found) if found["group"] == _group(group) else None
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _END.size))
        if file.read(len(_NAME)) == _NAME and has_trailing_bytes(path):
            raise FileFormatError(f"{path} is damaged: its bytes differ from those that were sealed")
    return None


def has_trailing_bytes(path: Path) -> bool:
    """Return whether a file has bytes after HDF5's own: a seal, or the rest of one.

    A program that changes the file with HDF5 cuts these bytes off.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return False
    name, version, end = _HEAD.unpack(head)
    return name == b"\x89HDF\r\n\x1a\n" and version in (2, 3) and end != path.stat().st_size


def _group(name: str | None) -> str:
    """Return the normal form of a group's name."""
    return "/".join(part for part in (name or "").split("/") if part not in ("", "."))


def _text(file: BinaryIO) -> dict[str, Any] | None:
    """Return the text of a seal, if its checksum is right and the text states the file's size; else None."""
    size = file.seek(0, os.SEEK_END)
    if size < _END.size:
        return None
    file.seek(size - _END.size)
    name, length, crc = _END.unpack(file.read(_END.size))
    start = size - _END.size - length
    if name != _NAME or length > _LONGEST or start < 0:
        return None
    file.seek(start)
    body = file.read(length)
    if len(body) != length or zlib.crc32(body) != crc:
        return None
    found = json.loads(body)
    return found if isinstance(found, dict) and found.get("size") == start else None


def _rest(file: BinaryIO, size: int, places: Mapping[str, Any]) -> int:
    """Return the checksum of all bytes before the seal that belong to no array.

    Raises
    ------
    ValueError
        An array is not before the seal, or holds no numbers.
    """
    crc = 0
    for start, stop in _gaps(size, places):
        file.seek(start)
        while start < stop:
            part = file.read(min(_STEP, stop - start))
            if not part:
                raise ValueError("the file ends before its seal")
            crc, start = zlib.crc32(part, crc), start + len(part)
    return crc


def _gaps(size: int, places: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of bytes before, between and after the arrays."""
    spans = []
    for offset, count, dtype in places.values():
        if type(offset) is not int or type(count) is not int or dtype not in _NUMBERS or min(offset, count) < 0:
            raise ValueError("a place is invalid")
        if offset + count * np.dtype(dtype).itemsize > size:
            raise ValueError("an array is not before the seal")
        if count:
            spans.append((offset, offset + count * np.dtype(dtype).itemsize))
    at = 0
    for start, stop in sorted(spans):
        if start < at:
            raise ValueError("arrays overlap")
        yield at, start
        at = stop
    yield at, size
