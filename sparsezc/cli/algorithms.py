"""``sparsezc bfs``, ``sssp``, ``pagerank`` and ``cc``: read a graph, run one algorithm, report the result."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

from sparsezc.cli import answer, graph
from sparsezc.cli.graph import Graph
from sparsezc.cli.report import Percent, Report, Table, counted, rate, seconds

_ROWS = 20  # of a table; the rows of a longer one are combined


def add(commands: Any) -> None:
    """Declare the four commands."""
    made = {}
    for name, run, help in (
        ("bfs", bfs, "hops from one vertex to all others"),
        ("sssp", sssp, "lengths of shortest paths from one vertex"),
        ("pagerank", pagerank, "share of a random walker's time at each vertex"),
        ("cc", cc, "connected components (of directed graphs: weakly connected)"),
    ):
        command = made[name] = commands.add_parser(name, help=help, description=f"Compute {help}.")
        graph.add_graph(command, weights=_WEIGHTS[name])
        graph.add_place(command)
        command.add_argument(
            "--out",
            metavar="FILE",
            help="write the answer in the format of the suffix: .txt, .tsv, .csv, .json (also with .gz), .npy, .npz,"
            " .parquet or .h5; - is standard output, and the report is then printed on standard error",
        )
        command.set_defaults(run=run)
    for name in ("bfs", "sssp"):
        made[name].add_argument("--source", type=int, metavar="N", help="start here (the vertex of most out-edges)")
    made["bfs"].add_argument("--parents", action="store_true", help="answer with a tree of parents, not with levels")
    made["sssp"].add_argument(
        "--delta", type=float, metavar="D", help="settle vertices in steps of this distance (by the lengths)"
    )
    add = made["pagerank"].add_argument
    add("--damping", type=float, default=0.85, metavar="D", help="probability of following an edge (0.85)")
    add("--tol", type=float, default=1e-6, metavar="T", help="stop when all ranks change by n * T or less (1e-6)")
    add("--max-iter", type=int, default=100, metavar="K", help="fail after so many iterations (100)")
    add("--weighted", action="store_true", help="follow edges in proportion to their weights")


_WEIGHTS = {
    "bfs": "ignored: every edge is one hop",
    "sssp": "lengths of the edges (those of the file, else 1 each)",
    "pagerank": "weights of the edges, for --weighted (those of the file)",
    "cc": "ignored",
}


def bfs(arguments: argparse.Namespace) -> Report:
    """Report levels (or parents) and a table of level sizes."""
    import numpy as np

    found = loaded(arguments, weights=False)
    from sparsezc import algorithms

    source, chosen = _source(arguments, found)
    function = algorithms.bfs_parents if arguments.parents else algorithms.bfs
    result, run, engine = timed(found, lambda A: function(A, source))
    vertices, values = result.to_coo()
    levels = values if not arguments.parents else _levels(vertices.astype(np.int64), values, source, result.size)
    sizes = np.bincount(levels)
    if arguments.parents and found.ids is not None:
        values = found.ids[values]
    answer.save(arguments.out, found, vertices, values, missing=-1)
    edges = int(found.degrees[vertices.astype(np.int64)].sum())
    report = reported(arguments, found, run, engine, edges)
    report.data |= {
        "source": int(found.named(np.array([source]))[0]),
        "reached": int(vertices.size),
        "depth": int(sizes.size - 1),
        "levels": sizes,
    }
    report.facts += [
        ("source", chosen),
        ("reached", _reached(vertices.size, result.size) + f", {counted(sizes.size - 1, 'level', 'levels')} deep"),
    ]
    report.tables.append(_level_table(sizes))
    return report


def sssp(arguments: argparse.Namespace) -> Report:
    """Report distances and their distribution."""
    import numpy as np

    found = loaded(arguments, weights="narrowest")  # the algorithm widens them if sums need it
    from sparsezc import algorithms

    source, chosen = _source(arguments, found)
    stored, lengths = found.facts["dtype"], ""
    if stored == "BOOL":
        lengths = "1 each (no weights)" if found.csr.values.read().all() else "1 and 0 (BOOL values)"
    result, run, engine = timed(found, lambda A: algorithms.sssp(A, source, arguments.delta))
    lengths = lengths or f"{stored} values" + f", distances {result.dtype.name}" * (result.dtype.name != stored)
    vertices, values = result.to_coo()
    answer.save(arguments.out, found, vertices, values, missing=answer.unreachable(values.dtype))
    edges = int(found.degrees[vertices.astype(np.int64)].sum())
    spread = np.quantile(values, [0, 0.25, 0.5, 0.75, 1], method="nearest")
    report = reported(arguments, found, run, engine, edges)
    report.data |= {
        "source": int(found.named(np.array([source]))[0]),
        "reached": int(vertices.size),
        "longest": spread[4],
        "mean": float(values.mean()),
        "quartiles": spread,
    }
    report.facts += [("source", chosen), ("lengths", lengths), ("reached", _reached(vertices.size, result.size))]
    names = ("nearest", "a quarter", "half", "three quarters", "all")
    report.tables.append(Table(("within", "distance"), list(zip(names, spread.tolist(), strict=True))))
    return report


def pagerank(arguments: argparse.Namespace) -> Report:
    """Report ranks and the highest of them."""
    import numpy as np

    found = loaded(arguments, weights=None if arguments.weighted else False)
    from sparsezc import algorithms

    result, run, engine = timed(
        found,
        lambda A: algorithms.pagerank(
            A, arguments.damping, arguments.tol, arguments.max_iter, weighted=arguments.weighted
        ),
    )
    vertices, values = result.to_coo()
    answer.save(arguments.out, found, vertices, values, missing=0)
    first = np.lexsort((vertices, -values))[:10]
    report = reported(arguments, found, run, engine, None)
    top = [
        {"vertex": int(v), "rank": float(r), "out_edges": int(found.degrees[k])}
        for v, r, k in zip(found.named(vertices[first]), values[first], vertices[first].astype(np.int64), strict=True)
    ]
    report.data |= {"damping": arguments.damping, "tol": arguments.tol, "sum": float(values.sum()), "top": top}
    rows = [(str(each["vertex"]), each["rank"], each["out_edges"]) for each in top]
    report.tables.append(Table(("vertex", "rank", "out-edges"), rows, title="highest ranks"))
    return report


def cc(arguments: argparse.Namespace) -> Report:
    """Report labels and the largest components."""
    import numpy as np

    found = loaded(arguments, weights=False)
    from sparsezc import algorithms

    result, run, engine = timed(found, algorithms.connected_components)
    vertices, values = result.to_coo()
    answer.save(arguments.out, found, vertices, found.named(values), missing=-1)
    labels, sizes = np.unique(values, return_counts=True)
    first = np.lexsort((labels, -sizes))[:10]
    report = reported(arguments, found, run, engine, found.facts["edges"])
    largest = [
        {"label": int(label), "vertices": int(count)}
        for label, count in zip(found.named(labels[first]), sizes[first], strict=True)
    ]
    report.data |= {"components": int(labels.size), "alone": int((sizes == 1).sum()), "largest": largest}
    alone = f", {int((sizes == 1).sum()):,} of them of one vertex" if (sizes == 1).any() else ""
    report.facts.append(("components", f"{labels.size:,}{alone}"))
    n = max(result.size, 1)
    rows = [(str(each["label"]), each["vertices"], Percent(each["vertices"] / n)) for each in largest]
    report.tables.append(Table(("smallest vertex", "vertices", "share"), rows, title="largest components"))
    return report


def loaded(arguments: argparse.Namespace, weights: Any = None, *, checked: bool = True) -> Graph:
    """Return the graph, after checking that the answer's file can be written and the engine can run.

    Without `checked` the answer is no Vector, and who writes it says which names it takes.
    """
    if checked:
        answer.check(arguments)
    graph.configure(arguments)
    return graph.load(arguments, weights)


def timed(found: Graph, compute: Callable[[Any], Any]) -> tuple[Any, float, str]:
    """Run on the graph's matrix; making it counts as loading. The answer is complete when the clock stops."""
    from sparsezc.io.files.source import naming

    start = time.perf_counter()
    A = found.matrix()
    A.wait()
    found.load += time.perf_counter() - start
    start = time.perf_counter()
    with naming(found.name):
        result = compute(A)
        for part in result if isinstance(result, tuple) else (result,):
            if hasattr(part, "wait"):
                part.wait()
    elapsed = time.perf_counter() - start
    return result, elapsed, A._engine.name if A._engine is not None else "none"


def _source(arguments: argparse.Namespace, found: Graph) -> tuple[int, str]:
    """Return the source vertex, and the way it was chosen."""
    import numpy as np

    if arguments.source is not None:
        return found.vertex(arguments.source), f"{arguments.source}"
    vertex = found.busiest()
    name = int(found.named(np.array([vertex]))[0])
    return vertex, f"{name} (most out-edges: {int(found.degrees[vertex]):,}; --source takes another)"


def _reached(count: int, n: int) -> str:
    return f"{count:,} of {counted(n, 'vertex', 'vertices')} ({100 * count / max(n, 1):.1f}%)"


def reported(arguments: argparse.Namespace, found: Graph, run: float, engine: str, edges: int | None) -> Report:
    """Return the part of the report that all four share: the graph, the times, and the engine."""
    speed = {} if edges is None else {"edges_run": edges, "edges_per_second": edges / run if run > 0 else 0.0}
    data = {
        "command": arguments.command,
        "graph": found.facts,
        "engine": engine,
        "placement": found.facts["placement"],
        "time": {"load": found.load, "run": run},
        **speed,
    }
    out = [("written", "standard output" if arguments.out == "-" else arguments.out)] if arguments.out else []
    text = seconds(run) if edges is None else f"{seconds(run)} ({rate(edges, run)})"
    closing = [
        ("load", seconds(found.load)),
        ("run", text),
        ("engine", f"{engine}, {found.facts['placement']} memory"),
        *out,
    ]
    return Report(data, [("graph", found.line())], closing=closing, aside=arguments.out == "-")


def _level_table(sizes: Any) -> Table:
    """Return the sizes of the levels; of many levels, those of equal ranges of them."""
    step = -(-sizes.size // _ROWS)
    total = int(sizes.sum())
    rows = []
    for low in range(0, sizes.size, step):
        high = min(low + step, sizes.size) - 1
        count = int(sizes[low : high + 1].sum())
        rows.append((low if step == 1 else f"{low}-{high}", count, Percent(count / total)))
    return Table(("level" if step == 1 else "levels", "vertices", "share"), rows)


def _levels(vertices: Any, parents: Any, source: int, n: int) -> Any:
    """Return the level of each vertex in a tree of parents, by pointers that double their reach in every round."""
    import numpy as np

    above = np.arange(n)
    above[vertices] = parents
    hops = np.zeros(n, np.int64)
    hops[vertices] = 1
    hops[source] = 0
    while (above[vertices] != source).any():
        hops += hops[above]
        above = above[above]
    return hops[vertices]
