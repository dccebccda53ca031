"""The cases of a comparison of placements: one kernel on one graph, in one placement, at one budget."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import sparsezc as gb
from benchmarks import copyrate
from benchmarks.frame import Case, Report, measure, number, pick_sources
from benchmarks.gap_kernels import KERNELS, Graph
from benchmarks.out_of_memory.summary import row
from sparsezc import device
from sparsezc.engines.gpu import specialise
from sparsezc.memory import budget as budgets

ALL_ON_THE_CARD = "uvm"  # the driver's own: it obeys no budget, so it is measured once, beside the largest
_ROUNDING = 1e-9  # of sums of up to millions of FP64 numbers
_ROUNDS = 4  # in which a case may still meet a kernel that is not compiled


def forget(matrix: Any) -> None:
    """Drop everything that products have put on the card beside the matrix."""
    for rows in {matrix._store.rows, matrix._store.columns} - {None}:
        rows.region = rows.heads = rows.packed = None
        rows.pulled = rows.multiplied = 0
        rows.wholes.clear()
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
    """A case during which nothing was compiled: one during which something was is run again."""
    for _ in range(_ROUNDS):
        before = len(specialise._compiled)
        case = run()
        if len(specialise._compiled) == before:
            break
    return case


def run_case(name: str, graph: Graph, share: float, judge: Judge, report: Report, options: Any) -> Case:
    """One kernel in one placement, with device memory for the vectors and for `share` percent of the edges."""
    kernel, gpu = KERNELS[name], device.current()
    edge_bytes = graph.nvals * (graph.id_bytes + graph.value_bytes)
    room = budgets.working_bytes(graph.n) + int(share / 100 * edge_bytes)
    setting = {"graph": graph.name, "placement": graph.placement, "budget": share, "budget_bytes": room}
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
            seconds=options.seconds,
            nbytes=lambda given, answer: kernel.nbytes(graph, given, answer, options),
            synchronize=gpu.synchronize,
            verify=None if options.verify == "none" else judge,
        )

    heads = "on" if graph.placement in ("hybrid", "zerocopy") else "off"
    with gb.config.set(budget=room, head_cache=heads):
        case = settled(run)
        if graph.placement != ALL_ON_THE_CARD:
            with gb.stats.collect() as moved:
                call(given[-1])
            parts = case.parts * edge_bytes
            case.requests = moved.requests
            case.notes = {"moved": moved.link_bytes / parts, "copied": moved.copied_bytes / parts,
                          "gather_seconds": moved.gather_seconds, "copy_seconds": moved.copy_seconds,
                          "compute_seconds": moved.compute_seconds, "device_bytes": moved.device_bytes}  # fmt: skip
    report.add(case)
    return case


def run_placement(graph: Graph, judges: dict[str, Judge], report: Report, options: Any, end: float) -> None:
    """All kernels at all budgets, on a graph that lies in its placement."""
    shares = [max(options.budgets)] if graph.placement == ALL_ON_THE_CARD else options.budgets
    for share in shares:
        for kernel in options.kernels:
            what = f"{kernel}, {graph.name}, {graph.placement}, {share:g}%"
            if time.monotonic() > end:
                print(f"   {what}: not begun, no time was left", flush=True)
                continue
            with report.part(what):
                try:
                    case = run_case(kernel, graph, share, judges[kernel], report, options)
                    print("  ", *row(case, report.cases), flush=True)
                except gb.exceptions.OutOfMemory as error:  # a budget below what the placement needs
                    print(f"   {what}: {error}", flush=True)


def run(options: Any, report: Report) -> None:
    """All graphs, placements, budgets and kernels; a part that fails is reported and the next goes on."""
    gpu, end = device.current(), time.monotonic() + options.most_seconds
    report.rates["zerocopy"] = copyrate.of("zerocopy", options.copy_mib << 20)
    print(f"copy rate: {number(report.rates['zerocopy'] / 1e9)} GB/s", flush=True)
    for name in options.graphs:
        with report.part(name):
            graph = Graph(name.rpartition("/")[2], name, "zerocopy", options.weights, gpu.xp)
            print(f"{name}: {graph.n:,} vertices, {graph.nvals:,} entries, {graph.load_seconds:.1f} s", flush=True)
            made, judges = graph.A, {kernel: Judge(kernel, graph, options) for kernel in options.kernels}
            for placement in options.placements:
                if time.monotonic() > end:
                    print(f"   {placement}: not begun, no time was left", flush=True)
                    continue
                with report.part(f"{name}, {placement}"):
                    start = time.perf_counter()
                    graph.A = made if placement == "zerocopy" else made.to("gpu", placement=placement)
                    graph.placement, graph.memory = placement, graph.A._to_csr().indices.pages
                    print(f"  {placement}: placed in {time.perf_counter() - start:.1f} s", flush=True)
                    run_placement(graph, judges, report, options, end)
                graph.A = made
                gc.collect()
            del graph, made, judges
            gc.collect()
