"""Files as they come in: found, decompressed on the way, cut into whole lines that know their numbers.

Every reader opens its file here, so that a missing, empty, truncated or oddly compressed file gets one kind of answer.
"""

from __future__ import annotations

import codecs
import os
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self, TypeVar

from sparsezc.errors import DeviceUnavailable, FileFormatError, GraphblasException
from sparsezc.progress import Progress

CHUNK = 1 << 20  # bytes: a chunk and what is made of it stay in a core's cache
_GZIP = b"\x1f\x8b"
T = TypeVar("T")


class FileMissing(GraphblasException, FileNotFoundError):
    """A file that was named does not exist."""


class FileIsFolder(GraphblasException, IsADirectoryError):
    """A folder was named where a file is needed."""


class FileUnreadable(GraphblasException, PermissionError):
    """A file that was named may not be read by this user."""


def existing(path: str | os.PathLike[str]) -> Path:
    """The path, if a file that is not empty lies there.

    Raises
    ------
    FileMissing, FileIsFolder, FileUnreadable
        These are also FileNotFoundError, IsADirectoryError and PermissionError.
    FileFormatError
        The file is empty.
    """
    found = Path(path)
    if found.is_dir():
        raise FileIsFolder(f"{found} is a folder; a graph file is needed")
    if not found.exists():
        raise FileMissing(f"{found} does not exist")
    if not os.access(found, os.R_OK):
        raise FileUnreadable(f"{found} cannot be read: permission denied")
    if found.is_file() and found.stat().st_size == 0:
        raise FileFormatError(f"{found} is empty (0 bytes)")
    return found


@contextmanager
def naming(graph: str | os.PathLike[str]) -> Iterator[None]:
    """Put the graph's name in front of an error that does not say which graph it means.

    >>> with naming("a.txt"):
    ...     raise FileFormatError("too long")
    Traceback (most recent call last):
        ...
    sparsezc.errors.FileFormatError: a.txt: too long
    """
    try:
        yield
    except DeviceUnavailable:  # not the graph's fault
        raise
    except GraphblasException as error:
        if error.args and Path(graph).name not in str(error.args[0]):
            error.args = (f"{graph}: {error.args[0]}", *error.args[1:])
        raise


class Stream:
    """The bytes of a file, decompressed if it is a .gz; a context manager with `read` for those who want a file.

    It is opened here, or given as `file`, open at its start. `limit` bounds what the file can unfold to, so that a
    wrong count in a header is seen before memory is asked for.
    """

    def __init__(self, path: str | os.PathLike[str], label: str = "reading", *, file: BinaryIO | None = None) -> None:
        self.path = existing(path) if file is None else Path(path)
        self._file: BinaryIO = self.path.open("rb") if file is None else file
        start = self._file.read(2)
        self._file.seek(0)
        self.compressed = start == _GZIP
        if self.path.suffix == ".gz" and not self.compressed:
            self._file.close()
            raise FileFormatError(f"{self.path} ends in .gz but is not gzip data: it starts with {start!r}")
        size = os.fstat(self._file.fileno()).st_size
        self.limit = size * 1032 + 64 if self.compressed else size  # deflate packs no better than 1032 to 1
        self._inflate = zlib.decompressobj(wbits=31) if self.compressed else None
        self._packed = b""
        self._ready, self._given = b"", 0  # unpacked bytes, and how many of them were handed out
        self._progress = Progress(size, f"{label} {self.path.name}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and take the progress bar away."""
        self._progress.close()
        self._file.close()

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes; none at the end of the file."""
        if size < 0:
            return b"".join(iter(lambda: self.read(CHUNK), b""))
        if self._inflate is None:
            data = self._file.read(size)
            self._progress.advance(len(data))
            return data
        while self._given == len(self._ready):
            if not self._more(max(size, CHUNK)):
                return b""
        data = self._ready[self._given : self._given + size]
        self._given += len(data)
        return data

    def _more(self, size: int) -> bool:
        """Unpack some more into `_ready`; False at the end."""
        assert self._inflate is not None
        if self._inflate.eof:
            self._packed = self._inflate.unused_data or self._packed
            if not self._packed.strip(b"\0"):
                self._packed = self._fetch()
            if not self._packed.strip(b"\0"):
                return False
            self._inflate = zlib.decompressobj(wbits=31)  # the next of several members
        packed = self._packed or self._fetch()
        if not packed:
            raise FileFormatError(f"{self.path} is truncated: its gzip data ends before its end mark")
        try:
            self._ready, self._given = self._inflate.decompress(packed, size), 0
        except zlib.error as error:
            raise FileFormatError(f"{self.path} is damaged: its gzip data cannot be unpacked ({error})") from None
        self._packed = b"" if self._inflate.eof else self._inflate.unconsumed_tail
        return True

    def _fetch(self) -> bytes:
        data = self._file.read(CHUNK)
        self._progress.advance(len(data))
        return data


@dataclass
class Lines:
    """Some whole lines of a file, the first of them having the number `first` (1 is the file's first line)."""

    path: Path
    first: int
    data: bytes

    def error(self, index: int, message: str) -> FileFormatError:
        """A FileFormatError that names line `index` (from 0) of these."""
        return FileFormatError(f"{self.path}, line {self.first + index}: {message}")


def lines(path: str | os.PathLike[str], size: int = CHUNK) -> Iterator[Lines]:
    """The file as chunks of whole lines, read and unpacked by a thread while the caller works on the chunk before."""
    with Stream(path) as stream:
        first = 1
        pending: list[bytes] = []
        start = codecs.BOM_UTF8  # which Windows programs put in front of a text
        for data in ahead(lambda: stream.read(size)):
            data, start = data.removeprefix(start), b""
            cut = data.rfind(b"\n") + 1
            if not cut:
                pending.append(data)
                continue
            chunk = b"".join((*pending, data[:cut]))
            pending = [data[cut:]]
            yield Lines(stream.path, first, chunk)
            first += chunk.count(b"\n")
        if rest := b"".join(pending):
            yield Lines(stream.path, first, rest + b"\n")


def ahead(produce: Callable[[], T]) -> Iterator[T]:
    """What `produce` returns, call by call until it returns something empty, each made while the last is in use."""
    with ThreadPoolExecutor(1, "sparsezc-read") as pool:
        following = pool.submit(produce)
        while item := following.result():
            following = pool.submit(produce)
            yield item
