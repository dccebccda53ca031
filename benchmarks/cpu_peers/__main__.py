"""Algorithms of the CPU engine beside networkit's, igraph's and SciPy's, on graphs that the caller names.

All programs take turns on one graph, so that other load on the machine slows all of them; the least times are compared.
Answers are judged against a peer's. The share of time in Python is measured by the profiler, which slows Python down,
so it is an upper bound.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.cpu_peers.own_process import LeftOut, Work, limited
from benchmarks.harness.frame import Case, Report, number, table

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
MODULES = "networkit", "igraph"
GRAPHS = ("email-Eu-core", "wiki-Vote", "ca-AstroPh", "as-caida20071105", "copter2", "road-7cities", "twitter_combined",
          "cnr-2000")  # fmt: skip
LIMIT = 1.5  # the best peer's times that a row may take
HEADER = ("algorithm", "graph", "min ms", "median", "max", "first", "CPU ms", "in Python", "best peer", "its min ms",
          "its CPU ms", "ratio", "of CPU", "ok")  # fmt: skip


def printed(case: Case) -> tuple[str, ...]:
    """Return a case as a line of the table; times in ms."""
    notes = case.notes
    best = notes["peers"][case.peer]
    return (
        case.name, case.setting["graph"], *(number(s * 1e3) for s in case.seconds), number(case.first_seconds * 1e3),
        number(notes["cpu_seconds"] * 1e3), f"{notes['in_python']:.0%}", case.peer, number(case.reference),
        number(best["cpu_seconds"] * 1e3), number(notes["ratio"]), number(notes["cpu_ratio"]), case.verified,
    )  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cpu_peers", description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "graphs", nargs="*", default=GRAPHS, help="files, kron:16, or reference graphs (default: those)"
    )
    parser.add_argument("--rows", help="beginnings of the names of algorithms, with commas between them")
    parser.add_argument("--data", type=Path, default=DATA, help=f"the folder of the reference graphs ({DATA})")
    parser.add_argument("--trials", type=int, default=5, help="timed calls of each program (5)")
    parser.add_argument(
        "--seconds", type=float, default=2.0, help="a program that has taken so long gets no more calls"
    )
    parser.add_argument(
        "--limit", type=float, default=math.inf, help="seconds after which a call is given up, of a peer or a row"
    )
    parser.add_argument(
        "--total", type=float, default=math.inf, help="seconds of a graph after which no row begins any more"
    )
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    options = parser.parse_args(arguments)
    if missing := [name for name in MODULES if importlib.util.find_spec(name) is None]:
        parser.error(f"{' and '.join(missing)} not installed: pip install -e '.[judges]'")
    from benchmarks.cpu_peers.measure import run
    from benchmarks.cpu_peers.rows import ROWS

    beginnings = tuple((options.rows or "").split(","))
    rows = tuple(row.name for row in ROWS if row.name.startswith(beginnings))
    report = Report("cpu_peers", "ms", options.out)
    for name in options.graphs:
        work = Work(name, rows, options.data, options.trials, options.seconds, time.monotonic() + options.total)
        results = run(work, lambda *_: None) if options.limit == math.inf else limited(work, run, options.limit)
        for row, result in results:
            with report.part(f"{row} of {name}"):
                if isinstance(result, LeftOut):
                    raise result
                report.add(result)
                print("  ".join(printed(result)), flush=True)
    print(table(HEADER, map(printed, sorted(report.cases, key=lambda case: -case.notes["ratio"])), left=2))
    behind = [case for case in report.cases if case.notes["ratio"] > LIMIT]
    print(f"{len(report.cases)} cases, {len(behind)} above {LIMIT} times the best peer's time")
    report.end()
    return 0 if report.ok and not behind else 1


if __name__ == "__main__":
    sys.exit(main())
