"""The kernels of `benchmarks.gap`: GAP's six, 64 searches at once, breadth-first trees, and streaming mxv.

Sources: S. Beamer, K. Asanovic, D. Patterson, The GAP Benchmark Suite, arXiv:1508.03619; trials and tolerances as its
reference implementation's benchmark/bench.mk has them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sparsezc as gb
from benchmarks.verify import answers, betweenness, triangles
from sparsezc.algorithms._pattern import undirected

DAMPING = 0.85
GAP_CHANGE = 1e-4  # sum of the changes of all ranks in an iteration at which GAP's PageRank stops
GAP_MOST_ITERATIONS = 1000
JUDGED = 8  # searches that are verified, of many at once


class Graph:
    """A graph in a placement, and the facts that trials and checks need.

    Attributes
    ----------
    A : gb.Matrix
        The adjacency matrix. Its values are edge lengths; a call that does not read them moves no bytes of them.
    """

    def __init__(
        self, name: str, source: str, placement: str, weights: str, xp: Any = np, *, relabel: bool = False
    ) -> None:
        start = time.perf_counter()
        self.name, self.placement, self.xp = name, placement, xp
        given = "narrowest" if weights == "file" else weights
        read: Any = gb.io.read(source, weights=given, relabel=relabel, placement=placement)
        self.A: Any = read[0] if relabel else read
        self.load_seconds = time.perf_counter() - start
        csr = self.A._to_csr()  # the arrays in place, for checks and counts; no timed call uses them
        self.n, self.nvals = csr.nrows, csr.nvals
        self.degree = np.diff(csr.indptr)
        self.memory = csr.indices.pages  # "managed", "pinned", "device", "numpy"
        self.id_bytes = csr.indices.dtype.itemsize
        self.value_bytes = 0 if csr.iso else csr.values.dtype.itemsize

    @cached_property
    def A32(self) -> Any:
        """The matrix with FP32 values."""
        return self.A.dup("FP32")

    @cached_property
    def S(self) -> Any:
        """The edges in both directions, in which GAP counts triangles; A itself if it is symmetric."""
        return undirected(self.A)

    @cached_property
    def x(self) -> NDArray[np.float32]:
        return (1 + np.arange(self.n) % 7).astype(np.float32)

    @cached_property
    def pagerank_iterations(self) -> int:
        """Return the number of PageRank's iterations until one changes the ranks by at most :data:`GAP_CHANGE`."""
        before = np.full(self.n, 1 / self.n)
        count, change = 0, np.inf
        while change > GAP_CHANGE and count < GAP_MOST_ITERATIONS:
            start = gb.Vector.from_dense(before)
            rank = gb.algorithms.pagerank(self.A, damping=DAMPING, tol=None, max_iter=1, nstart=start).to_dense(0)
            count, change, before = count + 1, abs(rank - before).sum(), rank
        return count

    def edges(self, matrix: Any = None) -> answers.Edges:
        return answers.Edges((self.A if matrix is None else matrix)._to_csr(), self.xp)

    def reached_entries(self, answer: Any) -> int:
        """Return the entries in the rows of the vertices at which a vector has entries."""
        return int(self.degree[answer.to_coo(values=False)[0].astype(np.int64)].sum())

    def sweep_entries(self, source: int) -> int:
        """Return the entries that counting paths from a source reads.

        The search reads each reached vertex's row; the way back reads again the rows of all levels but the first and
        the last.
        """
        vertices, level = gb.algorithms.bfs(self.A, source).to_coo()
        degree = self.degree[vertices.astype(np.int64)]
        return int(degree.sum() + degree[(level > 0) & (level < level.max())].sum())


@dataclass(frozen=True)
class Kernel:
    """One algorithm: its call, the bytes that it must read, and the judge of its answer.

    Attributes
    ----------
    prepare : (graph, options) -> call
        Does the untimed work; the returned call takes a source (None for an algorithm without one).
    nbytes : (graph, source, answer, options) -> int
        Bytes of ids and values that a call must read if it reads each of its rows once.
    verify : (graph, source, answer, options) -> None
    sources : int
        Number of vertices from which a call starts; with more than one the call takes a tuple.
    gap_runs : (int, int)
        The number of inputs, and of trials of each, by GAP's rules.
    notes : (graph, options) -> dict
        Further facts for the result file.
    """

    prepare: Callable[[Graph, Any], Callable[[Any], Any]]
    nbytes: Callable[[Graph, Any, Any, Any], int]
    verify: Callable[[Graph, Any, Any, Any], None]
    sources: int = 0
    iterates: bool = False
    gap_runs: tuple[int, int] | None = None
    notes: Callable[[Graph, Any], dict[str, Any]] = lambda _graph, _options: {}


def _verify_bfs(g: Graph, source: int, level: Any, _options: Any) -> None:
    answers.bfs(g.edges(), level.to_dense(-1), source)


def _verify_bfs_parents(g: Graph, source: int, parent: Any, _options: Any) -> None:
    answers.bfs_parents(g.edges(), parent.to_dense(-1), source)


def _searches(levels: Any, step: int = 1) -> Iterator[Any]:
    """Yield the answer of every `step`-th search as a Vector."""
    return (levels[k, :].new() for k in range(0, levels.nrows, step))


def _verify_many_bfs(g: Graph, sources: tuple[int, ...], levels: Any, options: Any) -> None:
    """Verify some of the searches, each by itself."""
    step = len(sources) // JUDGED
    for source, level in zip(sources[::step], _searches(levels, step), strict=True):
        _verify_bfs(g, source, level, options)


def _verify_sssp(g: Graph, source: int, distance: Any, _options: Any) -> None:
    reached = np.zeros(g.n, np.bool_)
    reached[distance.to_coo(values=False)[0].astype(np.int64)] = True
    answers.sssp(g.edges(), distance.to_dense(0), reached, source)


def _verify_cc(g: Graph, _source: None, label: Any, _options: Any) -> None:
    answers.components(g.edges(), label.to_dense())


def _pagerank(g: Graph, options: Any, dtype: str = "FP64") -> Callable[[Any], Any]:
    """Return a call of `options.iterations` iterations, or if that is None, of as many as GAP's rule needs."""
    start = None if dtype == "FP64" else gb.Vector.from_scalar(1 / g.n, g.n, dtype)
    if options.iterations is None:
        tol, most = GAP_CHANGE / g.n, GAP_MOST_ITERATIONS
    else:
        tol, most = None, options.iterations
    return lambda _source: gb.algorithms.pagerank(g.A, damping=DAMPING, tol=tol, max_iter=most, nstart=start)


def _iterations(g: Graph, options: Any) -> int:
    return int(options.iterations or g.pagerank_iterations)


def _verify_pagerank(g: Graph, _source: None, rank: Any, options: Any) -> None:
    if options.iterations is None:
        answers.pagerank_step(g.edges(), rank.to_dense(), DAMPING, GAP_CHANGE)
    else:
        answers.pagerank(g.edges(), rank.to_dense(), DAMPING, options.iterations)


def _verify_tc(g: Graph, _source: None, count: int, _options: Any) -> None:
    edges = g.edges(g.S)
    if edges.nvals <= 2 * triangles.LARGE:
        triangles.equal(count, triangles.count(edges))
        return
    vertices = triangles.sample(edges)
    inside = triangles.count(edges, vertices)
    triangles.equal(gb.algorithms.triangle_count(g.S[vertices, vertices].new()), inside)
    if count < inside:
        raise answers.Wrong(f"the answer is {count:,} triangles; a part of the graph has {inside:,}")
    triangles.likely(edges, count)


def _note_tc(g: Graph, _options: Any) -> dict[str, Any]:
    if g.S.nvals <= 2 * triangles.LARGE:
        return {"verified_on": "the whole graph"}
    part = f"the edges among a fixed sample of at most {triangles.SAMPLE:,} vertices, counted exactly both ways"
    return {"verified_on": f"{part}; the whole count by {triangles.DRAWN:,} drawn pairs of edges"}


def _verify_bc(g: Graph, sources: tuple[int, ...], centrality: Any, _options: Any) -> None:
    edges = (
        g.edges() if g.nvals > answers.SMALL else answers.Edges(g.A._to_csr())
    )  # a deep graph is best judged by rows
    betweenness.betweenness(edges, centrality.to_dense(), sources)


def _mxv(matrix: str, semiring: str) -> Callable[[Graph, Any], Callable[[Any], Any]]:
    def prepare(g: Graph, _options: Any) -> Callable[[Any], Any]:
        A, op = getattr(g, matrix), getattr(gb.semiring, semiring)["FP32"]
        x, y = gb.Vector.from_dense(g.x), gb.Vector("FP32", g.n)

        def call(_source: None) -> Any:
            with gb.config.set(packing="off"):  # the case measures streams of both arrays
                y << A.mxv(x, op)
            return y

        return call

    return prepare


def _tc(g: Graph, _options: Any) -> Callable[[Any], Any]:
    S = g.S  # untimed, as GAP reads a symmetric graph
    return lambda _source: gb.algorithms.triangle_count(S)


def _verify_mxv(matrix: str, pattern: bool) -> Callable[[Graph, Any, Any, Any], None]:
    def check(g: Graph, _source: None, y: Any, _options: Any) -> None:
        answers.product(g.edges(getattr(g, matrix)), g.x, y.to_dense(0), pattern=pattern)

    return check


def _ranks(dtype: str, gap_runs: tuple[int, int] | None) -> Kernel:
    return Kernel(
        lambda g, o: _pagerank(g, o, dtype),
        lambda g, _source, _rank, o: _iterations(g, o) * g.id_bytes * g.nvals,
        _verify_pagerank,
        iterates=True,
        gap_runs=gap_runs,
        notes=lambda g, o: {"iterations": _iterations(g, o)},
    )


def _bc(sources: int) -> Kernel:
    """Return the kernel of betweenness from `sources` sources together; the suite times four."""

    def listed(given: Any) -> tuple[int, ...]:
        return (given,) if sources == 1 else given

    return Kernel(
        lambda g, _: lambda s: gb.algorithms.betweenness_centrality(g.A, normalized=False, sources=listed(s)),
        lambda g, s, _centrality, _: g.id_bytes * sum(map(g.sweep_entries, listed(s))),
        lambda g, s, centrality, o: _verify_bc(g, listed(s), centrality, o),
        sources=sources,
        gap_runs=(16, 1) if sources == 4 else None,
    )


KERNELS = {
    "bfs": Kernel(
        lambda g, _: lambda source: gb.algorithms.bfs(g.A, source),
        lambda g, _source, level, _: g.id_bytes * g.reached_entries(level),
        _verify_bfs,
        sources=1,
        gap_runs=(64, 1),
    ),
    "sssp": Kernel(
        lambda g, _: lambda source: gb.algorithms.sssp(g.A, source),
        lambda g, _source, distance, _: (g.id_bytes + g.value_bytes) * g.reached_entries(distance),
        _verify_sssp,
        sources=1,
        gap_runs=(64, 1),
    ),
    "cc": Kernel(
        lambda g, _: lambda _source: gb.algorithms.connected_components(g.A),
        lambda g, _source, _label, _: g.id_bytes * g.nvals,
        _verify_cc,
        gap_runs=(1, 16),
    ),
    "pagerank": _ranks("FP64", (1, 16)),
    "pagerank32": _ranks("FP32", None),
    "spmv plus_second": Kernel(
        _mxv("A", "plus_second"),
        lambda g, _source, _y, _: g.id_bytes * g.nvals,
        _verify_mxv("A", pattern=True),
    ),
    "spmv plus_times": Kernel(
        _mxv("A32", "plus_times"),
        lambda g, _source, _y, _: (g.id_bytes + 4) * g.nvals,
        _verify_mxv("A32", pattern=False),
    ),
    "tc": Kernel(
        _tc,
        lambda g, _source, _count, _: g.id_bytes * (g.S.nvals // 2),
        _verify_tc,
        gap_runs=(1, 3),
        notes=_note_tc,
    ),
    "bc": _bc(4),
    "bc1": _bc(1),
    "bc16": _bc(16),
    "bfs64": Kernel(
        lambda g, _: lambda sources: gb.algorithms.bfs(g.A, sources),
        lambda g, _sources, levels, _: g.id_bytes * sum(g.reached_entries(level) for level in _searches(levels)),
        _verify_many_bfs,
        sources=64,
    ),
    "bfs_parents": Kernel(
        lambda g, _: lambda source: gb.algorithms.bfs_parents(g.A, source),
        lambda g, _source, parent, _: g.id_bytes * g.reached_entries(parent),
        _verify_bfs_parents,
        sources=1,
    ),
}
SUITE = [name for name, kernel in KERNELS.items() if kernel.gap_runs]


def selected(names: str) -> list[str]:
    """Return the kernels with these names, or whose names begin with one of these words ("spmv")."""
    chosen: dict[str, None] = {}
    for part in names.split(","):
        found = [name for name in KERNELS if part in (name, name.partition(" ")[0])]
        if not found:
            raise ValueError(f"--kernels: {part!r} is not known; known are {', '.join(KERNELS)}")
        chosen |= dict.fromkeys(found)
    return list(chosen)
