"""Opening a file and searching it: ``python -m benchmarks.opening kron:24``, on a GPU, about a minute; h5py is needed.

The graph is written as a mappable .h5 file (docs/formats.md), then opened repeatedly: mapped, and for comparison read
into zero-copy and device memory. The benchmark times opening alone, and opening with a complete breadth-first search,
for which the driver registers the pages; the latter also after the system has dropped the file's pages from memory.
Kernels are compiled before. The project's limit is two seconds, whatever the size.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sparsezc as gb
from benchmarks.harness.frame import Case, Report, Rules, measure, nothing, number, pick_sources, table
from benchmarks.harness.plot import plot
from benchmarks.verify.answers import Wrong
from sparsezc.device import cuda

LIMIT = 2.0  # seconds for opening and searching a mapped file
HEADER = ["graph", "placement", "what", "GB", "min ms", "median", "max", "GB/s", "limit", "ok"]


def forget(path: Path) -> None:
    """Have the system drop a file from its page cache."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def run_file(name: str, path: Path, placement: str, report: Report, options: argparse.Namespace) -> None:
    """Measure the cases of one file in one placement."""
    synchronize = nothing if placement == "host" else cuda.current().synchronize
    A = gb.io.read(path, placement=placement, weights=False)
    degree = A.reduce_rowwise("count").new().to_dense(0)
    source = pick_sources(degree, 1)[0]
    expected = gb.algorithms.bfs(A, source).nvals
    size, nvals = path.stat().st_size, A.nvals
    del A

    def opened() -> Any:
        return gb.io.read(path, placement=placement, weights=False)

    def searched() -> int:
        return int(gb.algorithms.bfs(opened(), source).nvals)

    def check(_given: None, found: Any) -> None:
        if (found if isinstance(found, int) else found.nvals) not in (expected, nvals):
            raise Wrong(f"the search reaches {found} vertices; the first search reached {expected}")

    def case_of(what: str, call: Callable[[], Any], before: Callable[[], Any] = nothing) -> None:
        def ready() -> None:
            gc.collect()  # earlier mappings are unregistered before the clock starts
            before()

        case = Case(what, {"graph": name, "placement": placement})
        measure(
            case, lambda _: call(), trials=options.trials, nbytes=lambda *_: size, synchronize=synchronize,
            verify=check, rules=Rules(before=ready),
        )  # fmt: skip
        report.add(case)
        print(f"  {case.label}: {number(case.figure('ms'))} ms", flush=True)

    case_of("open", opened)
    case_of("open and search", searched)
    case_of("open and search, not in memory", searched, lambda: forget(path))


def kept(case: Case) -> bool | None:
    """Return whether a case is within its limit; None without a limit."""
    if case.setting["placement"] != "mapped" or case.name.endswith("not in memory"):
        return None
    return case.seconds.median <= LIMIT


def row(case: Case) -> list[str]:
    told = {None: "-", True: "kept", False: "BROKEN"}[kept(case)]
    return [
        case.setting["graph"], case.setting["placement"], case.name, number(case.nbytes / 1e9),
        *(number(second * 1e3) for second in case.seconds), number(case.figure("GB/s")), told, case.verified,
    ]  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.opening", description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="*", default=["kron:24"], metavar="GRAPH")
    parser.add_argument("--placement", help="comma-separated (default: mapped,zerocopy,device; without a GPU host)")
    parser.add_argument("--folder", type=Path, help="where the files are written (default: a temporary one)")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    options = parser.parse_args(arguments)
    if options.trials < 1:
        parser.error("--trials must be at least 1")
    usual = "mapped,zerocopy,device" if cuda.reason() is None else "host"
    placements = (options.placement or usual).split(",")
    report = Report("opening", "ms", options.out)
    with gb.config.set(progress=False), tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for name in options.graphs:
            path = Path(folder) / "graph.h5"
            with report.part(f"writing {name}"):
                gb.io.convert(name, path, weights=False)
            for placement in placements:
                with report.part(f"{name}, {placement}"):
                    run_file(name, path, placement, report, options)
                gc.collect()
    print(table(HEADER, map(row, report.cases), left=3))
    report.end(plot(report))
    return 0 if report.ok and not any(kept(case) is False for case in report.cases) else 1


if __name__ == "__main__":
    sys.exit(main())
