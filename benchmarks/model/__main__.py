"""Predicted and counted requests over the link: ``python -m benchmarks.model kron:20``, on a CPU.

For each graph and algorithm it prints the products that run, one line each (``--levels``), and their sum: bytes,
requests by size, and the time of these at the rates in facts.py. Beside it are the counts of the emulator
(``--counters emulator``, for small graphs) or of the GPU's counters (``--counters ncu``), and the requests of EMOGI's
patterns for one search.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import sparsezc as gb
from benchmarks.harness import copyrate, facts
from benchmarks.harness.engine_choice import choose_engine
from benchmarks.harness.frame import SEED, Case, Report, Trial, nothing, number, pick_sources, table, timed
from benchmarks.harness.plot import plot
from benchmarks.model import counters
from benchmarks.model.counters import LOOKS_AT_HEADS, NOT_MODELLED, READS_VALUES, Planned
from benchmarks.model.emogi import PATTERNS, of_rows, per_row
from benchmarks.model.requests import SIZES, Requests
from benchmarks.model.watch import Model, Statement
from benchmarks.suites.gap_kernels import KERNELS, Graph, selected
from sparsezc.device import cuda

KNOWN = "bfs,sssp,cc,pagerank,spmv"
MODELLED = [name for name in KERNELS if name not in NOT_MODELLED]
HEADER = ["graph", "kernel", "MB", "M req", "32", "64", "96", "128", "link ms"]
HEADER += ["counted MB", "counted M req", "bytes off", "req off", "ms", "of copy"]


def link_seconds(asked: Requests) -> float:
    """Return the seconds of requests at the rates that were measured over a small working set, each request alone.

    >>> round(link_seconds(Requests((0, 0, 0, 400_000_000))), 3)
    1.005
    """
    rates = {
        **facts.RANDOM_256_MIB,
        96: facts.LINK_GBS["stream, 4 B a lane"] * 1e3 / 96,
        128: facts.RANDOM_128["managed"][256],
    }
    return sum(count / (rates[size] * 1e6) for size, count in zip(SIZES, asked.by_size, strict=True))


def predict(call: Callable[[], Any], case: Planned, options: argparse.Namespace) -> list[Statement]:
    model = Model(direction=options.direction, heads=case.heads, packing=case.packed)
    with model.watching(options.used_engine):
        call()
    for operation, times in model.unknown.items():
        print(f"   {operation} reads a matrix {times} times in a way that is not modelled", flush=True)
    return model.statements


def total(statements: Sequence[Statement]) -> Requests:
    return sum((each.reading.all for each in statements), Requests())


def levels(statements: Sequence[Statement]) -> str:
    """Return a table with a line for each product."""
    header = ["", "product", "direction", "frontier", "wanted", "ids MB", "values MB", "req", "of 128 B", "link us"]
    rows = []
    for turn, each in enumerate(statements):
        asked, (ids, values) = each.reading.all, each.reading
        rows.append(
            (str(turn), each.operation, each.direction, f"{each.frontier:,}", f"{each.wanted:,}",
             number(ids.nbytes / 1e6), number(values.nbytes / 1e6), f"{asked.count:,}", number(asked.share(128)),
             number(link_seconds(asked) * 1e6))
        )  # fmt: skip
    return table(header, rows, left=3)


def emogi_case(graph: Graph, level: Any, pattern: str) -> Requests:
    """Return the requests of a search by one of EMOGI's patterns: each reached vertex's row is read once."""
    csr = graph.A._to_csr()
    begin, end = csr.indptr[:-1], csr.indptr[1:]
    reached = np.zeros(graph.n, np.bool_)
    reached[level.to_coo(values=False)[0].astype(np.int64)] = True
    width = 4 if csr.ncols <= 2**32 else 8
    return of_rows(per_row(begin, end, width, pattern), end - begin, reached, width)


def make_case(name: str, graph: Graph, asked: Requests) -> Case:
    case = Case(name, {"graph": graph.name, "placement": graph.placement}, requests=asked.count)
    case.notes = {
        "by_size": dict(zip(map(str, SIZES), asked.by_size, strict=True)),
        "nbytes": asked.nbytes,
        "useful_bytes": asked.useful_bytes,
    }
    case.notes["link_seconds"] = link_seconds(asked)
    return case


def planned(options: argparse.Namespace) -> list[Planned]:
    """Return the kernels to run, each with the settings of heads and packing that change its reads.

    >>> [case.label for case in planned(argparse.Namespace(kernels=["bfs", "sssp", "pagerank"], heads=[0, 8]))]
    ['bfs, 0 heads', 'bfs, 8 heads', 'sssp', 'sssp, packed', 'pagerank']
    """
    found = []
    for kernel in options.kernels:
        found += [Planned(kernel, heads) for heads in (options.heads if kernel in LOOKS_AT_HEADS else [0])]
        found += [Planned(kernel, packed=True)] if kernel in READS_VALUES else []
    return found


def source_of(kernel: str, graph: Graph, options: argparse.Namespace) -> Any:
    """Return the input of a kernel: a vertex, or for many searches a tuple of them."""
    count = KERNELS[kernel].sources
    if count > 1:
        return tuple(pick_sources(graph.degree, count, options.seed))
    return pick_sources(graph.degree, 1, options.seed)[0] if options.source is None else options.source


def run_graph(name: str, report: Report, options: argparse.Namespace) -> None:
    gpu = cuda.current() if options.used_engine == "gpu" else None
    placement = "zerocopy" if gpu else "host"
    synchronize, xp = (gpu.synchronize, gpu.xp) if gpu else (nothing, np)
    graph = Graph(name, name, placement, options.weights, xp)
    print(f"{name}: {graph.n:,} vertices, {graph.nvals:,} entries", flush=True)
    made: list[tuple[Planned, Any, Case]] = []
    for plan in planned(options):
        source = source_of(plan.kernel, graph, options)
        with report.part(f"{plan.label}, {name}"), plan.kept(graph):
            start = time.perf_counter()
            call = partial(KERNELS[plan.kernel].prepare(graph, argparse.Namespace(iterations=1)), source)
            answer = call()  # decisions and caches of a first call belong to no case
            times = [timed(call, synchronize)[1] for _ in range(options.trials)]
            statements = predict(call, plan, options)
            case = make_case(plan.label, graph, total(statements))
            if options.counters == "emulator":
                case.notes["counted"] = counters.on_emulator(gpu, call)._asdict()
            case.trials = [Trial(source, took, case.notes["nbytes"]) for took in times]
            case.rate = report.rates.get(placement)
            report.add(case)
            made.append((plan, source, case))
            took = time.perf_counter() - start
            print(f"  {plan.label}: {number(case.notes['nbytes'] / 1e6)} MB ({took:.1f} s)", flush=True)
            if options.levels:
                print(levels(statements), flush=True)
            if plan.kernel == "bfs" and plan.heads == options.heads[-1]:
                for pattern in PATTERNS:
                    report.add(make_case(f"  EMOGI {pattern}", graph, emogi_case(graph, answer, pattern)))
    if options.counters == "ncu" and made:
        with report.part(f"{name}: ncu"):
            plans, sources, cases = zip(*made, strict=True)
            found = counters.with_ncu(name, options.weights, plans, sources)
            for case, counted in zip(cases, found, strict=True):
                case.notes["counted"] = counted._asdict()
            report.save()


def row(case: Case) -> list[str]:
    """Return a case as a row of the table that :data:`HEADER` heads."""
    asked, counted = case.notes, case.notes.get("counted")
    shares = [number(count / max(case.requests, 1)) for count in asked["by_size"].values()]
    beside = ["-"] * 4
    if counted:
        beside = [number(counted["nbytes"] / 1e6), number(counted["requests"] / 1e6)]
        beside += [off(asked["nbytes"], counted["nbytes"]), off(case.requests, counted["requests"])]
    ran = [number(case.seconds.median * 1e3), number(case.share)] if case.trials else ["-", "-"]
    return [
        str(case.setting["graph"]), case.name, number(asked["nbytes"] / 1e6), number(case.requests / 1e6), *shares,
        number(asked["link_seconds"] * 1e3), *beside, *ran,
    ]  # fmt: skip


def off(predicted: float, counted: float) -> str:
    """Return the deviation of a prediction from a count, as a percentage.

    >>> off(103, 100), off(0, 0)
    ('+3.0%', '+0.0%')
    """
    return f"{100 * (predicted / counted - 1):+.1f}%" if counted else f"{100 * bool(predicted):+.1f}%"


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.model", description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="+", help="kron:SCALE, urand:SCALE, ... or files, as gb.io.read takes them")
    parser.add_argument("--kernels", default=KNOWN, help=f"among {', '.join(MODELLED)} (default: {KNOWN})")
    parser.add_argument("--engine", choices=("auto", "cpu", "gpu"), default="auto", help="the algorithms' engine")
    parser.add_argument(
        "--counters", choices=("auto", "none", "emulator", "ncu"), default="auto",
        help="the counts to compare with (default: ncu, if installed)",
    )  # fmt: skip
    parser.add_argument("--direction", choices=("choose", "push", "pull"), default="choose")
    parser.add_argument("--heads", default="0,8", help="ids a row in the row-head cache, for kernels that read it")
    parser.add_argument("--levels", action="store_true", help="print every product of an algorithm")
    parser.add_argument("--weights", default="hash:8-72", help="edge lengths")
    parser.add_argument("--source", type=int, help="the source of a search (default: drawn with --seed)")
    parser.add_argument("--trials", type=int, default=3, help="timed calls, on a GPU")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    options = parser.parse_args(arguments)
    try:
        options.kernels = selected(options.kernels)
        if refused := set(options.kernels) & set(NOT_MODELLED):
            raise ValueError(f"--kernels: {sorted(refused)[0]!r} is not modelled; known are {', '.join(MODELLED)}")
        options.heads = [int(part) for part in options.heads.split(",")]
    except ValueError as error:
        parser.error(str(error))
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if options.counters == "emulator":
        counters.emulator()
        options.engine = "gpu"
    if why_not := choose_engine(options):
        print(why_not)
        return 2
    if options.counters in ("auto", "ncu"):
        why = counters.why_not_ncu() if options.used_engine == "gpu" else "the CPU engine has no link"
        if why and options.counters == "ncu":
            print(f"--counters ncu: {why}")
            return 2
        options.counters = "none" if why else "ncu"
    if options.used_engine == "cpu" or options.counters == "emulator":
        options.trials = 0  # times of these runs are not those of the link
    report = Report("model", "ms", options.out)
    with gb.config.set(engine=options.used_engine, progress=False):
        if options.trials:
            report.rates["zerocopy"] = copyrate.copy_rate("zerocopy")
        for name in options.graphs:
            with report.part(name):
                run_graph(name, report, options)
    print(table(HEADER, map(row, report.cases), left=2) if report.cases else "nothing was predicted")
    report.end(plot(report) if options.trials else None)
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
