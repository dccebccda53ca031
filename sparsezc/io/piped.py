"""What comes out of a pipe, copied to a file first: readers look at a text's head before they read it, some twice."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sparsezc.errors import FileFormatError, GraphblasException
from sparsezc.io.atomic import FileNotWritten
from sparsezc.io.source import CHUNK, FileUnreadable, existing


def is_piped(path: Path) -> bool:
    """Whether it is there and can be read from its start to its end once only: a pipe, a terminal, a device."""
    return path.exists() and not path.is_file() and not path.is_dir()


def regular(path: Path) -> Path:
    """The path of a file that can be read at any place.

    Raises
    ------
    FileFormatError
        It is a pipe or a device, or empty.
    FileMissing, FileIsFolder, FileUnreadable
        As of :func:`~sparsezc.io.source.existing`.
    """
    if is_piped(existing(path)):
        raise FileFormatError(f"{path} is a pipe or a device; files of this format must be regular")
    return path


@contextmanager
def seekable(path: str | os.PathLike[str], folder: Path | None = None) -> Iterator[str | os.PathLike[str]]:
    """The same path, or for a while a copy of what comes out of a pipe, of its name; errors name the pipe.

    The copy lies in `folder`, or where the system has its temporary files (TMPDIR).

    Raises
    ------
    FileUnreadable
        The pipe may not be read.
    FileNotWritten
        There is no room for the copy.
    """
    given = Path(path)
    if not is_piped(given):
        yield path
        return
    if not os.access(given, os.R_OK):
        raise FileUnreadable(f"{given} cannot be read: permission denied")
    with tempfile.TemporaryDirectory(prefix="sparsezc-", dir=folder) as made:
        copy = Path(made, given.name)
        try:
            with given.open("rb") as pipe, copy.open("wb") as file:
                shutil.copyfileobj(pipe, file, CHUNK)
        except OSError as failure:
            raise FileNotWritten(f"{given} cannot be copied to {made}: {failure.strerror or failure}") from None
        try:
            yield copy
        except GraphblasException as error:
            error.args = tuple(str(each).replace(str(copy), str(given)) for each in error.args)
            raise
