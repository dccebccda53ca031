"""mxv over rows of every length: ``python -m benchmarks.shapes``, on a GPU, under two minutes.

Matrices of about as many entries whose rows differ: a star, a path, a grid, a power law, one giant row, empty rows,
mean degrees from 1 to 64, long and short rows in turns. Each is multiplied by a full vector; the time for each byte
that has to move is held against that of rows of 2,048 entries, which are read as a stream. No shape should take
twice as long.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sparsezc as gb
from benchmarks import copyrate
from benchmarks.frame import SEED, Case, Report, measure, number, table
from benchmarks.plot import plot
from benchmarks.verify import Wrong
from benchmarks.where import placements
from sparsezc import device, memory
from sparsezc.csr import Csr
from sparsezc.semirings.types import lookup

Lengths = NDArray[np.int64]

STREAM = "stream"
LIMIT = 2.0  # times the stream's time for each byte
ID, VALUE, SECTOR = 4, 4, 32
_PART = 1 << 24  # entries that are made at a time
HEADER = [
    "shape",
    "placement",
    "rows",
    "entries",
    "min ms",
    "median",
    "max",
    "MB",
    "GB/s",
    "of copy",
    "of stream",
    "limit",
    "ok",
]


def _power_law(entries: int) -> Lengths:
    """Degrees of a Kronecker graph with 16 entries a row (Graph500's .57 .19 .19 .05): half of the rows are empty."""
    rng = np.random.default_rng(SEED)
    scale = max(1, (entries // 16).bit_length() - 1)
    count = np.zeros(1, np.int64) + entries
    for _ in range(scale):  # the entries of a range of rows fall into its halves
        first = rng.binomial(count, 0.76)
        count = np.stack([first, count - first], 1).ravel()
    return rng.permutation(count)


def _degree(mean: int) -> Callable[[int], Lengths]:
    return lambda entries: np.random.default_rng(SEED).poisson(mean, entries // mean)


def _sparse(entries: int) -> Lengths:
    lengths = np.zeros(entries, np.int64)
    lengths[::1024] = 1
    return lengths


def _giant(entries: int) -> Lengths:
    lengths = np.zeros(max(2, entries // 64), np.int64)
    lengths[lengths.size // 2] = entries
    return lengths


SHAPES: dict[str, Callable[[int], Lengths]] = {
    STREAM: lambda entries: np.full(max(1, entries // 2048), 2048),
    "star": lambda entries: np.append(entries // 2, np.ones(entries // 2, np.int64)),
    "path": lambda entries: np.full(entries // 2, 2),
    "grid": lambda entries: np.full(entries // 4, 4),
    "power law": _power_law,
    "one giant row": _giant,
    "empty rows": _sparse,
    "1 and 4096 in turns": lambda entries: np.tile([1, 4096], max(1, entries // 4097)),
    **{f"mean degree {mean}": _degree(mean) for mean in (1, 2, 4, 8, 16, 32, 64)},
}


def matrix(lengths: Lengths, ncols: int, placement: str) -> Any:
    """Rows of these lengths, each with its ids spread over all columns; every value is the same."""
    xp = device.current().xp
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    ids, values = memory.allocate(placement, int(indptr[-1]), "uint32"), memory.allocate(placement, 1, "float32")
    values.write(0, np.ones(1, np.float32))
    offsets = xp.asarray(indptr)
    for start in range(0, ids.count, _PART):
        at = xp.arange(start, min(start + _PART, ids.count))
        row = xp.searchsorted(offsets, at, side="right") - 1
        shift = row * 2654435761 % 997 / 1000  # neighbouring rows have other ids
        ids.write(start, ((at - offsets[row] + shift) * (ncols / (offsets[row + 1] - offsets[row]))).astype(np.uint32))
    csr = Csr(lengths.size, ncols, indptr, ids, values, lookup("FP32"), iso=True)
    return gb.Matrix._from_csr(csr, "gpu")


def nbytes(lengths: Lengths, placement: str, link_over_device: float) -> int:
    """Bytes that have to move, in those of the placement: ids, and over the card's own, faster memory each row's
    offset and result and each entry's look at the vector, which takes a sector.

    >>> nbytes(np.array([3, 0]), "device", 0.0)
    133
    """
    near = (8 + VALUE) * lengths.size + -(-lengths.size // 8) + SECTOR * int(lengths.sum())
    return ID * int(lengths.sum()) + round(near * (1 if placement == "device" else link_over_device))


def run_shape(name: str, placement: str, report: Report, options: argparse.Namespace) -> None:
    gpu = device.current()
    entries = 1 << options.entries
    lengths = np.asarray(SHAPES[name](entries), np.int64)
    ncols = int(max(entries, lengths.max()))
    A = matrix(lengths, ncols, placement)
    x, y = gb.Vector.from_scalar(1, ncols, "FP32"), gb.Vector("FP32", lengths.size)
    op = gb.semiring.plus_second["FP32"]

    def call(_given: None) -> Any:
        y << A.mxv(x, op)
        return y

    def check(_given: None, found: Any) -> None:
        if not (found.to_dense(0) == lengths).all():
            raise Wrong("a row's sum is not its number of entries")

    setting = {"graph": name, "placement": placement, "nrows": lengths.size, "nvals": int(lengths.sum())}
    case = Case("mxv plus_second", setting, rate=report.rates[placement])
    moved = nbytes(lengths, placement, report.rates["zerocopy"] / report.rates["device"])
    measure(case, call, trials=options.trials, nbytes=lambda *_: moved, synchronize=gpu.synchronize, verify=check)
    stream = next((each for each in report.cases if each.setting["placement"] == placement), case)
    case.notes["of_stream"] = stream.bytes_per_second / case.bytes_per_second
    report.add(case)
    print(f"  {name}, {placement}: {number(case.figure('ms'))} ms, {case.notes['of_stream']:.2f} of stream", flush=True)


def row(case: Case) -> list[str]:
    setting, ratio = case.setting, case.notes["of_stream"]
    return [
        setting["graph"], setting["placement"], f"{setting['nrows']:,}", f"{setting['nvals']:,}",
        *(number(second * 1e3) for second in case.seconds), number(case.nbytes / 1e6), number(case.figure("GB/s")),
        number(case.share), number(ratio), "kept" if ratio <= LIMIT else "BROKEN", case.verified,
    ]  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shapes", description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=26, help="2^N entries a matrix")
    parser.add_argument("--shapes", default=",".join(SHAPES), help=f"of {', '.join(SHAPES)}; {STREAM} comes first")
    parser.add_argument("--placement", default="zerocopy,device")
    parser.add_argument("--trials", type=int, default=7)
    parser.add_argument("--copy-mib", type=int, default=1024, help="MiB that the copy rates are measured with")
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    options = parser.parse_args(arguments)
    options.placements = placements(parser, options.placement)
    options.shapes = list(dict.fromkeys([STREAM, *options.shapes.split(",")]))
    if unknown := set(options.shapes) - set(SHAPES):
        parser.error(f"--shapes: {sorted(unknown)[0]!r} is none of {', '.join(SHAPES)}")
    if min(options.trials, options.copy_mib, options.entries - 10) < 1:
        parser.error("--trials and --copy-mib must be at least 1, --entries at least 11")
    if why := device.reason():
        print(f"the shapes benchmark needs a GPU: {why}")
        return 2
    report = Report("shapes", "GB/s", options.out)
    with gb.config.set(engine="gpu", progress=False):
        for placement in ("zerocopy", "device"):
            report.rates[placement] = copyrate.of(placement, options.copy_mib << 20)
        for placement in options.placements:
            for name in options.shapes:
                with report.part(f"{name}, {placement}"):
                    run_shape(name, placement, report, options)
                gc.collect()
    print(table(HEADER, map(row, report.cases), left=2))
    report.end(plot(report))
    kept = all(case.notes["of_stream"] <= LIMIT for case in report.cases)
    return 0 if report.ok and kept else 1


if __name__ == "__main__":
    sys.exit(main())
