"""The overhead of the CPU engine over python-graphblas, and the command line's time from a cold start.

The same lines run in sparsezc and in bare python-graphblas, in pairs that take turns, on one graph. A call may take 10%
and 20 microseconds more than the bare one; the least times are compared, as other load affects these least.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import graphblas
import numpy as np

graphblas.init("suitesparse", blocking=True)  # before any other use: its default mode gives wrong answers

import sparsezc as gb  # noqa: E402  (python-graphblas is started first)
from benchmarks.harness.frame import SEED, Case, Report, Trial, number, pick_sources, table  # noqa: E402
from benchmarks.harness.plot import plot  # noqa: E402
from benchmarks.harness.summary import summary  # noqa: E402
from sparsezc.core.access import forms  # noqa: E402

SHARE, MICROSECONDS = 0.10, 20.0  # the most that a call may take beyond the bare one
COLD_START_SECONDS = 5.0
ROOT = Path(__file__).resolve().parent.parent


class Pair(NamedTuple):
    """The same work in both libraries; `calls` returns the most library calls in it."""

    name: str
    ours: Callable[[], Any]
    bare: Callable[[], Any]
    calls: Callable[[], int]


def bfs_ours(A: Any, source: int) -> Any:
    return gb.algorithms.bfs(A, source)


def bfs_bare(G: Any, source: int) -> Any:
    """Run the lines of sparsezc.algorithms.bfs in python-graphblas."""
    level = graphblas.Vector("INT32", G.nrows)
    frontier = graphblas.Vector("BOOL", G.nrows)
    frontier[source] = True
    depth = 0
    while frontier.nvals:
        level(frontier.S) << depth
        frontier(~level.S, replace=True) << frontier.vxm(G, graphblas.semiring.any_pair["BOOL"])
        depth += 1
    return level


def into(library: Any, dtype: str, size: int, expression: Callable[[], Any]) -> Callable[[], Any]:
    """Return a call that writes an expression into an existing vector."""
    out = library.Vector(dtype, size)

    def call() -> Any:
        out << expression()
        return out

    return call


def pairs(name: str) -> list[Pair]:
    """Return pairs of mxv with A and with A' and a full vector, masked vxm with a hundredth of one, and bfs."""
    made: Any = gb.io.read(name, weights="hash:1-255")
    A = made.dup("FP64")
    indptr, ids, values = A.to_csr()
    n, source = A.nrows, pick_sources(np.diff(indptr.astype(np.int64)), 1)[0]
    G = graphblas.Matrix.from_csr(indptr, ids, values, ncols=n)
    some = np.sort(np.random.default_rng(SEED).choice(n, max(1, n // 100), replace=False))
    x, u = gb.Vector.from_dense(np.ones(n)), gb.Vector.from_coo(some, True, size=n)
    bare_x, bare_u = graphblas.Vector.from_dense(np.ones(n)), graphblas.Vector.from_coo(some, True, size=n)
    levels = int(bfs_bare(G, source).reduce(graphblas.monoid.max).value) + 1

    def vxm(library: Any, matrix: Any, vector: Any) -> Callable[[], Any]:
        out = library.Vector("BOOL", n)

        def call() -> Any:
            out(~vector.S, replace=True) << vector.vxm(matrix, library.semiring.any_pair["BOOL"])
            return out

        return call

    return [
        Pair(
            "mxv plus_times",
            into(gb, "FP64", n, lambda: A.mxv(x, gb.semiring.plus_times)),
            into(graphblas, "FP64", n, lambda: G.mxv(bare_x, graphblas.semiring.plus_times)),
            lambda: 1,
        ),
        Pair(  # for a symmetric A, algorithms compute the product with A' as that with A
            "mxv of A'",
            into(gb, "FP64", n, lambda: forms.turned(A).mxv(x, gb.semiring.plus_times)),
            into(graphblas, "FP64", n, lambda: G.T.mxv(bare_x, graphblas.semiring.plus_times)),
            lambda: 1,
        ),
        Pair("vxm any_pair, ~mask", vxm(gb, A, u), vxm(graphblas, G, bare_u), lambda: 1),
        Pair("bfs", lambda: bfs_ours(A, source), lambda: bfs_bare(G, source), lambda: 4 + 3 * levels),
    ]


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def compare(pair: Pair, repeats: int) -> Case:
    """Measure both halves in turns, ours first in every other pair; their answers must agree."""
    _agree(pair)
    case = Case(pair.name, {"calls": pair.calls()}, verified="yes")
    bare, ratios = [], []
    for turn in range(repeats):
        both = (pair.ours, pair.bare) if turn % 2 else (pair.bare, pair.ours)
        took = dict(zip(both, map(seconds, both), strict=True))
        case.trials.append(Trial(None, took[pair.ours], 0))
        bare.append(took[pair.bare])
        ratios.append(took[pair.ours] / took[pair.bare])
    case.peer, case.reference = "python-graphblas", summary(bare).median * 1e3
    least, calls = summary(bare).min, case.setting["calls"]
    allowed = (1 + SHARE) * least + MICROSECONDS * 1e-6 * calls
    case.notes = {
        "bare_seconds": bare,
        "ratio": summary(ratios),
        "bare_min_ms": least * 1e3,
        "microseconds_more_a_call": (case.seconds.min - least) / calls * 1e6,
        "within_limit": case.seconds.min <= allowed,
    }
    return case


def _agree(pair: Pair) -> None:
    ours, bare = pair.ours(), pair.bare()
    for one, other in zip(ours.to_coo(), bare.to_coo(), strict=True):
        if not (one.shape == other.shape and np.allclose(one, other)):
            raise AssertionError(f"{pair.name}: sparsezc and python-graphblas give different answers")


def snap_file(folder: Path, edges: int) -> Path:
    """Write a SNAP edge list of `edges` lines, with a quarter as many vertices."""
    rng = np.random.default_rng(SEED)
    path = folder / "edges.txt"
    pairs = rng.integers(0, max(2, edges // 4), (edges, 2))
    with path.open("w") as file:
        file.write("# Directed graph\n# FromNodeId\tToNodeId\n")
        file.write("\n".join(f"{u}\t{v}" for u, v in pairs.tolist()) + "\n")
    return path


def cold_start(report: Report, edges: int, repeats: int) -> None:
    """Measure `sparsezc bfs FILE` in a process of its own, from its start to its printed answer.

    A first run, which is not counted, writes the bytecode of all files, as pip does when it installs packages.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = snap_file(Path(folder), edges)
        source = int(path.read_text().split("\n", 3)[2].split()[0])
        command = [sys.executable, "-m", "sparsezc", "bfs", str(path), "--source", str(source), "--engine", "cpu"]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(Path(folder) / "bytecode")}
        case = Case(f"sparsezc bfs, {edges:,} edges, cold", {"calls": 1}, verified="not asked")
        for counted in [False] + [True] * repeats:
            start = time.perf_counter()
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
            if counted:
                case.trials.append(Trial(source, time.perf_counter() - start, path.stat().st_size))
            if done.returncode or not done.stdout.strip():
                raise RuntimeError(f"sparsezc bfs ended with {done.returncode}: {done.stderr.strip()[-500:]}")
        case.peer, case.reference = "limit", COLD_START_SECONDS * 1e3
        case.notes = {"within_limit": case.seconds.median <= COLD_START_SECONDS}
        report.add(case)


def printed(report: Report) -> str:
    """Return the table of an overhead report; times in ms."""
    header = ["case", "min ms", "median", "max", "beside", "its min", "its median", "ratio min", "median", "max"]
    header += ["us more a call", "limit"]
    rows = []
    for case in report.cases:
        notes = case.notes
        rows.append(
            (case.name, *(number(second * 1e3) for second in case.seconds), case.peer, number(notes.get("bare_min_ms")),
             number(case.reference), *map(number, notes.get("ratio", (None, None, None))),
             number(notes.get("microseconds_more_a_call")), "kept" if notes["within_limit"] else "BROKEN")
        )  # fmt: skip
    return table(header, rows)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead", description=__doc__.splitlines()[0])
    parser.add_argument("--graph", default="kron:16")
    parser.add_argument("--repeats", type=int, default=21, help="pairs of calls")
    parser.add_argument("--edges", type=int, default=1_000_000, help="lines of the cold start's file; 0: leave it out")
    parser.add_argument("--starts", type=int, default=3, help="cold starts")
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    given = parser.parse_args(arguments)
    report = Report("overhead", "ms", given.out)
    with gb.config.set(engine="cpu", progress=False), report.part("overhead"):
        for pair in pairs(given.graph):
            report.add(compare(pair, given.repeats))
    if given.edges:
        with report.part("cold start"):
            cold_start(report, given.edges, given.starts)
    print(printed(report))
    report.end(plot(report))
    kept = all(case.notes["within_limit"] for case in report.cases)
    return 0 if report.ok and kept else 1


if __name__ == "__main__":
    sys.exit(main())
