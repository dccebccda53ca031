"""``gb.io.read``: one entry for every format and every made graph."""

from __future__ import annotations

import os
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from sparsezc.errors import GraphblasException, OutOfMemory
from sparsezc.io._options import ReadOptions, module_of
from sparsezc.io.build import csr_builder, edge_list
from sparsezc.io.build.csr_chunks import unweighted
from sparsezc.io.files.pipe_spool import seekable
from sparsezc.io.files.source import add_name, is_piped
from sparsezc.io.hdf5 import aligned_file, csr_file
from sparsezc.memory.budget import resolve
from sparsezc.memory.csr import Csr
from sparsezc.memory.placement import is_file
from sparsezc.terminal.progress import task, working

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix


@overload
def read(
    path: str | os.PathLike[str], directed: bool | None = None, symmetrize: bool = False, weights: Any = None,
    relabel: Literal[False] = False, placement: str | None = None, *, dup_op: Any = None, format: str | None = None,
    verify: bool = False,
) -> Matrix: ...  # fmt: skip
@overload
def read(
    path: str | os.PathLike[str], directed: bool | None = None, symmetrize: bool = False, weights: Any = None,
    *, relabel: Literal[True], placement: str | None = None, dup_op: Any = None, format: str | None = None,
    verify: bool = False,
) -> tuple[Matrix, NDArray[np.int64]]: ...  # fmt: skip
@overload
def read(
    path: str | os.PathLike[str], directed: bool | None = None, symmetrize: bool = False, weights: Any = None,
    relabel: bool = False, placement: str | None = None, *, dup_op: Any = None, format: str | None = None,
    verify: bool = False,
) -> Matrix | tuple[Matrix, NDArray[np.int64]]: ...  # fmt: skip
def read(
    path: str | os.PathLike[str],
    directed: bool | None = None,
    symmetrize: bool = False,
    weights: Any = None,
    relabel: bool = False,
    placement: str | None = None,
    *,
    dup_op: Any = None,
    format: str | None = None,
    verify: bool = False,
) -> Matrix | tuple[Matrix, NDArray[np.int64]]:
    """Read a graph from a file, or make one, as an adjacency matrix.

    Parameters
    ----------
    path : str or path
        A file whose name ends in a known suffix, or the name of a made graph: ``kron:SCALE[:EDGEFACTOR]``,
        ``urand:SCALE[:EDGEFACTOR]``, ``grid:ROWSxCOLS``, ``path:N``, ``star:N``, each perhaps with options as in
        ``kron:20?seed=7&weights=1-255``.
    directed : bool, optional
        False: every edge counts in both directions. None: as the format says (edge lists and .gr are directed).
    symmetrize : bool
        Add the transpose: the same as ``directed=False``, for matrices that are directed by format.
    weights : None, bool, dtype or str
        None: the file's values, in the type that the file states, or else INT64 (UINT64 where one does not fit) for
        whole numbers and FP64 for fractions; True everywhere (BOOL, iso-valued) where the file has none, as .sg. False:
        the pattern only. A type: the file's values in it; refused where it does not hold one (whole numbers of its
        range for integer types), but FP32 may lose digits, and all but 0 is true in BOOL. ``"narrowest"``: as None, but
        whole numbers whose type the file does not state in the smallest type that holds them (UINT8 for 1 to 255), so
        that a GPU reads fewer bytes.
        ``"hash:LOW-HIGH"``: made whole numbers in such a type, of the numbers that the two vertices have in the matrix:
        the same for (i, j) and (j, i), and others with `relabel`.
    relabel : bool
        Number only the ids that occur, in ascending order.
    placement : str, optional
        Where the arrays are built: "auto" or one of ``sparsezc.memory.placement.RECORDS``; None leaves it to
        ``gb.config``. "mapped" leaves them in the file, a .h5 that sparsezc wrote, and opens it without reading them:
        what "auto" does on a GPU if the file is large (docs/formats.md). The CPU engine reads it all the same.
    dup_op : str, BinaryOp or Monoid, optional
        How the values of edges that occur more than once become one: min, max, plus, times, first, second, any, lor,
        land or lxor. None: "plus" for .npz, where duplicates mean their sum, and "min" for all other formats (edge
        lists, .mtx, .gr, .graph, .sg, .wsg, .bel, .parquet; .h5 files with duplicates are refused). What `symmetrize`
        adds is merged with "min" in .npz too.
    format : str, optional
        Read the file as this format ("snap", "mtx", "dimacs", "metis", "gap", "emogi", "npz", "parquet" or
        "binsparse"), whatever its name.
    verify : bool
        Compare the whole of a .h5 file that sparsezc wrote with its checksums at once. Without it, what is read is
        compared when it is read, and what "mapped" leaves in the file when it is first used.

    Returns
    -------
    Matrix, shape (n, n)
        Or (Matrix, ids) with `relabel`: row i stands for the vertex that has number ``ids[i]`` without it (ids are
        int64, shape (n,)). Ids are the file's; those of formats that count from 1 are lowered by one.

    Raises
    ------
    FileFormatError
        The file is empty, damaged or not of its format; the message has file, line, what was found and needed.
    FileNotFoundError, IsADirectoryError
        There is no such file.
    InvalidValue
        An argument that is not understood, or a weight that the type asked for does not hold (with its line in text).
    OutOfMemory
        The graph does not fit; the message has the bytes.

    Notes
    -----
    In a narrow type, which is that of made weights, sums of plain statements may wrap around, as in python-graphblas;
    the algorithms widen it. ``A.dup("INT64")`` is the same matrix in a wider type.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.io.read("grid:3x4")
    >>> A.nrows, A.nvals, A.dtype
    (12, 34, BOOL)
    >>> A = gb.io.read("path:3?weights=200-200")
    >>> A.reduce_scalar("plus").new().value, A.dup("INT64").reduce_scalar("plus").new().value
    (32, 800)
    """
    from sparsezc.core.matrix import Matrix

    options = ReadOptions.parse(
        path, directed, symmetrize, weights, relabel, placement, dup_op=dup_op, format=format, verify=verify
    )
    csr, ids = read_csr(path, options)
    matrix: Matrix = Matrix._from_csr(csr, adopt=True)  # nothing else has these arrays
    return matrix if ids is None else (matrix, ids)


def read_csr(
    path: str | os.PathLike[str], options: ReadOptions | None = None, **given: Any
) -> tuple[Csr, NDArray[np.int64] | None]:
    """What :func:`read` does, as a plain :class:`~sparsezc.memory.csr.Csr` and the ids (None without `relabel`).

    The options are parsed ones, or `given` by the names that :func:`read` has for them.
    """
    options = ReadOptions.parse(path, **given) if options is None else options
    try:
        with task():
            return _read(path, options)
    except GraphblasException as error:
        add_name(error, path)
        raise
    except MemoryError as error:
        raise OutOfMemory(f"{path} does not fit the host's memory: {error}") from None


def _read(path: str | os.PathLike[str], options: ReadOptions) -> tuple[Csr, NDArray[np.int64] | None]:
    kind = options.kind
    if options.verify and kind != "binsparse":
        raise csr_file.unchecked(path)
    if is_file(options.placement) and kind != "binsparse":
        resolve(options.placement, 0, 0)  # refuses before the work
    weights, placement, both = options.weights, options.placement, options.both
    if kind is None:
        generate = import_module("sparsezc.io.build.generate")
        weights = generate.weights_of(str(path), generate.parse(str(path)), weights)
        found: Csr | edge_list.Edges = generate.make(str(path), weights, placement)
    else:
        module = module_of(kind)
        direct = not (both or options.relabel)
        more = {"verify": options.verify} if kind == "binsparse" else {}
        with seekable(path) if is_piped(Path(path)) else nullcontext(path) as file:
            found = module.read(Path(file), weights=weights, placement=placement, direct=direct, **more)
    if options.directed:
        options.check_direction(path, found.symmetric if isinstance(found, Csr) else found.undirected)
    if isinstance(found, Csr):
        if not options.relabel and (found.symmetric or not both):
            return found, None
        with working("taking the rows apart"):
            found = as_edges(found)
    merge = options.merge
    if options.adds_duplicates:
        merge = "plus"
        if both:  # the other directions are no duplicates to add
            found, merge = as_edges(csr_builder.build(found, placement="host", dup_op="plus")), "min"
    ids = None
    if options.relabel:
        with working("numbering the ids"):
            found, ids = edge_list.relabel(found)
    return csr_builder.build(found, weights, placement=placement, dup_op=merge, symmetrize=both), ids


def ready_file(path: str | os.PathLike[str], kind: str | None) -> aligned_file.Ready | None:
    """What is known of a file that lies ready and so has checksums; None for other files and generated graphs."""
    return csr_file.find(Path(path)) if kind == "binsparse" else None


def as_edges(csr: Csr) -> edge_list.Edges:
    """A CSR as edges again."""
    rows = np.repeat(np.arange(csr.nrows, dtype=np.int64), np.diff(csr.indptr))
    values = None if unweighted(csr) else csr.values.read()
    if csr.iso and values is not None:
        values = np.broadcast_to(values, csr.nvals)
    rows, cols = edge_list.narrow_ids(rows), edge_list.narrow_ids(csr.indices.read())
    return edge_list.Edges(csr.nrows, csr.ncols, rows, cols, values, csr.symmetric, csr.symmetric, csr.dtype)
