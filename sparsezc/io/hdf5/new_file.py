"""Creation of HDF5 files: a failed write raises the system's error, and leaves no open file behind."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sparsezc.io.build.optional import need

_MORE = 1 << 18  # bytes beside the arrays: HDF5's own structures, and gaps between arrays


@contextmanager
def created(path: Path, **how: Any) -> Iterator[Any]:
    """Yield a new HDF5 file; on a full disk, raise OSError and leave nothing for HDF5 to write.

    HDF5 cannot close a file that it cannot write: the interpreter would crash at exit. So after an error HDF5 writes
    the rest into another file, which is then deleted.
    """
    # From version 1.8 on, HDF5 checksums its own structures.
    file = need("h5py", "hdf5").File(path, "w", libver=("v108", "latest"), **how)
    try:
        with _plainly():
            reserve(file, 0)
            yield file
            file.flush()
            os.ftruncate(file.id.get_vfd_handle(), file.id.get_filesize())
    except BaseException:
        with tempfile.TemporaryFile() if not hasattr(os, "memfd_create") else os.fdopen(os.memfd_create("h5")) as rest:
            os.dup2(rest.fileno(), file.id.get_vfd_handle())
            with suppress(RuntimeError):
                file.close()
        raise
    file.close()


@contextmanager
def _plainly() -> Iterator[None]:
    """Replace HDF5's error by an OSError with the system's message where the system refused an operation."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        number = re.search(r"errno = (\d+)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from None


def reserve(file: Any, nbytes: int) -> None:
    """Reserve disk space for a new file, beside the space for HDF5's own structures.

    Raises
    ------
    OSError
        The disk has too little space. A file system that cannot reserve space reports this when bytes are written.
    """
    if not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(file.id.get_vfd_handle(), 0, file.id.get_filesize() + nbytes + _MORE)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
