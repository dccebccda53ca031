"""Walks along rows, on the CPU engine: some thousand at a time, on all cores.

The rules are those of :mod:`sparsezc.expr.sampling`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device.processors import processors
from sparsezc.engines.cpu import philox
from sparsezc.engines.cpu.selectk import find, running, whole_numbers
from sparsezc.engines.cpu.suitesparse import native
from sparsezc.engines.cpu.suitesparse.expressions import acyclic
from sparsezc.engines.cpu.suitesparse.row_arrays import RowArrays, borrowed, spread
from sparsezc.exceptions import DimensionMismatch
from sparsezc.expr.expression import Expression
from sparsezc.expr.sampling import TRIES, Trail
from sparsezc.memory.budget import require_host

__all__ = ["Entries", "Walks", "walk"]

Ints = NDArray[np.int64]
_TOGETHER = 1 << 14  # walks whose numbers stay in a core's cache
_ENTRIES = 1 << 22  # entries of rows that are read whole at a time
_ALL = np.uint64(2**64 - 1)
_PLACE = 40  # bytes of a vertex of a walk: itself and its column, both again if walks end early, and a flag
_SPARSE = 16  # positions an entry: a vector of fewer entries is not stored as a dense array


def walk(x: Expression) -> Any:
    """Make python-graphblas's Matrix of the walks, a row each."""
    A, trail, *weights = x.operands
    if not trail.fits(A, *weights):
        raise DimensionMismatch(f"walk: {A.name} was resized since the expression was made")
    count, places = trail.starts.size, trail.starts.size * (trail.length + 1)
    require_host(_PLACE * places, f"walk: {count:,} walks of {trail.length:,} steps")
    top, by = (None if v is None else Entries.of(v._store) for v in (*weights, None, None)[:2])
    store = acyclic(A._store.T.new()) if A._transposed else A._store
    all_met = np.full(places, -1, np.int64)
    met = all_met.reshape(count, trail.length + 1)
    met[:, 0] = trail.starts
    cuts = range(0, count, _TOGETHER)
    with borrowed(store) as rows:
        one = Walks(rows, trail, top, by)
        if len(cuts) > 1:
            with ThreadPoolExecutor(processors(16)) as pool:
                list(pool.map(lambda first: one.run(first, met[first : first + _TOGETHER]), cuts))
        elif met.size:
            one.run(0, met)
    return _matrix(all_met, x)


@dataclass(frozen=True)
class Entries:
    """A vector's entries by position, 0 where there is none.

    Attributes
    ----------
    values : ndarray of float64
    ids : ndarray of int64, or None
        The positions that have values, ascending, then a sentinel beyond all, whose value is 0; None: all positions.
    """

    values: NDArray[np.float64]
    ids: Ints | None

    @classmethod
    def of(cls, store: Any) -> Entries:
        """Read a python-graphblas Vector."""
        ids, values = store.to_coo()
        return cls.of_arrays(ids, values, store.size)

    @classmethod
    def of_arrays(cls, ids: NDArray[Any], values: NDArray[Any], size: int) -> Entries:
        """Make the entries of positions, ascending, and values."""
        if size <= _SPARSE * ids.size:
            dense = np.zeros(size)
            dense[ids] = values
            return cls(dense, None)
        return cls(np.append(values, 0.0), np.append(ids.astype(np.int64), np.iinfo(np.int64).max))

    def __getitem__(self, at: Ints) -> NDArray[np.float64]:
        if self.ids is None:
            return self.values[at]
        place = np.searchsorted(self.ids, at)
        return np.where(self.ids[place] == at, self.values[place], 0.0)


def _matrix(met: Ints, x: Expression) -> Any:
    """Make a matrix of the walks' vertices, not negative and leftmost in each row; it may take over `met`."""
    nrows, ncols = x.shape
    there = met >= 0
    lengths = there.reshape(nrows, ncols).sum(axis=1)
    whole = bool(there.all())
    columns = np.tile(np.arange(ncols, dtype=np.uint64), nrows)
    made = native.gb.Matrix.ss.import_csr(
        nrows=nrows, ncols=ncols, indptr=np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64),
        col_indices=columns if whole else columns[there], values=met if whole else met[there],
        sorted_cols=True, take_ownership=True,
        dtype=native.type_of(x.dtype),
    )  # fmt: skip
    return acyclic(made)


@dataclass(frozen=True)
class Walks:
    """The data that all walks in one matrix share.

    Attributes
    ----------
    rows : RowArrays
    trail : Trail
    top : Entries or None
        The largest weight of each row.
    by : Entries or None
        Weights by column.
    older : RowArrays or None
        The rows of the vertices that walks come from, if `rows` lacks them.
    """

    rows: RowArrays
    trail: Trail
    top: Entries | None
    by: Entries | None
    older: RowArrays | None = None

    def run(self, first: int, met: Ints) -> None:
        """Fill in the walks numbered from `first` on."""
        walks, here = np.arange(first, first + met.shape[0], dtype=np.uint64), np.arange(met.shape[0])
        pair: tuple[Any, ...] = ()
        for step in range(self.trail.length):
            if not here.size:
                return
            if self._is_alike:
                pair = philox.block(step // 2, 0, walks[here], self.trail.seed) if step % 2 == 0 else pair
            before = met[here, step - 1] if step else None
            drawn = pair[step % 2] if pair else None
            found = self.step(step, walks[here], met[here, step], before, drawn)
            on = found >= 0
            if not on.all():
                here, found = here[on], found[on]
                pair = tuple(part[on] for part in pair)
            met[here, step + 1] = found

    @property
    def _is_alike(self) -> bool:
        return not self.trail.weights and self.trail.shares is None

    def step(self, number: int, walks: philox.U64, v: Ints, before: Ints | None, drawn: Any = None) -> Ints:
        """Return the next vertices of walks that are at the vertices v, -1 where no edge leads on.

        `before`: the walks' previous vertices; `drawn`: their random numbers of this step, if drawn already.
        """
        begin, end = self.rows.ends(v)
        d = end - begin
        on = d > 0 if self.top is None else (d > 0) & (self.top[v] > 0)
        every = bool(on.all())
        if not every:
            walks, begin, d, v = walks[on], begin[on], d[on], v[on]
            before, drawn = (None if x is None else x[on] for x in (before, drawn))
        if self._is_alike:
            if drawn is None:
                drawn = philox.block(number // 2, 0, walks, self.trail.seed)[number % 2]
            at = begin + philox.high(drawn, d.astype(np.uint64)).astype(np.int64)
        else:
            at = self._tried(number, walks, v, before, begin, d)
        if every:
            return self.rows.indices[at]
        found = np.full(on.size, -1)
        found[on] = self.rows.indices[at]
        return found

    def _tried(self, step: int, walks: philox.U64, v: Ints, before: Ints | None, begin: Ints, d: Ints) -> Ints:
        """Choose an entry of each row by rejection sampling, and if no try succeeds by the sums of all weights."""
        chosen, left = np.empty(walks.size, np.int64), np.arange(walks.size)
        for t in range(TRIES):
            place, chance = philox.block(t, step + 1, walks[left], self.trail.seed)
            at = begin[left] + philox.high(place, d[left].astype(np.uint64)).astype(np.int64)
            share, positive = self._weight_share(at, v[left])
            good = positive & (chance <= _times(share, self._bias(at, before, left)))
            chosen[left[good]] = at[good]
            left = left[~good]
            if not left.size:
                return chosen
        number = philox.block(TRIES, step + 1, walks[left], self.trail.seed)[0]
        cuts = np.flatnonzero(np.diff(np.cumsum(d[left]) // _ENTRIES)) + 1
        for some, x in zip(np.split(left, cuts), np.split(number, cuts), strict=True):
            chosen[some] = self._read_whole(some, x, v, before, begin, d)
        return chosen

    def _weight_share(self, at: Ints, v: Ints) -> tuple[Any, Any]:
        """Return the probabilities, times 2**64 - 1, of accepting entries by weight, and which weights are above 0."""
        if self.top is None:
            return _ALL, True
        w, top = self._weights(at), self.top[v]
        share = np.ldexp(w / top, 63).astype(np.uint64) << np.uint64(1)
        return np.where(w < top, share, _ALL), w > 0

    def _weights(self, at: Ints) -> NDArray[np.float64]:
        return self.rows.weights(at) if self.by is None else self.by[self.rows.indices[at]]

    def _bias(self, at: Ints, before: Ints | None, left: Ints) -> Any:
        """Return the factor of each entry's weight, times 2**64 - 1, by its walk's previous vertex."""
        if self.trail.shares is None or before is None:
            return _ALL
        back, near, far = map(np.uint64, self.trail.shares)
        target, old = self.rows.indices[at], before[left]
        shares = np.full(at.size, far)
        if near != far:
            shares[self._has(old, target)] = near
        shares[target == old] = back
        return shares

    def _has(self, row: Ints, column: Ints) -> NDArray[np.bool_]:
        """Return whether each row has an entry in the column."""
        rows = self.older or self.rows
        low, end = rows.ends(row)
        high = end.copy()
        while (open_ := low < high).any():
            middle = np.where(open_, (low + high) // 2, 0)
            less = open_ & (rows.indices[middle] < column)
            low = np.where(less, middle + 1, low)
            high = np.where(open_ & ~less, middle, high)
        found = low < end
        found[found] = rows.indices[low[found]] == column[found]
        return found

    def _read_whole(self, some: Ints, number: philox.U64, v: Ints, before: Ints | None, begin: Ints, d: Ints) -> Ints:
        """Choose an entry of each of some rows by the sums of their weights."""
        d = d[some]
        start = np.cumsum(d) - d
        which, at = spread(np.arange(some.size), begin[some], d)
        if self.top is None:
            w = top = np.ones(at.size)
        else:
            w, top = self._weights(at), self.top[v[some]][which]
        whole = _times(whole_numbers(w, top, d[which]), self._bias(at, before, some[which]))
        reach, total = running(whole, start, d)
        return begin[some] + find(reach, start, start + d, philox.high(number, total)) - start


def _times(a: Any, b: Any) -> Any:
    """Return a * b / 2**64, where 2**64 - 1 stands for 1."""
    if b is _ALL:
        return a
    if a is _ALL:
        return b
    return np.where(b == _ALL, a, np.where(a == _ALL, b, philox.high(a, b)))
