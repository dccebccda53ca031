"""The cost of a call before any data moves: ``python -m benchmarks.latency``, on a GPU, in about a minute.

Cases are the import; the first call of a kernel that is not compiled yet, and of one that an earlier process has
compiled, each in a fresh process; launches of mxv from Python, many without waiting; a level of a search that has
thousands, and a round of shortest paths; and the slowdown of algorithms on a slowed host.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import sparsezc as gb
from benchmarks.harness.frame import Case, Report, Trial, nothing, pick_sources, table, timed
from benchmarks.harness.plot import plot
from benchmarks.harness.summary import summary
from sparsezc.device import cuda

ROOT = Path(__file__).resolve().parent.parent
HEADER = ["case", "unit", "min", "median", "max", "at most", "goal"]
VERTICES = 256  # of the multiplied graph: so few that only the launch takes time

#: The most that each case may cost, in its own unit.
AT_MOST = {
    "import, beyond NumPy": 0.4,
    "import and gb.Matrix, beyond NumPy": 0.4,
    "first call, nothing compiled": 1.0,
    "first call, compiled before": 20.0,
    "mxv": 25.0,
    "mxv, mask": 25.0,
    "mxv, mask, accum": 25.0,
    "mxv, ~mask, accum, replace": 25.0,
    "bfs, a level, device": 15.0,
    "bfs, a level, zerocopy": 12.0,
    "bfs, slow against fast host": 1.05,
}
_WAKES = 1.5  # seconds in which an idle device reaches full speed: before, kernels take longer than Python
_UNITS = {"s": 1.0, "ms": 1e3, "us": 1e6, "times": 1.0}
_SEARCHES = 15  # searches, and launches, on each host in a turn


#: Prints a program's seconds after NumPy's import: elapsed, and of the processor, which other load changes less.
_BEYOND_NUMPY = """
import json, time
import numpy
clock, processor = time.perf_counter(), time.process_time()
{program}
print(json.dumps([time.perf_counter() - clock, time.process_time() - processor]))
"""


def add(
    report: Report, name: str, unit: str, seconds: list[float], processor: list[float] | None = None, **notes: Any
) -> None:
    case = Case(name, {"unit": unit}, [Trial(None, each, 0) for each in seconds], verified="not asked")
    case.notes = {"at_most": AT_MOST.get(name), **notes}
    if processor is not None:
        case.series = {"processor": processor}
    report.add(case)


def python(*arguments: str, cache: str | None = None) -> str:
    """Return the output of a fresh Python process."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # it makes every process compile the package, for half its time
    if cache is not None:
        environment["XDG_CACHE_HOME"] = cache
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    if done.returncode:
        raise RuntimeError(f"python {' '.join(arguments)} ended with {done.returncode}: {done.stderr[-800:]}")
    return done.stdout


def imports(report: Report, repeats: int) -> None:
    """Measure imports in fresh processes that have imported NumPy.

    Programs take turns, so that other load on the machine slows all of them. Names are loaded at their first use, so
    the import alone is not all that a program waits for.
    """
    programs = {
        "import, beyond NumPy": "import sparsezc",
        "import and gb.Matrix, beyond NumPy": "import sparsezc as gb; gb.Matrix",
        "import and a first Vector, beyond NumPy": "import sparsezc as gb; gb.Vector.from_coo([0], [1])",
    }
    found: dict[str, list[list[float]]] = {name: [] for name in programs}
    for turn in range(repeats + 1):
        for name, program in programs.items():
            took = json.loads(python("-c", _BEYOND_NUMPY.format(program=program)))
            if turn:  # the first turn reads the files into memory and compiles them
                found[name].append(took)
    for name, times in found.items():
        add(report, name, "s", [clock for clock, _ in times], processor=[processor for _, processor in times])


def first_calls(report: Report, repeats: int, *, emulator: bool) -> None:
    """Measure first calls in fresh processes; each turn has a cache folder, which its first process fills."""
    found: dict[str, list[float]] = {"compiled": [], "cached": [], "bfs compiled": [], "bfs cached": []}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            for kind in ("compiled", "cached"):
                options = ["--emulator"] if emulator else []
                said = python("-m", "benchmarks.latency", "--child", *options, cache=cache)
                times = json.loads(said.splitlines()[-1])
                found[kind].append(times["mxv"])
                found[f"bfs {kind}"].append(times["bfs"])
    add(report, "first call, nothing compiled", "s", found["compiled"])
    add(report, "first call, compiled before", "ms", found["cached"])
    add(report, "first bfs, nothing compiled", "s", found["bfs compiled"])
    add(report, "first bfs, compiled before", "ms", found["bfs cached"])


def child() -> None:
    """Print the seconds of this process's first mxv and first search, after the device has started."""
    gpu = cuda.current()
    A = gb.io.read(f"path:{VERTICES}", placement="device")
    x, y = gb.Vector.from_dense(np.ones(A.nrows)), gb.Vector("FP64", A.nrows)
    for v in (x, y):
        v._settle(A._engine)  # else the first statement would copy the vector to the device
    gpu.synchronize()

    def mxv() -> None:
        y << A.mxv(x, gb.semiring.plus_times)

    times = {"mxv": timed(mxv, gpu.synchronize)[1]}
    times["bfs"] = timed(lambda: gb.algorithms.bfs(A, 0), gpu.synchronize)[1]
    print(json.dumps(times))


def statements() -> dict[str, Callable[[], None]]:
    """Return products as algorithms write them, on a graph so small that only the launch takes time."""
    A = gb.io.read(f"path:{VERTICES}", placement="device")
    x, y = gb.Vector.from_dense(np.ones(A.nrows)), gb.Vector("FP64", A.nrows)
    m = gb.Vector.from_dense(np.arange(A.nrows) % 2 == 0)
    q = gb.Vector.from_coo([0], True, size=A.nrows)
    times, plus, any_pair = gb.semiring.plus_times, gb.binary.plus, gb.semiring.any_pair["BOOL"]

    def plain() -> None:
        y << A.mxv(x, times)

    def masked() -> None:
        y(m.S) << A.mxv(x, times)

    def accumulated() -> None:
        y(m.S, accum=plus) << A.mxv(x, times)

    def replaced() -> None:
        y(~m.S, accum=plus, replace=True) << A.mxv(x, times)

    def chosen() -> None:
        q(~m.S, replace=True) << q.vxm(A, any_pair)

    return {
        "mxv": plain,
        "mxv, mask": masked,
        "mxv, mask, accum": accumulated,
        "mxv, ~mask, accum, replace": replaced,
        "vxm any_pair, push or pull chosen": chosen,
    }


def launches(report: Report, calls: int, repeats: int) -> None:
    """Measure the host's seconds a call, while the device runs earlier calls; then with a wait after each call."""
    gpu, found = cuda.current(), statements()
    end = time.perf_counter() + _WAKES
    while time.perf_counter() < end:
        found["mxv"]()
        gpu.synchronize()
    for name, statement in found.items():
        for _ in range(20):
            statement()
        gpu.synchronize()
        seconds = []
        for _ in range(repeats):
            start = time.perf_counter()
            for _ in range(calls):
                statement()
            seconds.append((time.perf_counter() - start) / calls)
            gpu.synchronize()
        waited = [timed(statement, gpu.synchronize)[1] for _ in range(min(calls, 100))]
        add(report, name, "us", seconds, with_a_wait_us=sorted(waited)[len(waited) // 2] * 1e6)


def levels(report: Report, side: int, repeats: int) -> None:
    """Measure searches of a grid from its corner, which have 2 side - 1 small levels.

    Edges have length 1, so a round of shortest paths is a level, too.
    """
    gpu = cuda.current()
    for placement in ("device", "zerocopy"):
        A = gb.io.read(f"grid:{side}x{side}", placement=placement)
        count = 2 * side - 1
        for name, call in (("bfs, a level", gb.algorithms.bfs), ("sssp, a round", gb.algorithms.sssp)):
            call(A, 0)
            seconds = [timed(lambda call=call, A=A: call(A, 0), gpu.synchronize)[1] / count for _ in range(repeats)]
            add(report, f"{name}, {placement}", "us", seconds, levels=count, side=side)


@contextmanager
def slowed() -> Iterator[None]:
    """Slow the interpreter down: a profile function is called at each call and return."""
    sys.setprofile(lambda *_: None)
    try:
        yield
    finally:
        sys.setprofile(None)


@contextmanager
def shared() -> Iterator[None]:
    """Restrict this thread to one core, on which a spinning process runs, too."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as spinning:
            try:
                yield
            finally:
                spinning.kill()
    finally:
        os.sched_setaffinity(0, allowed)


def loops(graph: str) -> dict[str, list[Callable[[], Any]]]:
    """Return calls of algorithms on a graph in device memory, from several sources if they have one."""
    A, W = (gb.io.read(graph, weights=weights, placement="device") for weights in (False, "hash:8-72"))
    degree = A.reduce_rowwise(gb.agg.count).new().to_dense(fill_value=0)
    sources, a = pick_sources(degree, _SEARCHES), gb.algorithms
    return {
        "bfs": [partial(a.bfs, A, s) for s in sources],
        "sssp": [partial(a.sssp, W, s) for s in sources[:3]],
        "connected components": [partial(a.connected_components, A)] * 3,
        "pagerank, 20 iterations": [partial(a.pagerank, A, tol=None, max_iter=20)],
        "betweenness, a source": [partial(a.betweenness_centrality, A, sources=[s]) for s in sources[:2]],
    }


def hosts(report: Report, graph: str, repeats: int) -> None:
    """Measure the slowdown of algorithms and of a launch on slowed hosts: ratios of medians, in turns."""
    gpu, launch = cuda.current(), statements()["mxv"]
    slow_hosts = {"slow against fast host": slowed, "core shared with a spinning process": shared}
    for algorithm, calls in loops(graph).items():
        notes: dict[str, list[list[float]]] = {name: [] for name in slow_hosts}
        for turn in range(repeats + 1):
            medians = []
            for host in (nullcontext, *slow_hosts.values()):
                with host():
                    took = [timed(call, gpu.synchronize)[1] for call in calls]
                    launches = [timed(launch, nothing)[1] for _ in range(_SEARCHES)]
                medians.append((summary(took).median, summary(launches).median))
            if turn:  # the first turn compiles, and builds caches
                (fast, called), *others = medians
                for name, (slow, slowly) in zip(slow_hosts, others, strict=True):
                    notes[name].append([fast, slow, slowly / called])
        for name, found in notes.items():
            fast, slow, slower = (summary(each).median for each in zip(*found, strict=True))
            add(
                report, f"{algorithm}, {name}", "times", [slow / fast for fast, slow, _ in found],
                graph=graph, fast_ms=fast * 1e3, slow_ms=slow * 1e3, launch_takes_times=slower,
            )  # fmt: skip


def row(case: Case) -> list[str]:
    unit, at_most = case.setting["unit"], case.notes["at_most"]
    values = [second * _UNITS[unit] for second in case.seconds]
    goal = "" if at_most is None else ("met" if values[1] <= at_most else "MISSED")
    return [case.name, unit, *(f"{value:.3g}" for value in values), "-" if at_most is None else f"{at_most:g}", goal]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latency", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--calls",
        type=int,
        default=400,
        help="statements launched in a row: with more than 1,024 kernels queued, a launch waits",
    )
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--starts", type=int, default=5, help="fresh processes of each kind")
    parser.add_argument("--grid", type=int, default=4096, help="side of the grid that is searched")
    parser.add_argument("--graph", default="kron:24", help="the graph of the calls on slowed hosts")
    parser.add_argument("--emulator", action="store_true", help="try the program where there is no GPU")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    options = parser.parse_args(arguments)
    if options.emulator:
        from tests.emulator.device import EmulatedDevice

        cuda.use(EmulatedDevice())
    if why := cuda.reason():
        print(f"the latency benchmark needs a GPU: {why}")
        return 2
    with gb.config.set(engine="gpu", progress=False):
        if options.child:
            child()
            return 0
        report = Report("latency", "ms", options.out)
        with report.part("import"):
            imports(report, options.starts)
        with report.part("first calls"):
            first_calls(report, options.starts, emulator=options.emulator)
        with report.part("launches"):
            launches(report, options.calls, options.repeats)
        with report.part("levels"):
            levels(report, options.grid, options.repeats)
        with report.part("hosts"):
            hosts(report, options.graph, options.repeats)
    print(table(HEADER, map(row, report.cases), left=2))
    report.end(plot(report))
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
