"""The cost of NetworkX's functions with the backend: ``python -m benchmarks.networkx_overhead``.

Every function of the backend is called on graphs of several sizes, by NetworkX alone (``backend="networkx"``) and with
``backend_priority`` set, after the one conversion; calls about single nodes and pairs stand beside those about whole
graphs. Printed is the time with the backend over the time without, as min, median and max over all functions. The
figures of docs/networkx.md are those of ``--forced --sizes medium --out FILE``.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

from tests.networkx_backend import entry_points

entry_points.provide(Path(tempfile.mkdtemp(prefix="entry-points-")))

import networkx as nx  # noqa: E402 - it looks for backends when it is imported

from sparsezc.networkx_backend.info import FUNCTIONS  # noqa: E402
from tests.networkx_backend.odd import function_of  # noqa: E402

SIZES = {"small": (30, 60), "medium": (1_000, 5_000), "large": (20_000, 100_000)}
#: Seconds after which a call of NetworkX is given up, and the function is not judged on that graph.
PATIENCE = 3.0

_NODE = ({"source": 0},)
_PAIR = ({"source": 0, "target": 7},)
_BY_NODES = ({}, {"nodes": 3}, {"nodes": [3, 4]})
_CALLS: dict[str, tuple[dict[str, Any], ...]] = {
    "ancestors": _NODE, "descendants": _NODE, "find_negative_cycle": _NODE, "bfs_tree": _NODE, "bfs_edges": _NODE,
    "bfs_predecessors": _NODE, "bfs_successors": _NODE, "single_source_bellman_ford": _NODE,
    "single_source_bellman_ford_path": _NODE, "single_source_bellman_ford_path_length": _NODE,
    "single_source_dijkstra": (*_NODE, *_PAIR), "single_source_dijkstra_path": _NODE,
    "single_source_dijkstra_path_length": _NODE, "single_source_shortest_path": _NODE,
    "single_source_shortest_path_length": (*_NODE, {"source": 0, "cutoff": 1}),
    "single_target_shortest_path_length": ({"target": 0},),
    "bellman_ford_path": _PAIR, "bellman_ford_path_length": _PAIR, "dijkstra_path": _PAIR,
    "dijkstra_path_length": _PAIR, "has_path": _PAIR,
    "shortest_path": (*_PAIR, {"source": 0}, {"target": 0}, {"source": 0, "target": 7, "weight": "weight"}),
    "shortest_path_length": (*_PAIR, {"source": 0}, {"target": 0}, {"source": 0, "target": 7, "weight": "weight"}),
    "descendants_at_distance": ({"source": 0, "distance": 1},), "bfs_layers": ({"sources": [0, 1]},),
    "multi_source_dijkstra_path_length": ({"sources": [0, 1]},), "node_connected_component": ({"n": 0},),
    "ego_graph": ({"n": 0}, {"n": 0, "radius": 2}), "k_truss": ({"k": 3},), "triangles": _BY_NODES,
    "clustering": _BY_NODES, "square_clustering": _BY_NODES, "average_clustering": ({}, {"nodes": [3, 4]}),
    "reciprocity": ({}, {"nodes": 3}, {"nodes": [3, 4]}), "eccentricity": ({}, {"v": 3}),
    "closeness_centrality": ({}, {"u": 3}), "harmonic_centrality": ({}, {"nbunch": [3, 4]}),
    "betweenness_centrality": ({}, {"k": 3, "seed": 1}), "edge_betweenness_centrality": ({}, {"k": 3, "seed": 1}),
    **dict.fromkeys(
        ("weighted_projected_graph", "collaboration_weighted_projected_graph", "overlap_weighted_projected_graph"),
        ({"nodes": [0, 1, 2]},),
    ),
    "jaccard_coefficient": ({"ebunch": [(i, i + 3) for i in range(100)]}, {}),
}  # fmt: skip


#: Arguments without a default, by their names, of functions that are not listed above.
_NEEDED: dict[str, Any] = {
    "source": 0, "target": 7, "u": 0, "v": 7, "n": 0, "node1": 3, "node2": 7, "k": 3, "S": list(range(20)),
    "nbunch": list(range(20)), "nbunch1": list(range(20)), "nodes": list(range(20)), "sources": [0, 1],
    "row_order": list(range(20)), "attribute": "group", "_s": 0, "_t": 7,
}  # fmt: skip


def _calls(name: str, G: Any) -> tuple[dict[str, Any], ...]:
    """The arguments of a function's calls on a graph."""
    if name in ("modularity", "partition_quality", "intra_community_edges", "inter_community_edges"):
        return ({"communities" if name == "modularity" else "partition": [set(list(G)[:9]), set(list(G)[9:])]},)
    if name in _CALLS:
        return _CALLS[name]
    parameters = list(signature(function_of(name)).parameters.values())[1:]
    needed = {p.name: _NEEDED[p.name] for p in parameters if p.default is p.empty and p.name in _NEEDED}
    needed |= {"rich_club_coefficient": {"normalized": False}, "local_bridges": {"with_span": False}}.get(name, {})
    needed |= {"capacity": "weight"} if "_s" in needed else {}
    needed |= {"T": list(range(20, 40))} if name in ("cut_size", "mixing_expansion") else {}
    needed |= {"ebunch": [(i, i + 3) for i in range(20)]} if any(p.name == "ebunch" for p in parameters) else {}
    return (needed,)


def _graph(n: int, m: int, kind: str) -> Any:
    """A connected random graph, or one with directions, or one without cycles; with whole weights."""
    G = nx.gnm_random_graph(n, m, seed=1, directed=kind != "undirected")
    if kind == "without cycles":
        G = nx.DiGraph((min(e), max(e)) for e in G.edges)
    else:
        nx.add_cycle(G, range(n))
    nx.set_node_attributes(G, {v: {"group": v % 3, "community": v % 5} for v in G})
    for k, (_, _, data) in enumerate(G.edges(data=True)):
        data["weight"] = 1 + k * 7 % 13
    return G


def _run(function: Any, G: Any, given: dict[str, Any], **how: Any) -> None:
    found = function(G, **given, **how)
    if hasattr(found, "__next__"):
        for _ in found:
            pass


class _TooLong(BaseException):
    pass


def _stop(*_: Any) -> None:
    raise _TooLong


def _seconds(call: Callable[[], None]) -> float:
    """The least of several times: repeated until 40 ms are spent, once if a call takes longer."""
    best, spent = float("inf"), 0.0
    repeat = 1
    while spent < 0.04:
        start = time.perf_counter()
        for _ in range(repeat):
            call()
        took = time.perf_counter() - start
        best, spent = min(best, took / repeat), spent + took
        repeat = max(1, min(1000, int(0.004 / max(best, 1e-7))))
    return best


def measure(
    name: str, given: dict[str, Any], G: Any, forced: bool, patience: float = PATIENCE
) -> dict[str, Any] | None:
    """The times of one call, or None where NetworkX refuses it or takes too long."""
    function = function_of(name)
    signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, patience)
    try:
        alone = _seconds(lambda: _run(function, G, given))
    except (_TooLong, Exception):
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    G.__networkx_cache__.clear()
    line: dict[str, Any] = {"function": name, "given": repr(given), "alone": alone}
    if forced:
        try:
            _run(function, G, given, backend="sparsezc")
            line["forced"] = _seconds(lambda: _run(function, G, given, backend="sparsezc"))
        except Exception as error:
            line["forced"] = float("nan")
            line["error"] = f"{type(error).__name__}"
        return line
    with nx.config(backend_priority=["sparsezc"]):
        start = time.perf_counter()
        _run(function, G, given)
        line["first"] = time.perf_counter() - start
        line["with"] = _seconds(lambda: _run(function, G, given))
    if line["with"] > 1.2 * alone:  # once more in turn: a busy machine slows the one or the other
        for _ in range(3):
            alone = min(alone, _seconds(lambda: _run(function, G, given)))
            with nx.config(backend_priority=["sparsezc"]):
                line["with"] = min(line["with"], _seconds(lambda: _run(function, G, given)))
    line["alone"] = alone
    line["ratio"] = line["with"] / alone
    return line


def main() -> int:
    """Measure, print a table and the worst calls; the exit status is 1 where a call is above the bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="FUNCTION", help="all by default")
    parser.add_argument("--sizes", default="small,medium,large")
    parser.add_argument("--bound", type=float, default=1.5)
    parser.add_argument("--floor", type=float, default=10e-6, help="seconds that the dispatch itself may take")
    parser.add_argument("--forced", action="store_true", help='time backend="sparsezc" instead, to set the claims')
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds after which NetworkX is given up")
    parser.add_argument("--out", help="a file for all times as JSON")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    above = 0
    for size in asked.sizes.split(","):
        graphs = {kind: _graph(*SIZES[size], kind) for kind in ("undirected", "directed", "without cycles")}
        found = []
        for name in asked.names or sorted(name for name in FUNCTIONS if not name.startswith("from_")):
            for kind, G in graphs.items():
                for given in _calls(name, G):
                    if line := measure(name, given, G, asked.forced, asked.patience):
                        found += [{"size": size, "kind": kind} | line]
            if asked.out:
                Path(asked.out).write_text(json.dumps(lines + found, indent=1) + "\n")
        lines += found
        if asked.forced:
            for x in found:
                print(
                    f"{size} {x['kind']:<14} {x['function']}({x['given']}) {x['alone']:.6f}"
                    f" {x['forced'] / x['alone']:.2f}"
                )
            continue
        ratios = [x["ratio"] for x in found]
        wrong = [x for x in found if x["ratio"] > asked.bound and x["with"] - x["alone"] > asked.floor]
        above += len(wrong)
        print(
            f"{size} ({SIZES[size][0]} nodes): {len(found)} calls of {len({x['function'] for x in found})} functions, "
            f"over NetworkX: min {min(ratios):.3f}, median {statistics.median(ratios):.2f}, max {max(ratios):.2f}; "
            f"above {asked.bound} by more than {asked.floor * 1e6:g} us: {len(wrong)}"
        )
        for x in sorted(wrong, key=lambda x: -x["ratio"])[:15]:
            print(
                f"  {x['ratio']:8.2f} {x['kind']} {x['function']}({x['given']}): {x['alone']:.6f} s, {x['with']:.6f} s"
            )
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
