"""Exchanges of vectors: gathered whole for a pull, or sent to their owners and folded after a push.

Vectors travel as values alone (full ones), as presence words and a value for each position, or as positions and values,
whichever takes fewer bytes; if the multiply reads no values, none travel. On a device positions must save at least the
bytes that travel in the time of packing. All ranks know the sizes of all messages beforehand, from the numbers of
entries that the engine collects, so that an exchange is one collective.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.distributed.model import received_bytes
from sparsezc.engines.distributed.model.received_bytes import FEW, WORD
from sparsezc.engines.distributed.parts.local_objects import array_module, assignment
from sparsezc.engines.distributed.parts.stores import Store
from sparsezc.expr.dispatch import PLAIN, Write, update

if TYPE_CHECKING:
    from sparsezc.engines.distributed.parts.partition import Partition
    from sparsezc.engines.distributed.statements.products import Halo
    from sparsezc.engines.distributed.store_methods import Keeper
    from sparsezc.semirings.types.datatypes import DataType

__all__ = ["LISTING", "PACKING", "fold_vector_at_owners", "id_type", "listing", "packing", "whole_vector"]

PACKING = 4 << 20  # bytes that cards exchange while one packs and unpacks positions, about 20 us and several launches

LISTING = 128 << 20  # the same while one lists vertices of many searches and scatters lists, 0.4 to 0.6 ms


def whole_vector(engine: Keeper, store: Store, *, reads: bool = True, halo: Halo | None = None) -> Any:
    """Return a vector with the entries of all ranks, on the local engine; if no product `reads` values, all are 1.

    With a halo only this rank's values and those of the halo are defined.
    """
    if store.partition.is_whole or engine.size == 1:
        return store.local
    n, dtype = store.nrows, store.dtype
    counts = engine.counts(store)
    total = int(counts.sum())
    if not total:
        return engine.local.vector(dtype, n)
    if dtype.is_udt:
        ids, values = engine.local.arrays(store.local, "ids")
        pieces = engine.transport.objects((ids + np.uint64(store.partition.lo), values))
        parts = tuple(np.concatenate([piece[k] for piece in pieces]) for k in (0, 1))
        return engine.local.from_arrays("ids", parts, dtype, n)
    if total == n:
        if not reads:
            return engine.local.from_arrays("full", (None,), dtype, n)
        mine = engine.local.arrays(store.local, "full")[0] if counts[engine.rank] else np.empty(0, dtype.np_type)
        if halo is not None:
            values = engine.transport.scatter(engine.as_local(mine)[halo.given], halo.sent, halo.received)
            return engine.local.from_arrays("full", (_placed(mine, values, halo),), dtype, n)
        values = engine.transport.gather(engine.as_local(mine), counts)
        return engine.local.from_arrays("full", (values,), dtype, n)
    form = _form(engine, total, n, dtype if reads else None)
    if form == "words" and reads and halo is not None:
        return _words_and_halo(engine, store, halo)
    return _gathered(engine, store, counts, form, reads)


def _placed(mine: Any, values: Any, halo: Halo) -> Any:
    """Return values at all positions: this rank's, and those that arrived."""
    made = array_module(values).empty(int(halo.partition.bounds[-1]), values.dtype)
    made[halo.partition.lo : halo.partition.hi] = mine
    made[halo.asked] = values
    return made


def _words_and_halo(engine: Keeper, store: Store, halo: Halo) -> Any:
    """Return a vector with the presence words of all ranks, and with the values of this rank and of its halo."""
    partition, size = store.partition, engine.size
    words, values = _words(engine, None if store.is_empty_range else store.local, 0, store.dtype)
    nwords = -(-partition.sizes // WORD)
    sent = np.full(size, words.size), halo.sent
    xp = array_module(words)
    found, values_there = engine.transport.scatter_both(
        xp.tile(words, size), values[halo.given], sent, (nwords, halo.received)
    )
    whole = _placed(values, values_there, halo)
    return engine.local.from_arrays("words", (found, whole), store.dtype, store.nrows)


def _form(engine: Keeper, total: int, n: int, dtype: DataType | None) -> str:
    """Return the form of fewer bytes for `total` entries at n positions; without a type, values do not travel."""
    value = 0 if dtype is None else dtype.np_type.itemsize
    return "ids" if received_bytes.as_positions(total, n, value, packing(engine)) else "words"


def packing(engine: Keeper) -> int:
    """Return the bytes that positions must save compared to presence words."""
    return PACKING if engine.on_device else 0


def listing(engine: Keeper) -> int:
    """Return the bytes that lists of vertices must save; as many as positions where the transport packs values."""
    return packing(engine) if engine.transport.packs_below else LISTING


def id_type(n: int) -> np.dtype[Any]:
    """Return the type in which positions below n travel."""
    return np.dtype(np.uint32 if received_bytes.id_bytes(n) == 4 else np.uint64)


def _gathered(engine: Keeper, store: Store, counts: NDArray[np.int64], form: str, reads: bool) -> Any:
    n, partition, dtype = store.nrows, store.partition, store.dtype
    ids = id_type(n) if form == "ids" else np.dtype(np.uint32)
    firsts = counts if form == "ids" else -(-partition.sizes // WORD)
    seconds = (counts if form == "ids" else partition.sizes) if reads else np.zeros_like(counts)
    mine = store.local if firsts[engine.rank] else None
    if form == "words" and not reads and mine is not None:
        (at,) = engine.local.arrays(mine, "bits")
    elif form == "words":
        at, values = _words(engine, mine, 0, dtype)
    else:
        at, values = _positions(engine, mine, dtype)
        at = (at + at.dtype.type(partition.lo)).astype(ids)
    if not reads:
        found = engine.transport.gather(at, firsts)
        return engine.local.from_arrays(form, (found, None), dtype, n)
    values, at = engine.transport.gather_both(values, at, seconds, firsts)
    return engine.local.from_arrays(form, (at, values), dtype, n)


def fold_vector_at_owners(
    engine: Keeper, mine: Any, partition: Partition, op: Any, most: NDArray[np.int64], *, reads: bool = True
) -> Any:
    """Send this rank's partial results to the owners of their positions, which fold all in rank order.

    Parameters
    ----------
    engine : DistributedEngine
    mine : Vector or None
        A local vector of the whole's size; None: this rank has no entry.
    partition : Partition
        The partition, which gives the owners.
    op : TypedOp
        The binary operator that folds.
    most : ndarray of int64, shape (ranks,)
        All ranks know that rank r has at most ``most[r]`` entries.
    reads : bool
        The values differ; otherwise all are 1 and none travel.

    Returns
    -------
    Vector
        A local vector of this rank's range.
    """
    local, size = engine.local, partition.hi - partition.lo
    dtype: DataType = op.return_type
    if engine.size == 1:
        return local.vector(dtype, size) if mine is None else mine
    n = int(partition.bounds[-1])
    if dtype.is_udt:
        return _folded_objects(engine, mine, partition, op)
    if partition.is_whole:
        pieces = _gathered_pieces(engine, mine, n, dtype, reads)
    elif not engine.on_device and int(most.max()) * (1 + _integers(dtype, reads)) <= FEW:
        pieces = _told_pieces(engine, mine, partition, int(most.max()), dtype, reads)
    elif _pads(engine, most, partition, dtype if reads else None):
        pieces = _padded_pieces(engine, mine, partition, most, dtype, reads)
    elif reads:
        pieces = _worded_pieces(engine, mine, partition, dtype)
    else:
        return _united(engine, mine, partition, dtype)
    return _folded(engine, pieces, dtype, size, op, reads)


def _pads(engine: Keeper, most: NDArray[np.int64], partition: Partition, dtype: DataType | None) -> bool:
    """Return whether messages padded to the most positions that a rank may send take fewer bytes than words."""
    n, value = int(partition.bounds[-1]), 0 if dtype is None else dtype.np_type.itemsize
    return received_bytes.pads(most, partition.longest, n, value, packing(engine))


Piece = tuple[str, Any, Any]


def _gathered_pieces(engine: Keeper, mine: Any, n: int, dtype: DataType, reads: bool) -> list[Piece]:
    """Return the partial results of all ranks, for a small vector that is whole on every rank."""
    words, values = _words(engine, mine, n, dtype)
    ends = range(n, n * engine.size + 1, n), range(words.size, words.size * engine.size + 1, words.size)
    if not reads:
        found = engine.transport.gather(words, np.full(engine.size, words.size))
        return [("words", found[end - words.size : end], None) for end in ends[1]]
    parts, found = engine.transport.gather_both(
        values, words, np.full(engine.size, n), np.full(engine.size, words.size)
    )
    return [("words", found[last - words.size : last], parts[end - n : end]) for end, last in zip(*ends, strict=True)]


def _words(engine: Keeper, mine: Any, n: int, dtype: DataType) -> tuple[Any, Any]:
    if mine is None:
        return engine.zeros(-(-n // WORD), np.uint32), engine.zeros(n, dtype.np_type)
    found: tuple[Any, Any] = engine.local.arrays(mine, "words")
    return found


def _positions(engine: Keeper, mine: Any, dtype: DataType) -> tuple[Any, Any]:
    if mine is None:
        return engine.as_local(np.empty(0, np.int64)), engine.as_local(np.empty(0, dtype.np_type))
    found: tuple[Any, Any] = engine.local.arrays(mine, "ids")
    return found


def _integers(dtype: DataType, reads: bool) -> int:
    """Return how many integers of 64 bits a value takes."""
    return -(-dtype.np_type.itemsize // 8) if reads else 0


def _told_pieces(
    engine: Keeper, mine: Any, partition: Partition, most: int, dtype: DataType, reads: bool
) -> list[Piece]:
    """Exchange few positions and values as numbers, faster than in messages; return this rank's range of them."""
    told = np.zeros(1 + most * (1 + _integers(dtype, reads)), np.int64)
    if mine is not None:
        at, values = engine.local.arrays(mine, "ids")
        told[0], told[1 : 1 + at.size] = at.size, at
        if reads:
            told[1 + most :].view(np.uint8)[: values.nbytes] = values.view(np.uint8)
    pieces: list[Piece] = []
    for row in engine.transport.numbers(*told.tolist()):
        ids = row[1 : 1 + row[0]]
        first, last = ids.searchsorted((partition.lo, partition.hi)).tolist()
        values = row[1 + most :].view(dtype.np_type)[first:last].copy() if reads else None
        pieces.append(("ids", (ids[first:last] - partition.lo).astype(np.uint64), values))
    return pieces


def _padded_pieces(
    engine: Keeper, mine: Any, partition: Partition, most: NDArray[np.int64], dtype: DataType, reads: bool
) -> list[Piece]:
    """Exchange messages padded to the most positions that a rank may send, after the count of positions."""
    ids, p = id_type(int(partition.bounds[-1])), engine.size
    lengths = np.minimum(most, partition.longest)
    length = int(lengths[engine.rank])
    at, values = _positions(engine, mine, dtype)
    xp = array_module(at)
    cuts = xp.searchsorted(at.astype(np.int64), xp.asarray(partition.bounds)).tolist()
    numbers, block = xp.zeros((p, length + 1), ids), xp.zeros((p, length if reads else 0), dtype.np_type)
    for r, (first, last) in enumerate(pairwise(cuts)):
        numbers[r, 0] = last - first
        numbers[r, 1 : last - first + 1] = at[first:last].astype(np.int64) - int(partition.bounds[r])
        if reads:
            block[r, : last - first] = values[first:last]
    mine_first, firsts = np.full(p, length + 1), lengths + 1
    if reads:
        found, parts = engine.transport.scatter_both(
            numbers.reshape(-1), block.reshape(-1), (mine_first, mine_first - 1), (firsts, lengths)
        )
    else:
        found, parts = engine.transport.scatter(numbers.reshape(-1), mine_first, firsts), None
    begins = np.cumsum(firsts) - firsts
    counts = found[engine.as_local(begins)].tolist()
    pieces: list[Piece] = []
    for r, (count, begin) in enumerate(zip(counts, begins.tolist(), strict=True)):
        here = None if parts is None else parts[begin - r : begin - r + count]
        pieces.append(("ids", found[begin + 1 : begin + 1 + count], here))
    return pieces


def _worded_pieces(engine: Keeper, mine: Any, partition: Partition, dtype: DataType) -> list[Piece]:
    """Exchange presence words and a value for each position; return this rank's range of them."""
    n, p = int(partition.bounds[-1]), engine.size
    words, values = _words(engine, mine, n, dtype)  # ranges begin at whole words
    sent = -(-partition.sizes // WORD), partition.sizes
    nat, nvalues = (int(each[engine.rank]) for each in sent)
    found, parts = engine.transport.scatter_both(words, values, sent, (np.full(p, nat), np.full(p, nvalues)))
    return [("words", found[r * nat : (r + 1) * nat], parts[r * nvalues : (r + 1) * nvalues]) for r in range(p)]


def _united(engine: Keeper, mine: Any, partition: Partition, dtype: DataType) -> Any:
    """Exchange presence words only, as every value is 1; return the union of all ranks' words in this rank's range."""
    if mine is None:
        words = engine.zeros(-(-int(partition.bounds[-1]) // WORD), np.uint32)
    else:
        (words,) = engine.local.arrays(mine, "bits")
    sent = -(-partition.sizes // WORD)  # ranges begin at whole words
    count = int(sent[engine.rank])
    arrived = engine.transport.scatter(words, sent, np.full(engine.size, count))
    if not count:
        return engine.local.vector(dtype, 0)
    found = arrived[:count]
    for r in range(1, engine.size):
        found |= arrived[r * count : (r + 1) * count]
    return engine.local.from_arrays("words", (found, None), dtype, partition.hi - partition.lo)


def _folded(engine: Keeper, pieces: list[Piece], dtype: DataType, size: int, op: Any, reads: bool) -> Any:
    """Fold the parts of all ranks, in rank order."""
    local = engine.local
    if not size:
        return local.vector(dtype, 0)
    if not reads and all(form == "words" for form, _, _ in pieces):
        words = pieces[0][1]
        for _, other, _ in pieces[1:]:
            words = words | other
        return local.from_arrays("words", (words, None), dtype, size)
    if not reads and all(form == "ids" for form, _, _ in pieces):
        xp = array_module(pieces[0][1])
        at = xp.unique(xp.concatenate([ids for _, ids, _ in pieces]))
        return local.from_arrays("ids", (at, None), dtype, size)
    merged = None
    for form, at, values in pieces:
        if form == "ids" and not at.size:
            continue
        part = local.from_arrays(form, (at, values if reads else None), dtype, size)
        if merged is None:
            merged = part
        else:
            update(merged, assignment(part, merged), Write(None, op, False))
    return local.vector(dtype, size) if merged is None else merged


def _folded_objects(engine: Keeper, mine: Any, partition: Partition, op: Any) -> Any:
    """Fold values of user-defined types, which travel as pickled objects."""
    local, size, dtype = engine.local, partition.hi - partition.lo, op.return_type
    given = None if mine is None else local.arrays(mine, "ids")
    merged = local.vector(dtype, size)
    for piece in engine.transport.objects(given):
        if piece is None or not size:
            continue
        ids, values = piece
        here = (ids >= partition.lo) & (ids < partition.hi)
        part = local.from_arrays("ids", (ids[here] - np.uint64(partition.lo), values[here]), dtype, size)
        update(merged, assignment(part, merged), Write(None, op, False) if merged.nvals else PLAIN)
    return merged
