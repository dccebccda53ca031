"""``gb.io.save_checkpoint`` and ``gb.io.restore_checkpoint``, for one process or several ranks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.vector import Vector


def save_checkpoint(
    folder: str | os.PathLike[str], objects: Mapping[str, Matrix | Vector], state: Mapping[str, Any] | None = None
) -> None:
    """Save matrices and vectors, each rank its own parts; an old checkpoint stays valid until the new one is complete.

    Parameters
    ----------
    folder : str or path
        On a file system that all ranks see; created if it does not exist. Each rank writes one file into it, and rank 0
        then ``manifest.json``.
    objects : dict of str to Matrix or Vector
        All distributed over the same ranks, or all of one process.
    state : dict, optional
        Numbers and strings, and lists and dicts of them, such as a loop's counter; those of rank 0 are saved.

    Raises
    ------
    InvalidObject
        The ranks' objects differ in name, kind, type or bounds.
    InvalidValue
        `state` cannot be stored as JSON.
    FileNotWritten
        The disk is full, or the folder cannot be written; the old checkpoint is unchanged.

    Examples
    --------
    >>> import sparsezc as gb, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gb.io.save_checkpoint(folder, {"A": gb.io.read("path:3")}, {"round": 7})
    ...     objects, state = gb.io.restore_checkpoint(folder)
    >>> objects["A"].nvals, state
    (4, {'round': 7})
    """
    from sparsezc.io import _checkpoint_objects

    _checkpoint_objects.save(folder, objects, state)


def restore_checkpoint(
    folder: str | os.PathLike[str], *, comm: Any = None, placement: str | None = None
) -> tuple[dict[str, Matrix | Vector], Any]:
    """Return the objects and the state of a checkpoint, on any number of ranks.

    Parameters
    ----------
    folder : str or path
    comm : mpi4py.MPI.Comm, optional
        The ranks over which the objects are distributed; each reads its own parts. None: this process reads all.
    placement : str, optional
        As for :func:`sparsezc.io.read`.

    Returns
    -------
    (dict of str to Matrix or Vector, state)

    Raises
    ------
    FileNotFoundError
        There is no checkpoint, or a shard is missing.
    FileFormatError
        The checkpoint is damaged, or a newer version wrote it.
    InvalidObject
        The ranks found different checkpoints.
    """
    from sparsezc.io import _checkpoint_objects

    return _checkpoint_objects.restore(folder, comm, placement)
