"""The host gather: host threads copy the entries of wanted rows together into pinned memory, for a bulk copy.

A task gathers some hundred thousand entries in one call without Python's lock: SciPy's compiled loop that extracts rows
of a CSR matrix, by one copy a row. It is no public function of SciPy, so it is tested before use; if the test fails,
``take`` of positions does the same, more slowly.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import local
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.device.processors import processors
from sparsezc.device.protocol import Device, Pages
from sparsezc.engines.gpu.placements import Entries
from sparsezc.engines.gpu.storage.matrix_store import Rows

_TAKE = 1 << 16  # least entries of a task: smaller ones take longer to start than to run
UNEVEN = 1 << 13  # entries by which tasks may differ: to cut more evenly takes as long as gathering so many
_LIST = 1 << 21  # least bytes of pinned memory for a list of runs
_TELLING = 1 << 22  # least bytes of a transfer by which rates are measured
_SHARE = 0.25  # break-even share assumed until both rates are measured
_LOOKS = 4  # copies that are measured: the fastest counts, as a copy may wait for kernels
_THREADS = processors(16)
#: The type as which values of each size are copied.
_BY_SIZE = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64, 16: np.complex128}

_Copy = Callable[[int, Any, Any, Any, Any, Any, Any], object]


class Runs(NamedTuple):
    """The gathered runs of a buffer turn.

    Attributes
    ----------
    base : int
        The entry from which `bounds` are counted.
    bounds : (n, 2) array of int32, of int64 where ids take 8 bytes
        The start and the end of each run.
    tasks, taken : array of int64
        The number of runs, and of entries, before each task; the last element is the total.
    """

    base: int
    bounds: NDArray[Any]
    tasks: NDArray[np.int64]
    taken: NDArray[np.int64]


class _Hands:
    """Pinned memory for two buffer turns, and the measured rates of filling and copying it.

    The memory is kept, as pinning it takes longer than filling it.
    """

    def __init__(self) -> None:
        self.turn = 0
        self.pages: tuple[dict[int, Pages], ...] = ({}, {})
        self.free: list[Callable[[], None]] = [lambda: None] * 2  # each waits until its turn's memory has been copied
        self.spare: Pages | None = None  # the memory of an earlier product's list of runs
        self.gathers = self.copies = 0.0  # bytes a second
        self.looks = 0  # number of copies measured so far

    def array(self, k: int, size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        nbytes, pages = size * dtype.itemsize, self.pages[self.turn]
        if k not in pages or pages[k].array.size < nbytes:
            pages.pop(k, None)
            pages[k] = cuda.current().pages(nbytes, "pinned")
        array: NDArray[Any] = pages[k].array[:nbytes].view(dtype)
        return array


_kept: WeakKeyDictionary[Device, _Hands] = WeakKeyDictionary()


def _own() -> _Hands:
    return _kept.setdefault(cuda.current(), _Hands())


def take_pages(nbytes: int) -> Pages:
    """Return pinned memory for a list of runs: that of an earlier list if it suffices, otherwise new memory."""
    own = _own()
    found, own.spare = own.spare, None
    return found if found and found.array.nbytes >= nbytes else cuda.current().pages(max(nbytes, _LIST), "pinned")


def give_pages(pages: Pages) -> None:
    """Keep a list's memory for the next list, unless larger memory is kept."""
    own = _own()
    if own.spare is None or own.spare.array.nbytes < pages.array.nbytes:
        own.spare = pages


def break_even_share() -> float:
    """Return the share of wanted entries from which copying a whole piece takes no longer than gathering."""
    own = _own()
    return min(1.0, own.gathers / own.copies) if own.copies else _SHARE


def rate(sample: NDArray[np.uint8]) -> float:
    """Measure the bytes a second of a gather of every second line of 128 bytes, the better of two tries."""
    ids, seconds = sample.view(np.int32), []
    starts = np.arange(0, ids.size, 64, dtype=np.int32)
    first = tasks(32 * starts.size) // 32
    bounds = np.append(first, starts.size)
    runs = Runs(0, np.stack([starts, starts + 32], axis=1), bounds, 32 * bounds)
    own = _own()
    own.free[own.turn]()
    made = own.array(0, 32 * starts.size, ids.dtype)
    for _ in range(2):
        start = time.perf_counter()
        _run(_Sources(ids, ids.view(np.int8), made, None), runs)
        seconds.append(time.perf_counter() - start)
    return made.nbytes / min(seconds)


def tasks(count: int) -> NDArray[np.int64]:
    """Return the first entry of each task of a gather of `count` entries."""
    return np.arange(0, count, max(_TAKE, -(-count // (2 * _THREADS))))


def fill(rows: Rows, entries: Entries, size: int, runs: Runs) -> list[NDArray[Any]]:
    """Gather runs, of at most `size` entries, of each array that a product reads; :func:`copied` must follow."""
    own = _own()
    own.free[own.turn]()
    count = int(runs.taken[-1])
    made = [own.array(k, size, buffer.dtype)[:count] for k, buffer in enumerate(entries.buffers)]
    start = time.perf_counter()
    with stats.timed("gather"):
        _run(_Sources.of(rows, entries, made, runs.base), runs)
    nbytes = sum(array.nbytes for array in made)
    if nbytes >= _TELLING:
        own.gathers = max(own.gathers, nbytes / (time.perf_counter() - start))
    return made


def copied(wait: Callable[[], None], nbytes: int, start: float) -> None:
    """Record that the entries gathered last are being copied since `start`; `wait` waits for the end of the copy."""
    own = _own()
    own.free[own.turn] = wait
    own.turn = 1 - own.turn
    if nbytes >= _TELLING and own.looks < _LOOKS:
        own.looks += 1
        wait()
        own.copies = max(own.copies, nbytes / (time.perf_counter() - start))


class _Sources(NamedTuple):
    """Ids and values in host memory as arguments of SciPy's loop, and their targets.

    The loop always copies both: ids that are not read are copied to scratch memory of a thread, and so is one byte an
    entry in place of values that are not read.
    """

    ids: NDArray[Any]
    values: NDArray[Any]
    ids_to: NDArray[Any] | None
    values_to: NDArray[Any] | None

    @classmethod
    def of(cls, rows: Rows, entries: Entries, targets: list[NDArray[Any]], base: int) -> _Sources:
        given = rows.indices if entries.ids is None else entries.ids
        ids = given.read(base).view(np.int64 if rows.wide else np.int32)
        left = iter(targets)
        ids_to = None if entries.ids is None else next(left).view(ids.dtype)
        if entries.values is None:
            return cls(ids, ids.view(np.int8), ids_to, None)
        dtype = _BY_SIZE[entries.values.dtype.itemsize]
        return cls(ids, entries.values.read(base).view(dtype), ids_to, next(left).view(dtype))


def _run(sources: _Sources, runs: Runs) -> None:
    copy, bounds = _row_copier(), runs.bounds.reshape(-1)
    evens = _evens(int(np.diff(runs.tasks).max()), bounds.dtype)

    def task(k: int) -> None:
        (lo, hi), (at, end) = runs.tasks[k : k + 2].tolist(), runs.taken[k : k + 2].tolist()
        ids_to = _spare("ids", end - at, sources.ids.dtype) if sources.ids_to is None else sources.ids_to[at:end]
        spare = sources.values_to is None
        values_to = _spare("values", end - at, np.int8) if spare else sources.values_to[at:end]  # type: ignore[index]
        copy(hi - lo, evens[: hi - lo], bounds[2 * lo : 2 * hi], sources.ids, sources.values, ids_to, values_to)

    numbers = [k for k in range(runs.tasks.size - 1) if runs.tasks[k] < runs.tasks[k + 1]]
    if len(numbers) == 1:
        task(numbers[0])
    else:
        list(_threads().map(task, numbers))


_own_memory = local()


def _spare(name: str, size: int, dtype: Any) -> NDArray[Any]:
    """Return scratch memory of this thread, which is written and never read."""
    kept: NDArray[Any] | None = getattr(_own_memory, name, None)
    if kept is None or kept.size < size or kept.dtype != dtype:
        kept = np.empty(size, dtype)
        setattr(_own_memory, name, kept)
    return kept[:size]


@cache
def _all_evens(dtype: np.dtype[Any], size: int) -> NDArray[Any]:
    return np.arange(0, 2 * size, 2, dtype=dtype)


def _evens(size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return 0, 2, 4 ...: run k is row 2k of the CSR whose offsets are the flattened bounds."""
    return _all_evens(dtype, 1 << max(size, 1).bit_length())


@cache
def _row_copier() -> _Copy:
    """Return ``copy(n, rows, indptr, ids, values, ids_to, values_to)``, which copies rows of a CSR in order."""
    try:
        from scipy.sparse._sparsetools import csr_row_index as copy

        ids, found, values = np.arange(5, dtype=np.int32), np.zeros(3, np.int32), np.zeros(3, np.int8)
        copy(2, ids[:3:2].copy(), np.array([3, 5, 0, 1], np.int32), ids, ids.view(np.int8), found, values)
    except Exception:  # a later SciPy may raise any error
        return _by_positions
    return copy if found.tolist() == [3, 4, 0] else _by_positions


def _by_positions(_count: int, rows: Any, indptr: Any, ids: Any, values: Any, ids_to: Any, values_to: Any) -> None:
    begins, sizes = indptr[rows].astype(np.int64), indptr[rows + 1] - indptr[rows]
    at = np.repeat(begins - np.cumsum(sizes) + sizes, sizes) + np.arange(ids_to.size)
    ids.take(at, out=ids_to, mode="clip")
    values.take(at, out=values_to, mode="clip")


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, "gather")
