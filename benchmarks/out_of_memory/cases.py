"""The cases of a comparison of placements: one kernel on one graph, in one placement, at one budget."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

import numpy as np

import sparsezc as gb
from benchmarks.harness import copyrate
from benchmarks.harness.frame import Case, Report, Rules, measure, number, pick_sources
from benchmarks.out_of_memory.summary import ASCETIC, row
from benchmarks.suites.gap_kernels import KERNELS, Graph
from sparsezc.device import cuda
from sparsezc.engines.gpu.placements import transfer_cost
from sparsezc.engines.gpu.placements.baselines import cached
from sparsezc.engines.gpu.runtime import codegen
from sparsezc.memory import budget as budgets

ALL_ON_THE_CARD = "uvm"  # the driver's own: it obeys no budget, so it is measured once, beside the largest
KEEPS = ("hybrid", "zerocopy", "cached", ASCETIC)  # something on the card from call to call: row heads, segments
PUBLISHED = {"WAYS": (transfer_cost.GATHERED,), "ACTIVE": 0.1}  # what Ascetic's paper says
_ROUNDING = 1e-9  # of sums of up to millions of FP64 numbers
_ROUNDS = 4  # in which a case may still meet a kernel that is not compiled


def forget(matrix: Any) -> None:
    """Drop everything that products have put on the card beside the matrix."""
    for rows in {matrix._store.rows, matrix._store.columns} - {None}:
        rows.layouts.drop()
    gc.collect()


class Judge:
    """Judges the answers of one kernel on one graph, whichever placement they come from.

    The first answer for an input is proved, which takes passes over the edges. What agrees with it afterwards is as
    right (numbers up to the rounding of their sums); what does not is judged by itself.
    """

    def __init__(self, name: str, graph: Graph, options: Any) -> None:
        self.kernel, self.graph, self.options = KERNELS[name], graph, options
        self.proved: dict[Any, tuple[Any, Any]] = {}

    def __call__(self, given: Any, answer: Any) -> None:
        found, before = answer.to_coo(), self.proved.get(given)
        if before is not None and _agree(before, found):
            return
        self.kernel.verify(self.graph, given, answer, self.options)
        self.proved[given] = found


def _agree(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    if not np.array_equal(one[0], other[0]):
        return False
    exact = one[1].dtype.kind in "iub"
    return bool(np.array_equal(one[1], other[1]) if exact else np.allclose(one[1], other[1], rtol=_ROUNDING, atol=0))


def settled(run: Callable[[], Case]) -> Case:
    """Run a case until nothing is compiled during it."""
    for _ in range(_ROUNDS):
        before = len(codegen._compiled)
        case = run()
        if len(codegen._compiled) == before:
            break
    return case


def run_case(name: str, graph: Graph, share: float, judge: Judge, report: Report, options: Any) -> Case:
    """One kernel in one placement, with device memory for the vectors and for `share` percent of the edges."""
    kernel, gpu = KERNELS[name], cuda.current()
    edge_bytes = graph.nvals * (graph.id_bytes + graph.value_bytes)
    space = budgets.working_bytes(graph.n) + int(share / 100 * edge_bytes)
    setting = {"graph": graph.name, "placement": graph.placement, "budget": share, "budget_bytes": space}
    setting |= {"nrows": graph.n, "nvals": graph.nvals, "edge_bytes": edge_bytes, "memory": graph.memory}
    given = pick_sources(graph.degree, options.sources, options.seed) if kernel.sources else [None]
    call = kernel.prepare(graph, options)

    def run() -> Case:
        forget(graph.A)
        parts = options.iterations if kernel.iterates else 1
        return measure(
            Case(name, setting, parts=parts, rate=report.rates.get("zerocopy")),
            call,
            given,
            trials=options.trials,
            nbytes=lambda given, answer: kernel.nbytes(graph, given, answer, options),
            synchronize=gpu.synchronize,
            verify=None if options.verify == "none" else judge,
            rules=Rules(options.seconds, options.warm if graph.placement in KEEPS else 0),
        )

    heads = "on" if graph.placement in ("hybrid", "zerocopy") else "off"
    rules: Any = patch.multiple(cached, **PUBLISHED) if graph.placement == ASCETIC else nullcontext()
    with gb.config.set(budget=space, head_cache=heads), rules:
        case = settled(run)
        if graph.placement != ALL_ON_THE_CARD:
            with gb.stats.collect() as moved:
                call(given[-1])
            parts = case.parts * edge_bytes
            case.requests = moved.requests
            case.notes = {"moved": moved.link_bytes / parts, "copied": moved.copied_bytes / parts,
                          "gather_seconds": moved.gather_seconds, "copy_seconds": moved.copy_seconds,
                          "compute_seconds": moved.compute_seconds, "device_bytes": moved.device_bytes}  # fmt: skip
    return case


def compare(
    kernel: str, share: float, placed: dict[str, Any], graph: Graph, judge: Judge, report: Report, options: Any,
    end: float,
) -> None:  # fmt: skip
    """One kernel in all placements at one budget, in turns: a machine's faster and slower seconds meet all of them, and
    so does coming after one that left the card idle, for each round begins with another.
    """
    found: dict[str, Case] = {}
    order = list(placed.items())
    for turn in range(options.rounds):
        first = turn % len(order)
        for placement, matrix in order[first:] + order[:first]:
            what = f"{kernel}, {graph.name}, {placement}, {share:g}%"
            if placement == ALL_ON_THE_CARD and share != max(options.budgets):
                continue
            if time.monotonic() > end:
                print(f"   {what}, round {turn + 1}: not begun, no time was left", flush=True)
                continue
            graph.A, graph.placement, graph.memory = matrix, placement, matrix._to_csr().indices.pages
            with report.part(what):
                try:
                    case = run_case(kernel, graph, share, judge, report, options)
                except gb.exceptions.OutOfMemory as error:  # a budget below what the placement needs
                    print(f"   {what}: {error}", flush=True)
                    continue
                finally:
                    forget(matrix)  # what it holds of the card is the next one's
                if placement not in found:
                    found[placement] = case
                    report.add(case)
                    continue
                found[placement].trials += case.trials
                if not case.verified.startswith("yes"):
                    found[placement].verified = case.verified
    for case in found.values():
        print("  ", *row(case, report.cases), flush=True)
    report.save()


def place(matrix: Any, placements: list[str], report: Report) -> dict[str, Any]:
    """Put a matrix into each of the placements that there is memory for."""
    placed: dict[str, Any] = {}
    copies = {"zerocopy": matrix}
    for placement in placements:
        with report.part(placement):
            start = time.perf_counter()
            kind = "cached" if placement == ASCETIC else placement
            if kind not in copies:
                copies[kind] = matrix.to("gpu", placement=kind)
            placed[placement] = copies[kind]
            print(f"  {placement}: placed in {time.perf_counter() - start:.1f} s", flush=True)
    return placed


def run(options: Any, report: Report) -> None:
    """Run all graphs, budgets, kernels and placements; a part that fails is reported, and the next one runs."""
    gpu, end = cuda.current(), time.monotonic() + options.most_seconds
    report.rates["zerocopy"] = copyrate.copy_rate("zerocopy", options.copy_mib << 20)
    print(f"copy rate: {number(report.rates['zerocopy'] / 1e9)} GB/s", flush=True)
    for name in options.graphs:
        with report.part(name):
            graph = Graph(name.rpartition("/")[2], name, "zerocopy", options.weights, gpu.xp)
            print(f"{name}: {graph.n:,} vertices, {graph.nvals:,} entries, {graph.load_seconds:.1f} s", flush=True)
            placed = place(graph.A, options.placements, report)
            for kernel in options.kernels:
                judge = Judge(kernel, graph, options)
                for share in options.budgets:
                    compare(kernel, share, placed, graph, judge, report, options, end)
            del graph, placed, judge
            gc.collect()
