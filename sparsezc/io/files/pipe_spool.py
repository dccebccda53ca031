"""Temporary copies of pipes: readers look at a text's head before they read it, and some read it twice."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from sparsezc.exceptions import FileFormatError, GraphblasException
from sparsezc.io.files.atomic_write import FileNotWritten
from sparsezc.io.files.scratch_folder import ScratchFolder
from sparsezc.io.files.source import FileUnreadable, existing, is_piped
from sparsezc.io.files.unpacking import CHUNK

_OPEN = Path("/proc/self/fd")  # names of open files, by which they can be reopened
_LOOK = 64 << 20  # bytes that are copied between two checks of the free space


def regular(path: Path) -> Path:
    """Return a path after checking that it is a regular file, which can be read at any position.

    Raises
    ------
    FileFormatError
        The path is a pipe or a device, or the file is empty.
    FileMissing, FileIsFolder, FileUnreadable
        As for :func:`~sparsezc.io.files.source.existing`.
    """
    if is_piped(existing(path)):
        raise FileFormatError(f"{path} is a pipe or a device; files of this format must be regular")
    return path


@contextmanager
def seekable(path: str | os.PathLike[str], folder: Path | None = None) -> Iterator[str | os.PathLike[str]]:
    """Yield the same path or, for a pipe, that of a temporary copy of its content; errors name the pipe.

    The copy is in `folder`, or in the system's folder for temporary files (TMPDIR). On Linux it is unlinked and opened
    by a link to its descriptor, so its space is freed however the process ends.

    Raises
    ------
    FileUnreadable
        The pipe is not readable for this user.
    FileFormatError
        The path is a device that may have no end, or its content is no text.
    FileNotWritten
        There is too little space for the copy.
    """
    given = Path(path)
    if not is_piped(given):
        yield path
        return
    if not os.access(given, os.R_OK):
        raise FileUnreadable(f"{given} cannot be read: permission denied")
    _refuse_endless(given)
    with ExitStack() as stack:
        try:
            made = stack.enter_context(ScratchFolder.temporary()) if folder is None else folder
            copy = Path(made, given.name)
            file = stack.enter_context(_created(copy))
            with given.open("rb") as pipe:
                shutil.copyfileobj(pipe, _Bounded(given, file, made), CHUNK)
            file.flush()
            if not copy.exists():
                copy.symlink_to(_OPEN / str(file.fileno()))
        except GraphblasException:
            raise
        except OSError as failure:
            place = folder or tempfile.gettempdir()
            raise FileNotWritten(f"{given} cannot be copied to {place}: {failure.strerror or failure}") from None
        try:
            yield copy
        except GraphblasException as error:
            error._say(*(str(each).replace(str(copy), str(given)) for each in error.args))
            raise


@contextmanager
def _created(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file; it is unlinked where open files have names (/proc/self/fd)."""
    if _OPEN.is_dir():
        with tempfile.TemporaryFile(dir=path.parent) as unnamed:
            yield unnamed
    else:
        with path.open("wb") as file:
            yield file


def _refuse_endless(path: Path) -> None:
    """Raise FileFormatError for character devices, such as /dev/zero: only terminals and /dev/null have an end."""
    found = path.stat()
    if not stat.S_ISCHR(found.st_mode) or found.st_rdev == Path(os.devnull).stat().st_rdev:
        return
    handle = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        if os.isatty(handle):
            return
    finally:
        os.close(handle)
    raise FileFormatError(f"{path} is a device that may have no end; a file, a pipe or a terminal is needed")


class _Bounded:
    """A file for a pipe's content; writing fails if this is no text, or once nine tenths of the free space are used."""

    def __init__(self, pipe: Path, file: IO[bytes], folder: Path) -> None:
        self._pipe, self._file, self._folder = pipe, file, folder
        self._least = shutil.disk_usage(folder).free // 10
        self._count = self._looked = 0

    def write(self, data: bytes) -> int:
        if not self._count and data.startswith(b"\0"):
            raise FileFormatError(f"{self._pipe} starts with a NUL byte; text, gzipped or not, is needed")
        if self._count - self._looked >= _LOOK:
            self._looked = self._count
            if (free := shutil.disk_usage(self._folder).free) < self._least:
                raise FileNotWritten(
                    f"{self._pipe} cannot be copied to {self._folder.parent}: after {self._count:,} bytes it has not "
                    f"ended, and {free:,} bytes are free there; {self._least:,}, a tenth of those at first, stay free"
                )
        self._count += len(data)
        return self._file.write(data)
