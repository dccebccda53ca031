"""The algorithms, and one streaming mxv, on made graphs or files, on any engine and in any placement.

``python -m benchmarks.gap kron:20 urand:20 --engine gpu --placement zerocopy,device``. Everything timed goes through
the public interface; times are wall clock around a call, up to the moment when the device has finished.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sparsezc as gb
from benchmarks import copyrate, facts, verify
from benchmarks.frame import SEED, Case, Report, measure, nothing, number, pick_sources, table
from benchmarks.plot import plot
from sparsezc import device

DAMPING = 0.85


class Graph:
    """A graph in a placement, and what trials and checks need to know about it.

    Attributes
    ----------
    A : gb.Matrix
        The adjacency matrix. Its values are edge lengths; what does not read values does not pay for them.
    """

    def __init__(self, name: str, placement: str, weights: str, xp: Any) -> None:
        start = time.perf_counter()
        self.name, self.placement, self.xp = name, placement, xp
        read: Any = gb.io.read(name, weights=None if weights == "file" else weights, placement=placement)
        self.A: Any = read
        self.load_seconds = time.perf_counter() - start
        csr = self.A._to_csr()  # the arrays where they lie, for checks and counts; nothing timed sees them
        self.n, self.nvals = csr.nrows, csr.nvals
        self.degree = np.diff(csr.indptr)
        self.memory = csr.indices.pages  # "managed", "pinned", "device", "numpy"
        self.id_bytes = csr.indices.dtype.itemsize
        self.value_bytes = 0 if csr.iso else csr.values.dtype.itemsize

    @cached_property
    def A32(self) -> Any:
        """The same with FP32 values."""
        return self.A.dup("FP32")

    @cached_property
    def x(self) -> NDArray[np.float32]:
        return (1 + np.arange(self.n) % 7).astype(np.float32)

    def edges(self, matrix: Any = None) -> verify.Edges:
        return verify.Edges((self.A if matrix is None else matrix)._to_csr(), self.xp)

    def reached_entries(self, answer: Any) -> int:
        """Entries of the rows of the vertices that a vector has."""
        return int(self.degree[answer.to_coo(values=False)[0].astype(np.int64)].sum())


@dataclass(frozen=True)
class Kernel:
    """One algorithm: how it is called, what it must read, how its answer is judged.

    Attributes
    ----------
    prepare : (graph, options) -> call
        Makes ready what is not timed; the call takes a source (None where there is none).
    nbytes : (graph, answer, options) -> int
        Bytes of ids and values that a call must read if it reads each row that concerns it once.
    verify : (graph, source, answer, options) -> None
    """

    prepare: Callable[[Graph, Any], Callable[[Any], Any]]
    nbytes: Callable[[Graph, Any, Any], int]
    verify: Callable[[Graph, Any, Any, Any], None]
    sourced: bool = False
    iterates: bool = False


def _verify_bfs(g: Graph, source: int, level: Any, _options: Any) -> None:
    verify.bfs(g.edges(), level.to_dense(-1), source)


def _verify_sssp(g: Graph, source: int, distance: Any, _options: Any) -> None:
    reached = np.zeros(g.n, np.bool_)
    reached[distance.to_coo(values=False)[0].astype(np.int64)] = True
    verify.sssp(g.edges(), distance.to_dense(0), reached, source)


def _verify_cc(g: Graph, _source: None, label: Any, _options: Any) -> None:
    verify.components(g.edges(), label.to_dense())


def _verify_pagerank(g: Graph, _source: None, rank: Any, options: Any) -> None:
    verify.pagerank(g.edges(), rank.to_dense(), DAMPING, options.iterations)


def _mxv(matrix: str, semiring: str) -> Callable[[Graph, Any], Callable[[Any], Any]]:
    def prepare(g: Graph, _options: Any) -> Callable[[Any], Any]:
        A, op = getattr(g, matrix), getattr(gb.semiring, semiring)["FP32"]
        x, y = gb.Vector.from_dense(g.x), gb.Vector("FP32", g.n)

        def call(_source: None) -> Any:
            y << A.mxv(x, op)
            return y

        return call

    return prepare


def _verify_mxv(matrix: str, pattern: bool) -> Callable[[Graph, Any, Any, Any], None]:
    def check(g: Graph, _source: None, y: Any, _options: Any) -> None:
        verify.product(g.edges(getattr(g, matrix)), g.x, y.to_dense(0), pattern=pattern)

    return check


KERNELS = {
    "bfs": Kernel(
        lambda g, _: lambda source: gb.algorithms.bfs(g.A, source),
        lambda g, level, _: g.id_bytes * g.reached_entries(level),
        _verify_bfs,
        sourced=True,
    ),
    "sssp": Kernel(
        lambda g, _: lambda source: gb.algorithms.sssp(g.A, source),
        lambda g, distance, _: (g.id_bytes + g.value_bytes) * g.reached_entries(distance),
        _verify_sssp,
        sourced=True,
    ),
    "cc": Kernel(
        lambda g, _: lambda _source: gb.algorithms.connected_components(g.A),
        lambda g, _label, _: g.id_bytes * g.nvals,
        _verify_cc,
    ),
    "pagerank": Kernel(
        lambda g, o: lambda _: gb.algorithms.pagerank(g.A, damping=DAMPING, tol=None, max_iter=o.iterations),
        lambda g, _rank, o: o.iterations * g.id_bytes * g.nvals,
        _verify_pagerank,
        iterates=True,
    ),
    "spmv plus_second": Kernel(
        _mxv("A", "plus_second"),
        lambda g, _y, _: g.id_bytes * g.nvals,
        _verify_mxv("A", pattern=True),
    ),
    "spmv plus_times": Kernel(
        _mxv("A32", "plus_times"),
        lambda g, _y, _: (g.id_bytes + 4) * g.nvals,
        _verify_mxv("A32", pattern=False),
    ),
}


def selected(names: str) -> list[str]:
    """Kernels by their names, each also by the beginning of its name ("spmv")."""
    chosen: dict[str, None] = {}
    for part in names.split(","):
        found = [name for name in KERNELS if part in (name, name.partition(" ")[0])]
        if not found:
            raise ValueError(f"--kernels: {part!r} is not known; known are {', '.join(KERNELS)}")
        chosen |= dict.fromkeys(found)
    return list(chosen)


def run_kernel(name: str, graph: Graph, report: Report, options: Any, synchronize: Callable[[], None]) -> Case:
    """Measure one kernel on one graph."""
    kernel = KERNELS[name]
    setting = {"graph": graph.name, "placement": graph.placement, "engine": options.used_engine}
    setting |= {"nrows": graph.n, "nvals": graph.nvals, "load_seconds": graph.load_seconds, "memory": graph.memory}
    case = Case(name, setting, parts=options.iterations if kernel.iterates else 1)
    case.rate = report.rates.get(graph.placement)
    if peer := facts.peer(graph.name, name, graph.placement):
        case.reference, case.peer = peer.low, peer.name
    check = None if options.verify == "none" else lambda given, answer: kernel.verify(graph, given, answer, options)
    measure(
        case,
        kernel.prepare(graph, options),
        pick_sources(graph.degree, options.sources, options.seed) if kernel.sourced else (None,),
        trials=options.trials,
        nbytes=lambda answer: kernel.nbytes(graph, answer, options),
        synchronize=synchronize,
        verify=check,
        verify_all=options.verify == "all",
    )
    report.add(case)
    return case


def run(options: argparse.Namespace, report: Report) -> None:
    """All graphs, placements and kernels; a part that fails is reported and the next goes on."""
    on_gpu = options.used_engine == "gpu"
    synchronize = device.current().synchronize if on_gpu else nothing
    xp = device.current().xp if on_gpu else np
    for placement in options.placements:
        with report.part(f"copy rate, {placement}"):
            report.rates[placement] = copyrate.of(placement, options.copy_mib << 20)
            print(f"copy rate, {placement}: {number(report.rates[placement] / 1e9)} GB/s", flush=True)
    for name in options.graphs:
        for placement in options.placements:
            with report.part(f"{name}, {placement}"):
                graph = Graph(name, placement, options.weights, xp)
                print(f"{name} in {placement} ({graph.memory}): {graph.n:,} vertices, {graph.nvals:,} entries, "
                      f"{graph.load_seconds:.1f} s to make or read", flush=True)  # fmt: skip
                for kernel in options.kernels:
                    with report.part(f"{kernel}, {name}, {placement}"):
                        case = run_kernel(kernel, graph, report, options, synchronize)
                        print(f"  {kernel}: {number(case.figure('ms'))} ms, verified: {case.verified}", flush=True)
                del graph
                gc.collect()  # before the next graph is made


HEADER = ["graph", "placement", "kernel", "first s", "min ms", "median", "max", "MB", "GB/s", "of copy", "peer ms"]
HEADER += ["x faster", "goal", "ok"]


def row(case: Case) -> list[str]:
    """A case as a row of the table that :data:`HEADER` heads."""
    least = [number(second * 1e3) for second in case.seconds]
    faster = case.reference / case.figure("ms") if case.reference else None
    name = case.name + (" / iteration" if case.parts > 1 else "")
    return [
        str(case.setting["graph"]), str(case.setting["placement"]), name,
        number(case.first_seconds), *least, number(case.nbytes / 1e6), number(case.figure("GB/s")), number(case.share),
        number(case.reference), number(faster), goal_text(case), case.verified,
    ]  # fmt: skip


def goal_text(case: Case) -> str:
    """Whether a case reaches what the project set itself; empty where it set nothing."""
    goal = facts.goal(case.setting["graph"], case.name, case.setting["placement"])
    if goal is None:
        return ""
    if goal.share is not None:
        return f"{'met' if case.share is not None and case.share >= goal.share else 'MISSED'} (>= {goal.share} of copy)"
    assert goal.ms is not None
    return f"{'met' if case.figure('ms') <= goal.ms else 'MISSED'} (<= {number(goal.ms)} ms)"


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gap", description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="+", help="kron:SCALE, urand:SCALE, ... or files, as gb.io.read takes them")
    parser.add_argument("--kernels", default="bfs,sssp,cc,pagerank,spmv", help=f"among {', '.join(KERNELS)}")
    parser.add_argument("--engine", choices=("auto", "cpu", "gpu"), default="auto")
    parser.add_argument("--placement", default="zerocopy,device", help="of the GPU engine: device, zerocopy, or both")
    parser.add_argument("--trials", type=int, default=3, help="timed calls for each source")
    parser.add_argument("--sources", type=int, default=4, help="sources of bfs and sssp")
    parser.add_argument("--iterations", type=int, default=20, help="of pagerank")
    parser.add_argument("--weights", default="hash:8-72", help="edge lengths: made ones, or 'file' for the file's own")
    parser.add_argument("--verify", choices=("first", "all", "none"), default="first", help="which trials are judged")
    parser.add_argument("--seed", type=int, default=SEED, help="of the sources")
    parser.add_argument("--copy-mib", type=int, default=1024, help="MiB that the copy rate is measured with")
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    options = parser.parse_args(arguments)
    if min(options.trials, options.sources, options.iterations, options.copy_mib) < 1:
        parser.error("--trials, --sources, --iterations and --copy-mib must be at least 1")
    try:
        options.kernels = selected(options.kernels)
    except ValueError as error:
        parser.error(str(error))
    options.placements = options.placement.split(",")
    if unknown := set(options.placements) - {"device", "zerocopy"}:
        parser.error(f"--placement: {sorted(unknown)[0]!r} is none of device, zerocopy")
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    why = device.reason()
    if options.engine == "gpu" and why:
        print(f"--engine gpu: {why}")
        return 2
    options.used_engine = "cpu" if options.engine == "cpu" or why else "gpu"
    if options.used_engine == "cpu":
        options.placements = ["host"]
    report = Report("gap", "ms", options.out)
    with gb.config.set(engine=options.used_engine, progress=False):
        run(options, report)
    print(table(HEADER, map(row, report.cases), left=3) if report.cases else "nothing was measured")
    picture = plot(report)
    print(f"written: {report.save()}{f', {picture}' if picture else ''}")
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
