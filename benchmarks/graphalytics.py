"""LDBC Graphalytics: BFS, PR, WCC, CDLP, LCC and SSSP on the suite's graphs, validated by its rules, in its metrics.

``python -m benchmarks.graphalytics FOLDER...`` runs every graph that a .properties file in a folder describes, with the
file's parameters, on any engine and in any placement.
"""

from __future__ import annotations

import argparse
import gc
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sparsezc as gb
from benchmarks.harness import copyrate
from benchmarks.harness.engine_choice import PLACEMENTS, choose_engine, placements
from benchmarks.harness.frame import Case, Report, measure, nothing, number, table
from benchmarks.suites.graphalytics_files import BadGraph, Graph, described, properties
from benchmarks.suites.graphalytics_rules import UNREACHED, validate
from sparsezc.device import cuda


@dataclass(frozen=True)
class Algorithm:
    """One of the six algorithms: its call, its output in the suite's form, and the entries that it must read.

    Attributes
    ----------
    prepare : graph -> call
        Looks up the parameters, and returns a call without arguments.
    output : (graph, answer) -> array
        A value for each vertex, in the order of ascending ids.
    entries : (graph, output) -> int
        Entries of the matrix that a call must read, each once an iteration, in all iterations.
    """

    prepare: Callable[[Graph], Callable[[], Any]]
    output: Callable[[Graph, Any], NDArray[Any]]
    entries: Callable[[Graph, NDArray[Any]], int] = lambda graph, _: graph.csr.nvals
    reads_values: bool = False


def _sssp(graph: Graph) -> Callable[[], Any]:
    if not graph.weighted:
        raise BadGraph(f"{graph.about.path}: SSSP needs weights, and the edges have none")
    return partial(gb.algorithms.sssp, graph.A, graph.source("sssp"))


def _pagerank(graph: Graph) -> Callable[[], Any]:
    damping, iterations = graph.about.number("pr.damping-factor", float), graph.about.number("pr.num-iterations")
    return partial(gb.algorithms.pagerank, graph.A, damping=damping, tol=None, max_iter=iterations)


def _levels(_graph: Graph, level: Any) -> NDArray[Any]:
    found = level.to_dense(-1).astype(np.int64)
    return np.where(found < 0, UNREACHED, found)


def _as_ids(graph: Graph, label: Any) -> NDArray[Any]:
    found: NDArray[Any] = graph.ids[label.to_dense()]
    return found


def _reached(graph: Graph, found: NDArray[Any]) -> int:
    """Return the entries in the rows of all reached vertices."""
    return int(np.diff(graph.csr.indptr)[(found != UNREACHED) & np.isfinite(found)].sum())


ALGORITHMS = {
    "BFS": Algorithm(lambda g: partial(gb.algorithms.bfs, g.A, g.source("bfs")), _levels, _reached),
    "PR": Algorithm(
        _pagerank,
        lambda _, rank: rank.to_dense(),
        lambda g, _: g.csr.nvals * g.about.number("pr.num-iterations"),
    ),
    "WCC": Algorithm(lambda g: partial(gb.algorithms.connected_components, g.A), _as_ids),
    "CDLP": Algorithm(lambda g: partial(gb.algorithms.cdlp, g.A, g.about.number("cdlp.max-iterations")), _as_ids),
    "LCC": Algorithm(
        lambda g: partial(gb.algorithms.local_clustering_coefficient, g.A), lambda _, share: share.to_dense()
    ),
    "SSSP": Algorithm(_sssp, lambda _, distance: distance.to_dense(np.inf), _reached, reads_values=True),
}


def run_algorithm(name: str, graph: Graph, placement: str, report: Report, options: argparse.Namespace) -> Case:
    """Measure and validate one algorithm on one graph."""
    algorithm = ALGORITHMS[name]
    setting = {"graph": graph.about.name, "placement": placement, "engine": options.used_engine}
    setting |= {"nrows": graph.n, "nvals": graph.csr.nvals, "vertices": graph.n, "edges": graph.edges}
    setting |= {"directed": graph.about.directed, "scale": round(math.log10(graph.n + graph.edges), 1)}
    case = Case(name, setting | {"load_seconds": graph.load_seconds}, rate=report.rates.get(placement))
    width = graph.csr.indices.dtype.itemsize
    if algorithm.reads_values and not graph.csr.iso:
        width += graph.csr.values.dtype.itemsize
    call = algorithm.prepare(graph)

    def check(_given: None, answer: Any) -> None:
        start = time.perf_counter()
        found = algorithm.output(graph, answer)
        case.notes["output_seconds"] = time.perf_counter() - start
        case.notes["validated_by"] = validate(graph, name, found)

    measure(
        case,
        lambda _: call(),
        trials=options.trials,
        nbytes=lambda _, answer: width * algorithm.entries(graph, algorithm.output(graph, answer)),
        synchronize=options.synchronize,
        verify=check,
    )
    processing = case.seconds.median
    case.notes["processing_seconds"] = processing
    case.notes["makespan_seconds"] = graph.load_seconds + case.first_seconds + case.notes.get("output_seconds", 0.0)
    case.notes["eps"], case.notes["evps"] = graph.edges / processing, (graph.n + graph.edges) / processing
    report.add(case)
    return case


def chosen(graph: Graph, options: argparse.Namespace) -> list[str]:
    """Return the algorithms of --algorithms that the graph's properties list."""
    if unknown := set(graph.about.algorithms) - set(ALGORITHMS):
        print(f"  not run: {', '.join(sorted(unknown))}: unknown here")
    return [name for name in ALGORITHMS if name in graph.about.algorithms and name in options.algorithms]


def run(options: argparse.Namespace, report: Report) -> None:
    """Run all graphs, placements and algorithms; a part that fails is reported, and the next one runs."""
    on_gpu = options.used_engine == "gpu"
    options.synchronize = cuda.current().synchronize if on_gpu else nothing
    xp = cuda.current().xp if on_gpu else np
    gb.Vector.from_dense(np.zeros(1))  # starts the engine, which would else count as loading the first graph
    for placement in options.placements:
        with report.part(f"copy rate, {placement}"):
            report.rates[placement] = copyrate.copy_rate(placement, options.copy_mib << 20)
    found: list[Path] = []
    for folder in options.folders:
        with report.part(str(folder)):
            found += described(folder)
    for path in found:
        for placement in options.placements:
            with report.part(f"{path.stem}, {placement}"):
                graph = Graph(properties(path), placement, xp)
                print(f"{graph.about.name} in {placement}: {graph.n:,} vertices, {graph.edges:,} edges, "
                      f"{graph.load_seconds:.2f} s to load", flush=True)  # fmt: skip
                for name in chosen(graph, options):
                    with report.part(f"{name}, {graph.about.name}, {placement}"):
                        case = run_algorithm(name, graph, placement, report, options)
                        print(f"  {name}: {number(case.figure('ms'))} ms, validated: {case.verified}", flush=True)
                del graph
                gc.collect()  # frees this graph before the next one is read


HEADER = ["graph", "placement", "algorithm", "load s", "makespan s", "processing s", "min", "max", "EPS", "EVPS"]
HEADER += ["of copy", "ok"]


def row(case: Case) -> list[str]:
    """Return a case as a row of the table that :data:`HEADER` heads."""
    notes = case.notes
    times = (case.setting["load_seconds"], notes["makespan_seconds"], notes["processing_seconds"])
    return [
        str(case.setting["graph"]), str(case.setting["placement"]), case.name, *map(number, times),
        number(case.seconds.min), number(case.seconds.max), f"{notes['eps']:.3g}", f"{notes['evps']:.3g}",
        number(case.share), case.verified,
    ]  # fmt: skip


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.graphalytics", description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, help="folders with .properties files, or such files")
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS), help=f"among {', '.join(ALGORITHMS)}")
    parser.add_argument("--engine", choices=("auto", "cpu", "gpu"), default="auto")
    parser.add_argument("--placement", default="device", help=f"of the GPU engine: some of {', '.join(PLACEMENTS)}")
    parser.add_argument("--trials", type=int, default=3, help="timed calls of each algorithm")
    parser.add_argument("--copy-mib", type=int, default=256, help="MiB that the copy rate is measured with")
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    options = parser.parse_args(arguments)
    if min(options.trials, options.copy_mib) < 1:
        parser.error("--trials and --copy-mib must be at least 1")
    options.algorithms = options.algorithms.upper().split(",")
    if unknown := set(options.algorithms) - set(ALGORITHMS):
        parser.error(f"--algorithms: {sorted(unknown)[0]!r} is none of {', '.join(ALGORITHMS)}")
    options.placements = placements(parser, options.placement)
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if why_not := choose_engine(options):
        print(why_not)
        return 2
    report = Report("graphalytics", "ms", options.out)
    with gb.config.set(engine=options.used_engine, progress=False):
        run(options, report)
    print(table(HEADER, map(row, report.cases), left=3) if report.cases else "nothing was measured")
    report.end()
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
