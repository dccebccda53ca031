"""Files that appear complete or not at all: written under another name on the same disk, synced, then renamed.

Unfinished files are in a folder of their own beside the target (scratch_folder.py); several files of one output are
replaced in one step (multi_file_replace.py). If the target is a link, the file that it points to is replaced. A target
that is no regular file (a pipe, a terminal, a device) cannot be replaced by renaming; the bytes are copied into it once
all exist. The same holds for /dev/stdout and similar names even if they are regular files: the process that opened the
file continues to write to it, so the bytes are written through the open descriptor.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

from sparsezc.exceptions import GraphblasException
from sparsezc.io.files import multi_file_replace, packing
from sparsezc.io.files.scratch_folder import ScratchFolder, sync
from sparsezc.io.files.source import WRITTEN, FileIsFolder, FileMissing, file_name

_DESCRIPTORS = re.compile(r"/dev/fd|/proc/\d+(/task/\d+)?/fd")  # folders whose files are open descriptors


class FileNotWritten(GraphblasException, OSError):
    """The error for a file that cannot be written (full disk, read-only folder ...); no part of it is left."""


def _unwritten(path: Path, failure: OSError) -> FileNotWritten:
    """Return the error with the name that the user gave, even if a temporary file was being written."""
    return FileNotWritten(f"{path} cannot be written: {failure.strerror or failure}")


def require_folder(path: Path) -> Path:
    """Return the folder of a file that is to be written.

    Raises
    ------
    FileMissing
        The folder does not exist.
    """
    if not path.parent.is_dir():
        raise FileMissing(f"{path}: the folder {path.parent} does not exist")
    return path.parent


class Output:
    """A context manager that renames the files opened in it to their final names when it is left without an error.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Output(Path(folder) / "a.txt") as out, out.open() as file:
    ...         _ = file.write(b"whole")
    ...     (Path(folder) / "a.txt").read_text()
    'whole'
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not file_name(path, WRITTEN):
            raise FileMissing("the name of the file to write is empty")
        self.path = Path(path)
        self._base = self.path  # the common name of the files, if there are several
        self.written: list[Path] = []  # the files that have their final names
        self._waiting: list[_Waiting] = []
        self._work: dict[Path, ScratchFolder] = {}  # by the folder in which it is

    def __enter__(self) -> Self:
        return self

    def stand_for_all(self, base: Path) -> None:
        """Set the common name of the several files of this output."""
        self._base = base

    def open(self, path: Path | None = None, *, only_over_old: bool = False) -> IO[Any]:
        """Open a binary file that becomes `path` (by default the output's own path), packed if its suffix says so.

        With `only_over_old` the new file is dropped unless it replaces an old one.
        """
        final = path or self.path
        if final.is_dir():
            raise FileIsFolder(f"{final} is a folder; the name of a file is needed")
        folder = None
        if not (special := _is_special(final)):
            final = behind(final)
            folder = self._beside(final) / "new"
        try:
            if folder is not None:
                folder.mkdir(exist_ok=True)
            handle, name = self._temporary(folder)
        except OSError as failure:
            raise _unwritten(final, failure) from None
        self._waiting.append(_Waiting(Path(name), final, special, only_over_old))
        file = os.fdopen(handle, "wb")
        suffix = final.suffix.lower()
        return packing.packer(file, suffix) if suffix in packing.SUFFIXES else file

    def reserve(self) -> Path:
        """Return the path of an empty file that becomes the output, for libraries that open files by their names."""
        self.open().close()
        return self._waiting[-1].temporary

    def scratch(self) -> Path:
        """Return a folder beside the output for temporary files."""
        return self._beside(behind(self.path))

    def _temporary(self, folder: Path | None) -> tuple[int, str]:
        """Create a temporary file, and return its handle and name; without `folder`, in the system's folder."""
        if folder is None:
            folder = self._made(ScratchFolder.temporary())
        return tempfile.mkstemp(suffix=".part", dir=folder)

    def _beside(self, final: Path) -> Path:
        """Return the folder for unfinished files beside a file."""
        folder = require_folder(final)
        try:
            return self._made(ScratchFolder(folder, self.path.name))
        except OSError as failure:
            raise _unwritten(final, failure) from None

    def _made(self, work: ScratchFolder) -> Path:
        """Create the folder, unless one exists in the same place already, and return its path."""
        if work.place not in self._work:
            self._work[work.place] = work  # noted before it exists, as Ctrl-C may come at any time
            try:
                work.make()
            except OSError:
                del self._work[work.place]
                raise
        return self._work[work.place].path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
        except OSError as failure:
            raise _unwritten(self.path, failure) from None
        finally:
            for work in self._work.values():
                work.remove()
        if isinstance(error, OSError) and not isinstance(error, GraphblasException):
            raise _unwritten(self.path, error) from None

    def _finish(self) -> None:
        """Sync the files to disk, then rename them to their final names."""
        for each in self._waiting:
            if not each.special:
                sync(each.temporary)
                each.temporary.chmod(_mode(each))
        if len(self._waiting) > 1 and not any(each.special for each in self._waiting):
            self._switch()
            return
        for each in self._waiting:
            if each.special:
                with each.temporary.open("rb") as source, _opened(each.final) as sink:
                    shutil.copyfileobj(source, sink)
            else:
                each.temporary.replace(each.final)
                sync(each.final.parent)
            self.written.append(each.final)

    def _switch(self) -> None:
        """Replace several files in one step."""
        folders = sorted({each.final.parent for each in self._waiting})
        if len(folders) > 1:
            raise FileNotWritten(
                f"{self.path} cannot be written: its files are links into {folders[0]} and {folders[1]}; files that "
                "change together must be in one folder"
            )
        for each in self._waiting:
            each.temporary.replace(each.temporary.with_name(each.final.name))
        emptied = [each.final.name for each in self._waiting if each.only_over_old]
        names = multi_file_replace.commit(self._waiting[0].temporary.parent, folders[0] / self._base.name, emptied)
        self.written += [folders[0] / name for name in names]


class _Waiting(NamedTuple):
    """A temporary file, and the final name that it gets at the end."""

    temporary: Path
    final: Path
    special: bool
    only_over_old: bool


def behind(path: Path) -> Path:
    """Return a path with all links resolved, whether the file exists or not."""
    final = Path(os.path.realpath(path))
    if final.is_symlink():
        raise FileNotWritten(f"{path} cannot be written: it is a link that leads back to itself")
    return final


def _is_special(path: Path) -> bool:
    """Return whether a target must be written to, not replaced: a pipe, a device, or an open descriptor."""
    if _descriptor(path) is not None:
        return True
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:  # it does not exist, or is a link to a missing file
        return False


def _descriptor(path: Path) -> Path | None:
    """Return the descriptor's name that a path is or links to, such as /proc/7/fd/1 for /dev/stdout, or None."""
    for _ in range(40):  # the most links that the system follows
        folder = os.path.realpath(path.parent)
        if _DESCRIPTORS.fullmatch(folder) and path.name.isdigit():
            return Path(folder, path.name)
        if not path.is_symlink():
            return None
        path = Path(folder, path.readlink())
    return None


def _opened(path: Path) -> IO[bytes]:
    """Open a special file for writing; an open descriptor continues at its position."""
    found = _descriptor(path)
    if found is None:
        return path.open("wb")
    process = str(found.parent).split("/")[2]
    if process in ("fd", str(os.getpid())):
        return os.fdopen(os.dup(int(found.name)), "wb")
    return found.open("ab")  # another process's descriptor: its position is unknown


def _mode(waiting: _Waiting) -> int:
    """Return the permissions of a finished file."""
    try:
        return waiting.final.stat().st_mode & 0o777  # users who could not read the old file cannot read the new one
    except OSError:  # no old file: the permissions of a new file, which its folder got too
        return waiting.temporary.parent.stat().st_mode & 0o666
