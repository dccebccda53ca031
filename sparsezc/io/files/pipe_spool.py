"""What comes out of a pipe, copied to a file first: readers look at a text's head before they read it, some twice."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from sparsezc.errors import FileFormatError, GraphblasException
from sparsezc.io.files.atomic_write import FileNotWritten
from sparsezc.io.files.scratch_folder import ScratchFolder
from sparsezc.io.files.source import CHUNK, FileUnreadable, existing, is_piped

_OPEN = Path("/proc/self/fd")  # names of open files, by which they can be opened again
_LOOK = 64 << 20  # bytes that are copied between two looks at the room that is left


def regular(path: Path) -> Path:
    """The path of a file that can be read at any place.

    Raises
    ------
    FileFormatError
        It is a pipe or a device, or empty.
    FileMissing, FileIsFolder, FileUnreadable
        As of :func:`~sparsezc.io.files.source.existing`.
    """
    if is_piped(existing(path)):
        raise FileFormatError(f"{path} is a pipe or a device; files of this format must be regular")
    return path


@contextmanager
def seekable(path: str | os.PathLike[str], folder: Path | None = None) -> Iterator[str | os.PathLike[str]]:
    """The same path, or for a while a copy of what comes out of a pipe, of its name; errors name the pipe.

    The copy is in `folder`, or where the system has its temporary files (TMPDIR). On Linux it has no name there, but a
    link that leads to it, so that its room is free again whenever the process ends.

    Raises
    ------
    FileUnreadable
        The pipe may not be read.
    FileFormatError
        It is a device that has no end, or no text comes out of it.
    FileNotWritten
        There is no room for the copy.
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
            error.args = tuple(str(each).replace(str(copy), str(given)) for each in error.args)
            raise


@contextmanager
def _created(path: Path) -> Iterator[IO[bytes]]:
    """A new file, without a name of its own where open files have names."""
    if _OPEN.is_dir():
        with tempfile.TemporaryFile(dir=path.parent) as unnamed:
            yield unnamed
    else:
        with path.open("wb") as file:
            yield file


def _refuse_endless(path: Path) -> None:
    """Refuse devices of characters, such as /dev/zero: only terminals and /dev/null have an end."""
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
    """A file that takes what comes out of a pipe as long as it may be text and a tenth of the room stays free."""

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
                    f"ended, and {free:,} bytes are free there; {self._least:,}, a tenth of what was, stay free"
                )
        self._count += len(data)
        return self._file.write(data)
