"""The part of the edges that a rank reads: of text by bytes, of stored rows by rows, of Parquet by row groups.

What can be read from its start only, as gzipped files, .npz archives and METIS graphs, the first rank reads, chunk by
chunk; the others wait for the edges of their rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sparsezc.exceptions import FileFormatError, InvalidObject, warn_slow
from sparsezc.io.build import generated_edges, stored_csr
from sparsezc.io.build.edge_list import Chunk, EdgeChunks
from sparsezc.io.build.stored_ranges import StoredRanges
from sparsezc.io.build.weights import Weights
from sparsezc.io.formats.symmetry_check import sums_of_ends
from sparsezc.io.ranks import spans, stored_rows
from sparsezc.io.ranks.agreement import Communicator, same, together
from sparsezc.semirings.types.datatypes import lookup

if TYPE_CHECKING:
    from sparsezc.io._options import ReadOptions


class Part(NamedTuple):
    """A rank's edges, how they weigh, and what all ranks check once they were read (None: nothing)."""

    edges: EdgeChunks
    weights: Weights
    check: Callable[[EdgeChunks], None] | None = None


def part_of(path: str | os.PathLike[str], options: ReadOptions, module: Any, comm: Communicator) -> Part:
    """Return this rank's part of a source.

    Raises
    ------
    InvalidObject
        The file changed between the ranks' openings.
    FileFormatError
        The file is damaged or not of its format; on all ranks.
    """
    weights = options.weights
    if module is None:
        name = str(path)
        found, weights = together(comm, lambda: generated_edges.edge_chunks(name, weights, (comm.rank, comm.size)))
        return Part(found, weights)
    place = Path(path)
    if together(comm, lambda: spans.can_be_cut(place, module)):
        found = spans.text_chunks(place, module, weights, comm)
        return Part(found, weights, lambda edges: spans.check_total(place, module, edges, comm))
    paths = together(comm, lambda: module.files(place)) if options.kind == "emogi" else [place]
    states = together(comm, lambda: [spans.state(each) for each in paths])
    same(comm, f"{path} is not the same file for all ranks", [fact for state in states for fact in spans.told(state)])
    part = _part(place, options, module, comm)
    part.edges.chunks = _watched(part.edges.chunks, paths, states)
    return part


def _part(path: Path, options: ReadOptions, module: Any, comm: Communicator) -> Part:
    kind, weights = options.kind, options.weights
    if kind in ("gap", "emogi"):
        rows = together(comm, lambda: module.ranges(path, weights))
        if rows is not None:
            return _by_rows(rows, weights, comm)
    if kind == "parquet":
        found = module.edge_chunks(path, (comm.rank, comm.size))
        return Part(found, weights, lambda edges: _share_facts(edges, comm))
    if comm.rank == 0 and comm.size > 1:
        warn_slow(f"{path} is read from its start only, so one rank reads for all; gb.io.convert makes a .h5 of it")
    found = together(comm, lambda: _from_start(path, kind, module, weights) if comm.rank == 0 else EdgeChunks())
    return Part(found, weights, lambda edges: _share_facts(edges, comm))


def _by_rows(rows: StoredRanges, weights: Weights, comm: Communicator) -> Part:
    """Return the edges of this rank's rows; of a file that calls itself undirected both ends must list each."""
    cuts = stored_rows.bounds(rows, comm)
    found = stored_rows.edge_chunks(rows, cuts, comm.rank)
    found.dtype = None if rows.stored_values is None else rows.dtype
    if not rows.symmetric:
        return Part(found, weights)
    sums = [0, 0]

    def summed(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            for end, each in enumerate(sums_of_ends(*chunk)):
                sums[end] = (sums[end] + each) % 2**64
            yield chunk

    def check(_: EdgeChunks) -> None:
        upper, lower = (sum(each) % 2**64 for each in zip(*comm.objects(tuple(sums)), strict=True))
        if upper != lower:
            raise FileFormatError(
                f"{rows.path} calls itself undirected, but found an edge that is stored in one direction only, or with"
                " another weight in the other; both directions are needed, or the mark of a directed graph"
            )

    found.chunks = summed(found.chunks)
    return Part(found, weights, check)


def _from_start(path: Path, kind: str | None, module: Any, weights: Weights) -> EdgeChunks:
    if kind == "gap":
        return stored_csr.edge_chunks(module.stored(path))
    found: EdgeChunks = module.edge_chunks(path, weights)
    return found


def _share_facts(found: EdgeChunks, comm: Communicator) -> None:
    """Tell all ranks what the reader of a part knows of the whole."""
    told = comm.objects((found.undirected, found.mirrored, None if found.dtype is None else found.dtype.name))
    found.undirected, found.mirrored = (any(each[k] for each in told) for k in (0, 1))
    types = [each[2] for each in told if each[2] is not None]
    found.dtype = lookup(types[0]) if types else None


def _watched(chunks: Iterator[Chunk], paths: list[Path], states: list[tuple[int, int]]) -> Iterator[Chunk]:
    yield from chunks
    for path, state in zip(paths, states, strict=True):
        try:
            changed = spans.state(path) != state
        except (InvalidObject, OSError):
            changed = True
        if changed:
            raise FileFormatError(f"{path} was changed while it was read")
