"""Input files, unpacked while they are read.

Every reader opens its file here, so that missing, empty, truncated and wrongly compressed files get the same errors.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Self

from sparsezc.errors import FileFormatError
from sparsezc.io.files import packing
from sparsezc.io.files.names import existing, packing_of
from sparsezc.terminal.progress import bar

CHUNK = 1 << 20  # bytes: a chunk and the arrays derived from it stay in a core's cache
# Times the bytes of a .gz: a graph's text unpacks to 3 to 30 times its size, gzip data to 1032 at most.
_MOST_UNPACKED = 256
_UNSUSPECTED = 64 << 20  # bytes to which any .gz may unpack
_FIRST_STEP = 1 << 14  # bytes of a gzip member that are unpacked first: so each of many small members costs no more


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
        self._packing = packing_of(head)
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
            while not self._follows():
                if not self._fetch():
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
        """Return whether another member follows in `_packed`, behind zeros that may pad the last one."""
        if self._packed[self._at : self._at + 1] == b"\0":
            self._at = len(self._packed) - len(self._packed[self._at :].lstrip(b"\0"))
        return self._at < len(self._packed)

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
