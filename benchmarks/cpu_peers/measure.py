"""One row on one graph: all programs in turns, the least times, and a judged answer."""

from __future__ import annotations

import cProfile
import gc
import statistics
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import sparsezc as gb
from benchmarks.cpu_peers.graphs import Graph
from benchmarks.cpu_peers.own_process import OURS, LeftOut, Work
from benchmarks.cpu_peers.rows import ROWS
from benchmarks.harness.frame import Case, Trial, judge

__all__ = ["run", "start_loops"]


def read(answer: Any) -> Any:
    """Return the numbers of our answer; a Vector as an array, with -1 (floats: 0) for absent entries."""
    if isinstance(answer, gb.Vector):
        return answer.to_dense(fill_value=-1 if answer.dtype.is_integer else 0)
    if isinstance(answer, gb.Matrix):
        return answer
    return getattr(answer, "value", answer)


def in_python(call: Callable[[], Any]) -> float:
    """Return the share of a call's time that is outside compiled functions (numba's among them)."""
    profile = cProfile.Profile()
    profile.enable()
    call()
    profile.disable()
    compiled = {f.py_func.__code__ for f in gc.get_objects() if type(f).__name__ == "CPUDispatcher"}
    spent = {True: 0.0, False: 0.0}
    for entry in profile.getstats():
        spent[isinstance(entry.code, str) or entry.code in compiled] += entry.inlinetime
    return spent[False] / max(sum(spent.values()), 1e-12)


def start_loops() -> None:
    """Load numba's compiler, as a process of some seconds has, by a loop over a long path."""
    n = 1 << 21
    gb.algorithms.core_number(gb.Matrix.from_coo(np.arange(n - 1), np.arange(1, n), True, nrows=n, ncols=n))


def measure(row: Any, graph: Graph, work: Work, say: Callable[[str, str], None]) -> Case:
    """Measure one algorithm on one graph: ours and each peer's, in turns."""
    case = Case(row.name, {"graph": graph.name})
    calls: dict[str, Callable[[], Any]] = {OURS: partial(row.ours, graph)}
    calls |= {
        name: partial(peer.run, graph) for name, peer in row.peers.items() if (row.name, name) not in work.without
    }
    if len(calls) == 1:
        raise LeftOut("no peer's call ended in time")
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    answers, spent = {}, dict.fromkeys(calls, 0.0)
    for name, call in calls.items():  # build objects and compile; our first call's time is kept
        if name == OURS:
            for form in "ASWDC":
                graph.ours(form)
        say(row.name, name)
        start = time.perf_counter()
        answers[name] = call()
        spent[name] = time.perf_counter() - start
    case.first_seconds = spent[OURS]
    for turn in range(work.trials):
        for name, call in calls.items():
            if turn and sum(took for took, _ in taken[name]) > work.seconds:
                continue
            say(row.name, name)
            if name in row.peers:
                row.peers[name].before(graph)
            busy, start = time.process_time(), time.perf_counter()
            call()
            taken[name].append((time.perf_counter() - start, time.process_time() - busy))
    mine = taken.pop(OURS)
    case.trials = [Trial(None, took, 0) for took, _ in mine]
    case.notes["cpu_seconds"] = min(busy for _, busy in mine)
    case.notes["in_python"] = in_python(calls[OURS])
    case.notes["peers"] = {
        name: {"min": min(t for t, _ in times), "median": statistics.median(t for t, _ in times),
               "max": max(t for t, _ in times), "cpu_seconds": min(c for _, c in times), "trials": len(times)}
        for name, times in taken.items()
    }  # fmt: skip
    if absent := [name for name in row.peers if name not in taken]:
        case.notes["left_out"] = absent
    case.peer, best = min(case.notes["peers"].items(), key=lambda item: item[1]["min"])
    case.reference = best["min"] * 1e3
    case.notes["ratio"] = case.seconds.min / best["min"]
    case.notes["cpu_ratio"] = case.notes["cpu_seconds"] / min(p["cpu_seconds"] for p in case.notes["peers"].values())
    ours = answers[OURS]
    numbers = _numbers(row, ours)
    compared = [name for name in taken if row.peers[name].read is not None]
    case.verified = "not asked"
    for name in compared:
        said = judge(
            lambda _, __, name=name: row.judge(graph, numbers, row.peers[name].read(answers[name])), None, ours
        )
        if case.verified in ("not asked", "yes"):
            case.verified = said
    return case


def _numbers(row: Any, ours: Any) -> Any:
    """Return our answer in the form that the row's judge takes."""
    found = read(ours)
    if not isinstance(found, gb.Matrix):
        return np.count_nonzero(found >= 0) if row.name == "neighbourhood" else found
    if row.name == "biconnected components":
        return found.to_coo()[2]
    return found.to_dense(fill_value=-1) if row.name == "all pairs" else found.reduce_scalar("plus").new().get(0)


def run(work: Work, say: Callable[[str, str], None]) -> Iterator[tuple[str, Case | LeftOut]]:
    """Yield the case of each row on one graph, or the reason why it was left out; `say` is called before each call."""
    with gb.config.set(engine="cpu", progress=False):
        start_loops()
        graph = Graph(work.graph, work.data)
        for row in ROWS:
            if row.name not in work.rows or not row.fits(graph):
                continue
            if time.monotonic() > work.until:
                yield row.name, LeftOut("not begun in time")
                continue
            try:
                yield row.name, measure(row, graph, work, say)
            except LeftOut as reason:
                yield row.name, reason
            except Exception as error:
                traceback.print_exc()
                yield row.name, LeftOut(f"{type(error).__name__}: {error}")
