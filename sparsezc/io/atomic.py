"""Files that appear whole or not at all: written under another name in the same folder, then renamed.

What is not finished lies in a folder of its own beside the target, .NAME.*.part, which is held by a lock: what a run
left there that was killed is removed by the next one that writes the same file.
A link is followed: the file behind it is the one that changes. What is no regular file (a pipe, a terminal, a device)
cannot be renamed over; it is written to, once everything is there. Nor is what /dev/stdout and its like name, even a
regular file: whoever opened it goes on writing there, so it is written to through the open descriptor.
"""

from __future__ import annotations

import glob
import gzip
import os
import re
import secrets
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, cast

from sparsezc.errors import GraphblasException
from sparsezc.io.source import FileIsFolder, FileMissing

_DESCRIPTORS = re.compile(r"/dev/fd|/proc/\d+(/task/\d+)?/fd")  # folders whose files are open descriptors


class FileNotWritten(GraphblasException, OSError):
    """A file could not be written: the disk is full, the folder is closed to the user. Nothing of it is left."""


def _unwritten(path: Path, failure: OSError) -> FileNotWritten:
    """The error with the name that the user gave, whichever file was being written."""
    return FileNotWritten(f"{path} cannot be written: {failure.strerror or failure}")


class Output:
    """A context manager; the files that were opened in it get their names when it is left without an error.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Output(Path(folder) / "a.txt") as out, out.open() as file:
    ...         _ = file.write(b"whole")
    ...     (Path(folder) / "a.txt").read_text()
    'whole'
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not os.fspath(path):
            raise FileMissing("the name of the file to write is empty")
        self.path = Path(path)
        self.written: list[Path] = []  # the files that have their names
        self._waiting: list[tuple[Path, Path]] = []
        self._work: dict[Path, _Work] = {}  # by the folder that it lies in

    def __enter__(self) -> Self:
        return self

    def open(self, path: Path | None = None) -> IO[Any]:
        """A binary file that will be `path` (the output's own path); gzipped where the name ends in .gz."""
        final = path or self.path
        if final.is_dir():
            raise FileIsFolder(f"{final} is a folder; the name of a file is needed")
        folder = None
        if not _is_special(final):
            final = _behind(final)
            folder = self._beside(final)
        try:
            handle, name = tempfile.mkstemp(suffix=".part", dir=folder)
        except OSError as failure:
            raise _unwritten(final, failure) from None
        self._waiting.append((Path(name), final))
        file = os.fdopen(handle, "wb")
        if final.suffix.lower() != ".gz":
            return file
        return cast(IO[Any], _Gzip(fileobj=file, mode="wb", compresslevel=6, filename="", mtime=0))

    def reserve(self) -> Path:
        """An empty file that will be the output, for libraries that open files by their names."""
        self.open().close()
        return self._waiting[-1][0]

    def scratch(self) -> Path:
        """A folder beside the output for what is needed until it is whole."""
        return self._beside(_behind(self.path))

    def _beside(self, final: Path) -> Path:
        """The folder for unfinished files beside this one."""
        folder = final.parent
        if not folder.is_dir():
            raise FileMissing(f"{final}: the folder {folder} does not exist")
        if folder not in self._work:
            work = self._work[folder] = _Work(folder, self.path.name)  # before it is made, for Ctrl-C may come any time
            try:
                work.make()
            except OSError as failure:
                del self._work[folder]
                raise _unwritten(final, failure) from None
        return self._work[folder].path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                while self._waiting:
                    _put(*self._waiting[0])
                    self.written.append(self._waiting.pop(0)[1])
        except OSError as failure:
            raise _unwritten(self.path, failure) from None
        finally:
            for temporary, _ in self._waiting:
                temporary.unlink(missing_ok=True)
            for work in self._work.values():
                work.remove()
        if isinstance(error, OSError) and not isinstance(error, GraphblasException):
            raise _unwritten(self.path, error) from None


class _Work:
    """A folder for unfinished files, held until it is removed or the process ends."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f".{name}.{secrets.token_hex(4)}.part"
        self._abandoned = f".{glob.escape(name)}.*.part"
        self._held: int | None = None

    def make(self) -> None:
        """Make the folder, and remove those that runs left there that were killed."""
        for old in self.path.parent.glob(self._abandoned):
            if old.is_dir() and (held := _hold(old)) is not None:
                shutil.rmtree(old, ignore_errors=True)
                os.close(held)
        self.path.mkdir(0o700)
        self._held = _hold(self.path)

    def remove(self) -> None:
        """Remove the folder and all that is left in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)


def _hold(folder: Path) -> int | None:
    """A lock on a folder; None where somebody has it, or the system has no such locks."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # somebody has removed it
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


class _Gzip(gzip.GzipFile):
    """A gzip file that closes the file below it too."""

    def close(self) -> None:
        below: Any = self.fileobj
        try:
            super().close()
        finally:
            if below is not None:
                below.close()


def _behind(path: Path) -> Path:
    """The file that a path leads to, there or not."""
    final = Path(os.path.realpath(path))
    if final.is_symlink():
        raise FileNotWritten(f"{path} cannot be written: it is a link that leads back to itself")
    return final


def _is_special(path: Path) -> bool:
    return _descriptor(path) is not None or (path.exists() and not path.is_file())


def _descriptor(path: Path) -> Path | None:
    """The name in a folder of descriptors that a path is or links to, such as /proc/7/fd/1 for /dev/stdout."""
    for _ in range(40):  # as many links as the system follows
        folder = os.path.realpath(path.parent)
        if _DESCRIPTORS.fullmatch(folder) and path.name.isdigit():
            return Path(folder, path.name)
        if not path.is_symlink():
            return None
        path = Path(folder, path.readlink())
    return None


def _opened(path: Path) -> IO[bytes]:
    """What is special, opened for writing; what is open already goes on from where it is."""
    found = _descriptor(path)
    if found is None:
        return path.open("wb")
    process = str(found.parent).split("/")[2]
    if process in ("fd", str(os.getpid())):
        return os.fdopen(os.dup(int(found.name)), "wb")
    return found.open("ab")  # another process's: its position cannot be had


def _put(temporary: Path, final: Path) -> None:
    if _is_special(final):
        with temporary.open("rb") as source, _opened(final) as sink:
            shutil.copyfileobj(source, sink)
        temporary.unlink()
        return
    try:
        mode = final.stat().st_mode & 0o777  # whoever might not read the old file may not read the new one
    except OSError:  # there is none
        mode = 0o666 & ~_umask()
    temporary.chmod(mode)
    temporary.replace(final)


def _umask() -> int:
    """The process's mask, which mkstemp leaves out."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
