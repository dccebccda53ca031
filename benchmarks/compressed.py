"""Compressed ids and vertex orders against plain ids: ``python -m benchmarks.compressed kron:24``, on a GPU, ten s.

A product with a full vector (plus_second, FP64), an iteration of PageRank and a breadth-first search, each with plain
ids, compressed in the natural order, and compressed in the order of degrees; with ``--orders`` also plain in other
vertex orders (``gb.orders``). All answers are compared with those of plain ids. GB/s count the bytes of ids or id
blocks that a pass over all of them reads; for a search, GB are the bytes that cross the link.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import sparsezc as gb
from benchmarks.harness import copyrate
from benchmarks.harness.frame import Case, Report, measure, number, pick_sources, table
from benchmarks.harness.plot import plot
from benchmarks.verify.answers import Wrong
from sparsezc.device import cuda

ITERATIONS = 5  # of PageRank, a call
ORDERS = ("degree", "reverse_cuthill_mckee", "harmonic", "communities")
HEADER = ["graph", "placement", "what", "ids", "bits an id", "GB", "min ms", "median", "max", "GB/s", "share", "ok"]


def kinds(A: Any) -> Iterator[tuple[str, int, Callable[[Any], Any]]]:
    """Yield each measurement: its name, the number of equal parts of a call, and the call for a matrix."""
    x = gb.Vector.from_dense(np.random.default_rng(1).random(A.ncols))
    w = gb.Vector(float, A.nrows)
    source = pick_sources(A.reduce_rowwise("count").new().to_dense(0), 1)[0]

    def product(M: Any) -> Any:
        w << M.mxv(x, gb.semiring.plus_second["FP64"])
        return w

    yield "mxv", 1, product
    yield "pagerank", ITERATIONS, partial(gb.algorithms.pagerank, max_iter=ITERATIONS, tol=None)
    yield "bfs", 1, partial(gb.algorithms.bfs, source=source)


def forms(A: Any, orders: list[str]) -> Iterator[tuple[str, Any, float]]:
    """Yield the forms in which a matrix is measured, and the seconds for making each."""
    yield "plain", A, 0.0
    for name, make in [(order, partial(A.compress, order)) for order in ("natural", "degree")] + [
        (f"plain, {order}", lambda order=order: A.reorder(getattr(gb.orders, order)(A))) for order in orders
    ]:
        start = time.perf_counter()
        made = make()
        cuda.current().synchronize()
        yield name, made, time.perf_counter() - start


def link_bytes(call: Callable[[], Any]) -> int:
    with gb.stats.collect() as moved:
        call()
    return moved.link_bytes


def run_graph(name: str, placement: str, report: Report, options: argparse.Namespace) -> None:
    """Run the cases of one graph in one placement."""
    A = gb.io.read(name, weights=False, placement=placement)
    rate = copyrate.copy_rate(placement)
    expected: dict[str, Any] = {}
    everything = list(kinds(A))
    for form, M, seconds in forms(A, options.orders):
        for what, parts, call in everything:
            setting = {"graph": name, "placement": placement, "ids": form, "bits": M.bits_per_id}
            case = Case(what, setting, parts=parts, rate=rate, notes={"making_seconds": seconds})

            def check(_given: Any, answer: Any, what: str = what) -> None:
                if not answer.isclose(expected.setdefault(what, answer.dup()), rel_tol=1e-9, abs_tol=1e-12):
                    raise Wrong("the answer differs from that of plain ids")

            nbytes = link_bytes(partial(call, M)) if what == "bfs" else int(parts * M.bits_per_id * M.nvals / 8)
            measure(
                case, lambda _, call=call, M=M: call(M), trials=options.trials, nbytes=lambda *_, n=nbytes: n,
                synchronize=cuda.current().synchronize, verify=check,
            )  # fmt: skip
            report.add(case)
            print(f"  {case.label}, {form}: {number(case.figure('ms'))} ms", flush=True)


def row(case: Case) -> list[str]:
    moved = [number(case.nbytes / 1e9), number(case.figure("GB/s")), number(case.share)] if case.nbytes else ["-"] * 3
    return [
        *(case.setting[key] for key in ("graph", "placement")), case.name, case.setting["ids"],
        f"{case.setting['bits']:.2f}", moved[0], *(number(second * 1e3) for second in case.seconds), *moved[1:],
        case.verified,
    ]  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compressed", description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="*", default=["kron:24"], metavar="GRAPH")
    parser.add_argument("--placement", default="zerocopy,device", help="comma-separated (zerocopy,device)")
    parser.add_argument("--orders", default="", help=f"comma-separated, among {', '.join(ORDERS)} (none)")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    options = parser.parse_args(arguments)
    if options.trials < 1:
        parser.error("--trials must be at least 1")
    options.orders = [name for name in options.orders.split(",") if name]
    if unknown := set(options.orders) - set(ORDERS):
        parser.error(f"--orders: {', '.join(sorted(unknown))} is none of {', '.join(ORDERS)}")
    if why := cuda.reason():
        print(f"the benchmark of compressed ids needs a GPU: {why}")
        return 2
    report = Report("compressed", "ms", options.out)
    with gb.config.set(progress=False):
        for name in options.graphs:
            for placement in options.placement.split(","):
                with report.part(f"{name}, {placement}"):
                    run_graph(name, placement, report, options)
                gc.collect()
    print(table(HEADER, map(row, report.cases), left=4))
    report.end(plot(report))
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
