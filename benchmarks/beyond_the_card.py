"""Edges larger than device memory: ``python -m benchmarks.beyond_the_card --gib 150``, on a GPU, about four minutes.

A symmetric random graph (random_circulant.py) whose ids alone take so many GiB of host memory is made on the card and
copied to where it stays. Breadth-first searches, connected components and an iteration of PageRank run over the link,
are timed, and then held against the edges by the host's cores (rows.py). A product (plus_second, FP64) and the same
again with the row-head cache and from another placement follow; their answers must be those that were verified.

150 GiB of edges want 195 GiB of host memory and 40 GiB of the card's. Where the host has less, as many edges are taken
as fit.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import sparsezc as gb
from benchmarks.harness import copyrate
from benchmarks.harness.frame import SEED, Case, Report, judge, measure, number, table
from benchmarks.harness.plot import plot
from benchmarks.micro.random_circulant import MEAN, SHIFTS, Shifted, served
from benchmarks.verify import rows
from benchmarks.verify.answers import Undecided, Wrong
from sparsezc.device import cuda
from sparsezc.memory import budget
from sparsezc.memory.csr import Csr

GIB = 1 << 30
TRAVERSED = ("bfs", "cc", "pagerank")
KERNELS = (*TRAVERSED, "spmv")
HEADED = ("bfs", "cc")  # those that the row-head cache serves
PLACEMENTS = ("hybrid",)  # beside zerocopy
DAMPING = 0.85
SAMPLE = 256  # rows that are made again on the host
_BESIDE = 100  # bytes a vertex that offsets, answers and checks take of the host's memory beside the edges
HEADER = ["placement", "what", "heads", "GB", "min s", "median", "max", "GB/s", "of copy", "ok"]


class Clock:
    """A report of what runs and for how long it has."""

    def __init__(self) -> None:
        self.start = time.perf_counter()

    def __call__(self, text: str) -> None:
        print(f"[{time.perf_counter() - self.start:6.1f} s] {text}", flush=True)


class Kernel(NamedTuple):
    """A measurement: a call, its inputs, the value of absent entries in its answer, the bytes to be read."""

    call: Callable[[Any], Any]
    inputs: list[Any]
    missing: Any
    nbytes: Callable[[Any, Any], int]


def fitting(gib: float, mean: float) -> float:
    """GiB of edges that the host's memory has room for, at most those asked for."""
    space = budget.host_available()
    beside = 1 + _BESIDE / (4 * mean)
    return gib if space is None else min(gib, space / beside / GIB)


class Bench:
    """One graph, first answers and what the host said of them, and the cases."""

    def __init__(self, report: Report, options: argparse.Namespace, say: Clock) -> None:
        self.report, self.options, self.say = report, options, say
        self.answers: dict[str, NDArray[Any]] = {}  # of each kernel, for its first input
        self.cases: dict[str, Case] = {}  # those that gave them

    def make(self) -> None:
        options = self.options
        gib = fitting(options.gib, options.mean)
        if gib < options.gib:
            self.say(f"{options.gib:g} GiB of edges do not fit this machine's memory: {gib:.1f} are taken")
        self.graph = Shifted.of(int(gib * GIB / 4), options.mean, options.shifts, options.reach, options.seed)
        self.csr: Csr = self.graph.csr("zerocopy", said=self.say)
        lengths = np.diff(self.csr.indptr)
        self.lengths = cuda.current().xp.asarray(lengths.astype(np.uint32))
        card = cuda.current().memory()[1]
        self.say(
            f"made: {self.csr.nrows:,} vertices, {self.csr.nvals:,} entries in rows of up to {lengths.max():,},"
            f" {self.csr.indices.nbytes / GIB:.1f} GiB in {self.csr.indices.pages} memory;"
            f" the card has {card / GIB:.1f} GiB"
        )
        self.setting = {
            "graph": "shifted", "vertices": self.csr.nrows, "entries": self.csr.nvals, "edge_bytes":
            self.csr.indices.nbytes, "card_bytes": card, "memory": self.csr.indices.pages, "reach": options.reach,
        }  # fmt: skip

    def structure(self) -> None:
        """Is the graph what it says it is? Its ids ascend, and some rows are made again on the host."""
        share = rows.structure(self.csr, self.options.seconds)
        rng = np.random.default_rng(SEED)
        for v in rng.integers(0, self.csr.nrows, min(SAMPLE, self.csr.nrows)).tolist():
            made = self.csr.indices.read(*map(int, self.csr.indptr[v : v + 2]))
            if not np.array_equal(made, self.graph.row(v)):
                raise Wrong(f"row {v} is not what it is on the host")
            if made.size and v not in self.csr.indices.read(*map(int, self.csr.indptr[made[0] : made[0] + 2])):
                raise Wrong(f"the edge from {v} to {made[0]} has no other direction")
        self.say(f"the structure is right{_share(share)}")

    @cached_property
    def sources(self) -> list[int]:
        """Vertices that are no outliers, the same ones for the same graph."""
        rng = np.random.default_rng(SEED)
        drawn = rng.integers(0, self.csr.nrows, 16 * self.options.sources + 64)
        good = drawn[(self.graph.weight(drawn) > 0) & (self.csr.indptr[drawn] < self.csr.indptr[drawn + 1])]
        return [int(v) for v in good[: self.options.sources]]

    @cached_property
    def x(self) -> NDArray[np.float64]:
        return np.random.default_rng(SEED).random(self.csr.nrows)

    def kernel(self, name: str, A: Any) -> Kernel:
        csr, xp = self.csr, cuda.current().xp

        def reached_bytes(_source: int, level: Any) -> int:
            lengths = xp.where(gb.io.to_array(level, -1) >= 0, self.lengths, 0)
            return int(lengths.sum(dtype=np.int64)) * csr.indices.dtype.itemsize

        def all_bytes(*_: Any) -> int:
            return csr.indices.nbytes

        if name == "bfs":
            return Kernel(partial(gb.algorithms.bfs, A), self.sources, -1, reached_bytes)
        if name == "cc":
            return Kernel(lambda _: gb.algorithms.connected_components(A), [None], None, all_bytes)
        if name == "pagerank":
            return Kernel(lambda _: gb.algorithms.pagerank(A, DAMPING, None, 1), [None], None, all_bytes)
        given, w = gb.io.from_array(xp.asarray(self.x)), gb.Vector(float, csr.nrows)

        def product(_: None) -> Any:
            w << A.mxv(given, gb.semiring.plus_second["FP64"])
            return w

        return Kernel(product, [None], 0.0, all_bytes)

    def run(self, A: Any, placement: str, kernels: Sequence[str], heads: str = "off") -> None:
        for name in kernels:
            if name in self.options.kernels:
                with self.report.part(f"{name}, {placement}, heads {heads}"), gb.config.set(head_cache=heads):
                    self.case(name, self.kernel(name, A), placement, heads)

    def case(self, name: str, kernel: Kernel, placement: str, heads: str) -> None:
        setting = self.setting | {"placement": placement, "heads": heads}
        case = Case(name, setting, rate=self.report.rates["zerocopy"])
        measure(
            case, kernel.call, kernel.inputs, trials=self.options.trials, nbytes=kernel.nbytes,
            synchronize=cuda.current().synchronize, verify=partial(self.compare, name, kernel),
        )  # fmt: skip
        if self.cases.setdefault(name, case) is case:
            case.verified = "not yet"
        self.report.add(case)
        self.say("  ".join(row(case)))

    def compare(self, name: str, kernel: Kernel, _given: Any, answer: Any) -> None:
        """Keep a kernel's first answer, which the host will judge; every other must be the same, and that one right."""
        found = cuda.current().asnumpy(gb.io.to_array(answer, kernel.missing))
        if name not in self.answers:
            self.answers[name] = found.copy()  # it may be the vector's own memory
            return
        known = self.answers[name]
        if not (np.array_equal(found, known) if found.dtype.kind == "i" else np.allclose(found, known, 1e-9, 0)):
            raise Wrong("the answer differs from the first")
        if not self.cases[name].verified.startswith("yes"):
            raise Undecided(f"as the first answer: {self.cases[name].verified}")

    def judge(self, names: Sequence[str], check: Callable[..., float]) -> None:
        """Have the host judge answers, all at once; where one kernel was not run, nothing."""
        if not all(name in self.answers for name in names):
            return
        begun, shares = time.perf_counter(), []

        def checked(*_: Any) -> None:
            shares.append(check(*(self.answers[name] for name in names)))

        verdict = judge(checked, None, None)
        verdict += _share(shares[0]) if shares else ""
        for name in names:
            self.cases[name].verified = verdict
        self.report.save()
        self.say(f"{' and '.join(names)}: {verdict}; {time.perf_counter() - begun:.1f} s, {rows.cores()} cores")

    def everything(self) -> None:
        """Run the cases that are timed first, let the host judge their answers, and run the rest."""
        options, seconds = self.options, self.options.seconds
        A = served(self.csr, "zerocopy")
        self.run(A, "zerocopy", TRAVERSED)
        both = ("bfs", "cc") if "cc" in options.kernels else ("bfs",)
        self.judge(both, lambda level, label=None: rows.traversals(self.csr, level, self.sources[0], label, seconds))
        self.judge(("pagerank",), lambda rank: rows.pagerank(self.csr, rank, DAMPING, seconds))
        self.run(A, "zerocopy", HEADED, "on")
        self.run(A, "zerocopy", ("spmv",))
        del A
        for placement in options.placements:
            gc.collect()  # frees what the last one kept on the card
            with self.report.part(placement):
                self.run(served(self.csr, placement), placement, TRAVERSED)
        self.judge(("spmv",), lambda y: rows.product(self.csr, self.x, y, seconds=seconds))


def _share(share: float) -> str:
    return "" if share == 1 else f", as far as looked: {share:.0%} of the rows"


def row(case: Case) -> list[str]:
    return [
        case.setting["placement"], case.name, case.setting["heads"], number(case.nbytes / 1e9),
        *(number(second) for second in case.seconds), number(case.figure("GB/s")), number(case.share), case.verified,
    ]  # fmt: skip


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beyond_the_card", description=__doc__.splitlines()[0])
    parser.add_argument("--gib", type=float, default=150.0, help="GiB of edges, 4 bytes an entry (150)")
    parser.add_argument("--kernels", default=",".join(KERNELS), help=f"among {', '.join(KERNELS)} (all)")
    parser.add_argument("--placements", default="hybrid", help="beside zerocopy; '' for none (hybrid)")
    parser.add_argument("--sources", type=int, default=3, help="of bfs (3)")
    parser.add_argument("--trials", type=int, default=1, help="timed calls for each source, after a first (1)")
    parser.add_argument("--seconds", type=float, help="for each check of the host (until it has seen all rows)")
    parser.add_argument("--structure", action="store_true", help="check the graph itself, too")
    parser.add_argument("--mean", type=float, default=MEAN, help=f"entries of a row, on the average ({MEAN:g})")
    parser.add_argument("--shifts", type=int, default=SHIFTS, help=f"of the graph: half of its longest row ({SHIFTS})")
    parser.add_argument("--reach", type=int, help="how far a neighbour may be, by number (anywhere)")
    parser.add_argument("--seed", type=int, default=1, help="of the graph (1)")
    parser.add_argument("--copy-mib", type=int, default=1024, help="MiB that the copy rate is measured with")
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    options = parser.parse_args(arguments)
    for name, known in (("kernels", KERNELS), ("placements", PLACEMENTS)):
        chosen = [word for word in getattr(options, name).split(",") if word]
        setattr(options, name, chosen)
        if unknown := set(chosen) - set(known):
            parser.error(f"--{name}: {sorted(unknown)[0]!r} is none of {', '.join(known)}")
    if options.gib <= 0 or min(options.trials, options.sources) < 1:
        parser.error("--gib must be above 0; --trials and --sources at least 1")
    return options


def main(arguments: list[str] | None = None) -> int:
    options, say = parse(arguments), Clock()
    if why := cuda.reason():
        print(f"this reads edges over a GPU's host link: {why}")
        return 2
    report = Report("beyond_the_card", "GB/s", options.out)
    bench = Bench(report, options, say)
    with gb.config.set(engine="gpu", progress=False):
        report.rates["zerocopy"] = copyrate.copy_rate("zerocopy", options.copy_mib << 20)
        say(f"{cuda.current().name}, copy rate {report.rates['zerocopy'] / 1e9:.1f} GB/s")
        with report.part("the graph"):
            bench.make()
            if options.structure:
                bench.structure()
        if report.ok:
            with report.part("the cases"):
                bench.everything()
    print(table(HEADER, map(row, report.cases), left=3) if report.cases else "nothing was measured")
    report.end(plot(report))
    say("done")
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
