"""The GAP Benchmark Suite's kernels, and a streaming mxv, on generated graphs or files, in any engine and placement.

``python -m benchmarks.gap kron:20 urand:20 --engine gpu --placement zerocopy,device``. Every timed call is one of
the public interface; times are wall clock until the device has finished the call. ``--rules gap`` uses the suite's
numbers of trials, edge lengths and end of PageRank. Its five graphs are ``kron:N``, ``urand:N``, ``road=FILE``,
``twitter=FILE`` and ``web=FILE``.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sparsezc as gb
from benchmarks.harness import copyrate, facts
from benchmarks.harness.engine_choice import PLACEMENTS, choose_engine, placements
from benchmarks.harness.frame import SEED, Case, Report, Rules, measure, nothing, number, pick_sources, table
from benchmarks.harness.plot import plot
from benchmarks.suites.gap_kernels import KERNELS, SUITE, Graph, Kernel, selected
from sparsezc.device import cuda

FILES = ("road", "twitter", "web")  # the graphs of GAP's five that are not generated


def name_of(given: str) -> tuple[str, str]:
    """Return a graph's name, and the file or generator that it is read from.

    >>> name_of("road=usa.gr.gz"), name_of("kron:20")
    (('road', 'usa.gr.gz'), ('kron:20', 'kron:20'))
    """
    name, mark, source = given.partition("=")
    return (name, source) if mark and name in FILES else (given, given)


def lengths(name: str, options: argparse.Namespace) -> str:
    """Return the edges' lengths: those of --weights, else those of the rules; GAP's road has its own."""
    if options.weights:
        return str(options.weights)
    if options.rules == "gap":
        return "file" if name == "road" else "hash:1-255"
    return "hash:8-72"


def inputs(kernel: Kernel, graph: Graph, options: argparse.Namespace) -> tuple[list[Any], int]:
    """Return the inputs of a kernel (its sources), and the number of trials for each."""
    count, trials = (options.sources if kernel.sources == 1 else 1), options.trials
    if options.rules == "gap" and kernel.gap_runs:
        count, trials = kernel.gap_runs
        count = options.sources or count if kernel.sources == 1 else count
        trials = options.trials or trials
    count, trials = count or 4, trials or 3
    if not kernel.sources:
        return [None], trials
    found = pick_sources(graph.degree, count * kernel.sources, options.seed)
    if kernel.sources == 1:
        return list(found), trials
    return [tuple(found[k : k + kernel.sources]) for k in range(0, len(found), kernel.sources)], trials


def run_kernel(name: str, graph: Graph, report: Report, options: Any, synchronize: Callable[[], None]) -> Case:
    """Measure one kernel on one graph."""
    kernel = KERNELS[name]
    setting = {"graph": graph.name, "placement": graph.placement, "engine": options.used_engine, "rules": options.rules}
    setting |= {"nrows": graph.n, "nvals": graph.nvals, "load_seconds": graph.load_seconds, "memory": graph.memory}
    case = Case(name, setting, parts=options.iterations or 1 if kernel.iterates else 1)
    case.rate = report.rates.get(graph.placement)
    case.notes = kernel.notes(graph, options)
    if options.rules == "own" and (peer := facts.peer(graph.name, name, graph.placement)):
        case.reference, case.peer = peer.low, peer.name
    check = None if options.verify == "none" else lambda given, answer: kernel.verify(graph, given, answer, options)
    given, trials = inputs(kernel, graph, options)
    measure(
        case,
        kernel.prepare(graph, options),
        given,
        trials=trials,
        nbytes=lambda given, answer: kernel.nbytes(graph, given, answer, options),
        synchronize=synchronize,
        verify=check,
        rules=Rules(verify_all=options.verify == "all"),
    )
    report.add(case)
    return case


def run(options: argparse.Namespace, report: Report) -> None:
    """Run all graphs, placements and kernels; a part that fails is reported, and the next one runs."""
    on_gpu = options.used_engine == "gpu"
    synchronize = cuda.current().synchronize if on_gpu else nothing
    xp = cuda.current().xp if on_gpu else np
    for placement in options.placements:
        with report.part(f"copy rate, {placement}"):
            report.rates[placement] = copyrate.copy_rate(placement, options.copy_mib << 20)
            print(f"copy rate, {placement}: {number(report.rates[placement] / 1e9)} GB/s", flush=True)
    for name, source in map(name_of, options.graphs):
        for placement in options.placements:
            with report.part(f"{name}, {placement}"):
                graph = Graph(name, source, placement, lengths(name, options), xp, relabel=options.relabel)
                print(f"{name} in {placement} ({graph.memory}): {graph.n:,} vertices, {graph.nvals:,} entries, "
                      f"{graph.load_seconds:.1f} s to make or read", flush=True)  # fmt: skip
                for kernel in options.kernels:
                    with report.part(f"{kernel}, {name}, {placement}"):
                        case = run_kernel(kernel, graph, report, options, synchronize)
                        print(f"  {kernel}: {number(case.figure('ms'))} ms, verified: {case.verified}", flush=True)
                del graph
                gc.collect()  # frees this graph before the next one is made


HEADER = ["graph", "placement", "kernel", "first s", "min ms", "median", "max", "MB", "GB/s", "of copy", "peer ms"]
HEADER += ["x faster", "goal", "ok"]


def row(case: Case) -> list[str]:
    """Return a case as a row of the table that :data:`HEADER` heads."""
    least = [number(second * 1e3) for second in case.seconds]
    faster = case.reference / case.figure("ms") if case.reference else None
    name = case.name + (" / iteration" if case.parts > 1 else "")
    return [
        str(case.setting["graph"]), str(case.setting["placement"]), name,
        number(case.first_seconds), *least, number(case.nbytes / 1e6), number(case.figure("GB/s")), number(case.share),
        number(case.reference), number(faster), goal_text(case), case.verified,
    ]  # fmt: skip


def goal_text(case: Case) -> str:
    """Return whether a case meets the project's goal, as text; "" if it has no goal."""
    goal = facts.goal(case.setting["graph"], case.name, case.setting["placement"])
    if goal is None:
        return ""
    if goal.share is not None:
        return f"{'met' if case.share is not None and case.share >= goal.share else 'MISSED'} (>= {goal.share} of copy)"
    assert goal.ms is not None
    return f"{'met' if case.figure('ms') <= goal.ms else 'MISSED'} (<= {number(goal.ms)} ms)"


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gap", description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="+", help="kron:SCALE, urand:SCALE, ... or files, as gb.io.read takes them; "
                        "road=FILE, twitter=FILE, web=FILE name a file as GAP does")  # fmt: skip
    parser.add_argument(
        "--rules", choices=("own", "gap"), default="own", help="gap: the suite's own trials, lengths, end of PageRank"
    )
    parser.add_argument(
        "--kernels", help=f"among {', '.join(KERNELS)} (default: all; of --rules gap: {', '.join(SUITE)})"
    )
    parser.add_argument("--engine", choices=("auto", "cpu", "gpu"), default="auto")
    parser.add_argument(
        "--placement", default="zerocopy,device", help=f"of the GPU engine: some of {', '.join(PLACEMENTS)}"
    )
    parser.add_argument(
        "--head-cache", choices=("auto", "on", "off"), default="on", help="of the GPU engine: gb.config.head_cache"
    )
    parser.add_argument("--packing", choices=("auto", "on", "off"), default="auto", help="likewise: gb.config.packing")
    parser.add_argument("--trials", type=int, help="timed calls for each source (default: 3, or the suite's)")
    parser.add_argument("--sources", type=int, help="sources of bfs and sssp (default: 4, or the suite's 64)")
    parser.add_argument("--iterations", type=int, help="of pagerank (default: 20, or until the suite's tolerance)")
    parser.add_argument("--weights", help="edge lengths: made ones, or 'file' for the file's own (default: "
                        "hash:8-72; of --rules gap: hash:1-255, and road's own)")  # fmt: skip
    parser.add_argument(
        "--relabel", action="store_true", help="drop vertices without edges: for files with far-apart ids"
    )
    parser.add_argument("--verify", choices=("first", "all", "none"), default="first", help="the judged trials")
    parser.add_argument("--seed", type=int, default=SEED, help="of the sources")
    parser.add_argument("--copy-mib", type=int, default=1024, help="MiB that the copy rate is measured with")
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    options = parser.parse_args(arguments)
    counts = (options.trials, options.sources, options.iterations, options.copy_mib)
    if any(count is not None and count < 1 for count in counts):
        parser.error("--trials, --sources, --iterations and --copy-mib must be at least 1")
    if options.rules == "own":
        options.iterations = options.iterations or 20
    try:
        options.kernels = selected(options.kernels or ",".join(SUITE if options.rules == "gap" else KERNELS))
    except ValueError as error:
        parser.error(str(error))
    options.placements = placements(parser, options.placement)
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if why_not := choose_engine(options):
        print(why_not)
        return 2
    report = Report("gap", "ms", options.out)
    caches = {"head_cache": options.head_cache, "packing": options.packing}
    with gb.config.set(engine=options.used_engine, progress=False, **caches):
        run(options, report)
    print(table(HEADER, map(row, report.cases), left=3) if report.cases else "nothing was measured")
    report.end(plot(report))
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
