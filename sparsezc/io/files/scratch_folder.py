"""Folders for unfinished files, locks on folders, and syncing files to disk.

Such a folder, .NAME.*.part, is locked while its program runs. A killed program leaves it unlocked, and the next program
that creates such a folder for the same name removes it.
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

_DRAWN = "[0-9a-f]" * 8  # the random part of a name, in a form that users' own folders do not have
_TRIES = 100  # tries to create a folder; each fails only if another program removes the new folder
_PATIENCE_S = 30.0  # seconds to wait for the lock on a folder, which other programs hold for milliseconds
_UNSYNCED = (errno.EINVAL, errno.ENOTSUP, errno.EROFS)  # errors of file systems that cannot sync


class ScratchFolder:
    """A folder for unfinished files, locked until it is removed or the process ends."""

    def __init__(self, folder: Path, name: str) -> None:
        self.place, self._name = folder, name
        self._handle: int | None = None
        self._draw()

    @classmethod
    def temporary(cls) -> ScratchFolder:
        """Return one for the system's folder for temporary files, with the user's id in its name."""
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
        """Create the folder, and remove those that killed programs left."""
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
        """Remove the folder and all files in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _draw(self) -> None:
        """Choose a name before the folder exists, so that :meth:`remove` has it whenever Ctrl-C comes."""
        self.path = self.place / f".{self._name}.{secrets.token_hex(4)}.part"


def _remove_abandoned(folder: Path) -> None:
    """Remove a folder that no running program has locked; keep it if the system has no locks."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            if _lock(handle):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(handle)


def _held(folder: Path) -> int | None:
    """Return a handle on a new folder, locked if the system has locks; None if another program removed the folder."""
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
    """Lock a file or folder without waiting; return False if another program holds the lock, None without locks."""
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


@contextmanager
def locked(folder: Path, *, shared: bool = False) -> Iterator[None]:
    """Hold the lock on a folder, exclusive or shared.

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
    """Wait until a file's bytes, or the names in a folder, are on disk."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:
        if path.is_dir():  # a folder that is writable but not readable
            return
        raise
    try:
        os.fsync(handle)
    except OSError as failure:
        if failure.errno not in _UNSYNCED:
            raise
    finally:
        os.close(handle)
