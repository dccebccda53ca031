"""``gb.io.write`` and ``gb.io.convert``, whose files appear complete or not at all."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from sparsezc.exceptions import InvalidValue, naming
from sparsezc.expr.options import flag
from sparsezc.io._options import Reading, ReadOptions, format_of, module_of
from sparsezc.io._read import mappable_file, read_csr, with_stored_ids
from sparsezc.io._read import source as source_of
from sparsezc.io.build.limits import need_numbers, wrong_type
from sparsezc.io.build.optional import need
from sparsezc.io.files.atomic_write import Output
from sparsezc.io.files.source import WRITTEN, file_name
from sparsezc.memory.csr import Csr
from sparsezc.terminal.progress import task


def write(A: Any, path: str | os.PathLike[str], *, format: str | None = None, **options: Any) -> None:
    """Write a matrix to a file in the format of its suffix; a further suffix such as .gz compresses the file.

    Parameters
    ----------
    A : Matrix
    path : str or path
        A name with a suffix that :func:`~sparsezc.io.read` knows. An old file of that name is replaced once the new one
        is complete; after an error or Ctrl-C it is unchanged, and no other file is left behind.
    format : str, optional
        The format, whatever the suffix.
    compressed : bool
        For .npz: deflate the arrays (smaller, much slower). Default False.
    compress : bool
        For .h5: store ids as gaps, bit-packed in blocks of 32, which kernels read directly (docs/formats.md). Default
        False.

    Raises
    ------
    InvalidValue
        The format cannot hold the matrix: it is not square, its values do not fit the format's weights (.sg drops all
        values), or it has self-loops (.graph). Or `compress` is given for a format without compressed ids.
    FileNotFoundError
        The folder does not exist.

    Examples
    --------
    >>> import sparsezc as gb, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "grid.mtx.gz"
    ...     gb.io.write(gb.io.read("grid:2x2"), path)
    ...     gb.io.read(path).nvals
    8
    """
    if "vertices" in options:
        raise InvalidValue("vertices= is no option of write; convert(source, path, relabel=True) stores ids in a .h5")
    write_files(A, path, format=format, **options)


def write_files(A: Any, path: str | os.PathLike[str], *, format: str | None = None, **options: Any) -> list[Path]:
    """Write a matrix as :func:`write` does, and return the paths of the files; .h5 files store the ids `vertices`."""
    target = Path(file_name(path, WRITTEN))
    kind = check_target(target, format, compress=options.pop("compress", False))
    module = module_of(kind[0])
    options |= kind[1]
    if (vertices := options.pop("vertices", None)) is not None and kind[0] == "binsparse":
        options["vertices"] = vertices
    with task(), Output(target) as out, naming(target):
        module.write(as_csr(A), out, **options)
    return out.written


def check_target(path: Path, format: str | None = None, *, compress: bool) -> tuple[str, dict[str, Any]]:
    """Return the format of a target and the options of its writer; raise an error for a bad name before any work."""
    kind = format_of(path, format, exists=False)
    flag("compress", compress)
    if compress and kind != "binsparse":
        raise InvalidValue(f"compress=True, but {path} has no compressed ids; .h5 files can have them")
    if kind == "binsparse":
        need("h5py", "hdf5")
    return kind, {"compress": True} if compress else {}


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    memory: int | str | None = None,
    compress: bool = False,
    relabel: bool = False,
    comm: Any = None,
    **options: Unpack[Reading],
) -> None:
    """Convert a graph from one file format to another.

    Parameters
    ----------
    source, target : str or path
        As for :func:`~sparsezc.io.read` and :func:`write`; the source may be a generated graph. A .h5 source that
        sparsezc wrote is compared with all its checksums.
    memory : int or str, optional
        Bytes of host memory, such as "2GB", that the process may use in all. Edges are then sorted on disk, in the
        folder of `target`, which must be a .h5 file, so a graph of any size can be converted. None: the whole graph is
        in memory.
    compress : bool
        As for :func:`write`.
    comm : mpi4py.MPI.Comm, optional
        The ranks that write one .h5 file together, each its own rows, on a file system that all of them see. Each rank
        reads a part of the source, or one rank reads it in pieces for all; ids are not compressed.
    relabel, **options
        Options of :func:`~sparsezc.io.read`, such as ``symmetrize=True`` or ``weights=False``.

    Raises
    ------
    OutOfMemory
        The graph does not fit in memory, or `memory` is too small; the message states a limit that is enough.

    Examples
    --------
    >>> import sparsezc as gb, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "kron.sg"
    ...     gb.io.convert("kron:6", path)
    ...     gb.io.read(path).nrows
    64
    """
    options["placement"] = "host"

    def parsed() -> ReadOptions:
        check_target(Path(file_name(target, WRITTEN)), compress=compress)
        if comm is not None:
            _check_ranks(target, memory, compress=compress)
        return ReadOptions.parse(source, relabel=relabel, **options)

    if comm is not None:
        from sparsezc.io import _ranks

        _ranks.convert(source_of(source, _ranks.agreed(parsed, comm)), target, comm)
        return
    wanted = parsed()
    if memory is not None:
        from sparsezc.io import _convert

        _convert.convert(source, target, memory, wanted, compress=compress)
        return
    verify = wanted.verify or mappable_file(source, wanted.kind) is not None
    csr, ids = read_csr(source, replace(with_stored_ids(source, wanted), verify=verify))
    write_files(csr, target, compress=compress, vertices=ids)


def _check_ranks(target: str | os.PathLike[str], memory: Any, *, compress: bool) -> None:
    """Raise InvalidValue for options that cannot be combined with `comm`."""
    if memory is not None or compress:
        raise InvalidValue("comm= excludes memory= and compress=: each rank sorts its share in 256 MiB of memory")
    if check_target(Path(file_name(target, WRITTEN)), compress=False)[0] != "binsparse":
        raise InvalidValue(f"comm= is for .h5 targets, not for {target}")


def as_csr(A: Any) -> Csr:
    """Return a matrix of numbers as a CSR in host memory."""
    if isinstance(A, Csr):
        return A
    from sparsezc.core.matrix import Matrix

    if not isinstance(A, Matrix):
        raise wrong_type("write", "A", A, "a Matrix")
    need_numbers(A, "write")
    return A._to_csr().place("host")
