"""Checkpoints of distributed objects: one shard for each rank, and a manifest that is renamed last.

A checkpoint is a folder. Each rank writes its parts of all objects into a file of its own, the shard; once every shard
is on disk, rank 0 replaces the manifest. So the folder has the old checkpoint until the new one is complete. Any number
of ranks can restore it: each reads its rows from the shards that have them.
"""

from __future__ import annotations

import json
import os
import secrets
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError, InvalidValue
from sparsezc.io.build.weights import FROM_FILE
from sparsezc.io.files.atomic_write import Output
from sparsezc.io.files.source import FileMissing
from sparsezc.io.ranks import stored_rows
from sparsezc.io.ranks.agreement import Communicator, same, together
from sparsezc.io.ranks.row_bounds import ALIGN
from sparsezc.io.ranks.shards import Kind, ShardedRows, Shards, VectorPart, identity, write
from sparsezc.memory.csr import Csr

MANIFEST = "manifest.json"
_VERSION = 1


class Part(NamedTuple):
    """A rank's part of an object, and the first row or position of each rank's part.

    Attributes
    ----------
    data : Csr or VectorPart
    bounds : ndarray of int64, shape (ranks + 1,)
    """

    data: Csr | VectorPart
    bounds: NDArray[np.int64]


def save(
    folder: str | os.PathLike[str],
    objects: Mapping[str, Part],
    comm: Communicator,
    state: Mapping[str, Any] | None = None,
) -> None:
    """Write a checkpoint; an old one in the same folder stays valid until this one is complete.

    Parameters
    ----------
    folder : str or path
        On a file system that all ranks see; created if it does not exist.
    objects : dict of str to Part
        The same names, in the same order, on all ranks.
    state : dict, optional
        The program's other data, such as a loop's counter; that of rank 0 is stored as JSON.

    Raises
    ------
    InvalidObject
        The ranks' objects differ in name, kind, type or bounds.
    InvalidValue
        `state` cannot be stored as JSON.
    RankFailure, FileNotWritten
        A rank could not write; the old checkpoint is unchanged.
    """
    place = Path(folder)
    kinds = [_kind(name, part, comm) for name, part in objects.items()]
    same(comm, f"{place}: the ranks' objects differ", [str(kind._replace(counts=[], iso=False)) for kind in kinds])
    token = comm.objects(secrets.token_hex(4))[0]
    path = place / f"shard-{token}-{comm.rank}.h5"

    def own() -> list[int]:
        place.mkdir(parents=True, exist_ok=True)
        parts = {number: part.data for number, part in enumerate(objects.values())}
        write(path, parts, {number: kind.iso for number, kind in enumerate(kinds)})
        return identity(path)

    def manifest(sums: list[list[int]]) -> None:
        text = json.dumps(
            {"version": _VERSION, "token": token, "shards": sums, "state": state,
             "objects": [kind._asdict() for kind in kinds]}
        )  # fmt: skip
        with Output(place / MANIFEST) as out, out.open() as file:
            file.write(json.dumps({"crc32": zlib.crc32(text.encode()), "checkpoint": text}).encode())
        for old in place.glob("shard-*.h5"):
            if f"-{token}-" not in old.name:
                with suppress(OSError):
                    old.unlink()

    def json_state() -> None:
        try:
            json.dumps(state)
        except (TypeError, ValueError) as error:
            raise InvalidValue(f"state: {error}; numbers, strings, lists and dicts of them are needed") from None

    together(comm, json_state)
    try:
        sums = comm.objects(together(comm, own))
        together(comm, lambda: manifest(sums) if comm.rank == 0 else None)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def restore(
    folder: str | os.PathLike[str],
    comm: Communicator,
    placement: str | None = None,
    cut: Callable[[int], NDArray[np.int64]] | None = None,
) -> tuple[dict[str, Part], dict[str, Any] | None]:
    """Return this rank's parts of the objects of a checkpoint, and its state, on any number of ranks.

    Matrices are cut into rows of equal work; a vector is cut like a matrix with as many rows, if there is one, else by
    `cut` or, without it, evenly. Objects of at most 64 rows are whole on every rank; their bounds are one range.

    Raises
    ------
    FileMissing
        There is no checkpoint.
    FileFormatError
        The manifest or a shard is damaged or of another version.
    InvalidObject
        The ranks found different checkpoints.
    """
    place = Path(folder)
    token, found = together(comm, lambda: _manifest(place))
    same(comm, f"{place} is not the same checkpoint for all ranks", [token])
    kinds = together(comm, lambda: [Kind(**each) for each in found["objects"]])
    paths = [place / f"shard-{token}-{rank}.h5" for rank in range(len(found["shards"]))]
    made: dict[str, Part] = {}
    with Shards(paths, found["shards"]) as shards:
        cuts: dict[int, NDArray[np.int64]] = {}
        for number, kind in enumerate(kinds):
            if kind.kind == "matrix":
                rows = ShardedRows(place, number, kind, shards)
                if rows.nrows <= ALIGN:
                    whole = np.array([0, rows.nrows], np.int64)
                    csr = together(comm, partial(stored_rows.load_rows, rows, whole, 0, FROM_FILE, placement))
                    made[kind.name] = Part(csr, whole)
                    continue
                bounds = cuts.get(rows.nrows)
                bounds = cuts[rows.nrows] = stored_rows.bounds(rows, comm) if bounds is None else bounds
                made[kind.name] = Part(stored_rows.load(rows, bounds, comm, FROM_FILE, placement).csr, bounds)
        for number, kind in enumerate(kinds):
            if kind.kind == "vector":
                size, bounds = kind.shape[0], cuts.get(kind.shape[0])
                if size <= ALIGN:
                    bounds = np.array([0, size], np.int64)
                elif bounds is None:
                    bounds = _evenly(size, comm.size) if cut is None else cut(size)
                first, last = (0, size) if size <= ALIGN else (int(at) for at in bounds[comm.rank : comm.rank + 2])
                mine = together(comm, partial(_entries, shards, number, kind, first, last))
                made[kind.name] = Part(mine, bounds)
    return {kind.name: made[kind.name] for kind in kinds}, found["state"]


def _kind(name: str, part: Part, comm: Communicator) -> Kind:
    """Return the facts about an object for the manifest, with the number of entries of each rank."""
    data, bounds = part.data, [int(at) for at in part.bounds]
    if isinstance(data, VectorPart):
        counts = comm.numbers(data.positions.size)[:, 0].tolist()
        return Kind(name, "vector", str(data.values.dtype), [bounds[-1]], bounds, counts)
    one = data.values.read(0, 1).tobytes() if data.iso and data.nvals else None
    told = comm.objects((data.nvals, one))
    ones = {value for count, value in told if count}
    shape = [bounds[-1], data.ncols]
    iso = len(ones) == 1 and None not in ones
    return Kind(name, "matrix", data.dtype.name, shape, bounds, [count for count, _ in told], iso, data.symmetric)


def _manifest(place: Path) -> tuple[str, dict[str, Any]]:
    path = place / MANIFEST
    if not path.is_file():
        raise FileMissing(f"{place} has no {MANIFEST}: there is no checkpoint")
    try:
        outer = json.loads(path.read_bytes())
        text = outer["checkpoint"]
        if zlib.crc32(text.encode()) != outer["crc32"]:
            raise ValueError("its checksum differs")
        found = json.loads(text)
        if found["version"] != _VERSION:
            raise ValueError(f"it is of version {found['version']}, and {_VERSION} is needed")
        return str(found["token"]), found
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise FileFormatError(f"{path} is damaged or newer: {error}") from None


def _evenly(size: int, ranks: int) -> NDArray[np.int64]:
    words = -(-size // ALIGN)
    return np.minimum(words * np.arange(ranks + 1) // ranks * ALIGN, size).astype(np.int64)


def _entries(shards: Shards, number: int, kind: Kind, first: int, last: int) -> VectorPart:
    """Return the entries at the positions ``first:last`` of a vector, with positions counted from `first`."""
    values: list[NDArray[Any]] = [np.empty(0, kind.type.np_type)]
    positions: list[NDArray[Any]] = [np.empty(0, np.int64)]
    width = 2 if kind.type.is_complex else 1
    for shard, count in enumerate(kind.counts):
        begin, end = kind.bounds[shard], kind.bounds[shard + 1]
        if not count or end <= first or begin >= last:
            continue
        at = shards.read(shard, f"{number}.positions", 0, count) + begin
        low, high = np.searchsorted(at, [first, last]).tolist()
        positions.append(at[low:high] - first)
        values.append(shards.read(shard, f"{number}.values", width * low, width * high).view(kind.type.np_type))
    return VectorPart(np.concatenate(positions), np.concatenate(values))
