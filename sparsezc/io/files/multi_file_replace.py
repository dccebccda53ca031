"""Replacement of several files in one step: all of them are old, or all of them are new.

New files are finished in a folder, and one rename makes that folder .NAME.switch beside the old files. From this moment
a file in the folder supersedes the file of its name beside it. Then each file is moved to its final name, and the
folder is removed. If the program is killed meanwhile, the next one that reads or writes these files moves the rest.

The first file is missing until the others have their names. So after a kill, a program that ignores the folder finds a
missing file, never a mixture of old and new files.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO

from sparsezc.io.files.scratch_folder import locked, sync


def switched(base: Path) -> Path:
    """Return the path of the folder whose files supersede those of the output `base`."""
    return base.with_name(f".{base.name}.switch")


def commit(new: Path, base: Path, emptied: Sequence[str] = ()) -> list[str]:
    """Replace the files of the output `base` by those in the folder `new`, and return their names.

    A file named in `emptied` is dropped unless it replaces an old one.
    """
    sync(new)
    with locked(base.parent):
        _move(switched(base))
        for name in emptied:
            if not (base.parent / name).exists():
                (new / name).unlink()
        names = sorted(path.name for path in new.iterdir())
        new.rename(switched(base))
        sync(base.parent)
        _move(switched(base))
    return names


def recover(base: Path) -> None:
    """Finish a replacement that a killed program began, if the folder is writable."""
    if switched(base).is_dir():
        with suppress(OSError), locked(base.parent):
            _move(switched(base))


def opened(base: Path, paths: Sequence[Path]) -> list[BinaryIO | None]:
    """Return the open files of the output `base`, all old or all new; None for those that do not exist.

    If the folder cannot be locked, the files are opened without a lock.
    """
    recover(base)
    files: list[BinaryIO | None] = []
    with ExitStack() as lock, ExitStack() as opening:
        with suppress(OSError):
            lock.enter_context(locked(base.parent, shared=True))
        for path in paths:
            inside = switched(base) / path.name
            try:
                files.append(opening.enter_context((inside if inside.exists() else path).open("rb")))
            except FileNotFoundError:
                files.append(None)
        opening.pop_all()  # the caller closes them
    return files


def _move(folder: Path) -> None:
    """Move the files in the folder to their final names; the caller holds the lock."""
    if not folder.is_dir():
        return
    names = sorted(path.name for path in folder.iterdir())
    if names:
        folder.with_name(names[0]).unlink(missing_ok=True)
        for name in (*names[1:], names[0]):
            (folder / name).replace(folder.with_name(name))
    folder.rmdir()
    sync(folder.parent)
