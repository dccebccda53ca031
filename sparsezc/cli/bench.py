"""``sparsezc bench GRAPH``: the times of five algorithms in sparsezc and in installed libraries, answers compared.

The construction of each library's graph is not timed. Every answer is compared with that of sparsezc: hops, components
and triangles must be equal, distances equal but for rounding, ranks within the tolerance at which both stop.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

from sparsezc.cli import graph
from sparsezc.cli.answers.report import Report, Table, seconds

ALGORITHMS = ("bfs", "sssp", "pagerank", "cc", "triangles")
_PATIENCE = 5.0  # seconds after which a trial is the last one
_TOL = 1e-6  # PageRank stops once changes sum to n times this, in NetworkX too
_OBJECTS = 600  # host bytes an edge of NetworkX's dictionaries


class _Problem(NamedTuple):
    """The graph as arrays: rows, columns and lengths of its entries, its size, and the source of searches."""

    rows: Any
    cols: Any
    lengths: Any
    n: int
    symmetric: bool
    source: int


def add(commands: Any) -> None:
    """Declare the command."""
    text = "times of algorithms here and in other installed libraries, on one graph"
    command = commands.add_parser("bench", help=text, description=f"Measure {text}; the answers are compared.")
    graph.add_graph(command, weights="lengths of the edges, for sssp (those of the file, else 1 each)")
    command.add_argument(
        "--algorithms", nargs="+", choices=ALGORITHMS, default=list(ALGORITHMS), help="the algorithms (all)"
    )
    command.add_argument(
        "--trials", type=graph.count, default=3, metavar="K", help="runs, of which the fastest counts (3)"
    )
    graph.add_place(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> Report:
    """Measure and compare; the exit code is 1 if an answer differs."""
    from sparsezc.exceptions import InvalidValue

    graph.configure(arguments)
    found = graph.load(arguments, "narrowest")
    if found.columns != found.degrees.size or not found.degrees.size:
        raise InvalidValue(
            f"{found.name} is {found.degrees.size:,} x {found.columns:,}; a graph with vertices is needed"
        )
    source, facts = found.busiest(), found.line()
    A = found.matrix()
    rows, cols, values = A.to_coo()
    problem = _Problem(rows.astype("int64"), cols.astype("int64"), values, A.nrows, found.facts["symmetric"], source)
    results = [each for name in arguments.algorithms for each in _compare(name, A, problem, arguments.trials)]
    lines = [
        (each["algorithm"], each["library"], "-" if each["seconds"] is None else seconds(each["seconds"]),
         "-" if each["ratio"] is None else f"{each['ratio']:.3g}x", each["answer"])
        for each in results
    ]  # fmt: skip
    engine = A._engine.name if A._engine is not None else "none"
    report = Report(
        {
            "command": "bench",
            "graph": found.facts,
            "engine": engine,
            "source": found.name_of(source),
            "results": results,
        },
        [("graph", facts), ("engine", f"{engine}, {found.facts['placement']} memory")],
        [Table(("algorithm", "library", "time", "of sparsezc's", "answer"), lines)],
    )
    report.code = int(any(each["answer"] == "differs" for each in results))
    return report


def _compare(name: str, A: Any, problem: _Problem, trials: int) -> list[dict[str, Any]]:
    """Return sparsezc's time, and the times and verdicts of the libraries."""
    from sparsezc.terminal.progress import working

    with working(f"{name}, sparsezc"):
        ours, took = _timed(lambda: _ours(name, A, problem.source), trials)
    right = _dense(name, ours, problem.n)
    found = [{"algorithm": name, "library": "sparsezc", "seconds": took, "ratio": 1.0, "answer": "compared with"}]
    for library, make in _LIBRARIES.items():
        if find_spec(library) is None:
            found.append(_line(name, library, "not installed"))
            continue
        if name == "sssp" and problem.lengths.size and problem.lengths.min() < 0:
            found.append(_line(name, library, "takes no negative lengths"))
            continue
        if (call := make(name, problem)) is None:
            continue
        if isinstance(call, str):
            found.append(_line(name, library, call))
            continue
        with working(f"{name}, {library}"):
            answer, peer = _timed(call[0], trials)
        same = _agrees(name, call[1](answer), right, problem.n)
        found.append(_line(name, library, "equal" if same else "differs") | {"seconds": peer, "ratio": peer / took})
    return found


def _line(name: str, library: str, answer: str) -> dict[str, Any]:
    return {"algorithm": name, "library": library, "seconds": None, "ratio": None, "answer": answer}


def _timed(call: Callable[[], Any], trials: int) -> tuple[Any, float]:
    """Return the answer and the least time in seconds; a call that takes long is not repeated."""
    best, answer = float("inf"), None
    for _ in range(trials):
        start = time.perf_counter()
        answer = call()
        took = time.perf_counter() - start
        best = min(best, took)
        if took > _PATIENCE:
            break
    return answer, best


def _ours(name: str, A: Any, source: int) -> Any:
    from sparsezc import algorithms

    calls: dict[str, Callable[[], Any]] = {
        "bfs": lambda: algorithms.bfs(A, source), "sssp": lambda: algorithms.sssp(A, source),
        "pagerank": lambda: algorithms.pagerank(A, tol=_TOL), "cc": lambda: algorithms.connected_components(A),
        "triangles": lambda: algorithms.triangle_count(A),
    }  # fmt: skip
    result = calls[name]()
    if hasattr(result, "wait"):
        result.wait()
    return result


def _dense(name: str, result: Any, n: int) -> Any:
    """Return an answer with values of vertices as an array of floats, infinite for vertices without one."""
    import numpy as np

    if name == "triangles":
        return result
    full = np.full(n, np.inf)
    at, values = result.to_coo()
    full[at.astype(np.int64)] = values
    return full


def _agrees(name: str, answer: Any, right: Any, n: int) -> bool:
    import numpy as np

    if name == "triangles":
        return bool(int(answer) == right)
    if name == "pagerank":  # changes shrink by 0.85 a round: each answer is within n * tol * 0.85 / 0.15 of the limit
        return float(np.abs(answer - right).sum()) <= 2 * max(n * _TOL, 1e-9) * 0.85 / 0.15
    if name == "cc":
        return bool(np.array_equal(_smallest(np.asarray(answer)), right))
    return bool(np.allclose(answer, right, rtol=1e-5))


def _smallest(labels: Any) -> Any:
    """Return the smallest vertex with the label of each vertex."""
    import numpy as np

    _, first, at = np.unique(labels, return_index=True, return_inverse=True)
    return first[at]


def _scipy(name: str, problem: _Problem) -> Any:
    """Return SciPy's call, and a function that makes an array of its answer; None if SciPy lacks the algorithm."""
    import numpy as np
    from scipy.sparse import csgraph, csr_array

    n, source, unweighted = problem.n, problem.source, not problem.symmetric
    S = csr_array((problem.lengths.astype(np.float64), (problem.rows, problem.cols)), shape=(n, n))
    if name == "bfs":
        return lambda: csgraph.breadth_first_order(S, source, directed=True), lambda found: _hops(
            found[0], found[1], source, n
        )
    if name == "sssp":
        return None if not S.data.all() else (lambda: csgraph.dijkstra(S, directed=True, indices=source), np.asarray)
    if name == "cc":
        return lambda: csgraph.connected_components(S, directed=unweighted, connection="weak"), lambda found: found[1]
    if name == "triangles":
        apart = problem.rows != problem.cols
        i, j = problem.rows[apart], problem.cols[apart]
        P = csr_array((np.ones(2 * i.size, np.int64), (np.append(i, j), np.append(j, i))), shape=(n, n))
        P.data[:] = 1
        return lambda: (P @ P).multiply(P).sum() // 6, int
    return None


def _hops(order: Any, before: Any, source: int, n: int) -> Any:
    """Return the hops in a breadth-first tree, whose vertices come in the order of the search."""
    import numpy as np

    hops = np.full(n, np.inf)
    hops[source] = 0
    for vertex in order[1:].tolist():
        hops[vertex] = hops[before[vertex]] + 1
    return hops


def _networkx(name: str, problem: _Problem) -> Any:
    """Return NetworkX's call and conversion, as `_scipy` does; a message if its objects do not fit host memory."""
    import networkx as nx
    import numpy as np

    from sparsezc.exceptions import OutOfMemory
    from sparsezc.memory.budget import require_host

    try:
        require_host(_OBJECTS * problem.rows.size, "NetworkX's graph")
    except OutOfMemory:
        return "does not fit the memory"
    G = (nx.Graph if problem.symmetric or name == "triangles" else nx.DiGraph)()
    G.add_nodes_from(range(problem.n))
    edges = zip(problem.rows.tolist(), problem.cols.tolist(), problem.lengths.tolist(), strict=True)
    G.add_weighted_edges_from(edges)

    def dense(found: dict[int, float]) -> Any:
        full = np.full(problem.n, np.inf)
        full[list(found)] = list(found.values())
        return full

    def labels(found: list[set[int]]) -> Any:
        full = np.zeros(problem.n, np.int64)
        for members in found:
            full[list(members)] = min(members)
        return full

    parts = nx.connected_components if problem.symmetric else nx.weakly_connected_components
    return {
        "bfs": (lambda: nx.single_source_shortest_path_length(G, problem.source), dense),
        "sssp": (lambda: nx.single_source_dijkstra_path_length(G, problem.source), dense),
        "pagerank": (lambda: nx.pagerank(G, tol=_TOL, weight=None), dense),
        "cc": (lambda: list(parts(G)), labels),
        "triangles": (lambda: sum(nx.triangles(G).values()) // 3, int),
    }[name]


def _igraph(name: str, problem: _Problem) -> Any:
    """Return igraph's call and conversion, as `_scipy` does."""
    from importlib import import_module

    import numpy as np

    igraph = import_module("igraph")

    half = problem.rows <= problem.cols if problem.symmetric else slice(None)
    pairs = np.column_stack((problem.rows[half], problem.cols[half]))
    G = igraph.Graph(problem.n, pairs, directed=not problem.symmetric)
    lengths, source = problem.lengths[half].astype(float).tolist(), problem.source
    return {
        "bfs": (lambda: G.distances(source), lambda found: np.array(found[0], float)),
        "sssp": (lambda: G.distances(source, weights=lengths), lambda found: np.array(found[0], float)),
        "pagerank": (lambda: G.pagerank(damping=0.85), np.array),
        "cc": (lambda: G.connected_components(mode="weak").membership, np.array),
    }.get(name)


_LIBRARIES: dict[str, Callable[[str, _Problem], Any]] = {"scipy": _scipy, "networkx": _networkx, "igraph": _igraph}
