"""Text files cut into whole lines with line numbers, all of them or those of a range of bytes."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sparsezc.errors import FileFormatError
from sparsezc.io.files.source import CHUNK, InputFile

LINE = 1 << 20  # bytes of the longest line of a list, which is held in memory whole
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # which no text in UTF-8 begins with
_WORD = re.compile(rb"[^\s,]+")
T = TypeVar("T")


@dataclass
class Lines:
    """Some whole lines of a file; the first of them has the number `first` (1 is the file's first line).

    `ended`: the file has a line end after the last of them. `picked`: lines of words that were taken out of the file's
    lines, each from the column (from 0) that stands here.
    """

    path: Path
    first: int
    data: bytes
    ended: bool = True
    picked: Sequence[int] | None = None

    def place(self, index: int, word: int | None = None) -> str:
        """Return the file and line `index` (from 0) of these; for a word of it also its column and first character."""
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
        """Return a FileFormatError that names line `index` (from 0) of these, or a word of it."""
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
            if start and data[:2] in _UTF_16:
                raise FileFormatError(
                    f"{stream.path} is UTF-16 text; iconv -f UTF-16 -t UTF-8 makes it one that is read"
                )
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
