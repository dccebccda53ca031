"""Whether a matrix that streams by equals its transpose: one pass, in a bounded amount of memory.

With random x and y, x'(A - A')y is 0 if A equals A', and hardly ever if not. It is a sum over the entries: A(i,j)
times x(i)y(j) - y(i)x(j), in 64-bit integers. Here x(i) is a hash of i, and y(i) its square, so each edge has monomials
of its own: x(i)x(j)(x(j) - x(i)).
Source: R. Freivalds, Probabilistic machines can use less running time, IFIP Congress 1977.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from os import cpu_count
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sparsezc.errors import FileFormatError

_STEP = 1 << 14  # entries: what is made of them stays in a core's cache
_SHIFT = np.uint64(0x9E3779B97F4A7C15)  # the hash of 0 without it is 0
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class Undirected:
    """Takes the entries of a square matrix in their order, whose rows the offsets tell; a context manager.

    Threads look at the entries while the caller reads on.
    """

    def __init__(self, indptr: NDArray[np.int64]) -> None:
        self._indptr, self._at, self._sum = indptr, 0, 0
        self._threads = min(4, cpu_count() or 1)
        self._pool = ThreadPoolExecutor(self._threads, "sparsezc-undirected")
        self._waiting: deque[Future[int]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def add(self, ids: NDArray[Any], values: NDArray[Any] | None) -> None:
        """The next columns, and their whole numbers if there are any; neither may change."""
        self._waiting.append(self._pool.submit(_sum, self._indptr, self._at, ids, values))
        self._at += ids.size
        if len(self._waiting) > self._threads:
            self._sum += self._waiting.popleft().result()

    def check(self, path: Path) -> None:
        """Refuse the matrix if all entries came and it differs from its transpose.

        Raises
        ------
        FileFormatError
        """
        while self._waiting:
            self._sum += self._waiting.popleft().result()
        if self._at == self._indptr[-1] and self._sum % 2**64:
            raise FileFormatError(
                f"{path} calls itself undirected, but found an edge that is stored in one direction only, or with "
                "another weight in the other; both directions are needed, or the mark of a directed graph"
            )


def _sum(indptr: NDArray[np.int64], at: int, ids: NDArray[Any], values: NDArray[Any] | None) -> int:
    """The sum over the entries from `at` on."""
    total = 0
    for start in range(0, ids.size, _STEP):
        to = _hashed(ids[start : start + _STEP])
        of = _of_rows(indptr, at + start, to.size)
        terms = to - of
        terms *= to
        terms *= of
        if values is not None:
            terms *= _hashed(values[start : start + _STEP])
        total += int(terms.sum(dtype=np.uint64))
    return total


def _of_rows(indptr: NDArray[np.int64], at: int, count: int) -> NDArray[np.uint64]:
    """The hashes of the rows of `count` entries from `at` on."""
    stop = at + count
    first, last = (int(row) - 1 for row in np.searchsorted(indptr, [at, stop - 1], side="right"))
    if last - first > count:  # most of these rows are empty
        return _hashed(np.searchsorted(indptr, np.arange(at, stop), side="right") - 1)
    ends = np.clip(indptr[first : last + 2], at, stop)
    return np.repeat(_hashed(np.arange(first, last + 1)), ends[1:] - ends[:-1])


def _hashed(numbers: NDArray[Any]) -> NDArray[np.uint64]:
    """A number that looks random for each."""
    x = numbers.astype(np.uint64)
    x += _SHIFT
    for factor in _FACTORS:
        x *= factor
        x ^= x >> np.uint64(32)
    return x
