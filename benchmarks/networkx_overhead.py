"""The cost of NetworkX's functions with the backend: ``python -m benchmarks.networkx_overhead``.

Every function of the backend is called on graphs of several sizes, by NetworkX alone (``backend="networkx"``) and with
``backend_priority`` set, after the one conversion; besides calls for whole graphs there are calls for single nodes and
pairs. Times are processor time of one thread, the least of several in turns, so a busy machine can measure them. The
output is the time with the backend over the time without, as min, median and max over all functions; for calls that
were sent to the backend also that of the first call, with the conversion (and with the library's start, if one FUNCTION
is measured on a graph of one size). The figures of docs/networkx.md are of ``--forced --sizes medium --out FILE``.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

from tests.networkx_backend import entry_points

os.environ.setdefault("OMP_NUM_THREADS", "1")  # set before OpenMP is loaded, whose waiting threads spend processor time
entry_points.provide(Path(tempfile.mkdtemp(prefix="entry-points-")))

import networkx as nx  # noqa: E402 - it looks for backends when it is imported

from sparsezc.networkx_backend.info import functions  # noqa: E402
from sparsezc.networkx_backend.interface import CLAIMS  # noqa: E402
from tests.networkx_backend.odd_graphs import function_of  # noqa: E402

SIZES = {"small": (30, 60), "fewer": (300, 1_500), "medium": (1_000, 5_000), "large": (20_000, 100_000)}
#: With ``--forced``, the next size on which a function is timed if NetworkX takes too long.
SMALLER = {"large": "medium", "medium": "fewer", "fewer": "small"}
#: Processor seconds after which a call of NetworkX is ended, and the function is not measured on that graph.
PATIENCE = 4.0

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
    "jaccard_coefficient": ({"ebunch": [(i, i + 3) for i in range(100)]}, {}),
}  # fmt: skip


#: Arguments for parameters without a default, by name, of functions that are not listed above.
_NEEDED: dict[str, Any] = {
    "source": 0, "target": 7, "u": 0, "v": 7, "n": 0, "node1": 3, "node2": 7, "k": 3, "S": list(range(20)),
    "nbunch": list(range(20)), "nbunch1": list(range(20)), "nodes": list(range(20)), "sources": [0, 1],
    "row_order": list(range(20)), "attribute": "group", "_s": 0, "_t": 7,
}  # fmt: skip


#: Sizes for functions that make graphs, by their parameters' names.
_OF_SIZE: dict[str, int] = {"n": 300, "m": 100, "n1": 100, "n2": 200, "m1": 100, "m2": 100, "l": 30, "k": 10, "r": 5}


def _calls(name: str, G: Any) -> tuple[dict[str, Any], ...]:
    """Return the keyword arguments of each call of a function on a graph."""
    if CLAIMS[name].made:
        parameters = signature(function_of(name)).parameters
        return ({p: _OF_SIZE[p] for p in parameters if p in _OF_SIZE and not name.startswith("from_")},)
    if name == "relabel_nodes":
        return ({"mapping": {v: 2 * len(G) - v for v in G}},)
    if name in ("union", "full_join"):
        return ({"rename": ("a", "b")},)
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
    if "nodes" in needed and _of_sides(name):
        needed["nodes"] = list(range(len(G) // 2))
    return (needed,)


def _of_sides(name: str) -> bool:
    return ".bipartite." in function_of(name).__module__


def _subjects(name: str, graphs: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Return the first arguments of a function by kind of graph: one graph, two, or a table from which it makes one."""
    plain = {kind: G for kind, G in graphs.items() if (kind == "of two sides") == _of_sides(name)}
    if name == "complete_multipartite_graph":
        return {"made": (100, 200)}
    if name.startswith("from_"):
        A = nx.to_scipy_sparse_array(graphs["undirected"])
        tables = {
            "from_scipy_sparse_array": lambda: A,
            "from_biadjacency_matrix": lambda: A,
            "from_numpy_array": A.toarray,
            "from_dict_of_lists": lambda: nx.to_dict_of_lists(graphs["undirected"]),
            "from_pandas_adjacency": lambda: nx.to_pandas_adjacency(graphs["undirected"]),
            "from_pandas_edgelist": lambda: nx.to_pandas_edgelist(graphs["undirected"]),
        }
        return {"made": (tables[name](),)}
    if CLAIMS[name].made:
        return {"made": ()}
    if name == "find_negative_cycle":
        G = graphs["directed"].copy()
        G.add_weighted_edges_from([(len(G) - 3, len(G) - 2, -9), (len(G) - 2, len(G) - 3, 1)])
        return {"with a negative cycle": (G,)}
    two = list(CLAIMS[name].defaults)[1:2] in (["H"], ["G2"])
    return {kind: (G, G) if two else (G,) for kind, G in plain.items()}


def _graph(n: int, m: int, kind: str) -> Any:
    """Return a connected random graph of a kind (undirected, directed, acyclic, bipartite), with integer weights."""
    if kind == "of two sides":
        G = nx.bipartite.gnmk_random_graph(n // 2, n - n // 2, m, seed=1)
        G.add_edges_from((i, n // 2 + i) for i in range(n // 2))
    else:
        G = nx.gnm_random_graph(n, m, seed=1, directed=kind != "undirected")
    if kind == "without cycles":
        G = nx.DiGraph((min(e), max(e)) for e in G.edges)
    elif kind != "of two sides":
        nx.add_cycle(G, range(n))
    nx.set_node_attributes(G, {v: {"group": v % 3, "community": v % 5} for v in G})
    for k, (_, _, data) in enumerate(G.edges(data=True)):
        data["weight"] = 1 + k * 7 % 13
    return G


def _run(function: Any, G: Any, given: dict[str, Any], **how: Any) -> None:
    found = function(*G, **given, **how)
    if hasattr(found, "__next__"):
        for _ in found:
            pass


class TooLong(BaseException):
    """The error that a call of NetworkX takes longer than `PATIENCE`."""


def _stop(*_: Any) -> None:
    raise TooLong


def _seconds(call: Callable[[], None]) -> float:
    """Return the least processor seconds of a call, repeated for 15 ms, or once if it takes longer."""
    best, spent = float("inf"), 0.0
    repeat = 1
    while spent < 0.015:
        start = time.process_time()
        for _ in range(repeat):
            call()
        took = time.process_time() - start
        if took <= 0:  # processors' clocks differ by a microsecond, so a difference may be negative
            continue
        best, spent = min(best, took / repeat), spent + took
        repeat = max(1, min(1000, int(0.004 / max(best, 1e-7))))
    return best


def _in_turns(*calls: Callable[[], None]) -> list[float]:
    """Return the least processor seconds of each call, run in turns three times, or once if one takes over 1 s."""
    best = [float("inf")] * len(calls)
    for _ in range(3):
        for k, call in enumerate(calls):
            best[k] = min(best[k], _seconds(call))
        if max(best) > 1:
            break
    return best


def measure(
    name: str, given: dict[str, Any], G: tuple[Any, ...], forced: bool, patience: float = PATIENCE
) -> dict[str, Any] | None:
    """Return the times of one call, or None if NetworkX refuses it; `G` has the call's first arguments.

    Raises TooLong if NetworkX takes longer than `patience`.
    """
    function = function_of(name)
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, patience)
    start = time.process_time()
    try:
        _run(function, G, given, backend="networkx")
        took = time.process_time() - start
    except Exception:
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    line: dict[str, Any] = {"function": name, "given": repr(given)}
    if forced:
        H = tuple(_as_matrix(one) for one in G) if MATRICES in functions()[name] else G
        try:
            _run(function, H, given, backend="sparsezc")
        except Exception as error:
            return line | {"alone": float("nan"), "forced": float("nan"), "error": f"{type(error).__name__}"}
        calls = [lambda: _run(function, H, given, backend="sparsezc")]
        if took > 1:  # long enough that one call suffices
            return line | {"alone": took, "forced": _in_turns(*calls)[0]}
        line["forced"], line["alone"] = _in_turns(*calls, lambda: _run(function, G, given, backend="networkx"))
        return line
    for one in G:
        one.__networkx_cache__.clear()

    def dispatched() -> None:
        with nx.config(backend_priority=["sparsezc"]):
            _run(function, G, given)

    start = time.process_time()
    dispatched()
    line["first"] = time.process_time() - start
    line["sent"] = any(one.__networkx_cache__.get("backends") for one in G)
    line["alone"], line["with"] = _in_turns(lambda: _run(function, G, given), dispatched)
    line["ratio"] = line["with"] / line["alone"]
    return line


def measured(name: str, size: str, forced: bool, patience: float) -> list[dict[str, Any]]:
    """Return the times of a function's calls on graphs of a size; if `forced`, of a smaller one if NetworkX is slow."""
    found: list[dict[str, Any]] = []
    for kind, G in _subjects(name, _graphs(size)).items():
        for given in _calls(name, G[0] if G else None):
            try:
                line = measure(name, given, G, forced, patience)
            except TooLong:
                if forced and size in SMALLER:
                    return measured(name, SMALLER[size], forced, patience)
                continue
            if line:
                found += [{"size": size, "kind": kind} | line]
    return found


@cache
def _graphs(size: str) -> dict[str, Any]:
    return {kind: _graph(*SIZES[size], kind) for kind in ("undirected", "directed", "without cycles", "of two sides")}


MATRICES = "Only for graphs that are matrices."


def _as_matrix(G: Any) -> Any:
    """Return the graph without attributes as the backend's matrix graph, which is no NetworkX graph."""
    if not isinstance(G, nx.Graph):
        return G
    rows = nx.to_dict_of_lists(G, backend="networkx")
    return nx.from_dict_of_lists(rows, nx.DiGraph if G.is_directed() else None, backend="sparsezc")


def main() -> int:
    """Measure, and print a table and the worst calls; return 1 if a call exceeds the bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="FUNCTION", help="all by default")
    parser.add_argument("--sizes", default="small,medium,large")
    parser.add_argument("--bound", type=float, default=1.5)
    parser.add_argument("--floor", type=float, default=10e-6, help="seconds that the dispatch itself may take")
    parser.add_argument("--forced", action="store_true", help='time backend="sparsezc" instead, to set the claims')
    parser.add_argument(
        "--patience", type=float, default=PATIENCE, help="processor seconds after which a call of NetworkX is ended"
    )
    parser.add_argument("--out", help="a file for all times as JSON")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    above = 0
    for size in asked.sizes.split(","):
        found: list[dict[str, Any]] = []
        for name in asked.names or sorted(name for name in functions() if asked.forced or not CLAIMS[name].made):
            found += measured(name, size, asked.forced, asked.patience)
            if asked.out:
                Path(asked.out).write_text(json.dumps(lines + found, indent=1) + "\n")
        lines += found
        if asked.forced:
            for x in found:
                print(
                    f"{x['size']} {x['kind']:<14} {x['function']}({x['given']}) {x['alone']:.6f}"
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
        first = sorted((x for x in found if x["sent"]), key=lambda x: x["first"] / x["alone"])
        if first:
            ratio, worst = (x["first"] / x["alone"] for x in (first[len(first) // 2], first[-1]))
            name, given = first[-1]["function"], first[-1]["given"]
            print(f"  sent: {len(first)}; the first call: median {ratio:.2f}, max {worst:.2f}, {name}({given})")
        for x in sorted(wrong, key=lambda x: -x["ratio"])[:15]:
            print(
                f"  {x['ratio']:8.2f} {x['kind']} {x['function']}({x['given']}): {x['alone']:.6f} s, {x['with']:.6f} s"
            )
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
