"""Vectors on their way between ranks: gathered whole for a pull, or sent to their owners and folded after a push.

Vectors travel as values alone (full ones), as presence words and a value for each position, or as positions and values,
whichever takes fewer bytes; where the multiply reads no values none travel. All ranks know the sizes of all messages
beforehand, from the numbers of entries that the engine collects, so that an exchange is one collective.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.distributed.local_objects import array_module, assignment
from sparsezc.engines.distributed.stores import Store
from sparsezc.expr.dispatch import PLAIN, Write, update

if TYPE_CHECKING:
    from sparsezc.engines.distributed.layout import Layout
    from sparsezc.engines.distributed.store_methods import Keeper
    from sparsezc.semirings.types.datatypes import DataType

__all__ = ["fold_at_owners", "whole_vector"]

_WORD = 32


def whole_vector(engine: Keeper, store: Store, *, reads: bool = True) -> Any:
    """Return a vector with the entries of all ranks, on the local engine; if no product `reads` values, all are 1."""
    if store.layout.is_whole or engine.size == 1:
        return store.local
    n, dtype = store.nrows, store.dtype
    counts = engine.counts(store)
    total = int(counts.sum())
    if not total:
        return engine.local.vector(dtype, n)
    if dtype.is_udt:
        ids, values = engine.local.arrays(store.local, "ids")
        pieces = engine.transport.objects((ids + np.uint64(store.layout.lo), values))
        parts = tuple(np.concatenate([piece[k] for piece in pieces]) for k in (0, 1))
        return engine.local.from_arrays("ids", parts, dtype, n)
    if total == n:
        if not reads:
            return engine.local.from_arrays("full", (None,), dtype, n)
        mine = engine.local.arrays(store.local, "full")[0] if counts[engine.rank] else np.empty(0, dtype.np_type)
        values = engine.transport.gather(engine.as_local(mine), counts)
        return engine.local.from_arrays("full", (values,), dtype, n)
    return _gathered(engine, store, counts, _form(total, n, dtype if reads else None), reads)


def _form(total: int, n: int, dtype: DataType | None) -> str:
    """Return the form of fewer bytes for so many entries at n positions; without a type, values do not travel."""
    value = 0 if dtype is None else dtype.np_type.itemsize
    return "ids" if total * (_id_type(n).itemsize + value) < n // 8 + n * value else "words"


def _id_type(n: int) -> np.dtype[Any]:
    return np.dtype(np.uint32 if n < 1 << 32 else np.uint64)


def _gathered(engine: Keeper, store: Store, counts: NDArray[np.int64], form: str, reads: bool) -> Any:
    n, layout, dtype = store.nrows, store.layout, store.dtype
    ids = _id_type(n) if form == "ids" else np.dtype(np.uint32)
    firsts = counts if form == "ids" else -(-layout.sizes // _WORD)
    seconds = (counts if form == "ids" else layout.sizes) if reads else np.zeros_like(counts)
    if firsts[engine.rank]:
        at, values = engine.local.arrays(store.local, form)
        if form == "ids":
            at = (at + at.dtype.type(layout.lo)).astype(ids)
    else:
        at, values = engine.as_local(np.empty(0, ids)), engine.as_local(np.empty(0, dtype.np_type))
    if not reads:
        found = engine.transport.gather(at, firsts)
        return engine.local.from_arrays(form, (found, None), dtype, n)
    at, values = _split(engine.transport.gather(_joined(values, at), _nbytes(seconds, firsts, dtype, ids)),
                        seconds, firsts, dtype, ids)  # fmt: skip
    xp = array_module(at[0])
    return engine.local.from_arrays(form, (xp.concatenate(at), xp.concatenate(values)), dtype, n)


# One message carries values and then positions or words: their bytes follow each other.


def _joined(values: Any, at: Any) -> Any:
    xp = array_module(at)
    return xp.concatenate([xp.ascontiguousarray(values).view(np.uint8), xp.ascontiguousarray(at).view(np.uint8)])


def _nbytes(values: NDArray[np.int64], at: NDArray[np.int64], dtype: DataType, ids: np.dtype[Any]) -> NDArray[np.int64]:
    return values * dtype.np_type.itemsize + at * ids.itemsize


def _split(
    arrived: Any, values: NDArray[np.int64], at: NDArray[np.int64], dtype: DataType, ids: np.dtype[Any]
) -> tuple[list[Any], list[Any]]:
    """Return the positions (or words) and the values of each rank's message."""
    found: tuple[list[Any], list[Any]] = ([], [])
    end, xp = 0, array_module(arrived)
    for nvalues, nat in zip(values.tolist(), at.tolist(), strict=True):
        begin, middle = end, end + nvalues * dtype.np_type.itemsize
        end = middle + nat * ids.itemsize
        # a message may begin anywhere, and views need aligned memory
        found[1].append(xp.array(arrived[begin:middle]).view(dtype.np_type))
        found[0].append(xp.array(arrived[middle:end]).view(ids))
    return found


def fold_at_owners(
    engine: Keeper, mine: Any, layout: Layout, op: Any, most: NDArray[np.int64], *, reads: bool = True
) -> Any:
    """Send this rank's part of a result to the owners of its positions, who fold all parts in rank order.

    Parameters
    ----------
    engine : DistributedEngine
    mine : Vector or None
        A local vector of the whole's size; None: this rank has no entry.
    layout : Layout
        The owners.
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
    local, size = engine.local, layout.hi - layout.lo
    dtype: DataType = op.return_type
    if engine.size == 1:
        return local.vector(dtype, size) if mine is None else mine
    n = int(layout.bounds[-1])
    if dtype.is_udt:
        return _folded_objects(engine, mine, layout, op)
    if layout.is_whole:
        pieces = _gathered_pieces(engine, mine, n, dtype, reads)
    elif _pads(most, layout, n, dtype if reads else None):
        pieces = _padded_pieces(engine, mine, layout, most, dtype, reads)
    else:
        pieces = _worded_pieces(engine, mine, layout, dtype, reads)
    return _folded(engine, pieces, dtype, size, op, reads)


def _pads(most: NDArray[np.int64], layout: Layout, n: int, dtype: DataType | None) -> bool:
    """Return whether messages of as many positions as any may have take fewer bytes than words."""
    value = 0 if dtype is None else dtype.np_type.itemsize
    padded = int(np.minimum(most, layout.sizes.max()).sum()) + most.size
    return padded * (_id_type(n).itemsize + value) < int(layout.sizes.max()) * most.size * value + n // 8


Piece = tuple[str, Any, Any]


def _gathered_pieces(engine: Keeper, mine: Any, n: int, dtype: DataType, reads: bool) -> list[Piece]:
    """Every rank gets all parts of a small vector."""
    words, values = _words(engine, mine, n, dtype)
    sizes, firsts = (np.full(engine.size, k, np.int64) for k in (n if reads else 0, words.size))
    given = _joined(values[: n if reads else 0], words)
    arrived = engine.transport.gather(given, _nbytes(sizes, firsts, dtype, words.dtype))
    at, parts = _split(arrived, sizes, firsts, dtype, words.dtype)
    return [("words", a, v) for a, v in zip(at, parts, strict=True)]


def _words(engine: Keeper, mine: Any, n: int, dtype: DataType) -> tuple[Any, Any]:
    if mine is None:
        return engine.as_local(np.zeros(-(-n // _WORD), np.uint32)), engine.as_local(np.zeros(n, dtype.np_type))
    found: tuple[Any, Any] = engine.local.arrays(mine, "words")
    return found


def _padded_pieces(
    engine: Keeper, mine: Any, layout: Layout, most: NDArray[np.int64], dtype: DataType, reads: bool
) -> list[Piece]:
    """Messages have room for as many positions as any of a rank's may have; the first number is the count."""
    ids, p = _id_type(int(layout.bounds[-1])), engine.size
    rooms = np.minimum(most, layout.sizes.max())
    room = int(rooms[engine.rank])
    seconds = rooms if reads else np.zeros_like(rooms)
    if mine is None:
        at, values = engine.as_local(np.empty(0, np.int64)), engine.as_local(np.empty(0, dtype.np_type))
    else:
        at, values = engine.local.arrays(mine, "ids")
    xp = array_module(at)
    cuts = xp.searchsorted(at.astype(np.int64), xp.asarray(layout.bounds))
    cuts = [int(cut) for cut in cuts.tolist()]
    sending = []
    for r in range(p):
        here = at[cuts[r] : cuts[r + 1]]
        numbers = xp.zeros(room + 1, ids)
        numbers[0] = here.size
        numbers[1 : here.size + 1] = here.astype(np.int64) - int(layout.bounds[r])
        block = xp.zeros(room if reads else 0, dtype.np_type)
        if reads:
            block[: here.size] = values[cuts[r] : cuts[r + 1]]
        sending.append(_joined(block, numbers))
    nbytes = _nbytes(seconds, rooms + 1, dtype, ids)
    sent = np.full(p, nbytes[engine.rank])
    arrived = engine.transport.scatter(xp.concatenate(sending), sent, nbytes)
    numbers, parts = _split(arrived, seconds, rooms + 1, dtype, ids)
    found = []
    for a, v in zip(numbers, parts, strict=True):
        count = int(a[0])
        found.append(("ids", a[1 : count + 1], v[:count]))
    return found


def _worded_pieces(engine: Keeper, mine: Any, layout: Layout, dtype: DataType, reads: bool) -> list[Piece]:
    """Each owner gets the words of its range, and a value for each position."""
    n, p = int(layout.bounds[-1]), engine.size
    words, values = _words(engine, mine, n, dtype)
    firsts = -(-layout.sizes // _WORD)
    seconds = layout.sizes if reads else np.zeros_like(layout.sizes)
    sending = []
    for r in range(p):
        lo, hi = int(layout.bounds[r]), int(layout.bounds[r + 1])
        sending.append(
            _joined(values[lo:hi] if reads else values[:0], words[lo // _WORD : lo // _WORD + int(firsts[r])])
        )
    xp = array_module(words)
    mine_first, mine_second = (np.full(p, k[engine.rank], np.int64) for k in (firsts, seconds))
    arrived = engine.transport.scatter(
        xp.concatenate(sending), _nbytes(seconds, firsts, dtype, words.dtype),
        _nbytes(mine_second, mine_first, dtype, words.dtype),
    )  # fmt: skip
    at, parts = _split(arrived, mine_second, mine_first, dtype, words.dtype)
    return [("words", a, v) for a, v in zip(at, parts, strict=True)]


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


def _folded_objects(engine: Keeper, mine: Any, layout: Layout, op: Any) -> Any:
    """Fold values of user-defined types, which have no form on the device."""
    local, size, dtype = engine.local, layout.hi - layout.lo, op.return_type
    given = None if mine is None else local.arrays(mine, "ids")
    merged = local.vector(dtype, size)
    for piece in engine.transport.objects(given):
        if piece is None or not size:
            continue
        ids, values = piece
        here = (ids >= layout.lo) & (ids < layout.hi)
        part = local.from_arrays("ids", (ids[here] - np.uint64(layout.lo), values[here]), dtype, size)
        update(merged, assignment(part, merged), Write(None, op, False) if merged.nvals else PLAIN)
    return merged
