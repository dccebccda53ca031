"""The names of files: that they exist, their suffixes, and errors that name them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from sparsezc.errors import DeviceUnavailable, FileFormatError, GraphblasException, meant
from sparsezc.io.files.packing import MAGIC, SUFFIXES


class FileMissing(GraphblasException, FileNotFoundError):
    """The error for a named file that does not exist."""


class FileIsFolder(GraphblasException, IsADirectoryError):
    """The error for a folder where a file is needed."""


class FileTimeout(GraphblasException, TimeoutError):
    """The error for a disk or network that is too slow; the file may be intact."""


class FileUnreadable(GraphblasException, PermissionError):
    """The error for a named file that this user may not read."""


_LOOKED_AT = 1000  # files of a folder among which the nearest name is looked for


def existing(path: str | os.PathLike[str], others: Iterable[str] = ()) -> Path:
    """Return the path, if it is a file that is not empty; `others`: names that may be meant besides those of files.

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
    return next((low.removesuffix(suffix) for suffix in SUFFIXES if low.endswith(suffix)), low)


def packing_of(head: bytes) -> str | None:
    """Return the suffix that names the packing of a file by its first bytes; None if they are plain."""
    found = next((suffix for suffix, magic in MAGIC.items() if head.startswith(magic)), None)
    return None if found == ".bz2" and not head[3:4].isdigit() else found  # a text may begin with BZh


def is_piped(path: Path) -> bool:
    """Return whether it exists and can be read only once, from start to end: a pipe, a terminal, a device."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def naming(graph: str | os.PathLike[str], others: Mapping[str, str] | None = None) -> Iterator[None]:
    """Put the graph's name in front of an error that does not name it.

    `others`: the files of other arguments, one of which is named where the error is about it: its first word.

    >>> with naming("a.txt"):
    ...     raise FileFormatError("too long")
    Traceback (most recent call last):
        ...
    sparsezc.errors.FileFormatError: a.txt: too long
    """
    try:
        yield
    except GraphblasException as error:
        about = str(error.args[0]).split(maxsplit=1)[:1] if error.args else []
        add_name(error, next((file for name, file in (others or {}).items() if [name] == about), graph))
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
