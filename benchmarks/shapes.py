"""Products over rows of every length: ``python -m benchmarks.shapes``, on a GPU, in about a minute.

Matrices of about equally many entries differ in their rows: a star, a path, a grid, a power law, one giant row, empty
rows, mean degrees from 1 to 64, alternating long and short rows. Each is multiplied by a full vector, and by a full
vector under a mask of a tenth of the rows; and a tenth of the rows is pushed. The time a byte that has to move is
compared with that of rows of 2,048 entries, which are read as a stream. If all rows are read, no shape should take
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
from benchmarks.harness import copyrate
from benchmarks.harness.engine_choice import placements
from benchmarks.harness.frame import SEED, Case, Report, measure, number, table
from benchmarks.harness.plot import plot
from benchmarks.verify.answers import Wrong
from sparsezc import memory
from sparsezc.device import cuda
from sparsezc.memory.csr import Csr
from sparsezc.semirings.types.datatypes import lookup

Lengths = NDArray[np.int64]

STREAM = "stream"
FULL = "mxv plus_second"
LIMIT = 2.0  # most, over the stream's time a byte, if all rows are read; of lines of some rows, many bytes are unwanted
SOME = 0.1  # share of the rows that are wanted or pushed, if not all are
ID, VALUE, SECTOR = 4, 4, 32
_PART = 1 << 24  # entries that are generated at a time
HEADER = [
    "shape",
    "placement",
    "product",
    "rows read",
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
    """Return degrees as of a Kronecker graph with 16 entries a row (Graph500's .57 .19 .19 .05); half are 0."""
    rng = np.random.default_rng(SEED)
    scale = max(1, (entries // 16).bit_length() - 1)
    count = np.zeros(1, np.int64) + entries
    for _ in range(scale):  # divides the entries of each range of rows between its halves
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
    """Return a matrix of rows of these lengths, each with its ids spread over all columns; all values are 1."""
    xp = cuda.current().xp
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    ids, values = memory.allocate(placement, int(indptr[-1]), "uint32"), memory.allocate(placement, 1, "float32")
    values.write(0, np.ones(1, np.float32))
    offsets = xp.asarray(indptr)
    for start in range(0, ids.count, _PART):
        at = xp.arange(start, min(start + _PART, ids.count))
        row = xp.searchsorted(offsets, at, side="right") - 1
        shift = row * 2654435761 % 997 / 1000  # so that neighbouring rows differ in their ids
        ids.write(start, ((at - offsets[row] + shift) * (ncols / (offsets[row + 1] - offsets[row]))).astype(np.uint32))
    csr = Csr(lengths.size, ncols, indptr, ids, values, lookup("FP32"), iso=True)
    return gb.Matrix._from_csr(csr, "gpu")


def nbytes(nrows: int, entries: int, results: int, placement: str, link_over_device: float) -> int:
    """Return the bytes that have to move, in bytes of the placement's memory.

    These are the ids of the entries that are read, and in device memory, where a byte takes less time, the rows'
    offsets, the results, and for each entry a sector of the vector.

    >>> nbytes(2, 3, 2, "device", 0.0)
    133
    """
    near = 8 * nrows + VALUE * results + -(-results // 8) + SECTOR * entries
    return ID * entries + round(near * (1 if placement == "device" else link_over_device))


def some_of(lengths: Lengths) -> NDArray[np.bool_]:
    """Return a tenth of the rows, at random, the longest among them."""
    chosen = np.random.default_rng(SEED).random(lengths.size) < SOME
    chosen[lengths.argmax()] = True
    return chosen


def column_counts(A: Any, chosen: NDArray[np.bool_]) -> Lengths:
    """Return the number of entries of each column in the chosen rows."""
    csr, gpu = A._to_csr(), cuda.current()
    begin, length = csr.indptr[:-1][chosen], np.diff(csr.indptr)[chosen]
    at = np.arange(length.sum()) + np.repeat(begin - np.cumsum(length) + length, length)
    ids = gpu.xp.asarray(csr.indices.read())[gpu.xp.asarray(at)]
    counts: Lengths = gpu.asnumpy(gpu.xp.bincount(ids, minlength=csr.ncols))
    return counts


def equal(expected: Lengths) -> Callable[[None, Any], None]:
    def check(_given: None, found: Any) -> None:
        if not (found.to_dense(0) == expected).all():
            raise Wrong("a sum differs from its number of entries")

    return check


def run_shape(
    name: str, lengths: Lengths, chosen: NDArray[np.bool_], placement: str, report: Report, options: argparse.Namespace
) -> None:
    """Make a matrix, and measure its three products."""
    nrows, ncols = lengths.size, int(max(1 << options.entries, lengths.max()))
    A = matrix(lengths, ncols, placement)
    x, y, z = gb.Vector.from_scalar(1, ncols, "FP32"), gb.Vector("FP32", nrows), gb.Vector("FP32", ncols)
    second, first = gb.semiring.plus_second["FP32"], gb.semiring.plus_first["FP32"]
    q = gb.Vector.from_coo(np.flatnonzero(chosen), 1, "FP32", size=nrows)

    def full(_given: None) -> Any:
        y << A.mxv(x, second)
        return y

    def masked(_given: None) -> Any:
        y(q.S, replace=True) << A.mxv(x, second)
        return y

    def pushed(_given: None) -> Any:
        z << q.vxm(A, first)
        return z

    every = np.ones(nrows, np.bool_)
    for product, call, read, expected in (
        (FULL, full, every, lambda: lengths),
        ("mxv, a tenth wanted", masked, chosen, lambda: np.where(chosen, lengths, 0)),
        ("vxm, a tenth pushed", pushed, chosen, lambda: column_counts(A, chosen)),
    ):
        setting = {"graph": name, "placement": placement, "nrows": nrows, "nvals": int(lengths.sum())}
        setting |= {"rows_read": int(read.sum()), "entries_read": int(lengths[read].sum())}
        sizes = nrows, setting["entries_read"], ncols if call is pushed else nrows
        run_product(
            Case(product, setting, rate=report.rates[placement]), call, sizes, equal(expected()), report, options
        )


def run_product(
    case: Case, call: Callable[[None], Any], sizes: tuple[int, int, int], check: Callable[[None, Any], None],
    report: Report, options: argparse.Namespace,
) -> None:  # fmt: skip
    """Measure one product, and compare it with the stream's."""
    placement = case.setting["placement"]
    moved = nbytes(*sizes, placement, report.rates["zerocopy"] / report.rates["device"])
    wait = cuda.current().synchronize
    measure(case, call, trials=options.trials, nbytes=lambda *_: moved, synchronize=wait, verify=check)
    alike = (each for each in report.cases if (each.name, each.setting["placement"]) == (case.name, placement))
    case.notes["of_stream"] = next(alike, case).bytes_per_second / case.bytes_per_second
    report.add(case)
    print(f"  {case.label}: {number(case.figure('ms'))} ms, {case.notes['of_stream']:.2f} of stream", flush=True)


def kept(case: Case) -> bool | None:
    """Return whether a shape's time a byte is within the limit; None for products without a limit."""
    return bool(case.notes["of_stream"] <= LIMIT) if case.name == FULL else None


def row(case: Case) -> list[str]:
    setting = case.setting
    return [
        setting["graph"], setting["placement"], case.name, f"{setting['rows_read']:,}", f"{setting['entries_read']:,}",
        *(number(second * 1e3) for second in case.seconds), number(case.nbytes / 1e6), number(case.figure("GB/s")),
        number(case.share), number(case.notes["of_stream"]), {None: "-", True: "kept", False: "BROKEN"}[kept(case)],
        case.verified,
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
    if why := cuda.reason():
        print(f"the shapes benchmark needs a GPU: {why}")
        return 2
    report = Report("shapes", "GB/s", options.out)
    with gb.config.set(engine="gpu", progress=False):
        for placement in ("zerocopy", "device"):
            report.rates[placement] = copyrate.copy_rate(placement, options.copy_mib << 20)
        for name in options.shapes:
            lengths = np.asarray(SHAPES[name](1 << options.entries), np.int64)
            chosen = some_of(lengths)
            for placement in options.placements:
                with report.part(f"{name}, {placement}"):
                    run_shape(name, lengths, chosen, placement, report, options)
                gc.collect()
    print(table(HEADER, map(row, report.cases), left=3))
    report.end(plot(report))
    return 0 if report.ok and not any(kept(case) is False for case in report.cases) else 1


if __name__ == "__main__":
    sys.exit(main())
