"""``gb.io.read``: the reader of all file formats and generated graphs."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import GraphblasException, OutOfMemory, add_name
from sparsezc.io._options import TABLES, Reading, ReadOptions, module_of
from sparsezc.io.build import csr_builder, edge_list, table_columns
from sparsezc.io.build.csr_chunks import as_edges
from sparsezc.io.build.table_columns import NamedVertices, Names
from sparsezc.io.files.source import is_piped
from sparsezc.memory.budget import resolve
from sparsezc.memory.csr import Csr
from sparsezc.memory.placement import FILES
from sparsezc.process import first_use
from sparsezc.terminal.progress import task, working

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix
    from sparsezc.io.hdf5.aligned_file import MappableFile
    from sparsezc.io.ranks import reading

# imported at first use: only pipes and .h5 files need them
_seekable = first_use.function("sparsezc.io.files.pipe_spool", "seekable")
_find = first_use.function("sparsezc.io.hdf5.csr_file", "find")
_unchecked = first_use.function("sparsezc.io.hdf5.csr_file", "unchecked")
_has_ids = first_use.function("sparsezc.io.hdf5.vertex_ids", "are_in")
_ids_in = first_use.function("sparsezc.io.hdf5.vertex_ids", "read")


@overload
def read(
    path: str | os.PathLike[str], *, relabel: Literal[False] = False, comm: Any = None, **options: Unpack[Reading]
) -> Matrix: ...
@overload
def read(
    path: str | os.PathLike[str], *, relabel: Literal[True], comm: Any = None, **options: Unpack[Reading]
) -> tuple[Matrix, NDArray[Any]]: ...
@overload
def read(
    path: str | os.PathLike[str], *, relabel: bool = False, comm: Any = None, **options: Unpack[Reading]
) -> Matrix | tuple[Matrix, NDArray[Any]]: ...
def read(
    path: str | os.PathLike[str], *, relabel: bool = False, comm: Any = None, **options: Unpack[Reading]
) -> Matrix | tuple[Matrix, NDArray[Any]]:
    """Read a graph from a file, or generate one, as an adjacency matrix.

    Parameters
    ----------
    path : str or path
        A file whose name ends in a known suffix, or the name of a generated graph: ``kron:SCALE[:EDGEFACTOR]``,
        ``urand:SCALE[:EDGEFACTOR]``, ``grid:ROWSxCOLS``, ``path:N``, ``star:N``, each optionally with options as in
        ``kron:20?seed=7&weights=1-255``.
    directed : bool, optional
        False: every edge counts in both directions. True: refuse a graph that its format makes undirected. None: as the
        format defines it (edge lists and .gr are directed).
    symmetrize : bool
        Add the transpose: the same as ``directed=False``, for matrices that are directed by format.
    weights : None, bool, dtype or str
        None: the file's values, in the type that the file states; if it states none, INT64 for whole numbers (UINT64
        where one does not fit) and FP64 for fractions; True everywhere (BOOL, iso-valued) if the file has no values, as
        .sg. False: the pattern only. A type: the file's values in it; a value that it does not hold is refused (integer
        types hold whole numbers of their range), but FP32 may lose digits, and BOOL is true for all but 0.
        ``"narrowest"``: as None, but whole numbers without a stated type are stored in the smallest type that holds
        them (UINT8 for 1 to 255), so that a GPU reads fewer bytes. ``"hash:LOW-HIGH"``: generated whole numbers from
        LOW to HIGH in the smallest type, a hash of the two vertices' numbers in the matrix: (i, j) and (j, i) have the
        same weight, and `relabel` changes the weights.
    relabel : bool
        Number only the ids that occur, in ascending order. The ids of edge lists, Parquet and Feather files may then be
        names: if one is no whole number, is negative, or is 2^63 - 1 or more, all are read as strings. A .h5 file that
        was converted with `relabel` stores the ids of its rows, which are returned.
    comm : mpi4py.MPI.Comm, optional
        The ranks that read the graph together, all with the same arguments; each gets a part of the rows of one
        distributed matrix. Each rank reads a part of the file, or one rank reads it in pieces for all; no rank holds
        more than its share and 1 GiB (docs/formats.md).
    placement : str, optional
        The placement in which the arrays are built: "auto" or one of ``sparsezc.memory.placement.RECORDS``; None: that
        of ``gb.config``. "mapped" leaves ids and values in a .h5 file that sparsezc wrote, and opens it without reading
        them; "auto" does so with a GPU if the file is large, and without one if it does not fit in memory
        (docs/formats.md).
    dup_op : str, BinaryOp or Monoid, optional
        The operator that merges the values of edges that occur more than once: min, max, plus, times, first, second,
        any, lor, land or lxor. None: "plus" for .npz, where duplicates mean their sum, and "min" for all other formats
        (edge lists, .mtx, .gr, .graph, .sg, .wsg, .bel, .parquet; .h5 files with duplicates are refused). Reversed
        edges that `symmetrize` adds are merged with "min" in .npz too.
    format : str, optional
        Read the file as this format ("snap", "mtx", "dimacs", "metis", "gap", "emogi", "npz", "parquet",
        "feather", "networkx", "konect" or "binsparse"), whatever its name.
    source_col, target_col, weight_col : str, optional
        The columns to read from a Parquet or Feather file, or an edge list whose first line names its columns. By
        default those with a usual name (docs/formats.md); in Parquet and Feather files without any such name, the first
        ones. Other columns are ignored.
    type_col, type : str, optional
        Read only the edges that have this type in this column of such a table; :func:`read_types` reads all types.
    verify : bool
        Compare all of a .h5 file that sparsezc wrote with its checksums now. False: arrays are compared when they are
        read, and mapped arrays when they are first used.

    Returns
    -------
    Matrix, shape (n, n)
        With `relabel`, (Matrix, ids): row i is the vertex ``ids[i]`` of the file (ids are int64, shape (n,), or str
        objects where vertices have names). The ids of formats that count from 1 are lowered by one.

    Raises
    ------
    FileFormatError
        The file is empty, damaged or not of its format; the message names the file, the line, and the error.
    FileNotFoundError, IsADirectoryError
        The file does not exist, or is a folder.
    InvalidValue
        An argument is invalid, or the requested type does not hold a weight (the message has its line in a text file).
    OutOfMemory
        The graph does not fit in memory.
    InvalidObject
        With `comm`: the ranks' arguments differ, or the file changed before all ranks had opened it.

    Notes
    -----
    Sums of plain statements in a narrow type, such as that of generated weights, may wrap around, as in
    python-graphblas; algorithms compute in a wider type. ``A.dup("INT64")`` is the same matrix in a wider type.

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

    parse = partial(ReadOptions.parse, path, relabel=relabel, **options)
    if comm is not None:
        from sparsezc.io import _ranks

        wanted = _ranks.agreed(parse, comm)
        matrix, ids = _ranks.read(source(path, wanted), lambda: read_csr(path, wanted)[0], comm)
    else:
        csr, ids = read_csr(path, parse())
        matrix = Matrix._from_csr(csr, adopt=True)  # adopt: no other object refers to these arrays
    return matrix if ids is None else (matrix, ids)


def read_csr(
    path: str | os.PathLike[str], options: ReadOptions | None = None, *, relabel: bool = False, **given: Unpack[Reading]
) -> tuple[Csr, NDArray[np.int64] | None]:
    """Read a graph as a :class:`~sparsezc.memory.csr.Csr`, and return it with the ids (None without `relabel`).

    `options` are parsed already, or else the keywords are those of :func:`read`.
    """
    options = ReadOptions.parse(path, relabel=relabel, **given) if options is None else options
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
    if options.relabel and (ids := stored_ids(path, options)) is not None:  # numbered already
        return _read(path, replace(options, relabel=False))[0], ids
    if options.verify and kind != "binsparse":
        raise _unchecked(path)
    if options.placement in FILES and kind != "binsparse":
        resolve(options.placement, 0, 0)  # an unknown placement is refused before the file is read
    names: Names | None = None
    weights, placement, both = options.weights, options.placement, options.both
    if kind is None:
        generate = import_module("sparsezc.io.build.generate")
        weights = generate.weights_of(str(path), generate.parse(str(path)), weights)
        found: Csr | edge_list.Edges = generate.make(str(path), weights, placement)
    else:
        module = module_of(kind)
        direct = not (both or options.relabel)
        more: dict[str, Any] = {"verify": options.verify} if kind == "binsparse" else {}
        if kind in TABLES:
            more = {"columns": options.columns}
        named = options.named
        with _seekable(path) if is_piped(Path(path)) else nullcontext(path) as file:
            make = partial(module.read, Path(file), weights=weights, placement=placement, direct=direct, **more)
            try:
                if named:
                    names = Names()
                found = make(names=names) if named else make()
            except NamedVertices:
                if not options.relabel or kind not in TABLES:
                    raise
                names = Names()
                found = make(names=names)
        if options.columns.only is not None:
            options.columns.require_kind(path)
    if options.directed:
        options.check_direction(path, found.symmetric if isinstance(found, Csr) else found.undirected)
    if isinstance(found, Csr):
        if not options.relabel and (found.symmetric or not both):
            return found, None
        with working("converting rows to edges"):
            found = as_edges(found)
    merge, merged = options.merge, 0
    if options.adds_duplicates:
        merge = "plus"
        if both:  # the reverse of an edge is no duplicate: add first
            added = csr_builder.build(found, placement="host", dup_op="plus")
            found, merge, merged = as_edges(added), "min", added.merged
            del added
    ids = None
    if options.relabel:
        with working("numbering the ids"):
            found, ids = edge_list.relabel(found) if names is None else table_columns.relabel(found, names)
    csr = csr_builder.build(found, weights, placement=placement, dup_op=merge, symmetrize=both)
    return csr.add_merged(merged) if merged else csr, ids


def source(path: str | os.PathLike[str], options: ReadOptions) -> reading.Source:
    """Return the source that several ranks read: a path, its options, and the module of its format."""
    from sparsezc.io.ranks import reading

    return reading.Source(path, options, None if options.kind is None else module_of(options.kind))


def mappable_file(path: str | os.PathLike[str], kind: str | None) -> MappableFile | None:
    """Return the facts about a mappable file with checksums; None for other files and generated graphs."""
    return _find(Path(path)) if kind == "binsparse" else None


def stored_ids(path: str | os.PathLike[str], options: ReadOptions) -> NDArray[Any] | None:
    """Return the ids or names of vertices that a .h5 file stores; None if it has none, and for other sources."""
    return _ids_in(Path(path)) if options.kind == "binsparse" else None


def with_stored_ids(path: str | os.PathLike[str], options: ReadOptions) -> ReadOptions:
    """Return the options, with `relabel` set if the source is a .h5 file that stores the ids of its vertices."""
    kept = options.kind == "binsparse" and _has_ids(Path(path))
    return replace(options, relabel=True) if kept else options
