"""EMOGI's experiments on one machine: ``python -m benchmarks.emogi kron:24 urand:24``.

EMOGI's breadth-first search, shortest paths and components, over the link with naive, merged, and merged and aligned
requests, and over pages that migrate (UVM); beside them sparsezc's algorithms on the same pages. For each: the time,
averaged over random sources, requests by size, the link's bandwidth, and bytes moved for each byte of the edge list.
One page of plots and one JSON file; paper.py has the paper's figures.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable

import sparsezc as gb
from benchmarks.emogi import paper
from benchmarks.emogi.bench import Bench
from benchmarks.emogi.plot import page
from benchmarks.emogi.uvm import why_no_pages_migrate
from benchmarks.harness import copyrate
from benchmarks.harness.frame import SEED, Case, Report, add_again, check_again, number, table, together
from benchmarks.model.emogi import PATTERNS
from sparsezc.device import cuda

ALGORITHMS = ("bfs", "sssp", "cc")
VARIANTS = ("uvm", *PATTERNS, "sparsezc")
HEADER = ["graph", "algorithm", "variant", "calls", "mean ms", "min", "max", "over UVM", "rounds", "counted", "M req"]
HEADER += ["32", "64", "96", "128", "GB", "GB/s", "of copy", "amplification", "ok"]


def run_graph(name: str, report: Report, options: argparse.Namespace, end: float) -> None:
    bench = Bench(name, report, options)
    graph = bench.graph
    print(f"{name} ({graph.memory}): {graph.n:,} vertices, {graph.nvals:,} entries", flush=True)
    for algorithm in options.algorithms:
        if algorithm == "cc" and not bench.symmetric:
            print(f"  cc: {name} is not symmetric, and EMOGI's components need that", flush=True)
            continue
        for variant in options.variants:
            if time.monotonic() > end:
                print(f"  {algorithm} {variant}: not begun, no time was left", flush=True)
                continue
            with report.part(f"{algorithm}, {variant}, {name}"):
                why_not = why_no_pages_migrate(bench.gpu, bench.nbytes(algorithm)) if variant == "uvm" else None
                if why_not:
                    print(f"  {algorithm} uvm: {why_not}", flush=True)
                    continue
                start = time.perf_counter()
                case = bench.run(algorithm, variant)
                ms, took = number(case.notes["mean_seconds"] * 1e3), time.perf_counter() - start
                print(f"  {algorithm} {variant}: {ms} ms, {len(case.trials)} calls, verified: {case.verified} "
                      f"({took:.1f} s)", flush=True)  # fmt: skip
            gc.collect()


def over_uvm(case: Case, cases: list[Case]) -> float | None:
    """Return how many times faster a case is than migrating pages with the same graph and algorithm."""
    for other in cases:
        same = other.name == case.name and other.setting["graph"] == case.setting["graph"]
        if same and other.setting["variant"] == "uvm":
            faster: float = other.notes["mean_seconds"] / case.notes["mean_seconds"]
            return faster
    return None


def row(case: Case, cases: list[Case]) -> list[str]:
    notes, (least, _, most) = case.notes, case.seconds
    sizes = notes.get("by_size", {}).values()
    shares = [number(count / max(sum(sizes), 1)) for count in sizes] if sizes else ["-"] * 4
    mean = notes["mean_seconds"]
    gbs, before = case.nbytes / mean, at_least(str(case.setting["variant"]))
    moved = (case.nbytes / 1e9, gbs / 1e9, gbs / case.rate if case.rate else None, notes["amplification"])
    return [
        str(case.setting["graph"]), case.name, str(case.setting["variant"]), str(len(case.trials)),
        *(number(second * 1e3) for second in (mean, least, most)), number(over_uvm(case, cases)),
        number(notes.get("rounds")), str(notes.get("counted_sources", "-")),
        number(case.requests / 1e6) if case.requests else "-", *shares,
        *(before + number(value) for value in moved), case.verified,
    ]  # fmt: skip


def at_least(variant: str) -> str:
    """Return the mark in front of bytes and derived figures: for migrating pages they are lower bounds."""
    return ">= " if variant == "uvm" else ""


def beside_the_paper(cases: list[Case]) -> str:
    """Return a table of the paper's figures of searches beside those of this run.

    The latter are the least and the most of the run's graphs.
    """
    found = {(case.setting["graph"], case.setting["variant"]): case for case in cases if case.name == "bfs"}

    def each(variant: str, of: Callable[[Case], float | None]) -> list[float]:
        values = [of(case) for (_, kind), case in found.items() if kind == variant]
        return [value for value in values if value is not None]

    def share(size: int) -> Callable[[Case], float | None]:
        return lambda case: case.notes["by_size"][str(size)] / max(sum(case.notes["by_size"].values()), 1)

    def saved(other: str) -> Callable[[Case], float | None]:
        def of(case: Case) -> float | None:
            before = found.get((case.setting["graph"], other))
            return None if before is None else 1 - case.requests / before.requests

        return of

    lines = [(paper.SHARE_32_NAIVE, "naive", each("naive", share(32)))]
    lines += [(figure, kind, each(kind, share(128))) for kind, figure in paper.SHARE_128.items()]
    for kind, before in (("merged", "naive"), ("aligned", "merged")):
        lines.append((paper.SAVED[kind], kind, each(kind, saved(before))))
    for kind, figure in paper.LINK_GBS.items():
        relative = figure._replace(what=f"share of cudaMemcpy, {figure.what}", value=figure.value / paper.COPY_GBS)
        lines.append((relative, kind, each(kind, lambda case: case.share)))
    for kind, figure in paper.OVER_UVM.items():
        lines.append((figure, kind, each(kind, lambda case: over_uvm(case, cases))))
    for kind, figure in paper.AMPLIFICATION.items():
        lines.append((figure, kind, each(kind, lambda case: case.notes["amplification"])))
    header = ("where", "what", "variant", "there", "here: least", "most")
    rows = [
        (
            figure.where,
            figure.what,
            kind,
            number(figure.value),
            *(at_least(kind) + number(f(values)) for f in (min, max)),
        )
        for figure, kind, values in lines
        if values
    ]
    return table(header, rows, left=3)


def limits(text: str) -> dict[str, float]:
    """Return the seconds by the name of a variant or an algorithm; those of all others under "".

    >>> limits("10,uvm=4")
    {'': 10.0, 'uvm': 4.0}
    """
    pairs = [part.rpartition("=") for part in text.split(",")]
    if unknown := {name for name, _, _ in pairs} - {"", *VARIANTS, *ALGORITHMS}:
        raise argparse.ArgumentTypeError(f"{sorted(unknown)[0]!r} is no variant and no algorithm")
    return {"": 30.0} | {name: float(seconds) for name, _, seconds in pairs}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.emogi", description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="*", help="kron:SCALE, urand:SCALE, ... or files, as gb.io.read takes them")
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS))
    parser.add_argument(
        "--variants", default=",".join(VARIANTS), help="uvm should come first, as the others are compared with it"
    )
    parser.add_argument("--sources", type=int, default=64, help="random sources that times are averaged over")
    parser.add_argument(
        "--counted", type=int, default=4, help="of these, those whose requests sparsezc and shortest paths count"
    )
    parser.add_argument("--trials", type=int, default=5, help="timed calls of algorithms without sources")
    parser.add_argument(
        "--seconds", type=limits, default="30",
        help="after which a variant gets no more sources; others for a variant or an algorithm: 10,uvm=4,sssp=6 (30)",
    )  # fmt: skip
    parser.add_argument("--most-seconds", type=float, default=3600.0, help="after which no variant begins (3600)")
    parser.add_argument(
        "--weights", default="hash:8-72", help="edge lengths; the paper's are whole numbers from 8 to 72"
    )
    parser.add_argument("--id-bytes", type=int, choices=(4, 8), default=4, help="of an id; 8 in most of the paper")
    parser.add_argument("--verify", choices=("first", "none"), default="first")
    parser.add_argument("--seed", type=int, default=SEED, help="of the sources")
    parser.add_argument("--copy-mib", type=int, default=1024, help="MiB that the copy rate is measured with")
    add_again(parser)
    options = parser.parse_args(arguments)
    check_again(parser, options)
    for name, known in (("algorithms", ALGORITHMS), ("variants", VARIANTS)):
        chosen = getattr(options, name).split(",")
        if unknown := set(chosen) - set(known):
            parser.error(f"--{name}: {sorted(unknown)[0]!r} is none of {', '.join(known)}")
        setattr(options, name, chosen)
    if min(options.sources, options.counted, options.trials, options.copy_mib) < 1:
        parser.error("--sources, --counted, --trials and --copy-mib must be at least 1")
    return options


def show(report: Report) -> None:
    print(table(HEADER, [row(case, report.cases) for case in report.cases], left=3))
    print(f"\n{paper.CITATION}\n{beside_the_paper(report.cases)}")
    report.end(page(report))


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if options.again:
        show(together(options.again, options.out))
        return 0
    if why := cuda.reason():
        print(f"EMOGI's experiments need a GPU: {why}")
        return 2
    report, end = Report("emogi", "ms", options.out), time.monotonic() + options.most_seconds
    with gb.config.set(engine="gpu", head_cache="on", packing="on", progress=False):
        report.rates["zerocopy"] = copyrate.copy_rate("zerocopy", options.copy_mib << 20)
        for name in options.graphs:
            with report.part(name):
                run_graph(name, report, options, end)
    show(report)
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
