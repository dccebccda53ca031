"""The compression formats, and files that are compressed while they are written; unpacking.py decompresses.

Python itself supports gzip, bzip2 and xz, and zstd from version 3.14 on; before, pyarrow does
(``pip install "sparsezc[arrow]"``).
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import IO, Any, Self

from sparsezc.exceptions import GraphblasException

#: Suffixes of packed files, and the first bytes of each.
MAGIC = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00", ".zst": b"(\xb5/\xfd"}
SUFFIXES = tuple(MAGIC)
NAMES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
HEAD = max(map(len, MAGIC.values()))  # bytes that identify the packing


class CodecMissing(GraphblasException, ImportError):
    """The error for a packing that this Python cannot unpack."""


def own_zstd() -> Any:
    """Return Python's module for zstd; raise CodecMissing before 3.14."""
    try:
        return import_module("compression.zstd")
    except ImportError as error:
        raise CodecMissing(str(error)) from None


def arrow() -> Any:
    """Return pyarrow; raise CodecMissing without it."""
    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise CodecMissing(
            f'.zst files need Python 3.14 or pyarrow ({error}); pip install "sparsezc[arrow]" brings it'
        ) from None


def packer(file: IO[bytes], packing: str) -> IO[bytes]:
    """Return a file object that packs the bytes written to it into `file`, and closes `file`.

    Raises
    ------
    CodecMissing
        The packing is zstd, which neither Python nor pyarrow supports.
    """
    if packing == ".gz":
        inner = import_module("gzip").GzipFile(fileobj=file, mode="wb", compresslevel=6, filename="", mtime=0)
    elif packing == ".bz2":
        inner = import_module("bz2").BZ2File(file, "wb")
    elif packing == ".xz":
        inner = import_module("lzma").LZMAFile(file, "wb")
    else:
        try:
            inner = own_zstd().ZstdFile(file, "wb")
        except CodecMissing:
            inner = arrow().CompressedOutputStream(arrow().PythonFile(file, "w"), "zstd")
    return _Closing(inner, file)  # type: ignore[return-value]


class _Closing:
    """A file object that packs bytes, and also closes the file into which it packs them."""

    def __init__(self, inner: Any, below: IO[bytes]) -> None:
        self._inner, self._below = inner, below

    def write(self, data: Any) -> int:
        self._inner.write(data)
        return memoryview(data).nbytes

    def writelines(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self._inner.write(line)

    def flush(self) -> None:
        """Do nothing: packed bytes are complete only when the file is closed."""

    def close(self) -> None:
        try:
            self._inner.close()
        finally:
            self._below.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
