"""Gunrock's scaling table: entries that 1 to 8 parts read and bytes that they receive, counted, beside its formulas.

``python -m benchmarks.hive --scaling`` runs every application once on an engine that counts
(:mod:`benchmarks.hive.scaling.counting`), on generated graphs of ``--scale`` (12), and needs no GPU. Counts are of the
busiest part, summed over the statements of a run; formulas (:mod:`benchmarks.hive.scaling.study`) have the sizes and
numbers of rounds of the same run.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import sparsezc as gb
from benchmarks.harness.frame import Case, Report, number, table
from benchmarks.hive.inputs import communities, grid, permuted, regions, symmetric
from benchmarks.hive.row import degrees
from benchmarks.hive.scaling import study
from benchmarks.hive.scaling.counting import NAME, counting
from benchmarks.hive.scaling.study import Cost, Sizes

BENCHMARK = "hive-scaling"  # the name of results
SCALE = 12
HEADER = ["application", "parts", "operations", "bytes", "ops : B"]
HEADER += ["study's ops", "bytes", "ops : B", "its ratio", "its verdict"]
SEED = 1
Seen = list[tuple[str, int, int, int]]
Formula = Callable[[int], Cost]


class Run(NamedTuple):
    """An application that is ready to run on the counting engine.

    Attributes
    ----------
    call : callable
        The run; its statements alone are counted.
    formula : callable, optional
        Returns, for the engine's `seen` and the answer, a function from the number of parts to the study's cost.
    """

    call: Callable[[], Any]
    formula: Callable[[Seen, Any], Formula] | None = None


def _on(A: gb.Matrix) -> gb.Matrix:
    return A.to(NAME)


def _kron(scale: int, weights: str = "") -> tuple[gb.Matrix, Sizes, Any]:
    """Return a graph, its sizes without isolated vertices, and the vertices with edges."""
    A = gb.io.read(f"kron:{scale}{weights}")
    starts = np.flatnonzero(degrees(A))
    return _on(A), Sizes(starts.size, A.nvals), starts


def _urand(scale: int) -> tuple[gb.Matrix, Sizes, np.random.Generator]:
    A = gb.io.read(f"urand:{scale}")
    return _on(A), Sizes(A.nrows, A.nvals), np.random.default_rng(SEED)


def _communities(scale: int) -> gb.Matrix:
    return _on(communities(1 << scale, 8, 40, np.random.default_rng(SEED)))


def _louvain(scale: int) -> Run:
    A = _communities(scale)

    def formula(seen: Seen, _: Any) -> Formula:
        levels = [(rows, entries) for what, rows, entries, _ in seen if what == "label"]
        # an eighth of the vertices moves in each label turn
        rounds = [(Sizes(*level), levels.count(level) / 8) for level in dict.fromkeys(levels)]
        contracted = [(g, after.E) for (g, _), (after, _) in pairwise(rounds)]
        return lambda p: study.louvain(p, rounds, contracted)

    return Run(lambda: gb.algorithms.louvain_communities(A, seed=SEED), formula)


def _leiden(scale: int) -> Run:
    A = _communities(scale)
    return Run(lambda: gb.algorithms.leiden_communities(A, seed=SEED))


def _graphsage(scale: int) -> Run:
    (A, g, rng), F, C = _urand(scale), 64, 10
    X, weights = rng.random((A.nrows, F)), [rng.normal(size=(2 * F, F)) for _ in range(2)]
    return Run(
        lambda: gb.applications.graphsage(A, X, *weights, children=C, seed=SEED),
        lambda *_: lambda p: study.graphsage(p, g, C, C, F, (F, F)),
    )


def _walks(scale: int) -> Run:
    A, _, starts = _kron(scale)
    return Run(
        lambda: gb.algorithms.random_walks(A, starts, 10, seed=SEED),
        lambda _, made: lambda p: study.walks(p, made.nvals - made.nrows),
    )


def _search(mode: str) -> Callable[[int], Run]:
    def prepare(scale: int) -> Run:
        A, g, starts = _kron(scale)
        scores = gb.Vector.from_dense(np.random.default_rng(SEED).random(A.nrows)).to(NAME)
        read, before = (g.d, 0.0) if mode == "stochastic" else (1.0, float(g.E) if mode == "greedy" else 0.0)
        return Run(
            lambda: gb.algorithms.graph_search(A, starts, scores, 10, mode, seed=SEED),
            lambda _, made: lambda p: study.walks(p, made.nvals - made.nrows, read, before),
        )

    return prepare


def _geolocation(scale: int) -> Run:
    (A, g, rng), rounds = _urand(scale), 10
    places = np.c_[rng.uniform(-60, 75, A.nrows), rng.uniform(-180, 180, A.nrows)]
    places[rng.random(A.nrows) < 0.5] = np.nan
    return Run(
        lambda: gb.applications.geolocation(A, places, rounds), lambda *_: lambda p: study.geolocation(p, g, rounds)
    )


def _nomination(scale: int) -> Run:
    A, g, starts = _kron(scale, "?weights=8-72")
    seeds = starts[:: max(1, starts.size // 100)]

    def formula(seen: Seen, _: Any) -> Formula:
        updates = sum(entries for what, _, _, entries in seen if what == "push") / g.V
        return lambda p: study.nomination(p, g, updates)

    return Run(lambda: gb.applications.vertex_nomination(A, seeds), formula)


def _scan(scale: int) -> Run:
    A, g, _ = _kron(scale)
    i, j, _values = A.to_coo(values=False)
    i, j = i.astype(np.int64), j.astype(np.int64)
    degree = np.bincount(i, minlength=A.nrows)
    up = (degree[i] < degree[j]) | ((degree[i] == degree[j]) & (i < j))
    out = np.bincount(i[up], minlength=A.nrows)
    wedges = float((out * (out - 1) // 2).sum()) / g.E
    return Run(lambda: gb.algorithms.scan_statistics(A), lambda *_: lambda p: study.scan(p, g, wedges))


def _fused_lasso(scale: int) -> Run:
    side, rng = 1 << scale // 2, np.random.default_rng(SEED)
    A = symmetric(*grid(side, side), side * side)
    g, y = Sizes(A.nrows, A.nvals), regions(side, side, 10, rng).ravel() + rng.normal(scale=0.1, size=side * side)
    A = _on(A)
    return Run(lambda: gb.applications.fused_lasso(A, y, 0.1, tol=1e-4), lambda *_: lambda p: study.fused_lasso(p, g))


def _table(scale: int) -> gb.Matrix:
    """Return ratings of 2^scale users for a quarter as many items, 16 a user."""
    rng, m = np.random.default_rng(SEED), 1 << scale
    at = np.sort(rng.choice(m * m // 4, 16 * m, replace=False))
    return _on(gb.Matrix.from_coo(at // (m // 4), at % (m // 4), rng.integers(1, 6, at.size), nrows=m, ncols=m // 4))


def _projection(scale: int) -> Run:
    A = _table(scale)
    g = Sizes(A.nrows + A.ncols, 2 * A.nvals)
    return Run(lambda: gb.applications.projection(A, "columns"), lambda _, B: lambda p: study.projection(p, g, B.nvals))


def _clustering(scale: int) -> Run:
    A, g, starts = _kron(scale)

    def formula(seen: Seen, _: Any) -> Formula:
        rounds = sum(what == "rows" for what, *_ in seen)
        return lambda p: study.clustering(p, g, rounds)

    return Run(lambda: gb.applications.local_clustering(A, starts[::97][:4], rho=1e-3), formula)


def _matching(scale: int) -> Run:
    rng = np.random.default_rng(SEED)
    A, B, who = permuted(1 << scale, 20, rng)
    seeds = rng.choice(A.nrows, A.nrows // 20, replace=False)
    A, B = _on(A), _on(B)
    return Run(lambda: gb.applications.seeded_graph_matching(A, B, np.c_[seeds, who[seeds]]))


def _classification(scale: int) -> Run:
    (G, _, _), rng = _kron(scale), np.random.default_rng(SEED)
    P = gb.Matrix.from_coo(np.arange(9), np.arange(1, 10), 1.0, nrows=10, ncols=10)
    features = rng.random((G.nrows, 13)), rng.random((10, 13)), rng.random((G.nvals, 17)), rng.random((9, 17))
    return Run(lambda: gb.applications.application_classification(G, P, *features))


def _filtering(scale: int) -> Run:
    R = _table(scale)
    return Run(lambda: gb.applications.collaborative_filtering(R, 20, rounds=5, seed=SEED))


def _algorithm(call: Callable[[gb.Matrix, int], Any], weights: str = "") -> Callable[[int], Run]:
    """Return the preparation of one of GAP's algorithms, whose source is the vertex of most entries."""

    def prepare(scale: int) -> Run:
        A = gb.io.read(f"kron:{scale}{weights}")
        source = int(degrees(A).argmax())
        A = _on(A)
        return Run(lambda: call(A, source))

    return prepare


#: GAP's algorithms, and the applications by their names in the study's summary.
APPS: dict[str, Callable[[int], Run]] = {
    "bfs": _algorithm(gb.algorithms.bfs),
    "sssp": _algorithm(gb.algorithms.sssp, "?weights=1-255"),
    "pagerank": _algorithm(lambda A, _: gb.algorithms.pagerank(A, tol=None, max_iter=10)),
    "components": _algorithm(lambda A, _: gb.algorithms.connected_components(A)),
    "betweenness": _algorithm(lambda A, source: gb.algorithms.betweenness_centrality(A, sources=[source])),
    "triangles": _algorithm(lambda A, _: gb.algorithms.triangle_count(A)),
    "louvain": _louvain,
    "leiden": _leiden,
    "graphsage": _graphsage,
    "walks": _walks,
    "search, uniform": _search("uniform"),
    "search, greedy": _search("greedy"),
    "search, stochastic": _search("stochastic"),
    "geolocation": _geolocation,
    "nomination": _nomination,
    "scan statistics": _scan,
    "fused lasso": _fused_lasso,
    "projection": _projection,
    "local clustering": _clustering,
    "matching": _matching,
    "classification": _classification,
    "filtering": _filtering,
}


def cases(name: str, scale: int) -> Iterator[Case]:
    """Run an application and yield a case for each number of parts."""
    engine = counting()
    with gb.config.set(engine="cpu", progress=False):
        run = APPS[name](scale)
    engine.begin()
    with gb.config.set(engine=NAME, progress=False):
        answer = run.call()
    formula = None if run.formula is None else run.formula(engine.seen, answer)
    for counts in engine.partition.counts:
        case = Case(name, {"graph": f"scale {scale}", "parts": counts.parts})
        case.notes = {
            "operations": counts.operations, "received_bytes": counts.received,
            "all_operations": counts.all_operations, "exchanged_bytes": counts.exchanged,
            "statements": len(engine.seen), "study": None,
        }  # fmt: skip
        if formula is not None:
            cost = formula(counts.parts)
            case.notes["study"] = {"operations": cost.operations, "bytes": cost.nbytes}
        yield case


def printed(case: Case) -> list[str]:
    """Return a case as a row of the table that :data:`HEADER` heads."""
    notes, told = case.notes, case.notes["study"]
    ratio, verdict = study.SUMMARY[case.name]
    theirs = ["-"] * 3 if told is None else [_short(told["operations"]), _short(told["bytes"]), _ratio(*told.values())]
    return [
        case.name, str(case.setting["parts"]), _short(notes["operations"]), _short(notes["received_bytes"]),
        _ratio(notes["operations"], notes["received_bytes"]), *theirs, ratio, verdict,
    ]  # fmt: skip


def _short(value: float) -> str:
    return f"{value:.3g}"


def _ratio(operations: float, nbytes: float) -> str:
    return "-" if not nbytes else number(operations / nbytes)


def main(options: argparse.Namespace) -> int:
    """Run the applications that `options.rows` names (by default all); return the exit code."""
    report = Report(BENCHMARK, "ms", options.out)
    names: Sequence[str] = options.rows or [""]
    for name in APPS:
        if any(name.startswith(begin) for begin in names):
            with report.part(name):
                for case in cases(name, options.scale or SCALE):
                    report.add(case)
    return end(report)


def end(report: Report) -> int:
    """Print a result, and return the command's exit code."""
    print(table(HEADER, map(printed, report.cases)))
    report.end()
    return 0 if report.ok else 1
