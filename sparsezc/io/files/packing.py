"""Compressed files: the packings that there are, and unpacking and packing a file piece by piece.

gzip, bzip2 and xz are Python's own, zstd from Python 3.14 on; before it is pyarrow's
(``pip install "sparsezc[arrow]"``).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from typing import IO, Any, Protocol, Self

from sparsezc.errors import GraphblasException

#: Suffixes of packed files, and the first bytes of each.
MAGIC = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00", ".zst": b"(\xb5/\xfd"}
SUFFIXES = tuple(MAGIC)
NAMES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
HEAD = max(map(len, MAGIC.values()))  # bytes that tell the packing


class CodecMissing(GraphblasException, ImportError):
    """The error for a packing that this Python cannot unpack."""


class Unpacker(Protocol):
    """One stream of a packed file, of which there may be several."""

    @property
    def eof(self) -> bool:
        """Return whether its end mark was met."""

    @property
    def hungry(self) -> bool:
        """Return whether it needs packed bytes to go on."""

    def decompress(self, packed: bytes, size: int) -> tuple[bytes, int]:
        """Return at most `size` unpacked bytes, and how many of the packed ones were taken."""


class _Inflate:
    """A gzip member."""

    hungry = True

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    def decompress(self, packed: bytes, size: int) -> tuple[bytes, int]:
        made = self._inner.decompress(packed, size)
        return made, len(packed) - len(self._inner.unconsumed_tail) - len(self._inner.unused_data)


class _Buffered:
    """A stream of bzip2, xz or zstd, which keeps packed bytes until they are asked for."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    @property
    def eof(self) -> bool:
        return bool(self._inner.eof)

    @property
    def hungry(self) -> bool:
        return bool(self._inner.needs_input)

    def decompress(self, packed: bytes, size: int) -> tuple[bytes, int]:
        made = self._inner.decompress(packed, size)
        return made, len(packed) - len(self._inner.unused_data) if self._inner.eof else len(packed)


def unpacker(packing: str) -> Unpacker:
    """Return what unpacks one stream of a packing.

    Raises
    ------
    CodecMissing
        It is zstd's, and Python is older than 3.14.
    """
    if packing == ".gz":
        return _Inflate()
    if packing == ".bz2":
        return _Buffered(import_module("bz2").BZ2Decompressor())
    if packing == ".xz":
        return _Buffered(import_module("lzma").LZMADecompressor())
    return _Buffered(_own_zstd().ZstdDecompressor())


def _own_zstd() -> Any:
    try:
        return import_module("compression.zstd")
    except ImportError as error:
        raise CodecMissing(str(error)) from None


def damages() -> tuple[type[Exception], ...]:
    """Return the errors that unpackers raise for damaged data."""
    found: list[type[Exception]] = [zlib.error, OSError, EOFError, ValueError, import_module("lzma").LZMAError]
    with suppress(CodecMissing):
        found.append(_own_zstd().ZstdError)
    return tuple(found)


def zstd_stream(file: Any) -> Any:
    """Return a file object that unpacks one of packed bytes by pyarrow, or None where Python does it.

    Raises
    ------
    CodecMissing
        Neither is there.
    """
    try:
        _own_zstd()
    except CodecMissing:
        return _arrow().CompressedInputStream(_arrow().PythonFile(file, "r"), "zstd")
    return None


def _arrow() -> Any:
    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise CodecMissing(
            f'.zst files need Python 3.14 or pyarrow ({error}); pip install "sparsezc[arrow]" brings it'
        ) from None


def packer(file: IO[bytes], packing: str) -> IO[bytes]:
    """Return a file object that packs what is written into `file`, and closes it.

    Raises
    ------
    CodecMissing
        As for :func:`zstd_stream`.
    """
    if packing == ".gz":
        inner = import_module("gzip").GzipFile(fileobj=file, mode="wb", compresslevel=6, filename="", mtime=0)
    elif packing == ".bz2":
        inner = import_module("bz2").BZ2File(file, "wb")
    elif packing == ".xz":
        inner = import_module("lzma").LZMAFile(file, "wb")
    else:
        try:
            inner = _own_zstd().ZstdFile(file, "wb")
        except CodecMissing:
            inner = _arrow().CompressedOutputStream(_arrow().PythonFile(file, "w"), "zstd")
    return _Closing(inner, file)  # type: ignore[return-value]


class _Closing:
    """A packing file that closes the file below it too."""

    def __init__(self, inner: Any, below: IO[bytes]) -> None:
        self._inner, self._below = inner, below

    def write(self, data: Any) -> int:
        self._inner.write(data)
        return memoryview(data).nbytes

    def writelines(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self._inner.write(line)

    def flush(self) -> None:
        """Leave the data where it is: packed bytes are complete when the file is closed."""

    def close(self) -> None:
        try:
            self._inner.close()
        finally:
            self._below.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
