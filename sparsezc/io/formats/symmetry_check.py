"""A check that a matrix equals its transpose, in one pass over its entries and bounded memory.

With random x and y, x'(A - A')y is 0 if A equals A', and hardly ever otherwise. It is a sum over the entries: A(i,j)
times x(i)y(j) - y(i)x(j), in 64-bit integers. Here x(i) is a hash of i, and y(i) its square, so each edge has monomials
of its own: x(i)x(j)(x(j) - x(i)). The hash's constants are random for each matrix, so no file can be made to match
them.
Source: R. Freivalds, Probabilistic machines can use less running time, IFIP Congress 1977.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError
from sparsezc.io.build.generate import mix

_STEP = 1 << 16  # entries: fewer steps wait for Python's lock less often, and their arrays still stay in a core's cache
_WAITING = 2  # chunks that the reader may be ahead by
_Hash = Callable[[NDArray[Any]], NDArray[np.uint64]]


class SymmetryCheck:
    """A symmetry check of a square matrix whose entries are added in the order of its rows; a context manager.

    One thread processes the entries while the caller continues to read: several would wait for Python's lock, and take
    longer together.
    """

    def __init__(self, indptr: NDArray[np.int64]) -> None:
        self._indptr, self._at, self._sum, self._hash = indptr, 0, 0, _random_hash()
        self._pool = ThreadPoolExecutor(1, "sparsezc-symmetry")
        self._waiting: deque[Future[int]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def add(self, ids: NDArray[Any], values: NDArray[Any] | None) -> None:
        """Add the column ids and, if any, the whole-number values of the next entries; these arrays must not change."""
        self._waiting.append(self._pool.submit(_sum, self._hash, self._indptr, self._at, ids, values))
        self._at += ids.size
        if len(self._waiting) > _WAITING:
            self._sum += self._waiting.popleft().result()

    def check(self, path: Path) -> None:
        """Raise FileFormatError if all entries were added and the matrix differs from its transpose.

        Raises
        ------
        FileFormatError
        """
        while self._waiting:
            self._sum += self._waiting.popleft().result()
        if self._at == self._indptr[-1] and self._sum % 2**64:
            raise FileFormatError(
                f"{path} is marked undirected, but an edge is stored in one direction only, or with another weight "
                "in the other; both directions are needed, or the mark of a directed graph"
            )


def _sum(hashed: _Hash, indptr: NDArray[np.int64], at: int, ids: NDArray[Any], values: NDArray[Any] | None) -> int:
    """Return the terms' sum over the given entries, of which the first is entry `at` of the matrix."""
    total = 0
    for start in range(0, ids.size, _STEP):
        to = hashed(ids[start : start + _STEP])
        of = _of_rows(hashed, indptr, at + start, to.size)
        terms = to - of
        terms *= to
        terms *= of
        if values is not None:
            terms *= hashed(values[start : start + _STEP])
        total += int(terms.sum(dtype=np.uint64))
    return total


def _of_rows(hashed: _Hash, indptr: NDArray[np.int64], at: int, count: int) -> NDArray[np.uint64]:
    """Return the hash of the row of each of `count` entries from entry `at` on."""
    stop = at + count
    first, last = (int(row) - 1 for row in np.searchsorted(indptr, [at, stop - 1], side="right"))
    if last - first > count:  # most of these rows are empty
        return hashed(np.searchsorted(indptr, np.arange(at, stop), side="right") - 1)
    ends = np.clip(indptr[first : last + 2], at, stop)
    return np.repeat(hashed(np.arange(first, last + 1)), ends[1:] - ends[:-1])


def _random_hash() -> _Hash:
    """Return a random bijective hash of whole numbers to 64 bits."""
    shift = np.uint64(secrets.randbits(64))
    # Odd, so that the products of distinct numbers differ.
    factors = [np.uint64(secrets.randbits(64) | 1) for _ in range(2)]

    def hashed(numbers: NDArray[Any]) -> NDArray[np.uint64]:
        x = numbers.astype(np.uint64)
        x += shift
        for factor in factors:
            x *= factor
            x ^= x >> np.uint64(32)
        return x

    return hashed


def sums_of_ends(rows: NDArray[Any], cols: NDArray[Any], values: NDArray[Any] | None) -> list[int]:
    """Return hash sums of the entries above and below the diagonal, which are equal if both ends list each edge."""
    sums = []
    for where, one, other in ((rows < cols, rows, cols), (rows > cols, cols, rows)):
        keys = one[where].astype(np.uint64) << np.uint64(32) ^ other[where].astype(np.uint64)
        if values is not None:
            keys = mix(keys, np) + values[where].astype(np.uint64)
        sums.append(int(mix(keys, np).sum(dtype=np.uint64)))
    return sums
