"""Entries picked of each row, also hop by hop, on the CPU engine; the rules are in :mod:`sparsezc.expr.sampling`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu import philox
from sparsezc.engines.cpu.suitesparse import native
from sparsezc.engines.cpu.suitesparse.expressions import acyclic, operand
from sparsezc.engines.cpu.suitesparse.row_arrays import RowArrays, borrowed, spread
from sparsezc.exceptions import DimensionMismatch, InvalidValue
from sparsezc.expr.expression import Expression
from sparsezc.expr.sampling import MOST_FLOYD, Hops, Pick, Subgraph
from sparsezc.memory.budget import require_host

__all__ = ["argsort", "best_column", "hop", "picked", "sample_hops", "sampled", "selectk"]

Ints = NDArray[np.int64]
_ENTRIES = 1 << 22  # entries of rows that are processed together
_DIGITS = 2**16  # NumPy sorts values below it by digits
_PICKED = 80  # bytes of a picked entry: row, position and count, twice where parts are joined, its column and value


def selectk(x: Expression) -> Any:
    """Make python-graphblas's Matrix of the picked entries."""
    A, index, pick = x.operands
    if not pick.fits(x.shape, A, index):
        raise DimensionMismatch(f"selectk: {A.name} was resized since the expression was made")
    store = acyclic(A._store.T.new()) if A._transposed else A._store
    with borrowed(store) as given:
        if index.kind == "all":
            rows = np.flatnonzero(np.diff(given.indptr)) if given.ids is None else given.ids
            numbers = rows
        else:
            rows = index.positions().astype(np.int64)
            numbers = np.arange(rows.size)
        return _made(x, pick, given, rows, numbers)


def _made(x: Expression, pick: Pick, given: RowArrays, rows: Ints, numbers: Ints) -> Any:
    """Make the result from rows and their row numbers in the result, some rows at a time."""
    begin, end = given.ends(rows)
    total = int(np.minimum(end - begin, pick.k).sum())
    require_host(_PICKED * total, f"selectk: {total:,} entries of {rows.size:,} rows")
    before = np.concatenate([[0], np.cumsum(np.maximum(end - begin, pick.k if pick.replace else 1))])
    cuts = np.unique(np.searchsorted(before, np.arange(_ENTRIES, max(int(before[-1]), 1), _ENTRIES)))
    found = [
        picked(pick, given, *(part[first:last] for part in (begin, end, numbers)))
        for first, last in zip([0, *cuts], [*cuts, rows.size], strict=True)
        if first < last
    ]
    row, at, count = (np.concatenate(parts) for parts in zip(*found, strict=True)) if found else [np.empty(0, int)] * 3
    if not row.size:
        return acyclic(native.gb.Matrix(native.type_of(x.dtype), *x.shape))
    listed, lengths = np.unique(row, return_counts=True)
    iso = given.iso and not pick.replace
    values = count if pick.replace else given.values[:1] if iso else given.values[at]
    made = native.gb.Matrix.ss.import_hypercsr(
        nrows=x.shape[0], ncols=x.shape[1], rows=listed.astype(np.uint64),
        indptr=np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64),
        col_indices=given.indices[at].astype(np.uint64), values=values.copy(), is_iso=iso,
        sorted_cols=True, take_ownership=False, dtype=native.type_of(x.dtype),
    )  # fmt: skip
    return acyclic(made)


def picked(pick: Pick, given: RowArrays, begin: Ints, end: Ints, numbers: Ints) -> tuple[Ints, Ints, Ints]:
    """Return row numbers, positions and counts of the picked entries, sorted by row, then position."""
    d = end - begin
    k = np.minimum(d, pick.k)
    if pick.how in ("first", "last"):
        first = begin if pick.how == "first" else end - k
        row, at = spread(numbers, first, k)
    elif pick.replace:
        return _drawn(pick, given, begin, d, numbers)
    elif pick.how == "random" and pick.k <= MOST_FLOYD:
        row, at = _floyd(pick, begin, d, numbers)
    else:
        row, at = _smallest(pick, given, begin, d, numbers)
    return row, at, np.ones_like(at)


def _counted(row: Ints, at: Ints, count: Ints) -> tuple[Ints, Ints, Ints]:
    """Return each position of a row once, with the sum of its counts."""
    order = np.lexsort((at, row))
    row, at = row[order], at[order]
    first = np.flatnonzero(np.concatenate([[True], (row[1:] != row[:-1]) | (at[1:] != at[:-1])])) if at.size else at
    return row[first], at[first], np.add.reduceat(count[order], first) if first.size else count


# Random picks


def _drawn(pick: Pick, given: RowArrays, begin: Ints, d: Ints, numbers: Ints) -> tuple[Ints, Ints, Ints]:
    """Draw k positions of each row with replacement, some draws at a time, and count them."""
    begin, d, numbers = begin[d > 0], d[d > 0], numbers[d > 0]
    by_weight = pick.how == "random_weighted"
    if by_weight:
        _, at = spread(numbers, begin, d)
        start = np.cumsum(d) - d
        reach, total = sums(_checked(given.weights(at)), start, d)
        some = total > 0
        begin, d, numbers, start, total = begin[some], d[some], numbers[some], start[some], total[some]
    stream, size = numbers.astype(np.uint64)[:, None], d.astype(np.uint64)[:, None]
    found = (np.empty(0, np.int64),) * 3
    together = max(1, _ENTRIES // max(1, numbers.size))
    for first in range(0, pick.k, together):
        draw = np.arange(first, min(first + together, pick.k), dtype=np.uint64)
        shape = numbers.size, draw.size
        chance = philox.numbers(
            np.broadcast_to(draw, shape), 3 if by_weight else 0, np.broadcast_to(stream, shape), pick.seed
        )
        if by_weight:
            low, high = (np.broadcast_to(part[:, None], shape) for part in (start, start + d))
            place = find(reach, low, high, philox.high(chance, np.broadcast_to(total[:, None], shape))) - low
        else:
            place = philox.high(chance, np.broadcast_to(size, shape)).astype(np.int64)
        drawn = np.repeat(numbers, draw.size), (begin[:, None] + place).ravel(), np.ones(place.size, np.int64)
        found = _counted(*(np.concatenate(parts) for parts in zip(found, drawn, strict=True)))
    return found


def _floyd(pick: Pick, begin: Ints, d: Ints, numbers: Ints) -> tuple[Ints, Ints]:
    """Draw k positions of each row without replacement, by Floyd's algorithm: all rows together, a draw at a time."""
    whole = d <= pick.k
    row, at = spread(numbers[whole], begin[whole], d[whole])
    begin, d, numbers = begin[~whole], d[~whole], numbers[~whole]
    chosen = np.empty((pick.k, d.size), np.int64)
    stream = numbers.astype(np.uint64)
    pair: tuple[Any, ...] = ()
    for c in range(pick.k if d.size else 0):
        if c % 2 == 0:
            pair = philox.block(c // 2, 0, stream, pick.seed)
        last = d - pick.k + c
        t = philox.high(pair[c % 2], (last + 1).astype(np.uint64)).astype(np.int64)
        met = (chosen[:c] == t).any(axis=0)
        chosen[c] = np.where(met, last, t)
    chosen.sort(axis=0)
    if not whole.any():
        return np.repeat(numbers, pick.k), (chosen + begin).T.ravel()
    row = np.concatenate([row, np.repeat(numbers, pick.k)])
    at = np.concatenate([at, (chosen + begin).T.ravel()])
    order = np.argsort(row, kind="stable")
    return row[order], at[order]


def _smallest(pick: Pick, given: RowArrays, begin: Ints, d: Ints, numbers: Ints) -> tuple[Ints, Ints]:
    """Pick the k entries of the smallest keys of each row; of equal ones the first."""
    row, at = spread(numbers, begin, d)
    key, counts = _keys(pick, given, row, at, np.repeat(begin, d))
    if counts is not None:
        row, at, key = row[counts], at[counts], key[counts]
    order = np.lexsort((key, row))  # stable: equal keys stay by position
    first = np.searchsorted(row, row)  # rows ascend
    kept = np.sort(order[np.arange(row.size) - first < pick.k])
    return row[kept], at[kept]


def _keys(pick: Pick, given: RowArrays, row: Ints, at: Ints, begin: Ints) -> tuple[NDArray[Any], Any]:
    """Return a key for each entry, and which entries take part; None: all."""
    stream, draw = row.astype(np.uint64), (at - begin).astype(np.uint64)
    if pick.how == "random":
        return philox.numbers(draw, 1, stream, pick.seed), None
    if pick.how == "random_weighted":
        w = _checked(given.weights(at))
        some = w > 0
        spread = philox.exponential(philox.numbers(draw, 2, stream, pick.seed))
        return np.divide(spread, w, out=np.zeros(w.size), where=some), some
    values = np.broadcast_to(given.values[:1], at.shape) if given.iso else given.values[at]
    if pick.how == "largest":
        values = -values if values.dtype.kind == "f" else ~values  # the order reversed, of any integer
    return values, None  # NaN is sorted last


def _checked(w: NDArray[np.float64]) -> NDArray[np.float64]:
    if w.size and not (w.min() >= 0 and w.max() < np.inf):
        raise InvalidValue("selectk: a weight is negative, NaN or infinite; finite weights >= 0 are needed")
    return w


def sums(w: NDArray[np.float64], start: Ints, d: Ints) -> tuple[philox.U64, philox.U64]:
    """Return the running sums of each row's weights as whole numbers, and each row's sum; every row has entries."""
    top = np.repeat(np.maximum.reduceat(w, start), d) if w.size else w
    return running(whole_numbers(w, top, np.repeat(d, d)), start, d)


def whole_numbers(w: NDArray[np.float64], top: NDArray[np.float64], d: Ints) -> philox.U64:
    """Return weights as whole numbers, so small that those of a row of d entries add up to less than 2**63."""
    share = np.divide(w, top, out=np.zeros(w.size), where=top > 0)
    length = np.where(d > 1, 64 - philox.leading_zeros((d - 1).astype(np.uint64)).astype(np.int64), 0)
    whole: philox.U64 = np.ldexp(share, 62 - length).astype(np.uint64)
    return whole


def running(whole: philox.U64, start: Ints, d: Ints) -> tuple[philox.U64, philox.U64]:
    """Return the running sums within each row, and each row's sum."""
    reach = np.cumsum(whole)  # may wrap around, which the differences undo
    before = np.where(start > 0, reach[start - 1], np.uint64(0)) if start.size else reach[:0]
    reach -= np.repeat(before, d)
    return reach, reach[start + d - 1] if start.size else reach


def find(reach: philox.U64, low: Ints, high: Ints, place: philox.U64) -> Ints:
    """Return the first entry from `low` on whose running sum is above `place`; there is one below `high`."""
    low, high = low.copy(), np.array(high) - 1
    while (low < high).any():
        middle = (low + high) // 2
        beyond = reach[middle] > place
        high = np.where(beyond, middle, high)
        low = np.where(beyond, low, np.minimum(middle + 1, high))
    return low


def sample_hops(store: Any, seeds: Ints, hops: Hops) -> Subgraph:
    """Return the sampled subgraph of python-graphblas's Matrix."""
    with borrowed(store) as given:
        none = given.values[:0]
        return sampled(lambda pick, at: hop(given, pick, at, np.arange(at.size)), seeds, hops, store.ncols, none)


def hop(given: RowArrays, pick: Pick, vertices: Ints, numbers: Ints) -> tuple[Ints, Ints, Ints, NDArray[Any]]:
    """Return rows, positions, columns and values of the entries picked from some rows, given the rows' numbers."""
    row, at, count = picked(pick, given, *given.ends(vertices), numbers)
    if pick.replace:
        row, at = np.repeat(row, count), np.repeat(at, count)
    values = np.repeat(given.values[:1], at.size) if given.iso else given.values[at]
    return row, at, given.indices[at], values


def sampled(
    pick_from: Callable[[Pick, Ints], tuple[Any, ...]], seeds: Ints, hops: Hops, n: int, no_values: NDArray[Any]
) -> Subgraph:
    """Return the subgraph; `pick_from` picks from the rows of some vertices, numbered in their order, as `hop` does."""
    require_host(8 * n, f"sample_hops: local numbers of {n:,} vertices")
    after = np.zeros(n, np.int64)  # each vertex's local number plus 1, or 0: only vertices that are met are touched
    after[seeds[::-1]] = np.arange(seeds.size, 0, -1)  # of equal seeds the first
    nodes, parts, listed, known = [seeds], [], seeds, 0
    for number in range(len(hops.fanouts)):
        row, at, met, values = pick_from(hops.pick(number, n), listed)
        col, known = row + known, known + listed.size
        new = met[after[met] == 0]
        slot = np.arange(-1, -1 - new.size, -1)
        after[new[::-1]] = slot[::-1]  # of equal ones the first is written last
        listed = new[after[new] == slot]
        after[listed] = np.arange(known + 1, known + 1 + listed.size)
        nodes.append(listed)
        parts.append((after[met] - 1, col, at, values))
    none = np.empty(0, np.int64)
    row, col, edge = (np.concatenate([none, *(part[k] for part in parts)]) for k in range(3))
    values = None
    if hops.values:
        values = np.concatenate([no_values, *(part[3] for part in parts)])
    sizes = [part.size for part in nodes], [part[2].size for part in parts]
    return Subgraph(np.concatenate(nodes), row, col, edge, values, *sizes)


def argsort(x: Expression) -> Any:
    """Make python-graphblas's Vector of the positions of the smallest values, sorted."""
    gb, size = native.gb, x.shape[0]
    at, values = x.operands[0]._store.to_coo()
    first = at[_first(values, size)].astype(np.int64)
    return acyclic(gb.Vector.from_coo(np.arange(first.size), first, gb.dtypes.INT64, size=size))


def _first(values: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Return the indices of the smallest values, sorted; equal values by index, NaN last."""
    among = np.arange(values.size)
    if 0 < count < values.size:
        bound = np.partition(values, count - 1)[count - 1]
        among = np.flatnonzero(values <= bound) if bound == bound else among
        values = values[among]
    keys = values
    if values.min(initial=0) >= 0 and values.max(initial=0) < _DIGITS:
        digits = values.astype(np.uint16)
        if (digits == values).all():
            keys = digits  # in a sixth of the time
    found: NDArray[np.int64] = among[np.argsort(keys, kind="stable")[:count]]
    return found


def best_column(x: Expression) -> Any:
    """Make python-graphblas's Vector of the columns, by one product over ranks; of equal entries the first counts."""
    A, v = x.operands
    gb = native.gb
    at, values = v._store.to_coo()
    order = at.size - 1 - np.argsort(values[::-1], kind="stable")[::-1]
    rank = np.empty(at.size, np.int64)
    rank[order] = np.arange(at.size)
    ranks = acyclic(gb.Vector.from_coo(at, rank, gb.dtypes.INT64, size=v.size))
    if 0 in A._shape or not at.size:
        return acyclic(gb.Vector(gb.dtypes.INT64, x.shape[0]))
    rows, least = acyclic(operand(A).mxv(ranks, gb.semiring.min_second[gb.dtypes.INT64]).new()).to_coo()
    columns = at[order[least]].astype(np.int64)
    return acyclic(gb.Vector.from_coo(rows, columns, gb.dtypes.INT64, size=x.shape[0]))
