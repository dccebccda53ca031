"""The permutation of a Csr's rows and columns, computed in row blocks."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsezc.device.processors import processors
from sparsezc.exceptions import DimensionMismatch, InvalidValue
from sparsezc.memory import Buffer, allocate
from sparsezc.memory.budget import on_device, require_host
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.csr import Csr
from sparsezc.memory.placement import FILES, HOST, RECORDS
from sparsezc.terminal.progress import bar, task

_BLOCK = 1 << 22  # entries of a row block, unless it is one longer row


def permute(csr: Csr, order: ArrayLike, placement: str | None = None, *, block: int = _BLOCK) -> Csr:
    """Return the matrix with renumbered vertices: row and column k were row and column ``order[k]``.

    Parameters
    ----------
    csr : Csr, shape (n, n)
        Read in place in host memory, zero-copy memory or a file; copied once from device memory.
    order : array of integers, shape (n,)
        A permutation, as made by :mod:`sparsezc.orders`.
    placement : str, optional
        The placement of the result; by default that of `csr`, or zero-copy memory if a file is mapped.
    block : int
        The entries moved at a time, for which about 50 bytes each are used beside the result, and 12 for each row.

    Returns
    -------
    Csr
        Symmetric if `csr` is.

    Raises
    ------
    DimensionMismatch
        The matrix is not square, or `order` has another length.
    InvalidValue
        `order` is not a permutation.

    Examples
    --------
    >>> path = Csr.from_arrays([0, 1, 3, 4], [1, 0, 2, 1], [5, 5, 6, 6], 3)
    >>> made = permute(path, [2, 0, 1])
    >>> made.indptr, made.indices.read(), made.values.read()
    (array([0, 1, 2, 4]), array([2, 2, 0, 1], dtype=uint64), array([6, 5, 6, 5]))
    """
    old, rank = _checked(csr, order)
    if placement is None:
        placement = csr.indices.placement
        placement = HOST if placement in FILES and not on_device() else placement
    kind = index_dtype(csr.ncols, placement)
    require_host(8 * (csr.nrows + 1), f"the array of offsets of {csr.nrows:,} rows")
    indptr = np.zeros(csr.nrows + 1, np.int64)
    np.cumsum(np.diff(csr.indptr)[old], out=indptr[1:])
    indices = allocate(placement, csr.nvals, kind)
    values = allocate(placement, csr.values.count, csr.dtype.np_type)
    if csr.iso:
        values.write(0, csr.values.read())
    with task():
        _move(csr, old, rank, indptr, indices, None if csr.iso else values, block)
    return Csr(csr.nrows, csr.ncols, indptr, indices, values, csr.dtype, csr.iso, csr.symmetric)


def _checked(csr: Csr, order: ArrayLike) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the permutation and its inverse, in the type of the ids."""
    old = np.asarray(order)
    if csr.nrows != csr.ncols or old.shape != (csr.nrows,):
        raise DimensionMismatch(
            f"order has shape {old.shape} and the matrix is {csr.nrows} x {csr.ncols}; (n,) and n x n are needed"
        )
    if old.dtype.kind not in "iu" and old.size:
        raise InvalidValue(f"order has dtype {old.dtype}; integers are needed")
    old = old.astype(np.int64, copy=False)
    if old.size and not (int(old.min()) >= 0 and int(old.max()) < old.size):
        raise InvalidValue(f"order has numbers from {old.min()} to {old.max()}; 0 to {old.size - 1} are needed")
    rank = np.full(old.size, old.size, np.int64 if old.size >= 2**32 else np.uint32)
    rank[old] = np.arange(old.size)
    missing = np.flatnonzero(rank == old.size)
    if missing.size:
        raise InvalidValue(f"order is not a permutation: {missing[0]} is not in it, so another number is there twice")
    return old, rank


def _move(
    csr: Csr, old: NDArray[np.int64], rank: NDArray[Any], indptr: NDArray[np.int64], indices: Buffer,
    values: Buffer | None, block: int,
) -> None:  # fmt: skip
    """Fill the arrays of the new matrix, whose row k is the old row ``old[k]``."""
    ids = csr.indices.read()
    weights = None if values is None else csr.values.read()

    def move(rows: tuple[int, int]) -> int:
        first, last = rows
        start, stop = int(indptr[first]), int(indptr[last])
        lengths = np.diff(indptr[first : last + 1])
        at = np.arange(start, stop)
        at += np.repeat(csr.indptr[old[first:last]] - indptr[first:last], lengths)
        row = np.repeat(np.arange(last - first, dtype=rank.dtype), lengths)
        new, ordered = _within_rows(row, rank[ids[at]], weights is not None)
        indices.write(start, new)
        if values is not None and weights is not None:
            values.write(start, weights[at[ordered]])
        return stop - start

    threads = 1 if RECORDS[indices.placement].resident else processors(16)
    progress = bar(csr.nvals, "reordering", " entries")
    with ThreadPoolExecutor(threads) as pool:
        for count in pool.map(move, _blocks(indptr, max(block // threads, 1))):
            progress.update(count)
    progress.close()


def _within_rows(rows: NDArray[Any], ids: NDArray[Any], asked: bool) -> tuple[NDArray[Any], NDArray[np.int64] | None]:
    """Return the ids sorted within each row, given the row of each and, if `asked`, the permutation that sorts them."""
    if ids.dtype.itemsize > 4:
        order = np.lexsort((ids, rows))
        return ids[order], order
    keys = rows.astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= ids
    if asked:
        order = np.argsort(keys)
        return ids[order], order
    keys.sort()
    return keys.astype(np.uint32), None  # the lower half


def _blocks(indptr: NDArray[np.int64], block: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows of at most `block` entries, or of one row; ranges without entries are left out."""
    row, nrows = 0, indptr.size - 1
    while row < nrows:
        stop = max(int(np.searchsorted(indptr, indptr[row] + block, side="right")) - 1, row + 1)
        stop = min(stop, nrows, row + block)
        if indptr[stop] > indptr[row]:
            yield row, stop
        row = stop
