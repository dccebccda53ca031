"""``gb.io.read`` and ``gb.io.convert`` by several ranks: each reads its rows, or its part of the edges.

A .h5 file with checksums is read by rows. Of every other source a rank reads a part of the edges (sources.py), which
are sent to the owners of their rows (exchange.py), so a rank holds its share of the matrix and less than 1 GiB more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError, InvalidValue, warn_slow
from sparsezc.io.build import csr_builder, edge_list, external_sort
from sparsezc.io.build.edge_list import EdgeChunks
from sparsezc.io.build.weights import Weights
from sparsezc.io.files.atomic_write import require_folder
from sparsezc.io.files.scratch_folder import ScratchFolder
from sparsezc.io.hdf5 import csr_file, vertex_ids
from sparsezc.io.hdf5.merge_runs import Merger
from sparsezc.io.ranks import row_bounds, shared_file, sources, stored_rows
from sparsezc.io.ranks.agreement import Communicator, before, same, together
from sparsezc.io.ranks.edge_spool import EdgeSpool
from sparsezc.io.ranks.exchange import Sorters, send
from sparsezc.io.ranks.rank_rows import RankRows
from sparsezc.io.ranks.sorted_rows import SortedRows
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.csr import Csr
from sparsezc.memory.host import wrap

if TYPE_CHECKING:
    from sparsezc.io._options import ReadOptions

_MEMORY = 256 << 20  # bytes for sorting, and then for merging
_CONVERT = "in one process, without comm=, run gb.io.convert(..., 'graph.h5', "
_BUCKETS = 1 << 16  # the most buckets of rows, whose edges are counted to choose the ranks' bounds

#: A function that reads a whole graph on this rank.
Whole = Callable[[], Csr]


class Source(NamedTuple):
    """A source that is read by parts: its path or name, its options, and the module of its format (None: generated)."""

    path: str | os.PathLike[str]
    options: ReadOptions
    module: Any


def read_rank_rows(source: Source, whole: Whole, comm: Communicator) -> RankRows:
    """Read this rank's rows; `whole` reads all rows of a file that cannot be read by parts.

    Raises
    ------
    InvalidValue
        An option needs the whole graph (relabel), or differs between ranks.
    InvalidObject
        The file changed before all ranks had opened it.
    FileFormatError, OutOfMemory
        As for :func:`sparsezc.io.read`; on all ranks, with the number of the first rank that failed.
    """
    path, options, module = source
    _check(source, comm)
    if options.kind == "binsparse":
        with stored_rows.opened(Path(path), comm) as rows:
            if options.verify:
                together(comm, lambda: csr_file.find(Path(path)).verify())  # type: ignore[union-attr]
            together(comm, lambda: options.check_direction(path, rows.symmetric))
            cuts = stored_rows.bounds(rows, comm)
            if rows.symmetric or not options.both:
                return stored_rows.load(rows, cuts, comm, options.weights, options.placement)
            found = stored_rows.edge_chunks(rows, cuts, comm.rank, rows.dtype)
            with _sorted(source, found, options.weights, comm, ScratchFolder.temporary()) as made:
                return made.rows.block(made.bounds, made.ncols, comm, options.placement, symmetric=made.symmetric)
    if options.adds_duplicates and options.both:  # two merges by different operators
        return _kept(path, whole, comm)
    part = sources.part_of(path, options, module, comm)
    with _sorted(source, part.edges, part.weights, comm, ScratchFolder.temporary(), part.check) as made:
        return made.rows.block(made.bounds, made.ncols, comm, options.placement, symmetric=made.symmetric)


def convert(source: Source, target: str | os.PathLike[str], comm: Communicator) -> None:
    """Convert a graph to one .h5 file with plain ids, of which each rank writes its rows.

    All ranks must see the target's file system.

    Raises
    ------
    InvalidValue, FileFormatError
        As for :func:`read_rank_rows`; or the source cannot be read by parts.
    FileMissing
        The target's folder does not exist.
    """
    _check(source, comm)
    path = source.path
    if source.options.kind == "binsparse":
        raise InvalidValue(f"{path} is a .h5 file already, from which ranks can read their rows")
    if source.options.adds_duplicates and source.options.both:
        raise InvalidValue(f"{path}: duplicates are added, but reversed edges are not; convert it without comm=")
    final = Path(target).resolve()
    folder = together(comm, lambda: require_folder(final))
    part = sources.part_of(path, source.options, source.module, comm)
    with _sorted(source, part.edges, part.weights, comm, ScratchFolder(folder, final.name), part.check) as made:
        rows, iso = made.rows, made.rows.one is not None
        shape = int(made.bounds[-1]), made.ncols, rows.total
        where = {"iso": iso, "symmetric": made.symmetric}
        start, _ = before(comm, rows.count)
        with shared_file.made(Path(target), shape, rows.dtype, comm, **where) as file:
            together(comm, lambda: _write(file, made, comm, start))


def _write(file: shared_file.SharedFile, made: _Sorted, comm: Communicator, start: int) -> None:
    """Write this rank's offsets, ids and values; `start` is its first entry."""
    rows, (first, last) = made.rows, made.bounds[comm.rank : comm.rank + 2].tolist()
    offsets = np.zeros(last - first + 1, np.int64)
    ids = index_dtype(made.ncols, "device")
    for piece in rows.pieces(f"writing {file.path.name}"):
        file.write("indices_1", start + piece.start, piece.cols.astype(ids, copy=False))
        if piece.values is not None:
            file.write("values", start + piece.start, piece.values)
        found = np.bincount((piece.rows - first).astype(np.int64))
        offsets[1 : 1 + found.size] += found
    np.cumsum(offsets, out=offsets)
    file.write("pointers_to_1", first, (offsets + start)[: None if comm.rank == comm.size - 1 else -1])
    if rows.one is not None and comm.rank == 0:
        file.write("values", 0, rows.one)


def numbered(source: Source, comm: Communicator) -> tuple[Source, NDArray[Any] | None]:
    """Return the source without the option `relabel`, and the ids of its vertices if it had the option, else None.

    Raises
    ------
    InvalidObject
        The ranks' arguments differ.
    InvalidValue
        The file does not store the ids of its vertices, and only a reader of the whole graph can find them.
    """
    _check_same(source, comm)
    path, options, _ = source
    if not options.relabel:
        return source, None
    ids = together(comm, lambda: vertex_ids.read(Path(path))) if options.kind == "binsparse" else None
    if ids is None:
        raise InvalidValue(f"{path}: relabel=True numbers the ids of the whole graph; {_CONVERT}relabel=True) first")
    return source._replace(options=replace(options, relabel=False)), ids


def _check_same(source: Source, comm: Communicator) -> None:
    """Compare the ranks' arguments."""
    same(comm, "gb.io.read: the ranks' arguments differ", (os.fspath(source.path), source.options))


def _check(source: Source, comm: Communicator) -> None:
    """Compare the ranks' arguments; raise InvalidValue for an option that needs the whole graph."""
    _check_same(source, comm)
    path, options, _ = source
    if options.columns.named:
        raise InvalidValue(
            f"{path}: source_col=, target_col= and weight_col= exclude comm=; {_CONVERT}source_col= ...) first"
        )
    if options.relabel:
        raise InvalidValue(f"{path}: relabel=True excludes comm=; {_CONVERT}relabel=True) first")


def _kept(path: str | os.PathLike[str], whole: Whole, comm: Communicator) -> RankRows:
    """Read the whole graph on every rank, and keep this rank's rows."""
    if comm.rank == 0 and comm.size > 1:
        warn_slow(f"{path} cannot be read by parts with these options, so every rank reads all of it")
    csr = together(comm, whole)
    indptr = csr.indptr
    cuts = [
        row_bounds.first_row(lambda first, last: indptr[first:last], csr.nrows, csr.nvals, rank, comm.size)
        for rank in range(comm.size + 1)
    ]
    first, last = cuts[comm.rank : comm.rank + 2]
    start, stop = int(indptr[first]), int(indptr[last])
    values = csr.values if csr.iso else wrap(csr.values.read(start, stop))
    own = indptr[first : last + 1] - start
    ids = wrap(csr.indices.read(start, stop))
    mine = Csr(last - first, csr.ncols, own, ids, values, csr.dtype, csr.iso, csr.symmetric)
    return RankRows(mine, np.array(cuts, np.int64), csr.nvals)


class _Sorted(NamedTuple):
    rows: SortedRows
    bounds: NDArray[np.int64]
    ncols: int
    symmetric: bool


@contextmanager
def _sorted(
    source: Source, found: EdgeChunks, weights: Weights, comm: Communicator, scratch: ScratchFolder,
    check: sources.Check | None = None,
) -> Iterator[_Sorted]:  # fmt: skip
    """Read this rank's edges, send them to the owners of their rows, and sort those received; all ranks run `check`."""
    path, options, _ = source
    with scratch as folder:
        spool = EdgeSpool(folder / "edges")
        if weights.kind != "file":
            found.pass_through(edge_list.without_values)
        together(comm, lambda: spool.fill(found.chunks))
        facts = found.facts if check is None else check(found.facts)
        nrows, ncols = comm.numbers(facts.nrows, facts.ncols).max(axis=0).tolist()
        together(comm, lambda: options.check_direction(path, found.undirected))
        kind = _kind(path, spool, comm)
        both = options.both or found.undirected
        if both:
            edge_list.check_square(nrows, ncols)
        mirrored = both and not found.mirrored
        cuts = _cuts(spool, nrows, comm, mirrored=mirrored)
        merge, runs = "plus" if options.adds_duplicates else options.merge, []
        for turned in (False, True)[: 1 + mirrored]:
            sorters = Sorters(folder / f"sorted{turned:d}", _MEMORY, comm.size, merge, valued=kind is not None)
            send(spool, cuts, kind, comm, sorters, mirrored=turned)
            runs += together(comm, sorters.finish)
        few = together(comm, lambda: external_sort.few(runs, _MEMORY, merge, folder))
        rows = SortedRows(Merger(few, lambda: _MEMORY, merge), kind, facts.dtype, weights, comm)
        symmetric = both and csr_builder.alike(kind is not None, rows.dtype, merge)
        yield _Sorted(rows, cuts, ncols, symmetric)


def _kind(path: str | os.PathLike[str], spool: EdgeSpool, comm: Communicator) -> np.dtype[Any] | None:
    """Return the type that holds the values of all ranks' edges; None if there are none."""
    every = comm.objects((spool.most >= 0, sorted(kind.str for kind in spool.kinds)))
    valued = {bool(kinds) for some, kinds in every if some}
    if len(valued) > 1:
        raise FileFormatError(f"{path}: some lines have weights and others have none")
    found = {np.dtype(kind) for _, kinds in every for kind in kinds}
    return edge_list.value_type(found) if found else None


def _cuts(spool: EdgeSpool, nrows: int, comm: Communicator, *, mirrored: bool) -> NDArray[np.int64]:
    """Return bounds of rows of equal work, by counts of edges in buckets of rows."""
    edge_list.check_sizes(nrows, 0)
    words = -(-nrows // row_bounds.ALIGN)
    width = row_bounds.ALIGN * max(1, -(-words // _BUCKETS))
    buckets = -(-nrows // width)
    mine = together(comm, lambda: spool.count(width, buckets, mirrored=mirrored))
    return row_bounds.from_buckets(np.sum(comm.objects(mine), axis=0), comm.size, width, nrows)
