"""One row per warp compared with 32: ``python -m benchmarks.rows_per_warp``, on a GPU, in about two minutes.

Matrices of equally many entries, each with one mean length of rows, are multiplied by a full vector (a pull), and a
tenth of their rows is pushed, with ``gb.config.rows_per_warp`` at 1, "auto" and 32 in turns. The ratios within a turn
show the length from which one row a warp is no slower; "auto" uses it (engines/gpu/products/rows_per_warp.py).
Matrices of short rows and one hub, of `--hubs` entries, show the cost of a hub that one warp reads instead of many.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import sparsezc as gb
from benchmarks.harness.engine_choice import placements
from benchmarks.harness.frame import SEED, Case, Report, Trial, number, table, timed
from benchmarks.harness.plot import plot
from benchmarks.shapes import ID, matrix, some_of
from sparsezc.device import cuda

MEANS = (4, 16, 32, 64, 96, 128, 192, 256, 384, 512, 1024, 2048)
HUBS = (10_000, 100_000, 1_000_000)
BESIDE_HUBS = 16  # the mean length of the rows besides the hub
HEADER = ["mean length", "hub", "entries", "placement", "product", "1: ms", "auto: ms", "32: ms"]
HEADER += ["1 / 32, min", "median", "max", "auto / 32, min", "median", "max"]
SETTINGS = (1, "auto", 32)


def calls(A: Any, chosen: Any) -> dict[str, Callable[[], Any]]:
    """Return the calls of the products with a matrix, by name."""
    x, y, z = gb.Vector.from_scalar(1, A.ncols, "FP32"), gb.Vector("FP32", A.nrows), gb.Vector("FP32", A.ncols)
    q = gb.Vector.from_coo(np.flatnonzero(chosen), 1, "FP32", size=A.nrows)
    return {
        "pull": lambda: y << A.mxv(x, gb.semiring.plus_second["FP32"]),
        "push": lambda: z << q.vxm(A, gb.semiring.plus_first["FP32"]),
    }


def compare(report: Report, mean: int, hub: int, entries: int, placement: str, trials: int) -> None:
    """Measure all settings in turns on one matrix, whose first row has `hub` entries if `hub` is not 0."""
    lengths = np.random.default_rng(SEED).poisson(mean, max(1, entries // mean))
    lengths[0] = hub or lengths[0]
    wait = cuda.current().synchronize
    A = matrix(lengths, max(entries // 16, int(lengths.max())), placement)
    chosen = some_of(lengths)
    nbytes = {"pull": ID * int(lengths.sum()), "push": ID * int(lengths[chosen].sum())}  # bytes of read ids
    for product, call in calls(A, chosen).items():
        seconds: dict[int | str, list[float]] = {setting: [] for setting in SETTINGS}
        for trial in range(trials + 2):
            for setting, times in seconds.items():
                with gb.config.set(rows_per_warp=setting, head_cache="off"):
                    call()  # drops the previous setting's caches, and builds this one's
                    _, took = timed(call, wait)
                if trial > 1:  # the first compiles, the second warms
                    times.append(took)
        where = {"mean": mean, "hub": hub, "entries": entries, "placement": placement}
        for setting, times in seconds.items():
            case = Case(product, where | {"rows_per_warp": setting}, [Trial(None, t, nbytes[product]) for t in times])
            case.verified = "not asked"
            ratios = [one / many for one, many in zip(times, seconds[32], strict=True)]
            case.notes = {"ratio_min": min(ratios), "ratio": median(ratios), "ratio_max": max(ratios)}
            report.add(case)


def rows(report: Report) -> list[list[str]]:
    """Return a table row for each product, from its cases, one a setting."""
    found = []
    for together in zip(*(report.cases[k :: len(SETTINGS)] for k in range(len(SETTINGS))), strict=True):
        setting, name = together[0].setting, together[0].name
        where = str(setting["mean"]), f"{setting['hub']:,}", f"{setting['entries']:,}", setting["placement"], name
        times = (number(1e3 * case.seconds.median) for case in together)
        keys = "ratio_min", "ratio", "ratio_max"
        found.append([*where, *times, *(f"{case.notes[key]:.2f}" for case in together[:-1] for key in keys)])
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rows_per_warp", description=__doc__.splitlines()[0])
    parser.add_argument("--entries", default="20,26", help="2^N entries a matrix, several by commas")
    parser.add_argument("--means", default=",".join(map(str, MEANS)), help="mean lengths of a row")
    parser.add_argument("--hubs", default=",".join(map(str, HUBS)), help="entries of a hub among short rows")
    parser.add_argument("--placement", default="zerocopy,device")
    parser.add_argument("--trials", type=int, default=9)
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    options = parser.parse_args(arguments)
    options.placements = placements(parser, options.placement)
    if why := cuda.reason():
        print(f"this benchmark needs a GPU: {why}")
        return 2
    report = Report("rows_per_warp", "ms", options.out)
    with gb.config.set(engine="gpu", progress=False):
        for power in map(int, options.entries.split(",")):
            shapes = [(int(mean), 0) for mean in options.means.split(",") if mean]
            shapes += [(BESIDE_HUBS, int(hub)) for hub in options.hubs.split(",") if hub]
            for mean, hub in shapes:
                for placement in options.placements:
                    with report.part(f"2^{power} entries, mean {mean}, hub {hub}, {placement}"):
                        compare(report, mean, hub, 1 << power, placement, options.trials)
    print(table(HEADER, rows(report), left=5))
    report.end(plot(report))
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
