"""The bytes of a packed file, unpacked while they are read."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from sparsezc.exceptions import FileFormatError
from sparsezc.io.files.packing import NAMES, CodecMissing, arrow, own_zstd

CHUNK = 1 << 20  # bytes: a chunk and the arrays derived from it stay in a core's cache
# The most times its size to which a file may unpack: a graph's text has 3 to 30 times, the worst gzip data 1032 times.
_MOST_UNPACKED = 256
_UNSUSPECTED = 64 << 20  # bytes to which any packed file may unpack
_FIRST_STEP = 1 << 14  # packed bytes that are passed first for each gzip member, so that many small ones stay cheap


def most_unpacked(packing: str, size: int) -> int:
    """Return the most bytes to which a packed file of so many bytes may unpack."""
    if packing == ".gz":
        return size * 1032 + 64  # deflate packs no better than 1032 to 1
    return max(_MOST_UNPACKED * size, _UNSUSPECTED)


class Unpacked:
    """A reader of a packed file's content; the file may have several streams, as gzip's members are.

    `fetch(size)` returns at most `size` of the next bytes of the file at `path`.

    Raises
    ------
    CodecMissing
        The packing is zstd, which neither Python nor pyarrow supports.
    """

    def __init__(self, fetch: Callable[[int], bytes], packing: str, path: Path) -> None:
        self._fetch, self._packing, self._path = fetch, packing, path
        # Packed bytes, the position in them, and the next step.
        self._packed, self._at, self._step = b"", 0, _FIRST_STEP
        self._taken = self._made = 0  # bytes unpacked so far, and bytes that resulted
        self._ready, self._given = b"", 0  # unpacked bytes, and how many of them were returned
        self._stream: Any = _zstd_stream(_Packed(self._take)) if packing == ".zst" else None
        self._unpacker = None if self._stream is not None else _unpacker(packing)

    def read(self, size: int) -> bytes:
        """Return up to `size` unpacked bytes, and no bytes at the end of the file.

        Raises
        ------
        FileFormatError
            The file is truncated or damaged, or unpacks to more than any graph does.
        """
        if self._stream is not None:
            return self._pulled(size)
        parts: list[bytes] = []  # parts of members that may be small
        while size and (self._given < len(self._ready) or self._more(max(size, CHUNK))):
            parts.append(self._ready[self._given : self._given + size])
            self._given += len(parts[-1])
            size -= len(parts[-1])
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _pulled(self, size: int) -> bytes:
        """Return unpacked bytes from a library's stream, which reads the packed bytes itself."""
        try:
            data: bytes = self._stream.read(size)
        except OSError as error:
            raise self._damaged(error) from None
        self._made += len(data)
        self._check_ratio()
        return data

    def _take(self, size: int) -> bytes:
        """Return packed bytes to a library that unpacks them."""
        data = self._fetch(size)
        self._taken += len(data)
        return data

    def _more(self, size: int) -> bool:
        """Unpack more bytes into `_ready`; return False at the end."""
        assert self._unpacker is not None
        if self._unpacker.eof:
            while not self._follows():
                if not self._fill():
                    return False
            # the file has another stream
            self._unpacker, self._step = _unpacker(self._packing), _FIRST_STEP
        hungry = self._unpacker.hungry
        if hungry and self._at == len(self._packed) and not self._fill():
            raise FileFormatError(
                f"{self._path} is truncated: its {NAMES[self._packing]} data ends before its end mark"
            )
        packed = self._packed[self._at : self._at + self._step] if hungry else b""
        try:
            (self._ready, taken), self._given = self._unpacker.decompress(packed, size), 0
        except _damages() as error:
            raise self._damaged(error) from None
        self._at, self._step = self._at + taken, min(2 * self._step, CHUNK)
        self._taken, self._made = self._taken + taken, self._made + len(self._ready)
        self._check_ratio()
        return True

    def _damaged(self, error: Exception) -> FileFormatError:
        name = NAMES[self._packing]
        return FileFormatError(f"{self._path} is damaged: its {name} data cannot be unpacked ({error})")

    def _check_ratio(self) -> None:
        if self._made > max(_MOST_UNPACKED * self._taken, _UNSUSPECTED):
            raise FileFormatError(
                f"{self._path} unpacks to more than {_MOST_UNPACKED} times its size, as no graph does; "
                "if the file is right, unpack it first (gunzip, bunzip2, unxz, unzstd)"
            )

    def _follows(self) -> bool:
        """Return whether another member follows in `_packed`, behind zeros that may pad the last one."""
        if self._packed[self._at : self._at + 1] == b"\0":
            self._at = len(self._packed) - len(self._packed[self._at :].lstrip(b"\0"))
        return self._at < len(self._packed)

    def _fill(self) -> bool:
        self._packed, self._at = self._fetch(CHUNK), 0
        return bool(self._packed)


class _Packed:
    """A file of packed bytes for a library that reads it."""

    closed = False

    def __init__(self, take: Callable[[int], bytes]) -> None:
        self._take = take

    def read(self, size: int = -1) -> bytes:
        return self._take(size)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        """Leave the file open for its owner."""


class _Unpacker(Protocol):
    """The unpacker of one stream of a packed file, which may have several."""

    @property
    def eof(self) -> bool:
        """Return whether the stream's end mark was met."""

    @property
    def hungry(self) -> bool:
        """Return whether the unpacker needs more packed bytes."""

    def decompress(self, packed: bytes, size: int) -> tuple[bytes, int]:
        """Return at most `size` unpacked bytes, and the number of packed bytes that were used."""


class _Inflate:
    """The unpacker of a gzip member."""

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
    """The unpacker of a bzip2, xz or zstd stream, which buffers packed bytes itself."""

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


def _unpacker(packing: str) -> _Unpacker:
    """Return an unpacker of one stream of a packing.

    Raises
    ------
    CodecMissing
        The packing is zstd, and Python is older than 3.14.
    """
    if packing == ".gz":
        return _Inflate()
    if packing == ".bz2":
        return _Buffered(import_module("bz2").BZ2Decompressor())
    if packing == ".xz":
        return _Buffered(import_module("lzma").LZMADecompressor())
    return _Buffered(own_zstd().ZstdDecompressor())


def _damages() -> tuple[type[Exception], ...]:
    """Return the errors that unpackers raise for damaged data."""
    found: list[type[Exception]] = [zlib.error, OSError, EOFError, ValueError, import_module("lzma").LZMAError]
    with suppress(CodecMissing):
        found.append(own_zstd().ZstdError)
    return tuple(found)


def _zstd_stream(file: Any) -> Any:
    """Return pyarrow's file object that unpacks the zstd bytes of `file`, or None if Python itself supports zstd.

    Raises
    ------
    CodecMissing
        Neither Python nor pyarrow supports zstd.
    """
    try:
        own_zstd()
    except CodecMissing:
        return arrow().CompressedInputStream(arrow().PythonFile(file, "r"), "zstd")
    return None
