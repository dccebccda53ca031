"""Input files: found, decompressed while they are read, and cut into whole lines with line numbers.

Every reader opens its file here, so that missing, empty, truncated and wrongly compressed files get the same errors.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeVar

from sparsezc.errors import DeviceUnavailable, FileFormatError, GraphblasException
from sparsezc.io.files import packing
from sparsezc.terminal.progress import bar

CHUNK = 1 << 20  # bytes: a chunk and the arrays derived from it stay in a core's cache
LINE = 1 << 20  # bytes of the longest line of a list, which is held in memory whole
# Times the bytes of a .gz: a graph's text unpacks to 3 to 30 times its size, gzip data to 1032 at most.
_MOST_UNPACKED = 256
_UNSUSPECTED = 64 << 20  # bytes to which any .gz may unpack
_FIRST_STEP = 1 << 14  # bytes of a gzip member that are unpacked first: so each of many small members costs no more
T = TypeVar("T")


class FileMissing(GraphblasException, FileNotFoundError):
    """The error for a named file that does not exist."""


class FileIsFolder(GraphblasException, IsADirectoryError):
    """The error for a folder where a file is needed."""


class FileTimeout(GraphblasException, TimeoutError):
    """The error for a disk or network that is too slow; the file may be intact."""


class FileUnreadable(GraphblasException, PermissionError):
    """The error for a named file that this user may not read."""


def existing(path: str | os.PathLike[str]) -> Path:
    """Return the path, if it is a file that is not empty.

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


def is_piped(path: Path) -> bool:
    """Return whether it exists and can be read only once, from start to end: a pipe, a terminal, a device."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def naming(graph: str | os.PathLike[str]) -> Iterator[None]:
    """Put the graph's name in front of an error that does not name it.

    >>> with naming("a.txt"):
    ...     raise FileFormatError("too long")
    Traceback (most recent call last):
        ...
    sparsezc.errors.FileFormatError: a.txt: too long
    """
    try:
        yield
    except GraphblasException as error:
        add_name(error, graph)
        raise


WRITTEN = "the file to write"  # what file_name says of a target


def file_name(path: str | os.PathLike[str], what: str) -> str:
    """Return a file's name, which may be empty.

    Raises
    ------
    TypeError
        It is neither str nor path; the message says `what` it names.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"the name of {what} is a {type(path).__name__}; a str or a path is needed")
    return os.fspath(path)


def add_name(error: GraphblasException, graph: str | os.PathLike[str]) -> None:
    """Put the graph's name in front of an error's message that lacks it."""
    about_graph = not isinstance(error, DeviceUnavailable)
    if about_graph and error.args and Path(graph).name not in str(error.args[0]):
        error.args = (f"{graph}: {error.args[0]}", *error.args[1:])


class InputFile:
    """The bytes of a file, unpacked if it is compressed; a context manager with `read`, as file objects have.

    It opens the file, or takes `file`, open at its start. `limit` bounds the size to which the file can unfold, so that
    a wrong count in a header is detected before memory is allocated.
    """

    def __init__(self, path: str | os.PathLike[str], label: str = "reading", *, file: BinaryIO | None = None) -> None:
        self.path = existing(path) if file is None else Path(path)
        self._file: BinaryIO = self.path.open("rb") if file is None else file
        head = self._file.read(packing.HEAD)
        self._file.seek(0)
        self._packing = packing.packing_of(head)
        self.compressed = self._packing is not None
        suffix = self.path.suffix.lower()
        if suffix in packing.SUFFIXES and self._packing != suffix:
            self._file.close()
            raise FileFormatError(
                f"{self.path} ends in {suffix} but is not {packing.NAMES[suffix]} data: it starts with {head[:2]!r}"
            )
        size = os.fstat(self._file.fileno()).st_size
        self.limit = {None: size, ".gz": size * 1032 + 64}.get(  # deflate packs no better than 1032 to 1
            self._packing, max(_MOST_UNPACKED * size, _UNSUSPECTED)
        )
        # Packed bytes, the position in them, and the next step.
        self._packed, self._at, self._step = b"", 0, _FIRST_STEP
        self._taken = self._made = 0  # bytes unpacked so far, and bytes that resulted
        self._ready, self._given = b"", 0  # unpacked bytes, and how many of them were returned
        self._progress = bar(size, f"{label} {self.path.name}")
        self._stream: Any = None
        if self._packing == ".zst":
            try:
                self._stream = packing.zstd_stream(_Counted(self._file, self._count))
            except packing.CodecMissing:
                self._file.close()
                raise
        self._unpacker = None if self._packing is None or self._stream else packing.unpacker(self._packing)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and remove the progress bar."""
        self._progress.close()
        self._file.close()

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes; none at the end of the file."""
        if size < 0:
            return b"".join(iter(lambda: self.read(CHUNK), b""))
        if self._stream is not None:
            return self._pulled(size)
        if self._unpacker is None:
            data = self._file.read(size)
            self._progress.update(len(data))
            return data
        parts: list[bytes] = []  # parts of members that may be small
        while size and (self._given < len(self._ready) or self._more(max(size, CHUNK))):
            parts.append(self._ready[self._given : self._given + size])
            self._given += len(parts[-1])
            size -= len(parts[-1])
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _pulled(self, size: int) -> bytes:
        """Return bytes of a stream that reads the packed ones itself."""
        try:
            data: bytes = self._stream.read(size)
        except OSError as error:
            raise self._damaged(error) from None
        self._made += len(data)
        self._check_ratio()
        return data

    def _count(self, taken: int) -> None:
        self._taken += taken
        self._progress.update(taken)

    def _more(self, size: int) -> bool:
        """Unpack more bytes into `_ready`; return False at the end."""
        assert self._unpacker is not None
        assert self._packing is not None
        if self._unpacker.eof:
            if not self._follows() and not (self._fetch() and self._follows()):
                return False
            # the next of several members
            self._unpacker, self._step = packing.unpacker(self._packing), _FIRST_STEP
        hungry = self._unpacker.hungry
        if hungry and self._at == len(self._packed) and not self._fetch():
            raise FileFormatError(
                f"{self.path} is truncated: its {packing.NAMES[self._packing]} data ends before its end mark"
            )
        packed = self._packed[self._at : self._at + self._step] if hungry else b""
        try:
            (self._ready, taken), self._given = self._unpacker.decompress(packed, size), 0
        except packing.damages() as error:
            raise self._damaged(error) from None
        self._at, self._step = self._at + taken, min(2 * self._step, CHUNK)
        self._taken, self._made = self._taken + taken, self._made + len(self._ready)
        self._check_ratio()
        return True

    def _damaged(self, error: Exception) -> FileFormatError:
        name = packing.NAMES[str(self._packing)]
        return FileFormatError(f"{self.path} is damaged: its {name} data cannot be unpacked ({error})")

    def _check_ratio(self) -> None:
        if self._made > max(_MOST_UNPACKED * self._taken, _UNSUSPECTED):
            raise FileFormatError(
                f"{self.path} unpacks to more than {_MOST_UNPACKED} times its size, as no graph does; "
                "if that is meant, unpack it first (gunzip, bunzip2, unxz, unzstd)"
            )

    def _follows(self) -> bool:
        """Return whether another member follows in `_packed`, and not only zeros, which may pad the last one."""
        return self._packed[self._at : self._at + 1] > b"\0" or bool(self._packed[self._at :].strip(b"\0"))

    def _fetch(self) -> bool:
        self._packed, self._at = self._file.read(CHUNK), 0
        self._progress.update(len(self._packed))
        return bool(self._packed)


class _Counted:
    """A file of packed bytes for a library that reads it, which counts what it takes."""

    closed = False

    def __init__(self, file: BinaryIO, count: Callable[[int], None]) -> None:
        self._file, self._count = file, count

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._count(len(data))
        return data

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        """Leave the file open for its owner."""


@dataclass
class Lines:
    """Some whole lines of a file; the first of them has the number `first` (1 is the file's first line).

    `ended`: the file has a line end after the last of them.
    """

    path: Path
    first: int
    data: bytes
    ended: bool = True

    def error(self, index: int, message: str) -> FileFormatError:
        """Return a FileFormatError that names line `index` (from 0) of these."""
        return FileFormatError(f"{self.path}, line {self.first + index}: {message}")


def lines(path: str | os.PathLike[str], size: int = CHUNK, longest: int = LINE) -> Iterator[Lines]:
    """Yield the file as chunks of whole lines; a thread reads and unpacks the next chunk while the caller works.

    Raises
    ------
    FileFormatError
        A line has more than `longest` bytes.
    """
    with InputFile(path) as stream:
        first, held = 1, 0
        pending: list[bytes] = []
        start = codecs.BOM_UTF8  # which Windows programs put in front of a text
        for data in ahead(lambda: stream.read(size)):
            data, start = data.removeprefix(start), b""
            cut = data.rfind(b"\n") + 1
            if held + (data.find(b"\n") if cut else len(data)) > longest:
                raise too_long(stream.path, first, longest)
            if not cut:
                pending.append(data)
                held += len(data)
                continue
            chunk = b"".join((*pending, data[:cut]))
            pending, held = [data[cut:]], len(data) - cut
            yield Lines(stream.path, first, chunk)
            first += chunk.count(b"\n")
        if rest := b"".join(pending):
            yield Lines(stream.path, first, rest + b"\n", ended=False)


@dataclass(frozen=True)
class Span:
    """The lines of a plain text file that begin within the bytes ``start:stop``; `first` is the number of the first.

    `start` and `stop` are the starts of lines, or the end of the file.
    """

    start: int
    stop: int
    first: int

    def lines(self, path: Path, size: int = CHUNK) -> Iterator[Lines]:
        """Yield these lines as chunks.

        Raises
        ------
        FileFormatError
            The file ends before `stop`, as it was changed meanwhile; or a line is too long.
        """
        number, held, at = self.first, b"", self.start
        with path.open("rb", buffering=0) as file:
            file.seek(at)
            for data in ahead(lambda: file.read(min(size, self.stop - file.tell()))):
                at += len(data)
                text = held + data
                cut = text.rfind(b"\n") + 1
                if (text.find(b"\n") if cut else len(text)) > LINE:
                    raise too_long(path, number, LINE)
                held = text[cut:]
                if cut:
                    yield Lines(path, number, text[:cut])
                    number += text.count(b"\n")
        if at < self.stop:
            raise FileFormatError(f"{path} is shorter than it was: {self.stop - at:,} bytes are missing")
        if held:
            yield Lines(path, number, held + b"\n", ended=False)


def parts(path: Path, span: Span | None, known: Callable[[], bool]) -> Iterator[tuple[Lines, bool]]:
    """Yield the lines of a span, each chunk with True; before them, with False, those from the file's start on.

    Of these as many as a reader needs until it has `known` what the file's head says. Without a span the whole file is
    read.
    """
    if span is not None:
        for chunk in Span(0, span.start, 1).lines(path):
            yield chunk, False
            if known():
                break
    for chunk in lines(path) if span is None else span.lines(path):
        yield chunk, True


def line_start(path: Path, at: int) -> int:
    """Return the start of the first line that begins at a byte or after it; the file's size if there is none."""
    with path.open("rb") as file:
        if at <= 0:
            return 0
        file.seek(at - 1)
        while part := file.read(CHUNK):
            found = part.find(b"\n")
            if found >= 0:
                return at + found
            at += len(part)
        return file.seek(0, os.SEEK_END)


def line_ends(path: Path, start: int, stop: int) -> int:
    """Return the number of line ends within the bytes ``start:stop``."""
    count = 0
    with path.open("rb", buffering=0) as file:
        file.seek(start)
        while start < stop and (part := file.read(min(CHUNK, stop - start))):
            count += part.count(b"\n")
            start += len(part)
    return count


def too_long(path: Path | str, line: int, longest: int) -> FileFormatError:
    """Return the error for a line that is too long."""
    return FileFormatError(f"{path}, line {line}: found a line of more than {longest:,} bytes, the most it may have")


def cut(chunk: Lines) -> FileFormatError:
    """Return the error for a last line without an end where the writer ends every line: its number may be cut."""
    last = chunk.data.count(b"\n") - 1
    return chunk.error(last, "the file is truncated: its last line has no end, which sparsezc would have written")


def ahead(produce: Callable[[], T]) -> Iterator[T]:
    """Yield the results of `produce` until one is empty; each is computed while the caller works on the one before."""
    with ThreadPoolExecutor(1, "sparsezc-read") as pool:
        following = pool.submit(produce)
        while item := following.result():
            following = pool.submit(produce)
            yield item
