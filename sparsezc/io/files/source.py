"""Input files: their names, their bytes (unpacked while they are read), and their lines.

Every reader opens its file here, so that missing, empty, truncated and wrongly compressed files get the same errors.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Self, TypeVar

from sparsezc.exceptions import FileFormatError, GraphblasException, meant
from sparsezc.io.files import packing
from sparsezc.io.files.unpacking import CHUNK, Unpacked, most_unpacked
from sparsezc.terminal.progress import bar

WRITTEN = "the file to write"  # a target, in the messages of file_name
LINE = 1 << 20  # bytes of the longest line of a list, which is held in memory whole
_LOOKED_AT = 1000  # files of a folder whose names are compared with a name that does not exist
_LOOKED_INTO = 4096  # bytes at a file's start in which a NUL byte shows that it is no text
#: The first bytes, in lower case, of files that are often downloaded in place of a graph, and what the files are.
_NO_GRAPHS = {
    b"<!doctype html": "an HTML page, as a server sends for a wrong address; fetch the graph again",
    b"<html": "an HTML page, as a server sends for a wrong address; fetch the graph again",
    b"version https://git-lfs": "a pointer of Git LFS; git lfs pull fetches the file itself",
}
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # no text in UTF-8 begins with these
_WORD = re.compile(rb"[^\s,]+")
T = TypeVar("T")


class FileMissing(GraphblasException, FileNotFoundError):
    """The error for a named file that does not exist."""


class FileIsFolder(GraphblasException, IsADirectoryError):
    """The error for a folder where a file is needed."""


class FileTimeout(GraphblasException, TimeoutError):
    """The error for a disk or network that is too slow; the file may be intact."""


class FileUnreadable(GraphblasException, PermissionError):
    """The error for a named file that this user may not read."""


def file_name(path: str | os.PathLike[str], what: str) -> str:
    """Return a file's name as a str, which may be empty.

    Raises
    ------
    TypeError
        `path` is neither str nor path; the message names the file as `what`.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"the name of {what} is a {type(path).__name__}; a str or a path is needed")
    return os.fspath(path)


def existing(path: str | os.PathLike[str], others: Iterable[str] = ()) -> Path:
    """Return the path after checking that it is a file and not empty; `others`: further names that a message suggests.

    Raises
    ------
    FileMissing, FileIsFolder, FileUnreadable
        These are also FileNotFoundError, IsADirectoryError and PermissionError.
    FileFormatError
        The file is empty.
    """
    found = Path(path)
    if found.is_dir():
        raise FileIsFolder(f"{found} is a folder without .parquet files; one with some, or a graph file, is needed")
    if not found.exists():
        beside = found.parent.iterdir() if os.access(found.parent, os.R_OK | os.X_OK) else ()
        known = [*others, *(each.name for each in islice(beside, _LOOKED_AT))]
        raise FileMissing(f"{found} does not exist{meant(found.name, known)}")
    if not os.access(found, os.R_OK):
        raise FileUnreadable(f"{found} cannot be read: permission denied")
    if found.is_file() and found.stat().st_size == 0:
        raise FileFormatError(f"{found} is empty (0 bytes)")
    return found


def plain_name(name: str) -> str:
    """Return a name in lower case without the suffix of a packing.

    >>> plain_name("Web.TXT.xz")
    'web.txt'
    """
    low = name.lower()
    return next((low.removesuffix(suffix) for suffix in packing.SUFFIXES if low.endswith(suffix)), low)


def is_piped(path: Path) -> bool:
    """Return whether a path can be read only once, from start to end: an existing pipe, terminal or device."""
    return path.exists() and not path.is_file() and not path.is_dir()


class InputFile:
    """The bytes of a file, unpacked if it is compressed; a context manager with `read`, as file objects have.

    `file`: the file, if it is open already, at its start. `limit` is the most bytes to which the file can unpack, so
    that a wrong count in a header is detected before memory is allocated.
    """

    def __init__(self, path: str | os.PathLike[str], label: str = "reading", *, file: BinaryIO | None = None) -> None:
        self.path = existing(path) if file is None else Path(path)
        self._file: BinaryIO = self.path.open("rb") if file is None else file
        head = self._file.read(packing.HEAD)
        self._file.seek(0)
        packed, suffix = _packing_of(head), self.path.suffix.lower()
        self.compressed = packed is not None
        if suffix in packing.SUFFIXES and packed != suffix:
            self._file.close()
            raise FileFormatError(
                f"{self.path} ends in {suffix} but is not {packing.NAMES[suffix]} data: it starts with {head[:2]!r}"
            )
        size = os.fstat(self._file.fileno()).st_size
        self.limit = size if packed is None else most_unpacked(packed, size)
        self._progress = bar(size, f"{label} {self.path.name}")
        try:
            self._unpacked = None if packed is None else Unpacked(self._fetch, packed, self.path)
        except packing.CodecMissing:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and remove the progress bar."""
        self._progress.close()
        self._file.close()

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes, and no bytes at the end of the file."""
        if size < 0:
            return b"".join(iter(lambda: self.read(CHUNK), b""))
        return self._fetch(size) if self._unpacked is None else self._unpacked.read(size)

    def _fetch(self, size: int) -> bytes:
        """Return up to `size` bytes as they are in the file."""
        data = self._file.read(size)
        self._progress.update(len(data))
        return data


def _packing_of(head: bytes) -> str | None:
    """Return the suffix that names the packing of a file by its first bytes; None if they are plain."""
    found = next((suffix for suffix, magic in packing.MAGIC.items() if head.startswith(magic)), None)
    return None if found == ".bz2" and not head[3:4].isdigit() else found  # a text may begin with BZh


@dataclass
class Lines:
    """Some whole lines of a file; the first of them has the number `first` (1 is the file's first line).

    `ended`: the last line ends with a newline in the file. `picked`: the columns (from 0) of the file's lines that the
    words of `data` are from; None: `data` is the file's own text.
    """

    path: Path
    first: int
    data: bytes
    ended: bool = True
    picked: Sequence[int] | None = None

    def place(self, index: int, word: int | None = None) -> str:
        """Return the file, the line `index` (from 0 in this chunk) and, for a word, its column and first character."""
        line = f"{self.path}, line {self.first + index}"
        if word is None:
            return line
        if self.picked is not None:
            return f"{line}, column {self.picked[word] + 1}"
        text = self.data.split(b"\n", index + 1)[index]
        start = [found.start() for found in _WORD.finditer(text)][word : word + 1]
        return line + "".join(
            f", column {word + 1} (character {len(text[:at].decode(errors='replace')) + 1})" for at in start
        )

    def error(self, index: int, message: str, word: int | None = None) -> FileFormatError:
        """Return a FileFormatError that names line `index` (from 0 in this chunk), or a word of it."""
        return FileFormatError(f"{self.place(index, word)}: {message}")


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
            if start:
                _refuse_what_is_no_graph(stream.path, data)
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


def _refuse_what_is_no_graph(path: Path, data: bytes) -> None:
    """Raise FileFormatError if a file's first bytes are not those of a text of a graph."""
    if data[:2] in _UTF_16:
        raise FileFormatError(f"{path} is UTF-16 text; iconv -f UTF-16 -t UTF-8 converts it")
    for mark, what in _NO_GRAPHS.items():
        if data[: len(mark)].lower() == mark:
            raise FileFormatError(f"{path}, line 1: found {what}")
    if (nul := data.find(b"\0", 0, _LOOKED_INTO)) >= 0:
        line = 1 + data.count(b"\n", 0, nul)
        raise FileFormatError(
            f"{path}, line {line}: found a NUL byte; a text is needed, or format= (--format) with the file's format"
        )


@dataclass(frozen=True)
class Span:
    """The lines of a plain text file that begin within the bytes ``start:stop``; `first` is the number of the first.

    `start` and `stop` are the starts of lines, or the end of the file.
    """

    start: int
    stop: int
    first: int

    def lines(self, path: Path, size: int = CHUNK) -> Iterator[Lines]:
        """Yield these lines in chunks.

        Raises
        ------
        FileFormatError
            The file was changed and ends before `stop`, or a line is too long.
        """
        number, held, at = self.first, b"", self.start
        with path.open("rb", buffering=0) as file:
            file.seek(at)
            for data in ahead(lambda: file.read(min(size, self.stop - file.tell()))):
                at += len(data)
                text = held + (data.removeprefix(codecs.BOM_UTF8) if at == len(data) else data)  # the file's first
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
    """Yield the lines of a span in chunks, each with True; before them chunks from the file's start on, with False.

    The chunks with False end when `known` returns True: the reader then has the facts in the file's head. Without a
    span the whole file is read.
    """
    if span is not None:
        for chunk in Span(0, span.start, 1).lines(path):
            yield chunk, False
            if known():
                break
    for chunk in lines(path) if span is None else span.lines(path):
        yield chunk, True


def too_long(path: Path | str, line: int, longest: int) -> FileFormatError:
    """Return the error for a line that is too long."""
    return FileFormatError(f"{path}, line {line}: found a line of more than {longest:,} bytes, the most it may have")


def cut(chunk: Lines) -> FileFormatError:
    """Return the error for a last line without an end in a file whose writer ends every line: digits may be missing."""
    last = chunk.data.count(b"\n") - 1
    return chunk.error(last, "the file is truncated: its last line has no end, though its writer ends every line")


def ahead(produce: Callable[[], T]) -> Iterator[T]:
    """Yield the results of `produce` until one is empty; each is computed while the caller works on the one before."""
    with ThreadPoolExecutor(1, "sparsezc-read") as pool:
        following = pool.submit(produce)
        while item := following.result():
            following = pool.submit(produce)
            yield item
