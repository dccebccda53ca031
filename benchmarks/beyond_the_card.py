"""Edges that exceed the card: ``python -m benchmarks.beyond_the_card --gib 150``, on a GPU, a few minutes.

A symmetric random graph (shifted.py) whose ids alone take so many GiB of host memory is made on the card and copied to
where it stays. Breadth-first searches, connected components, an iteration of PageRank and a product (plus_second, FP64)
run over the link. Their first answers are held against the edges by the host's cores (verify_rows.py); the others
(with the row-head cache, from another placement) must be the same again.

150 GiB of edges want 195 GiB of host memory and 40 GiB of the card's. Where the host has less, as many edges are taken
as fit.
"""

from __future__ import annotations

import argparse
import copy
import gc
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import sparsezc as gb
from benchmarks import copyrate, verify_rows
from benchmarks.frame import SEED, Case, Report, measure, number, table
from benchmarks.plot import plot
from benchmarks.shifted import MEAN, SHIFTS, Shifted
from benchmarks.verify import Wrong
from sparsezc import device
from sparsezc.csr import Csr
from sparsezc.memory import budget

GIB = 1 << 30
KERNELS = ("spmv", "pagerank", "bfs", "cc")
HEADED = ("bfs", "cc")  # those that the row-head cache serves
PLACEMENTS = ("zerocopy", "hybrid")
DAMPING = 0.85
SAMPLE = 256  # rows that are made again on the host
_BESIDE = 100  # bytes a vertex that offsets, answers and checks take of the host's memory beside the edges
HEADER = ["placement", "what", "heads", "GB", "min s", "median", "max", "GB/s", "of copy", "ok"]


class Clock:
    """Says what goes on and for how long it has."""

    def __init__(self) -> None:
        self.start = time.perf_counter()

    def __call__(self, text: str) -> None:
        print(f"[{time.perf_counter() - self.start:6.1f} s] {text}", flush=True)


class Kernel(NamedTuple):
    """What is measured: a call, what stands for entries that its answer lacks, and a proof that this is right."""

    call: Callable[[Any], Any]
    inputs: list[Any]
    missing: Any
    check: Callable[[Any, NDArray[Any]], None]
    nbytes: Callable[[Any, Any], int]


def fitting(gib: float, mean: float) -> float:
    """GiB of edges that the host's memory has room for, at most those asked for."""
    room = budget.host_available()
    beside = 1 + _BESIDE / (4 * mean)
    return gib if room is None else min(gib, room / beside / GIB)


class Bench:
    """One graph, its right answers, and the cases."""

    def __init__(self, report: Report, options: argparse.Namespace, say: Clock) -> None:
        self.report, self.options, self.say = report, options, say
        self.right: dict[tuple[str, Any], NDArray[Any]] = {}  # answers that were found right, by kernel and input

    def make(self) -> None:
        options = self.options
        gib = fitting(options.gib, options.mean)
        if gib < options.gib:
            self.say(f"{options.gib:g} GiB of edges do not fit this machine's memory: {gib:.1f} are taken")
        self.graph = Shifted.of(int(gib * GIB / 4), options.mean, options.shifts, options.reach, options.seed)
        self.csr: Csr = self.graph.csr("zerocopy", said=self.say)
        self.degree = np.diff(self.csr.indptr)
        card = device.current().memory()[1]
        self.say(
            f"made: {self.csr.nrows:,} vertices, {self.csr.nvals:,} entries in rows of up to {self.degree.max():,},"
            f" {self.csr.indices.nbytes / GIB:.1f} GiB in {self.csr.indices.pages} memory;"
            f" the card has {card / GIB:.1f} GiB"
        )
        self.setting = {
            "graph": "shifted", "vertices": self.csr.nrows, "entries": self.csr.nvals, "edge_bytes":
            self.csr.indices.nbytes, "card_bytes": card, "memory": self.csr.indices.pages, "reach": options.reach,
        }  # fmt: skip

    def structure(self) -> None:
        """Is the graph what it says it is? Its ids ascend, and some rows are made again on the host."""
        verify_rows.structure(self.csr)
        rng = np.random.default_rng(SEED)
        for v in rng.integers(0, self.csr.nrows, min(SAMPLE, self.csr.nrows)).tolist():
            made = self.csr.indices.read(*map(int, self.csr.indptr[v : v + 2]))
            if not np.array_equal(made, self.graph.row(v)):
                raise Wrong(f"row {v} is not what it is on the host")
            if made.size and v not in self.csr.indices.read(*map(int, self.csr.indptr[made[0] : made[0] + 2])):
                raise Wrong(f"the edge from {v} to {made[0]} has no other direction")
        self.say(f"the structure is right ({verify_rows.cores()} cores)")

    def sources(self) -> list[int]:
        """Vertices that are no crumbs, the same ones for the same graph."""
        rng = np.random.default_rng(SEED)
        drawn = rng.integers(0, self.csr.nrows, 16 * self.options.sources + 64)
        good = drawn[(self.graph.weight(drawn) > 0) & (self.degree[drawn] > 0)]
        return [int(v) for v in good[: self.options.sources]]

    def kernels(self, A: Any) -> Iterator[tuple[str, Kernel]]:
        csr, ids, gpu = self.csr, self.csr.indices, device.current()
        x = np.random.default_rng(SEED).random(csr.nrows)
        given, w = gb.io.from_array(gpu.xp.asarray(x)), gb.Vector(float, csr.nrows)

        def product(_: None) -> Any:
            w << A.mxv(given, gb.semiring.plus_second["FP64"])
            return w

        def reached_bytes(source: int, _level: Any) -> int:
            level = self.right.get(("bfs", source))  # none: it is wrong
            return ids.nbytes if level is None else int(self.degree[level >= 0].sum()) * ids.dtype.itemsize

        def all_bytes(*_: Any) -> int:
            return ids.nbytes

        def labelled(_: None, label: NDArray[Any]) -> None:
            level = next((level for (name, _), level in self.right.items() if name == "bfs"), None)
            verify_rows.components(csr, label, np.zeros(csr.nrows, bool) if level is None else level >= 0)

        make = {
            "spmv": lambda: Kernel(
                product, [None], 0.0, lambda _, y: verify_rows.product(csr, x, y), all_bytes),
            "pagerank": lambda: Kernel(
                lambda _: gb.algorithms.pagerank(A, DAMPING, None, 1), [None], None,
                lambda _, rank: verify_rows.pagerank(csr, rank, DAMPING), all_bytes),
            "bfs": lambda: Kernel(
                partial(gb.algorithms.bfs, A), self.sources(), -1,
                lambda source, level: verify_rows.bfs(csr, level, source), reached_bytes),
            "cc": lambda: Kernel(
                lambda _: gb.algorithms.connected_components(A), [None], None, labelled, all_bytes),
        }  # fmt: skip
        yield from ((name, make[name]()) for name in KERNELS if name in self.options.kernels)

    def run(self, placement: str) -> None:
        """The cases of a placement: the same pages, served in another way."""
        ids = copy.copy(self.csr.indices)
        ids.placement = placement
        csr = self.csr
        A = gb.Matrix._from_csr(
            Csr(csr.nrows, csr.ncols, csr.indptr, ids, csr.values, csr.dtype, csr.iso, csr.symmetric), "gpu"
        )
        for name, kernel in self.kernels(A):
            for heads in ("off", "on") if name in HEADED and placement == "zerocopy" else ("off",):
                with self.report.part(f"{name}, {placement}, heads {heads}"), gb.config.set(head_cache=heads):
                    self.case(name, kernel, placement, heads)

    def case(self, name: str, kernel: Kernel, placement: str, heads: str) -> None:
        setting = self.setting | {"placement": placement, "heads": heads}
        case = Case(name, setting, rate=self.report.rates["zerocopy"])
        measure(
            case, kernel.call, kernel.inputs, trials=self.options.trials, nbytes=kernel.nbytes,
            synchronize=device.current().synchronize, verify=partial(self.judge, name, kernel), verify_all=True,
        )  # fmt: skip
        self.report.add(case)
        self.say("  ".join(row(case)))

    def judge(self, name: str, kernel: Kernel, given: Any, answer: Any) -> None:
        """A first answer by proof, which takes a pass of the host over the edges; from then on that it is the same."""
        found = device.current().asnumpy(gb.io.to_array(answer, kernel.missing))
        known = self.right.get((name, given))
        if known is None:
            begun = time.perf_counter()
            kernel.check(given, found)
            self.right[name, given] = found.copy()  # it may be the vector's own memory
            self.say(f"{name}: verified in {time.perf_counter() - begun:.1f} s")
        elif not (np.array_equal(found, known) if found.dtype.kind == "i" else np.allclose(found, known, 1e-9, 0)):
            raise Wrong("the answer differs from the one that was verified")


def row(case: Case) -> list[str]:
    return [
        case.setting["placement"], case.name, case.setting["heads"], number(case.nbytes / 1e9),
        *(number(second) for second in case.seconds), number(case.figure("GB/s")), number(case.share), case.verified,
    ]  # fmt: skip


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beyond_the_card", description=__doc__.splitlines()[0])
    parser.add_argument("--gib", type=float, default=150.0, help="GiB of edges, 4 bytes an entry (150)")
    parser.add_argument("--kernels", default=",".join(KERNELS), help=f"among {', '.join(KERNELS)} (all)")
    parser.add_argument("--placements", default=",".join(PLACEMENTS), help=f"among {', '.join(PLACEMENTS)} (both)")
    parser.add_argument("--sources", type=int, default=3, help="of bfs (3)")
    parser.add_argument("--trials", type=int, default=1, help="timed calls for each source, after a first (1)")
    parser.add_argument("--mean", type=float, default=MEAN, help=f"entries of a row, on the average ({MEAN:g})")
    parser.add_argument("--shifts", type=int, default=SHIFTS, help=f"of the graph: half of its longest row ({SHIFTS})")
    parser.add_argument("--reach", type=int, help="how far a neighbour may be, by number (anywhere)")
    parser.add_argument("--seed", type=int, default=1, help="of the graph (1)")
    parser.add_argument("--copy-mib", type=int, default=1024, help="MiB that the copy rate is measured with")
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    options = parser.parse_args(arguments)
    for name, known in (("kernels", KERNELS), ("placements", PLACEMENTS)):
        chosen = getattr(options, name).split(",")
        setattr(options, name, chosen)
        if unknown := set(chosen) - set(known):
            parser.error(f"--{name}: {sorted(unknown)[0]!r} is none of {', '.join(known)}")
    if options.gib <= 0 or min(options.trials, options.sources) < 1:
        parser.error("--gib must be above 0; --trials and --sources at least 1")
    return options


def main(arguments: list[str] | None = None) -> int:
    options, say = parse(arguments), Clock()
    if why := device.reason():
        print(f"this reads edges over a GPU's host link: {why}")
        return 2
    report = Report("beyond_the_card", "GB/s", options.out)
    bench = Bench(report, options, say)
    with gb.config.set(engine="gpu", progress=False):
        report.rates["zerocopy"] = copyrate.of("zerocopy", options.copy_mib << 20)
        say(f"{device.current().name}, copy rate {report.rates['zerocopy'] / 1e9:.1f} GB/s")
        with report.part("the graph"):
            bench.make()
            bench.structure()
        if report.ok:
            for placement in options.placements:
                with report.part(placement):
                    bench.run(placement)
                gc.collect()  # what the placement kept on the card goes
    print(table(HEADER, map(row, report.cases), left=3) if report.cases else "nothing was measured")
    picture = plot(report)
    print(f"written: {report.save()}{f', {picture}' if picture else ''}")
    say("done")
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
