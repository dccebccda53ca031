"""Triangle counting against the GAP Benchmark Suite's algorithm on all cores of this machine.

``python -m benchmarks.triangles kron:20``. The program of gapbs is the better peer; without it
``benchmarks/peers/triangles.cpp`` runs the same algorithm, compiled here with g++ -O3 -march=native -fopenmp. Peer and
sparsezc have the graph in memory, and number the vertices by degree within the measured time. The answers must agree.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import sparsezc as gb
from benchmarks.harness.engine_choice import PLACEMENTS, choose_engine, placements
from benchmarks.harness.frame import Case, Report, Trial, measure, nothing, number, table
from benchmarks.verify.answers import Wrong
from sparsezc.algorithms._pattern import simple
from sparsezc.device import cuda

SOURCE = Path(__file__).parent / "peers" / "triangles.cpp"


def peer(graph: Any, trials: int) -> tuple[int, list[float]]:
    """Return the number of triangles of a symmetric graph by the peer, and its seconds in each trial."""
    csr = graph._to_csr()
    with tempfile.TemporaryDirectory() as folder:
        program, offsets, ids = (Path(folder) / name for name in ("triangles", "offsets", "ids"))
        flags = ["-std=c++17", "-O3", "-march=native", "-fopenmp"]
        subprocess.run(["g++", *flags, str(SOURCE), "-o", str(program)], check=True)
        np.asarray(csr.indptr, np.int64).tofile(offsets)
        with ids.open("wb") as file:
            for start in range(0, csr.nvals, 1 << 24):
                csr.indices.read(start, min(start + (1 << 24), csr.nvals)).astype(np.uint32).tofile(file)
        command = [str(program), str(offsets), str(ids), str(trials)]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return int(lines[0]), [float(line) for line in lines[1:]]


def run(options: argparse.Namespace, report: Report) -> None:
    """Measure all graphs in all placements, the peer first."""
    for name in options.graphs:
        with report.part(name):
            with gb.config.set(engine=options.used_engine):
                whole = simple(gb.io.read(name, weights=False, placement=options.placements[0]))
            found, seconds = peer(whole, options.peer_trials or options.trials)
            theirs = Case("GAP's algorithm", {"graph": name, "cores": os.cpu_count(), "nvals": whole.nvals})
            theirs.trials = [Trial(None, taken, 4 * whole.nvals) for taken in seconds]
            report.add(theirs)

            def check(_given: Any, answer: int, found: int = found) -> None:
                if answer != found:
                    raise Wrong(f"the answer is {answer:,} triangles; the peer counts {found:,}")

            for placement in options.placements:
                graph = whole if placement == "host" else whole.to("gpu", placement=placement)
                case = Case("triangle_count", {"graph": name, "placement": placement, "nvals": whole.nvals})
                case.reference, case.peer = theirs.figure("ms"), f"GAP's algorithm on {os.cpu_count()} cores"
                measure(
                    case,
                    lambda _given, graph=graph: gb.algorithms.triangle_count(graph),
                    trials=options.trials,
                    nbytes=lambda _given, _answer, whole=whole: 4 * whole.nvals,
                    synchronize=nothing if placement == "host" else cuda.current().synchronize,
                    verify=check,
                )
                report.add(case)


def row(case: Case) -> list[str]:
    """Return a case as a row of the table."""
    faster = None if case.reference is None else case.reference / case.figure("ms")
    least = [number(second * 1e3) for second in case.seconds]
    return [case.label, *least, number(case.reference), number(faster), case.verified]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.triangles", description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="+", help="kron:SCALE, urand:SCALE, ... or files, as gb.io.read takes them")
    parser.add_argument("--engine", choices=("auto", "cpu", "gpu"), default="auto")
    parser.add_argument("--placement", default="device", help=f"of the GPU engine: some of {', '.join(PLACEMENTS)}")
    parser.add_argument("--trials", type=int, default=3, help="timed calls (3)")
    parser.add_argument("--peer-trials", type=int, help="timed calls of the peer (as many)")
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    options = parser.parse_args(arguments)
    if min(options.trials, options.peer_trials or 1) < 1:
        parser.error("--trials and --peer-trials must be at least 1")
    options.placements = placements(parser, options.placement)
    if why_not := choose_engine(options):
        print(why_not)
        return 2
    report = Report("triangles", "ms", options.out)
    with gb.config.set(progress=False):
        run(options, report)
    print(table(["case", "min ms", "median", "max", "peer ms", "x faster", "ok"], map(row, report.cases)))
    report.end()
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
