"""Conversion of a graph of any size into a mappable .h5 file, in a bounded amount of memory.

The edges are read chunk by chunk, sorted on disk beside the target (external_sort.py) and merged twice: once to count
them and to find the type of their values, once into the arrays of the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.config import bytes_of, config
from sparsezc.exceptions import InvalidValue, OutOfMemory, naming
from sparsezc.io._options import TABLES, ReadOptions, format_of, module_of
from sparsezc.io._read import mappable_file, stored_ids, with_stored_ids
from sparsezc.io.build import csr_builder, edge_list, external_sort, stored_csr
from sparsezc.io.build.edge_list import Chunk, EdgeChunks, EdgeFacts
from sparsezc.io.build.optional import need
from sparsezc.io.build.table_columns import NamedVertices, Names
from sparsezc.io.build.weights import Weights, check_fit
from sparsezc.io.files.atomic_write import Output
from sparsezc.io.files.pipe_spool import seekable
from sparsezc.io.files.source import WRITTEN, file_name
from sparsezc.io.hdf5 import csr_file, merge_runs
from sparsezc.io.hdf5.compressing import Packer
from sparsezc.io.hdf5.merge_runs import Facts
from sparsezc.memory import machine
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import task, working

_READING = 24 << 20  # bytes for chunks that are being read, parsed and written
_LEAST = 16 << 20  # bytes for sorting; with fewer no conversion starts
_SPARE = 48 << 20  # bytes by which the process may be larger at the next attempt; added to the limit that is advised
_MERGING = 4  # divisor of the free memory: a quarter merges duplicates, while the rest sorts the result again
_PACKING = 4  # divisor of the free memory: a quarter compresses ids


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    memory: int | str,
    options: ReadOptions,
    *,
    compress: bool = False,
) -> Facts:
    """Convert a graph to a .h5 file within `memory` bytes, and return the facts about the file."""
    limit = bytes_of("memory", memory)
    if format_of(Path(file_name(target, WRITTEN)), exists=False) != "binsparse":
        raise InvalidValue(f"memory={memory!r} is for .h5 targets, not for {target}")
    need("h5py", "hdf5")  # imported before memory is measured, because it needs some
    merge = options.merge
    with task(), config.set(host_budget=limit), _short(source), Output(target) as out:
        with naming(source), seekable(source, out.scratch()) as source:
            space = _Space(limit)
            _verify(source, options)
            options = with_stored_ids(source, options)
            numbers = _numbering(source, options, space) if options.relabel else _Numbers()
            found, weights = _edge_chunks(source, options, numbers.names)
            options.check_direction(source, found.undirected)
            if weights.kind != "file":
                found.pass_through(edge_list.without_values)
            elif weights.dtype is not None:
                found.pass_through(partial(_fitting, weights.dtype))
            if numbers.place is not None:
                found.pass_through(partial(_numbered, numbers.place))
            both = options.both or found.undirected
            sorting = _Sorting(space)
            if found.distinct:
                found.pass_through(partial(sorting.merged, out.scratch() / "alone", csr_builder.REFUSED))
            elif options.adds_duplicates and both:  # the reverse of an edge is no duplicate: add first
                found.pass_through(partial(sorting.merged, out.scratch() / "added", "plus"))
            elif options.adds_duplicates:
                merge = "plus"
            runs = sorting.runs(found.chunks, out.scratch(), merge, mirror=both and not found.mirrored)
            options.columns.require_kind(source)
            facts = found.facts if numbers.place is None else numbers.sized(found.facts)
            edge_list.check_sizes(facts.nrows, facts.ncols)
            if both:
                edge_list.check_square(facts.nrows, facts.ncols)
            runs = external_sort.few(runs, space.left(), merge, out.scratch())
        packer = Packer(out.scratch() / "headers", space.left() // _PACKING) if compress else None
        taken = 0 if packer is None else packer.nbytes
        merger = merge_runs.Merger(runs, lambda: space.left() - taken, merge)
        return merge_runs.write(facts, weights, merger, both, out, packer, sorting.inside, numbers.ids)


@contextmanager
def _short(source: str | os.PathLike[str]) -> Iterator[None]:
    """Raise OutOfMemory with the source's name if the system refuses memory."""
    try:
        yield
    except OutOfMemory:
        raise
    except MemoryError as error:
        raise OutOfMemory(f"{source} cannot be converted: the system refuses memory: {error}") from None


def _verify(source: str | os.PathLike[str], options: ReadOptions) -> None:
    """Compare a file with its checksums; raise an error if it has none and `verify` is given."""
    known = mappable_file(source, options.kind)
    if known is not None:
        known.verify()
    elif options.verify:
        raise csr_file.unchecked(source)


class _Space:
    """The memory limit of a conversion, and the part of it that is free."""

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def left(self) -> int:
        """Return the bytes for sorting: the limit less the memory in use and the bytes for reading.

        Raises
        ------
        OutOfMemory
            The limit leaves too few bytes.
        """
        used = machine.used()
        left = self._limit - used - _READING
        if left < _LEAST:
            enough = -(-(used + used // 8 + _READING + _LEAST + _SPARE) // 10**6) * 10**6
            raise OutOfMemory(
                f"memory={self._limit:,} is too little: {used:,} bytes are in use already, and "
                f"at least {_READING + _LEAST:,} more are needed; {enough:,} are enough"
            )
        return left


def _edge_chunks(
    source: str | os.PathLike[str], options: ReadOptions, names: Names | None = None
) -> tuple[EdgeChunks, Weights]:
    """Return the edges of a file or a generated graph in chunks, and the kind of weights that they get."""
    name, weights = options.kind, options.weights
    if name is None:
        from sparsezc.io.build import generated_edges

        return generated_edges.edge_chunks(str(source), weights)
    path = Path(source)
    module = module_of(name)
    if not hasattr(module, "edge_chunks") and name not in ("gap", "emogi"):
        raise InvalidValue(f"{source}: format {name!r} has no edge_chunks function, which memory= needs")
    if name == "gap":
        return stored_csr.edge_chunks(module.stored(path)), weights
    if name == "emogi":
        return stored_csr.edge_chunks(module.stored(path, weights)), weights
    alike = name in ("parquet", "feather", "binsparse")  # their edge_chunks take no weights
    more = {"columns": options.columns, "names": names} if name in TABLES else {}
    return module.edge_chunks(*(path, weights)[: 2 - alike], **more), weights


class _Numbers(NamedTuple):
    """A numbering of vertices: the function from ids to numbers (None: ids are numbers), all ids, and names if any."""

    place: Callable[[NDArray[Any]], NDArray[Any]] | None = None
    ids: NDArray[Any] | None = None
    names: Names | None = None

    def sized(self, facts: EdgeFacts) -> EdgeFacts:
        """Return the facts with as many rows and columns as there are numbered vertices."""
        size = 0 if self.ids is None else self.ids.size
        return replace(facts, nrows=size, ncols=size)


def _numbering(source: str | os.PathLike[str], options: ReadOptions, space: _Space) -> _Numbers:
    """Return the numbering of the ids that occur; a file that stores its vertices' ids is numbered already."""
    if (stored := stored_ids(source, options)) is not None:
        return _Numbers(None, stored)
    if not options.named:
        with suppress(NamedVertices):
            ids = _occurring(_edge_chunks(source, options)[0], space)
            return _Numbers(lambda part: np.searchsorted(ids, part), ids)
    names = _named(source, options, space)
    found, place = names.sorted()
    return _Numbers(place.__getitem__, found, names)


def _named(source: str | os.PathLike[str], options: ReadOptions, space: _Space) -> Names:
    """Read all edges, and return the names of their vertices."""
    names, seen = Names(), 0
    for _ in _edge_chunks(source, options, names)[0].chunks:
        if len(names) - seen > edge_list.BLOCK >> 4:
            seen = len(names)
            space.left()
    return names


def _occurring(found: EdgeChunks, space: _Space) -> NDArray[np.int64]:
    """Read all edges, and return the ids that occur in them, ascending."""
    ids = np.empty(0, np.int64)
    parts: list[NDArray[np.int64]] = []
    held = 0
    for rows, cols, _ in found.chunks:
        parts.append(np.union1d(rows, cols).astype(np.int64))
        held += parts[-1].size
        if held > max(ids.size, edge_list.BLOCK):
            if 8 * 4 * (ids.size + held) > space.left():
                raise OutOfMemory(f"relabel=True holds {ids.size + held:,} ids in memory; a larger memory= is needed")
            ids, held = np.unique(np.concatenate([ids, *parts])), 0
            parts.clear()
    return np.unique(np.concatenate([ids, *parts]))


def _fitting(dtype: datatypes.DataType, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """Yield chunks of edges; raise InvalidValue for a weight that the requested type does not hold."""
    for rows, cols, values in chunks:
        if values is not None:
            check_fit(values, dtype)
        yield rows, cols, values


def _numbered(number: Callable[[NDArray[Any]], NDArray[Any]], chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """Yield chunks of edges with ids replaced by vertex numbers."""
    for rows, cols, values in chunks:
        yield number(rows), number(cols), values


class _Sorting:
    """A sort of edges on disk within the free memory of a `_Space`.

    Attributes
    ----------
    inside : int
        The entries that were added, less those that :meth:`merged` yielded to be sorted again: at the end, the entries
        of the file and those that were merged into them as duplicates.
    """

    def __init__(self, space: _Space) -> None:
        self._space, self.inside = space, 0

    def runs(
        self, chunks: Iterator[Chunk], folder: Path, dup_op: str, *, mirror: bool = False
    ) -> list[external_sort.Run]:
        """Sort all edges into runs on disk, and return these."""
        first = next(chunks, None)  # read before memory is measured: the reader allocates its own with the first chunk
        if first is None:
            return []
        space, valued = self._space.left(), first[2] is not None
        sorter = external_sort.Sorter(folder, space, valued=valued, mirror=mirror, dup_op=dup_op)
        for chunk in chain([first], chunks):
            sorter.add(*chunk)
        self.inside += sorter.listed
        with working("sorting edges"):
            return sorter.finish()

    def merged(self, folder: Path, dup_op: str, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """Return chunks of edges whose duplicates are merged, before reversed edges are added."""
        folder.mkdir()
        runs = external_sort.few(self.runs(chunks, folder, dup_op), self._part(), dup_op, folder)
        return self._out(merge_runs.steps(merge_runs.Merger(runs, self._part, dup_op), "merging duplicates"))

    def _part(self) -> int:
        """Return the bytes for merging duplicates while the result is sorted again."""
        return self._space.left() // _MERGING

    def _out(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            self.inside -= chunk[0].size
            yield chunk
