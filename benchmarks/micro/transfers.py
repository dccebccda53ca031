"""Transfers of the rows that a product wants: ``python -m benchmarks.micro.transfers``, on a GPU, about two minutes.

A product under a mask wants a share of the rows, here and there, of a graph in pinned pages (random_circulant.py). It
is served in each of the ways that papers have: read in place (zerocopy), put together by the host's threads and copied
(gather), whole ranges copied (stream); and by `hybrid`, which keeps a hundredth on the card here and chooses one of
these ways for the rest, by rates that it measures itself.
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
from benchmarks.harness import copyrate
from benchmarks.harness.frame import SEED, Case, Report, measure, number, table
from benchmarks.harness.plot import plot
from benchmarks.micro.random_circulant import SHIFTS, Shifted, served
from benchmarks.verify.answers import Wrong
from sparsezc.device import cuda
from sparsezc.memory import budget
from sparsezc.memory.csr import Csr

SHARES = [0.004, 0.01, 0.03, 0.1, 0.3, 1.0]
WAYS = ("zerocopy", "gather", "stream", "hybrid")
_KEPT = 0.01  # of the entries, by hybrid
_SHIFTS_OF_A_NEIGHBOUR = 16  # where rows are short, fewer shifts do
HEADER = [
    "rows of",
    "wanted",
    "M entries",
    "placement",
    "min ms",
    "median",
    "max",
    "GB/s",
    "of copy",
    "of in place",
    "ok",
]


def run(csr: Csr, mean: float, share: float, report: Report, trials: int) -> None:
    """One share of the rows, in all ways."""
    xp = cuda.current().xp
    kept = np.random.default_rng(SEED).random(csr.nrows) < share
    sums = np.where(kept, np.diff(csr.indptr), 0)  # of ones: what a row's sum must be
    mask, x = gb.io.from_array(xp.asarray(kept)), gb.Vector.from_scalar(1, csr.nrows, "FP32")
    y, op, entries = gb.Vector("FP32", csr.nrows), gb.semiring.plus_second["FP32"], int(sums.sum())

    def product(A: Any) -> Callable[[None], Any]:
        def call(_given: None) -> Any:
            y(mask.V, replace=True) << A.mxv(x, op)
            return y

        return call

    def check(_given: None, found: Any) -> None:
        if not np.array_equal(cuda.current().asnumpy(gb.io.to_array(found, 0)), sums):
            raise Wrong("a row's sum is not its number of entries")

    first: Case | None = None
    for way in WAYS:
        setting = {"graph": f"shifted, mean {mean:g}", "placement": way, "share": share, "entries": entries,
                   "bytes": csr.indices.nbytes, "memory": csr.indices.pages}  # fmt: skip
        case = Case(f"mxv of {share:.2%} of the rows", setting, rate=report.rates["zerocopy"])
        space = budget.working_bytes(csr.nrows) + int(_KEPT * csr.indices.nbytes) if way == "hybrid" else None
        with report.part(f"{case.name}, {way}"), gb.config.set(budget=space):
            measure(
                case, product(served(csr, way)), trials=trials, nbytes=lambda *_: entries * csr.indices.dtype.itemsize,
                synchronize=cuda.current().synchronize, verify=check,
            )  # fmt: skip
            if way == WAYS[0]:
                first = case
            case.notes["in_place"] = case.figure("ms") / first.figure("ms") if first else None
            report.add(case)
            print("  " + "  ".join(row(case)), flush=True)


def row(case: Case) -> list[str]:
    setting = case.setting
    return [
        setting["graph"].removeprefix("shifted, "), f"{setting['share']:.2%}", number(setting["entries"] / 1e6),
        setting["placement"], *(number(second * 1e3) for second in case.seconds), number(case.figure("GB/s")),
        number(case.share), number(case.notes["in_place"]), case.verified,
    ]  # fmt: skip


def numbers(text: str) -> list[float]:
    return [float(word) for word in text.split(",")]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.micro.transfers", description=__doc__.splitlines()[0])
    parser.add_argument("--gib", type=float, default=16.0, help="GiB of ids of each graph (16)")
    parser.add_argument("--means", type=numbers, default=[150.0, 16.0], help="entries of a row (150,16)")
    parser.add_argument("--shares", type=numbers, default=SHARES, help="of the rows that are wanted")
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--copy-mib", type=int, default=1024, help="MiB that the copy rate is measured with")
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    options = parser.parse_args(arguments)
    if options.gib <= 0 or options.trials < 1 or min(options.means) < 1:
        parser.error("--gib must be above 0, --trials and --means at least 1")
    if not all(0 < share <= 1 for share in options.shares):
        parser.error("--shares must be above 0 and at most 1")
    if why := cuda.reason():
        print(f"this reads edges over a GPU's host link: {why}")
        return 2
    report = Report("ways", "GB/s", options.out)
    with gb.config.set(engine="gpu", progress=False):
        report.rates["zerocopy"] = copyrate.copy_rate("zerocopy", options.copy_mib << 20)
        for mean in options.means:
            with report.part(f"the graph of mean {mean:g}"):
                shifts = max(32, min(SHIFTS, int(_SHIFTS_OF_A_NEIGHBOUR * mean)))
                graph = Shifted.of(int(options.gib * 2**28), mean, shifts, None, SEED)
                csr = graph.csr("gather")  # whose pages are pinned for every reader
                for share in options.shares:
                    run(csr, mean, share, report, options.trials)
                del csr
            gc.collect()
    print(table(HEADER, map(row, report.cases), left=4))
    report.end(plot(report))
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
