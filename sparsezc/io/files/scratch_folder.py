"""Folders for files that are not finished, locks on folders, and what makes a finished file outlast the machine.

Such a folder, .NAME.*.part, is locked as long as its program runs. What a killed program left is not locked, and the
next one that makes such a folder of that name removes it.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_DRAWN = "[0-9a-f]" * 8  # what a name has that is drawn: no folder of a user's own is taken for one
_TRIES = 100  # each failed one met another program that was removing the new folder
_PATIENCE_S = 30.0  # others hold the lock on a folder for milliseconds
_UNSYNCED = (errno.EINVAL, errno.ENOTSUP, errno.EROFS)  # what file systems answer that have no such thing to do


class ScratchFolder:
    """A folder for unfinished files, locked until it is removed or the process ends."""

    def __init__(self, folder: Path, name: str) -> None:
        self.place, self._name = folder, name
        self._handle: int | None = None
        self._draw()

    @classmethod
    def temporary(cls) -> ScratchFolder:
        """One in the system's folder for temporary files, of the user's own name there."""
        return cls(Path(tempfile.gettempdir()), f"sparsezc-{os.getuid()}")

    def __enter__(self) -> Path:
        try:
            self.make()
        except BaseException:
            self.remove()
            raise
        return self.path

    def __exit__(self, *error: object) -> None:
        self.remove()

    def make(self) -> None:
        """Make the folder, and remove those that killed programs left."""
        for old in self.place.glob(f".{glob.escape(self._name)}.{_DRAWN}.part"):
            _remove_abandoned(old)
        for _ in range(_TRIES):
            self.path.mkdir(0o700)
            self._handle = _held(self.path)
            if self._handle is not None:
                return
            self._draw()
        raise OSError(errno.EBUSY, f"other programs remove each new folder {self.path}")

    def remove(self) -> None:
        """Remove the folder and all that is left in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _draw(self) -> None:
        """Choose a name; before anything of it exists, for Ctrl-C may come at any time."""
        self.path = self.place / f".{self._name}.{secrets.token_hex(4)}.part"


def _remove_abandoned(folder: Path) -> None:
    """Remove a folder that no running program has locked; never where the system has no locks."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            if _lock(handle):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(handle)


def _held(folder: Path) -> int | None:
    """A handle on a new folder, locked if the system has locks; None: another program took it for abandoned."""
    handle = None
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        if _lock(handle) is not False and folder.stat().st_ino == os.fstat(handle).st_ino:
            mine, handle = handle, None
            return mine
    except FileNotFoundError:
        pass
    finally:
        if handle is not None:
            os.close(handle)
    return None


def _lock(handle: int, *, shared: bool = False) -> bool | None:
    """Lock a file or folder without waiting: False where another program has it, None where there are no locks."""
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


@contextmanager
def locked(folder: Path, *, shared: bool = False) -> Iterator[None]:
    """Hold the lock on a folder, alone or with others that share it.

    Raises
    ------
    OSError
        Another program has held it for 30 seconds, or the folder cannot be opened.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        end = time.monotonic() + _PATIENCE_S
        while _lock(handle, shared=shared) is False:
            if time.monotonic() > end:
                raise OSError(errno.EBUSY, f"another program has been changing files in {folder} for {_PATIENCE_S:g} s")
            time.sleep(0.002)
        yield
    finally:
        os.close(handle)


def sync(path: Path) -> None:
    """Wait until the disk has a file's bytes, or the names in a folder."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:
        if path.is_dir():  # a folder that may be written to but not listed
            return
        raise
    try:
        os.fsync(handle)
    except OSError as failure:
        if failure.errno not in _UNSYNCED:
            raise
    finally:
        os.close(handle)
