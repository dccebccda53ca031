"""Exact bytes that 2 to 64 ranks exchange if a graph is cut by rows, as a grid, or by high and low degrees.

``python -m benchmarks.partitions kron:18 urand:18 road.gr.gz`` needs no GPU. It counts the bytes that the busiest rank
and all ranks receive in one PageRank iteration (every value is sent) and in one breadth-first search;
benchmarks/model/partitions.py describes each way's exchanges. Hubs are vertices of at least 2^k entries, for the
best k. A hub size or a way is best if the busiest rank receives least.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.frame import SEED, Case, Report, number, pick_sources, table
from benchmarks.model import partitions
from benchmarks.model.partitions import VALUE, Array, Cut, Exchange
from sparsezc.io._read import read_csr

RANKS = (2, 4, 8, 16, 32, 64)
MOST_LEVELS = 40  # of a search that are counted, spread evenly and scaled to all: a road network has thousands
HEADER = [
    "graph",
    "what",
    "ranks",
    "1D gather",
    "1D halo",
    "1D push",
    "2D",
    "high/low",
    "hubs",
    "busiest over mean",
    "best",
]

Way = Callable[[Cut, Array | None, int], Exchange]
WAYS: dict[str, Way] = {
    "1D gather": partitions.gathered,
    "1D halo": partitions.halo,
    "1D push": partitions.pushed,
    "2D": partitions.grid,
}


def summed(way: Way, graph: Cut, fronts: list[Array | None], value: int, scale: float) -> Exchange:
    """Return the bytes that a way exchanges in several statements, scaled by `scale` to those of all."""
    found = reduce(Exchange.plus, (way(graph, front, value) for front in fronts))
    return Exchange(found.received * scale)


def best_hubs(graph: Cut, fronts: list[Array | None], value: int, scale: float) -> tuple[int, Exchange]:
    """Return the least entries of a hub (the best power of two), and the bytes exchanged with it."""
    most = int(np.diff(graph.indptr).max())
    tried = {}
    for degree in (1 << k for k in range(3, most.bit_length() + 1)):
        way = lambda *of, degree=degree: partitions.hubs(*of, degree)  # noqa: E731
        tried[degree] = summed(way, graph, fronts, value, scale)
    best = min(tried, key=lambda degree: tried[degree].busiest)
    return best, tried[best]


def cases(name: str, path: str, ranks: list[int]) -> Iterator[Case]:
    """Yield the counts of one graph, a case for each number of ranks and algorithm."""
    csr, _ = read_csr(path, placement="host", weights=False, symmetrize=True)
    indptr, indices = csr.indptr, csr.indices.read().astype(np.int64)
    source = pick_sources(np.diff(indptr), 1, SEED)[0]
    for parts in ranks:
        graph = partitions.cut(indptr, indices, parts)
        found: list[Any] = partitions.levels(graph, source)
        chosen = (
            found if len(found) <= MOST_LEVELS else [found[k * len(found) // MOST_LEVELS] for k in range(MOST_LEVELS)]
        )
        held = np.diff(indptr[graph.bounds])
        for what, fronts, value in (("pagerank", [None], VALUE), ("bfs", chosen, 0)):
            scale = 1.0 if what == "pagerank" else len(found) / len(chosen)
            case = Case(what, {"graph": name, "ranks": parts})
            counted = {way: summed(run, graph, fronts, value, scale) for way, run in WAYS.items()}
            degree, counted["high/low"] = best_hubs(graph, fronts, value, scale)
            case.notes = {
                "busiest_bytes": {way: each.busiest for way, each in counted.items()},
                "all_bytes": {way: each.total for way, each in counted.items()},
                "hub_degree": degree, "hubs": int((np.diff(indptr) >= degree).sum()),
                "imbalance": float(held.max() / held.mean()), "vertices": graph.n, "entries": int(indptr[-1]),
                "levels": len(found),
            }  # fmt: skip
            yield case


def printed(case: Case) -> list[str]:
    """Return a case as a row of the table that :data:`HEADER` heads, in KB of the busiest rank."""
    notes, setting = case.notes, case.setting
    ways = notes["busiest_bytes"]
    return [
        str(setting["graph"]), case.name, str(setting["ranks"]), *(number(nbytes / 1e3) for nbytes in ways.values()),
        f"{notes['hubs']:,} (>= {notes['hub_degree']})", number(notes["imbalance"]), min(ways, key=ways.get),
    ]  # fmt: skip


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.partitions", description=__doc__.splitlines()[0])
    parser.add_argument(
        "graphs", nargs="*", default=["kron:18", "urand:18", "grid:512x512"],
        help="kron:SCALE, urand:SCALE, grid:ROWSxCOLS, ... or files, as NAME=FILE or FILE",
    )  # fmt: skip
    parser.add_argument("--ranks", default=",".join(map(str, RANKS)), help="powers of two")
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    options = parser.parse_args(arguments)
    try:
        options.ranks = [int(part) for part in options.ranks.split(",")]
        if any(part < 2 or part & (part - 1) for part in options.ranks):
            raise ValueError(options.ranks)
    except ValueError:
        parser.error(f"--ranks {options.ranks}: powers of two from 2 on are needed")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Count all graphs and print a table."""
    options = parse(arguments)
    report = Report("partitions", "ms", options.out)
    for graph in options.graphs:
        name, _, path = graph.rpartition("=")
        with report.part(graph):
            for case in cases(name or Path(path).name, path, options.ranks):
                report.add(case)
    print("KB that the busiest rank receives: of one PageRank iteration, of one search")
    print(table(HEADER, map(printed, report.cases), left=2))
    report.end()
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
