"""The seal behind an HDF5 file that sparsezc wrote: where its arrays lie, so that it is read without HDF5's own code.

Behind the bytes that HDF5 knows of stands a text in JSON, then eight bytes of a name, the text's length and its CRC-32.
The text has the descriptor, the place of each array, and a checksum of all bytes that belong to none. Another program
that changes the file with HDF5 cuts the seal off; then the file is opened as those of others are (foreign.py). No
number of a seal is believed before it was compared with the file.
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

from sparsezc.errors import FileFormatError
from sparsezc.io.hdf5.foreign import Array

_NAME = b"sparsezc"
_END = struct.Struct("<8sII")  # the name, the bytes of the text, its CRC-32
_HEAD = struct.Struct("<8sB19xQ")  # of HDF5's superblock the name, the version, and where the file ends for it
_LONGEST = 16 << 20  # bytes of a text
_STEP = 1 << 20  # bytes that are read at a time
_NUMBERS = {np.dtype(kind).str for kind in "bhiqBHIQfd"}


class Sealed:
    """A file whose seal is right: descriptor and arrays by name, as ``Foreign`` (foreign.py) has them."""

    def __init__(self, path: Path, found: Mapping[str, Any]) -> None:
        self.path = path
        self.text, self.crc = str(found["text"]), int(found["crc"])
        self.arrays = {
            str(name): Array((int(count),), str(dtype), int(offset) if count else None, True)
            for name, (offset, count, dtype) in found["places"].items()
        }

    def close(self) -> None:
        """Nothing is held."""

    def read(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """The numbers ``start:stop`` of an array; whether they are what was written is not looked at here."""
        known = self.arrays[name]
        stop = known.size if stop is None else min(stop, known.size)
        kind = np.dtype(known.dtype)
        count = max(0, stop - start)
        made = np.empty(count, kind)
        with self.path.open("rb", buffering=0) as file:
            file.seek((known.offset or 0) + start * kind.itemsize)
            room, got = made.view(np.uint8).data, 0
            while got < made.nbytes:
                more = file.readinto(room[got:])
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
        Of each array the first byte, the numbers, and their type.
    group : str
        Where in the file the arrays are.
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
    """The file by its seal; None where it has none, or one of another group.

    Raises
    ------
    FileFormatError
        It has a seal, and is not what was sealed.
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
        if file.read(len(_NAME)) == _NAME and goes_on(path):
            raise FileFormatError(f"{path} is damaged: its bytes are not those that it was sealed with")
    return None


def goes_on(path: Path) -> bool:
    """Whether there is more in a file than HDF5 knows of: a seal, or what is left of one.

    A program that changes the file with HDF5 cuts that off.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return False
    name, version, end = _HEAD.unpack(head)
    return name == b"\x89HDF\r\n\x1a\n" and version in (2, 3) and end != path.stat().st_size


def _group(name: str | None) -> str:
    """One name of those that a group has."""
    return "/".join(part for part in (name or "").split("/") if part not in ("", "."))


def _text(file: BinaryIO) -> dict[str, Any] | None:
    """The text of a seal, if its checksum is right and the file has the size that it says."""
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
    """The checksum of all bytes before the seal that belong to no array.

    Raises
    ------
    ValueError
        An array does not lie before the seal, or is none of numbers.
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
    """What lies between the arrays."""
    spans = []
    for offset, count, dtype in places.values():
        if type(offset) is not int or type(count) is not int or dtype not in _NUMBERS or min(offset, count) < 0:
            raise ValueError("a place is none")
        if offset + count * np.dtype(dtype).itemsize > size:
            raise ValueError("an array does not lie before the seal")
        if count:
            spans.append((offset, offset + count * np.dtype(dtype).itemsize))
    at = 0
    for start, stop in sorted(spans):
        if start < at:
            raise ValueError("arrays overlap")
        yield at, start
        at = stop
    yield at, size
