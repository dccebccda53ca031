"""The cases of EMOGI's experiments on one graph: the call, the bytes that it must move, and the check of its answer."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

import sparsezc as gb
from benchmarks.emogi.statements import Statements
from benchmarks.emogi.uvm import Migrating
from benchmarks.emogi.variants import UNREACHED, Count, Edges, Variant
from benchmarks.harness.frame import Case, Report, Rules, measure, pick_sources, within
from benchmarks.model.requests import SIZES, Requests
from benchmarks.model.watch import Model
from benchmarks.suites.gap_kernels import Graph
from benchmarks.verify import answers
from sparsezc.device import cuda


class Bench:
    """One graph: its edges in zero-copy memory, and the cases over them.

    Attributes
    ----------
    sources : list of int
        The same for all variants.
    """

    def __init__(self, name: str, report: Report, options: argparse.Namespace) -> None:
        self.gpu, self.report, self.options = cuda.current(), report, options
        self.graph = Graph(name, name, "zerocopy", options.weights, self.gpu.xp)
        csr = self.graph.A._to_csr()
        if csr.iso:
            raise ValueError(f"--weights {options.weights}: shortest paths need a length for each edge")
        if options.id_bytes == 8:  # the paper's width, whatever the graph needs
            csr = csr.place("zerocopy", ids=np.uint64)
            self.graph.A = gb.Matrix._from_csr(csr, "gpu")
        self.csr, self.symmetric = csr, csr.symmetric
        indptr = self.gpu.xp.asarray(csr.indptr)
        widths = csr.indices.dtype.itemsize, csr.values.dtype.itemsize
        self.edges = Edges(indptr, csr.indices.pointer, csr.values.pointer, *widths)
        self.sources = pick_sources(self.graph.degree, options.sources, options.seed)
        self.proved: dict[tuple[str, Any], Any] = {}

    def nbytes(self, algorithm: str) -> int:
        """Return the bytes of the edge list that an algorithm reads: ids, and lengths for shortest paths."""
        return self.graph.nvals * (self.edges.id_bytes + (self.edges.length_bytes if algorithm == "sssp" else 0))

    def case(self, algorithm: str, variant: str) -> Case:
        setting = {"graph": self.graph.name, "variant": variant, "memory": self.graph.memory}
        case = Case(algorithm, setting, rate=self.report.rates["zerocopy"])
        case.notes = {"edge_list_bytes": self.nbytes(algorithm)}
        return case

    def inputs(self, algorithm: str, variant: str) -> dict[str, Any]:
        """Return the inputs of trials: as many sources as time allows; components, without sources, get a few calls."""
        limits = self.options.seconds
        seconds = limits.get(variant, limits.get(algorithm, limits[""]))
        if algorithm == "cc":
            return {"inputs": [None], "trials": self.options.trials, "rules": Rules(seconds)}
        return {"inputs": within(self.sources, seconds), "trials": 1}

    def check(self, algorithm: str) -> Callable[[Any, Any], None] | None:
        """Return the judge of a variant's answer, a device array: it proves an answer that equals no proved one."""
        if self.options.verify == "none":
            return None
        edges = self.graph.edges()

        def judge(source: Any, answer: Any) -> None:
            found, before = self.gpu.asnumpy(answer), self.proved.get((algorithm, source))
            if before is not None and np.array_equal(before, found):
                return
            if algorithm == "bfs":
                answers.bfs(edges, found, source)
            elif algorithm == "sssp":
                answers.sssp(edges, np.where(found == UNREACHED, 0, found).astype(np.int64), found != UNREACHED, source)
            else:
                answers.components(edges, found.astype(np.int64))
            self.proved[algorithm, source] = found

        return judge

    def run(self, algorithm: str, variant: str) -> Case:
        case = self.case(algorithm, variant)
        if variant == "sparsezc":
            self._ours(case, algorithm)
        elif variant == "uvm":
            with Migrating(self.gpu, self.csr, lengths=algorithm == "sssp") as pages:
                edges = Edges(self.edges.indptr, *pages.addresses, self.edges.id_bytes, self.edges.length_bytes)
                self._uvm(case, algorithm, Variant(self.gpu, edges, "aligned"), pages)
        elif variant == "aligned":
            self._zerocopy(case, algorithm, Statements(self.gpu, self.edges, self.csr))
        else:
            self._zerocopy(case, algorithm, Variant(self.gpu, self.edges, variant))
        self.finish(case)
        return case

    def _zerocopy(self, case: Case, algorithm: str, variant: Variant) -> None:
        call = getattr(variant, algorithm)
        counts: list[Count] = []

        def nbytes(source: Any, answer: Any) -> int:
            if algorithm == "bfs":
                counts.append(variant.of_search(variant.as_array(answer)))
            elif len(counts) < self.options.counted:
                counts.append(Count())
                call(source, variant.counting(counts[-1], lengths=algorithm == "sssp"))
            else:
                return int(statistics.mean(count.all.nbytes for count in counts))
            return counts[-1].all.nbytes

        judge, inputs = self.check(algorithm), self.inputs(algorithm, case.setting["variant"])
        verify = judge and (lambda source, answer: judge(source, variant.as_array(answer)))
        measure(case, call, nbytes=nbytes, synchronize=self.gpu.synchronize, verify=verify, **inputs)
        self.note_requests(case, [count.all for count in counts], [count.rounds for count in counts])

    def _uvm(self, case: Case, algorithm: str, variant: Variant, pages: Migrating) -> None:
        """Measure calls that begin with all pages on the host; the bytes are the least that can have moved."""
        call = getattr(variant, algorithm)

        def nbytes(_source: Any, answer: Any) -> int:
            reached = {"bfs": lambda: answer >= 0, "sssp": lambda: answer != UNREACHED, "cc": lambda: answer >= 0}
            return pages.least_bytes(variant.edges, reached[algorithm](), lengths=algorithm == "sssp")

        inputs = self.inputs(algorithm, "uvm")
        inputs["rules"] = inputs.get("rules", Rules())._replace(before=pages.evict)
        measure(
            case, call, nbytes=nbytes, synchronize=self.gpu.synchronize, verify=self.check(algorithm), **inputs
        )  # fmt: skip

    def _ours(self, case: Case, algorithm: str) -> None:
        A = self.graph.A
        calls: dict[str, Callable[[Any], Any]] = {
            "bfs": lambda source: gb.algorithms.bfs(A, source),
            "sssp": lambda source: gb.algorithms.sssp(A, source),
            "cc": lambda _source: gb.algorithms.connected_components(A),
        }
        call = calls[algorithm]
        sources = [None] if algorithm == "cc" else self.sources[: self.options.counted]
        call(sources[0])  # decisions and caches of a first call belong to no case
        counts: dict[Any, int] = {}
        requests = []
        for source in sources:
            with gb.stats.collect() as moved:
                call(source)
            counts[source] = moved.link_bytes
            requests.append(moved.requests)
        mean = int(statistics.mean(counts.values()))
        measure(
            case, call, nbytes=lambda source, _answer: counts.get(source, mean), synchronize=self.gpu.synchronize,
            verify=self.check_ours(algorithm), **self.inputs(algorithm, "sparsezc"),
        )  # fmt: skip
        case.requests = round(statistics.mean(requests))
        case.notes["counted_sources"] = len(counts)
        if algorithm == "bfs":
            self._note_sizes(case, call, sources)

    def _note_sizes(self, case: Case, call: Callable[[Any], Any], sources: list[Any]) -> None:
        """Note the requests of a search by size, from the byte model, as the GPU does not count sizes apart.

        They are means of the counted sources.
        """
        searches = []
        for source in sources:
            model = Model()
            with model.watching("gpu"):
                call(source)
            searches.append(model.statements)
        counts = [sum((each.reading.all for each in statements), Requests()) for statements in searches]
        case.notes["by_size"] = self.mean_by_size(counts)
        case.notes["rounds"] = statistics.mean(map(len, searches))

    def check_ours(self, algorithm: str) -> Callable[[Any, Any], None] | None:
        judge = self.check(algorithm)
        missing = {"bfs": -1, "sssp": UNREACHED, "cc": 0}[algorithm]
        if judge is None:
            return None
        return lambda source, answer: judge(source, self.gpu.xp.asarray(answer.to_dense(missing)))

    @staticmethod
    def mean_by_size(counts: list[Requests]) -> dict[str, float]:
        return {str(size): statistics.mean(count.by_size[k] for count in counts) for k, size in enumerate(SIZES)}

    def note_requests(self, case: Case, counts: list[Requests], rounds: list[int]) -> None:
        by_size = self.mean_by_size(counts)
        case.requests = round(sum(by_size.values()))
        case.notes |= {"by_size": by_size, "rounds": statistics.mean(rounds), "counted_sources": len(counts)}

    def finish(self, case: Case) -> None:
        seconds = [trial.seconds for trial in case.trials]
        case.notes["mean_seconds"] = statistics.mean(seconds)
        case.notes["amplification"] = case.nbytes / case.notes["edge_list_bytes"]
        self.report.add(case)
