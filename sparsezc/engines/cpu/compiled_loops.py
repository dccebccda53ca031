"""Algorithms' loops over rows, compiled by numba at their first use, or run by Python where there is little to do.

See :func:`sparsezc.core.engine_loops.run_loop`.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import cache, partial
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.device.processors import processors
from sparsezc.engines.cpu.suitesparse.machine_code import compiled
from sparsezc.memory.budget import LOOP_BYTES, has_host, require_host
from sparsezc.process import first_use

if TYPE_CHECKING:
    from sparsezc.engines.cpu.suitesparse.row_arrays import RowArrays

__all__ = ["arrays", "can_compile", "pays", "run_arrays", "run_in_place", "run_loop"]

_borrowed = first_use.function("sparsezc.engines.cpu.suitesparse.row_arrays", "borrowed")
_in_threads = first_use.function("sparsezc.engines.cpu.labels.weights", "in_threads")

_LOAD = 0.35e9  # extra nanoseconds of the first loop of a process, which starts the compiler
_SHARE = 10  # starting the compiler may take a tenth of the process's time so far, or as long as statements
_ALONE = 1 << 16  # rows and entries that are read in ten times the time in which threads start
_SMALL = 1 << 26  # bytes: for more, free memory is checked, which takes as long as a loop over some thousand rows
_LOADED = 1e7  # nanoseconds in which a loop's machine code is loaded from disk: Python runs shorter loops
_FEW = 600  # rows and entries that Python reads in about half a millisecond, as long as a few statements
_MANY = 20.0  # nanoseconds for a row or entry: where statements take less, there are few of them
_EMPTY = 16  # rows an entry: with more, statements skip empty rows, as SuiteSparse lists the others


def run_loop(
    store: Any, loop: Callable[..., Any], given: tuple[Any, ...], cost: float, values: Any, over: range | None,
    again: Callable[[list[Any]], bool] | None,
) -> Any:  # fmt: skip
    """Run a loop over python-graphblas's Matrix, whose lock the caller has; None where statements are better.

    Statements take less time on a small matrix, and less memory for many empty rows: a loop has arrays for all rows.
    """
    rows, entries = store._nrows, store._nvals  # nrows and nvals return the same, in ten times the time
    statements = cost * (rows + entries) * (1 if over is None or again else len(over))
    few = over is None and cost >= _MANY and rows + entries <= _FEW and loop not in _ran
    if few and (statements <= _LOADED or not pays(statements)):
        return _in_python(store, loop, given, values)
    if not pays(statements):
        return None
    shares = [] if over is None else _shares(over, rows + entries, again)
    nbytes = _own(shares, rows, again) + (0 if values is None else 8 * entries)
    if nbytes > _SMALL and (rows > _EMPTY * entries or not has_host(nbytes)):
        return None
    if (made := _machine_code(loop)) is None:
        return None
    _ran.add(loop)
    given = tuple([g() if callable(g) else g for g in given])
    with _borrowed(store, values=values is not None) if entries else nullcontext() as parts:
        return _run(made, (*arrays(parts, rows, values, _takes_one(loop)), *given), shares, again)


def run_in_place(
    parts: RowArrays, loop: Callable[..., Any], given: tuple[Any, ...], values: Any, over: Any, again: Any
) -> Any:
    """Run a loop over the arrays of a mapped file, read in place; None without numba.

    Raises
    ------
    OutOfMemory
        Memory is short for the loop's own arrays, and for values converted to another type.
    """
    rows = parts.indptr.size - 1
    shares = [] if over is None else _shares(over, rows + parts.indices.size, again)
    converted = 0 if values is None or parts.iso or parts.values.dtype == values else 8 * parts.indices.size
    if (made := _machine_code(loop)) is None:
        return None
    each = getattr(loop, "own_bytes", LOOP_BYTES)
    own = _own(shares, rows, again) * each // LOOP_BYTES
    copied = f" and 8 for each of {parts.indices.size:,} edges, whose values are of another type" if converted else ""
    require_host(
        own + converted,
        f"the loop {loop.__name__!r} over edges in a file, {each} bytes for each of {rows:,} rows{copied},",
    )
    given = tuple([g() if callable(g) else g for g in given])
    weights = []
    if values is not None:  # an iso value, broadcast, takes no memory
        found = parts.values.astype(values, copy=False)
        weights = [np.broadcast_to(found, parts.indices.size) if parts.iso and not _takes_one(loop) else found]
    return _run(made, (parts.indptr, parts.indices, *weights, *given), shares, again)


def _own(shares: list[int], rows: int, again: Any) -> int:
    """Return the bytes of a loop's own arrays, which threads share if they wait for each other."""
    return LOOP_BYTES * rows * (1 if again or not shares else len(shares) - 1)


def _run(made: Any, given: tuple[Any, ...], shares: list[int], again: Callable[[list[Any]], bool] | None) -> Any:
    """Run a loop's machine code, by threads if its work is divided."""
    if not shares:
        return _uninterrupted(made, *given)
    part = partial(made, *given)
    if not again:
        return _uninterrupted(_in_threads, part, shares)
    own, *others = pairwise(shares)
    with ThreadPoolExecutor(max(1, len(others))) as pool:  # starts threads only when calls are submitted

        def once() -> list[Any]:
            waiting = [pool.submit(part, *share) for share in others]
            return [part(*own), *(each.result() for each in waiting)]

        while again(found := _uninterrupted(once)):
            pass
        return found


def _uninterrupted(call: Callable[..., Any], *given: Any) -> Any:
    """Call a loop, and delay an interrupt until it returns.

    Raised while numba builds a result, an interrupt leaves null elements in a tuple of arrays: reading them crashes.
    """
    before = _signals.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        return call(*given)
    met: list[Any] = []
    _signals.signal(signal.SIGINT, lambda *told: met.append(told))
    try:
        return call(*given)
    finally:
        _signals.signal(signal.SIGINT, before)
        if met:
            before(*met[0])


_signals: Any = import_module("_signal")  # the module that `signal` wraps in enumerations, in 25 times the time


#: The loops that ran in machine code.
_ran: set[Callable[..., Any]] = set()


def _in_python(store: Any, loop: Callable[..., Any], given: tuple[Any, ...], values: Any) -> Any:
    """Run a loop in Python: on a matrix of few entries this takes less time than loading its machine code."""
    given = tuple([g() if callable(g) else g for g in given])  # before the arrays are lent: these may read the matrix
    with _borrowed(store) if store._nvals else nullcontext() as parts:
        indptr, indices, *rest = arrays(parts, store._nrows, values, _takes_one(loop))
        with np.errstate(all="ignore"):  # as machine code does
            return _plain(loop(indptr.astype(np.int64), indices.astype(np.int64), *rest, *given))


def _plain(found: Any) -> Any:
    """Convert NumPy's numbers in a result to Python's, which machine code returns."""
    if isinstance(found, tuple):
        return tuple(map(_plain, found))
    return found.item() if isinstance(found, np.generic) else found


def run_arrays(
    loop: Callable[..., Any], given: tuple[Any, ...], cost: float, over: range | None = None,
    again: Callable[[list[Any]], bool] | None = None,
) -> Any:  # fmt: skip
    """Run a loop over arrays; None without numba, or if statements of `cost` nanoseconds are faster."""
    made = _machine_code(loop) if cost == np.inf or pays(cost) else None
    if made is None:
        return None
    given = tuple([g() if callable(g) else g for g in given])
    return _run(made, given, _shares(over, given[0].size + given[1].size, again) if over else [], again)


def arrays(parts: RowArrays | None, rows: int, values: Any, one: bool = False) -> list[NDArray[Any]]:
    """Return the arrays that a loop reads; `parts`: None for no entries. `one`: an iso value is not repeated."""
    if parts is None:
        nothing: list[NDArray[Any]] = [np.zeros(rows + 1, np.int64), np.empty(0, np.int64)]
        return nothing if values is None else [*nothing, np.empty(0, values)]
    pattern = [parts.every_row(rows), parts.indices]
    return pattern if values is None else [*pattern, _values(parts, values, one)]


def _shares(over: range, size: int, again: Any) -> list[int]:
    """Return the bounds of the threads' shares of a range; a small amount of work is one share.

    Threads that run a loop again and again are woken each time, so the work of each must repay its wake-up.
    """
    steps = len(over)
    enough = size // _ALONE if again else steps * (steps * size > _ALONE)
    threads = max(1, min(processors(16), steps, enough))
    return [over.start, *(over[steps * k // threads] for k in range(1, threads)), over.stop]


def pays(statements: float) -> bool:
    """Return whether a loop has run already, or starting the compiler takes little compared with other work."""
    soon = _machine_code.cache_info().currsize or statements > _LOAD or time.process_time_ns() > _SHARE * _LOAD
    return bool(soon) and can_compile()


@cache
def can_compile() -> bool:
    """Return whether numba can compile loops: it is optional, and may fail with this version of NumPy."""
    try:
        import_module("numba")
    except ImportError:
        return False
    return True


@cache
def _machine_code(loop: Callable[..., Any]) -> Any:
    """Return the loop in machine code; None without numba."""
    try:
        return compiled(import_module("numba"), loop)
    except ImportError:
        return None


def _takes_one(loop: Any) -> bool:
    return getattr(loop, "takes_one", False)


def _values(parts: RowArrays, dtype: Any, one: bool) -> NDArray[Any]:
    if parts.iso and not one:
        return np.full(parts.indices.size, parts.values[0], dtype)
    return parts.values.astype(dtype, copy=False)
