"""Every placement at budgets smaller than the graph: times, and bytes moved for each byte of edges.

``python -m benchmarks.out_of_memory kron:24 urand:24 --budgets 5,25,50,100``. A budget of 25 is device memory for the
vectors and for a quarter of the edges (ids and weights). After tables 4 and 5 of Ascetic (Tang et al., ICPP 2021,
doi:10.1145/3472456.3472457). Placements that copy are what the papers have: ``stream`` (partitions), ``gather``
(Subway), ``cached`` (Ascetic), ``uvm``; ``zerocopy`` is EMOGI's way of reading, and ``hybrid`` is what ``auto`` takes
beyond the budget.

``hybrid`` and ``zerocopy`` keep row heads too, as a part of the budget, from the first search on. What needs
compiling is compiled first. Then each case begins with nothing on the card: `cold` is its first call, `ms` are those
after it. One call more is made to count what it moves (gb.stats). uvm is not counted; it obeys no budget, and takes
no graph beyond the card's free memory.
"""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path
from typing import Any

import sparsezc as gb
from benchmarks import copyrate
from benchmarks.frame import SEED, Case, Report, measure, number, pick_sources, table
from benchmarks.gap_kernels import KERNELS, Graph, selected
from sparsezc import device
from sparsezc.memory import budget as budgets

PLACEMENTS = ("hybrid", "zerocopy", "cached", "gather", "stream", "uvm")
HEADER = ["graph", "kernel", "budget", "placement", "cold ms", "min ms", "median", "max", "moved", "copied", "x hybrid"]
HEADER += ["ok"]


def forget(matrix: Any) -> None:
    """Drop everything that products have put on the card beside the matrix."""
    for rows in {matrix._store.rows, matrix._store.columns} - {None}:
        rows.region = rows.heads = rows.packed = None
        rows.pulled = rows.multiplied = 0
        rows.wholes.clear()
    gc.collect()


def run_case(name: str, graph: Graph, share: float, report: Report, options: Any) -> Case:
    """One kernel in one placement at one budget."""
    kernel, gpu = KERNELS[name], device.current()
    edge_bytes = graph.nvals * (graph.id_bytes + graph.value_bytes)
    room = budgets.working_bytes(graph.n) + int(share / 100 * edge_bytes)
    setting = {"graph": graph.name, "placement": graph.placement, "budget": share, "budget_bytes": room}
    setting |= {"nrows": graph.n, "nvals": graph.nvals, "edge_bytes": edge_bytes, "memory": graph.memory}
    case = Case(name, setting, parts=options.iterations if kernel.iterates else 1, rate=report.rates.get("zerocopy"))
    given = pick_sources(graph.degree, options.sources, options.seed) if kernel.sources else [None]
    heads = "on" if graph.placement in ("hybrid", "zerocopy") else "off"
    with gb.config.set(budget=room, head_cache=heads):
        call = kernel.prepare(graph, options)
        for _ in range(3):  # what comes with what is on the card is compiled too
            call(given[0])
        forget(graph.A)
        check = None if options.verify == "none" else lambda given, answer: kernel.verify(graph, given, answer, options)
        measure(
            case,
            call,
            given,
            trials=options.trials,
            nbytes=lambda given, answer: kernel.nbytes(graph, given, answer, options),
            synchronize=gpu.synchronize,
            verify=check,
        )
        if graph.placement != "uvm":
            with gb.stats.collect() as moved:
                call(given[-1])
            parts = case.parts * edge_bytes
            case.requests = moved.requests
            case.notes = {"moved": moved.link_bytes / parts, "copied": moved.copied_bytes / parts,
                          "gather_seconds": moved.gather_seconds, "copy_seconds": moved.copy_seconds,
                          "compute_seconds": moved.compute_seconds, "device_bytes": moved.device_bytes}  # fmt: skip
    report.add(case)
    return case


def run(options: argparse.Namespace, report: Report) -> None:
    """All graphs, placements, budgets and kernels; a part that fails is reported and the next goes on."""
    gpu = device.current()
    report.rates["zerocopy"] = copyrate.of("zerocopy", options.copy_mib << 20)
    print(f"copy rate: {number(report.rates['zerocopy'] / 1e9)} GB/s", flush=True)
    for name in options.graphs:
        graph = Graph(name, name, "zerocopy", options.weights, gpu.xp)
        made = graph.A
        print(f"{name}: {graph.n:,} vertices, {graph.nvals:,} entries, {graph.load_seconds:.1f} s", flush=True)
        for placement in options.placements:
            with report.part(f"{name}, {placement}"):
                graph.A = made if placement == "zerocopy" else made.to("gpu", placement=placement)
                graph.placement, graph.memory = placement, graph.A._to_csr().indices.pages
                for share in options.budgets:
                    for kernel in options.kernels:
                        with report.part(f"{kernel}, {name}, {placement}, {share:g}%"):
                            case = run_case(kernel, graph, share, report, options)
                            print("  ", *row(case, report.cases), flush=True)
            graph.A = made
            gc.collect()
        del graph, made


def beside(case: Case, cases: list[Case]) -> Case | None:
    """The case of ``hybrid`` that differs in nothing else."""
    same = ("graph", "budget")
    for other in cases:
        alike = other.name == case.name and all(other.setting[key] == case.setting[key] for key in same)
        if alike and other.setting["placement"] == "hybrid":
            return other
    return None


def row(case: Case, cases: list[Case]) -> list[str]:
    """A case as a row of the table that :data:`HEADER` heads."""
    hybrid = beside(case, cases)
    against = None if hybrid is None else case.figure("ms") / hybrid.figure("ms")
    name = case.name + (" / iteration" if case.parts > 1 else "")
    return [
        str(case.setting["graph"]), name, f"{case.setting['budget']:g}%", str(case.setting["placement"]),
        number(case.first_seconds * 1e3 / case.parts), *[number(second * 1e3) for second in case.seconds],
        number(case.notes.get("moved")), number(case.notes.get("copied")), number(against), case.verified,
    ]  # fmt: skip


def plot(report: Report) -> Path | None:
    """Time and bytes by budget, a panel for each graph and kernel, beside the JSON as .png. None: not drawn."""
    cases = [case for case in report.cases if case.trials]
    try:
        import matplotlib as mpl
    except ImportError:
        print("no plot: matplotlib is not installed (pip install matplotlib)")
        return None
    if not cases:
        return None
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    panels = list(dict.fromkeys((case.setting["graph"], case.name) for case in cases))
    figure, axes = plt.subplots(2, len(panels), figsize=(3.2 * len(panels), 6), squeeze=False)
    for column, (graph, name) in enumerate(panels):
        for placement in PLACEMENTS:
            line = [
                c
                for c in cases
                if (c.setting["graph"], c.name) == (graph, name) and c.setting["placement"] == placement
            ]
            at = [case.setting["budget"] for case in line]
            axes[0, column].plot(at, [case.figure("ms") for case in line], "o-", ms=3, label=placement)
            axes[1, column].plot(at, [case.notes.get("moved", float("nan")) for case in line], "o-", ms=3)
        axes[0, column].set_title(f"{graph}: {name}", fontsize=9)
        axes[0, column].set_yscale("log")
        axes[1, column].set_xlabel("budget, % of the edges")
    axes[0, 0].set_ylabel("ms")
    axes[1, 0].set_ylabel("bytes moved / edge bytes")
    axes[0, 0].legend(fontsize=7)
    figure.tight_layout()
    path = report.path.with_suffix(".png")
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.out_of_memory", description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="+", help="kron:SCALE, urand:SCALE, ... or files, as gb.io.read takes them")
    parser.add_argument("--budgets", default="5,25,50,75,100", help="percent of the edges' bytes (5,25,50,75,100)")
    parser.add_argument("--placements", default=",".join(PLACEMENTS), help=f"among {', '.join(PLACEMENTS)}")
    parser.add_argument("--kernels", default="bfs,sssp,cc,pagerank", help="of benchmarks.gap (bfs,sssp,cc,pagerank)")
    parser.add_argument("--trials", type=int, default=3, help="timed calls for each source (3)")
    parser.add_argument("--sources", type=int, default=2, help="of bfs and sssp (2)")
    parser.add_argument("--iterations", type=int, default=5, help="of pagerank (5)")
    parser.add_argument("--weights", default="hash:8-72", help="edge lengths (hash:8-72)")
    parser.add_argument("--verify", choices=("first", "none"), default="first", help="whether first calls are judged")
    parser.add_argument("--seed", type=int, default=SEED, help="of the sources")
    parser.add_argument("--copy-mib", type=int, default=1024, help="MiB that the copy rate is measured with")
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    options = parser.parse_args(arguments)
    options.placements = options.placements.split(",")
    if unknown := set(options.placements) - set(PLACEMENTS):
        parser.error(f"--placements: {sorted(unknown)[0]!r} is none of {', '.join(PLACEMENTS)}")
    try:
        options.kernels = selected(options.kernels)
        options.budgets = [float(text) for text in options.budgets.split(",")]
    except ValueError as error:
        parser.error(str(error))
    if min(options.budgets) <= 0 or min(options.trials, options.sources, options.iterations) < 1:
        parser.error("--budgets must be above 0; --trials, --sources and --iterations at least 1")
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if why := device.reason():
        print(f"this compares placements of the GPU engine: {why}")
        return 2
    report = Report("out_of_memory", "ms", options.out)
    with gb.config.set(engine="gpu", progress=False):
        run(options, report)
    rows = sorted((row(case, report.cases) for case in report.cases), key=lambda r: (r[0], r[1], float(r[2][:-1])))
    print(table(HEADER, rows, left=4) if rows else "nothing was measured")
    picture = plot(report)
    print(f"written: {report.save()}{f', {picture}' if picture else ''}")
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
