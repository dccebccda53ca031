"""The part of the edges that a rank reads: of text by bytes, of stored rows by rows, of Parquet by row groups.

Rank 0 reads files that can only be read from their start (gzipped files, .npz archives, METIS graphs), chunk by chunk;
the others wait for the edges of their rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sparsezc.exceptions import FileFormatError, InvalidObject, warn_slow
from sparsezc.io.build import generated_edges, stored_csr
from sparsezc.io.build.edge_list import Chunk, EdgeChunks, EdgeFacts, Edges
from sparsezc.io.build.stored_ranges import StoredRanges
from sparsezc.io.build.weights import Weights
from sparsezc.io.formats.symmetry_check import sums_of_ends
from sparsezc.io.ranks import stored_rows, text_ranges
from sparsezc.io.ranks.agreement import Communicator, same, together
from sparsezc.semirings.types.datatypes import lookup

if TYPE_CHECKING:
    from sparsezc.io._options import ReadOptions


#: A check that all ranks run after reading: from the facts about a rank's edges it returns those about all edges.
Check = Callable[[EdgeFacts], EdgeFacts]


class Part(NamedTuple):
    """A rank's edges, the kind of their weights, and the check that all ranks run after reading (None: none)."""

    edges: EdgeChunks
    weights: Weights
    check: Check | None = None


def part_of(path: str | os.PathLike[str], options: ReadOptions, module: Any, comm: Communicator) -> Part:
    """Return this rank's part of a source.

    Raises
    ------
    InvalidObject
        The file changed before all ranks had opened it.
    FileFormatError
        The file is damaged or not of its format; on all ranks.
    """
    weights = options.weights
    if module is None:
        name = str(path)
        found, weights = together(comm, lambda: generated_edges.edge_chunks(name, weights, (comm.rank, comm.size)))
        return Part(found, weights)
    place = Path(path)
    if together(comm, lambda: text_ranges.can_be_cut(place, module)):
        found = text_ranges.text_chunks(place, module, weights, comm)
        return Part(found, weights, lambda facts: text_ranges.check_total(place, module, facts, comm))
    paths = together(comm, lambda: module.files(place)) if options.kind == "emogi" else [place]
    states = together(comm, lambda: [text_ranges.state(each) for each in paths])
    same(
        comm,
        f"{path} is not the same file for all ranks",
        [fact for state in states for fact in text_ranges.told(state)],
    )
    part = _part(place, options, module, comm)
    part.edges.pass_through(partial(_watched, paths, states))
    return part


def _part(path: Path, options: ReadOptions, module: Any, comm: Communicator) -> Part:
    kind, weights = options.kind, options.weights
    if kind in ("gap", "emogi"):
        rows = together(comm, lambda: module.ranges(path, weights))
        if rows is not None:
            return _by_rows(rows, weights, comm)
    if kind == "parquet":
        found = module.edge_chunks(path, (comm.rank, comm.size))
        return Part(found, weights, lambda facts: _told(facts, comm))
    if comm.rank == 0 and comm.size > 1:
        warn_slow(f"{path} is read from its start only, so one rank reads for all; gb.io.convert to .h5 avoids it")
    mine = together(comm, lambda: _from_start(path, kind, module, weights) if comm.rank == 0 else None)
    undirected, mirrored = comm.objects(None if mine is None else (mine.undirected, mine.mirrored))[0]
    none = np.empty(0, np.uint32)
    found = mine or EdgeChunks.of(Edges(0, 0, none, none, undirected=undirected, mirrored=mirrored))
    return Part(found, weights, lambda facts: _told(facts, comm))


def _by_rows(rows: StoredRanges, weights: Weights, comm: Communicator) -> Part:
    """Return the edges of this rank's rows, and for a file marked undirected a check that both ends list each edge."""
    cuts = stored_rows.bounds(rows, comm)
    found = stored_rows.edge_chunks(rows, cuts, comm.rank, None if rows.stored_values is None else rows.dtype)
    if not rows.symmetric:
        return Part(found, weights)
    sums = [0, 0]

    def summed(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            for end, each in enumerate(sums_of_ends(*chunk)):
                sums[end] = (sums[end] + each) % 2**64
            yield chunk

    def check(facts: EdgeFacts) -> EdgeFacts:
        upper, lower = (sum(each) % 2**64 for each in zip(*comm.objects(tuple(sums)), strict=True))
        if upper != lower:
            raise FileFormatError(
                f"{rows.path} is marked undirected, but an edge is stored in one direction only, or with another weight"
                " in the other; both directions are needed, or the mark of a directed graph"
            )
        return facts

    found.pass_through(summed)
    return Part(found, weights, check)


def _from_start(path: Path, kind: str | None, module: Any, weights: Weights) -> EdgeChunks:
    if kind == "gap":
        return stored_csr.edge_chunks(module.stored(path))
    found: EdgeChunks = module.edge_chunks(path, weights)
    return found


def _told(facts: EdgeFacts, comm: Communicator) -> EdgeFacts:
    """Return the facts with the value type of the first rank that has one: a rank without edges may have none."""
    types = [name for name in comm.objects(None if facts.dtype is None else facts.dtype.name) if name is not None]
    return replace(facts, dtype=lookup(types[0]) if types else None)


def _watched(paths: list[Path], states: list[tuple[int, int]], chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    yield from chunks
    for path, state in zip(paths, states, strict=True):
        try:
            changed = text_ranges.state(path) != state
        except (InvalidObject, OSError):
            changed = True
        if changed:
            raise FileFormatError(f"{path} was changed while it was read")
