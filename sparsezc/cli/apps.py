"""``sparsezc app NAME GRAPH...``: the applications, from one table.

A line of the table says what an application takes besides graphs and what it answers. Where a graph was relabelled,
vertices in options and answers are the file's ids, and row k of a table of features belongs to the k-th of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sparsezc.cli import answer, features, graph
from sparsezc.cli.algorithms import loaded, reported, timed
from sparsezc.cli.graph import Graph
from sparsezc.cli.report import Report, Table

_TOP = 10  # vertices that a table shows


@dataclass(frozen=True)
class Option:
    """An option of an application.

    Attributes
    ----------
    name : str
        Of the option, and of the argument that it becomes.
    help : str
    kind : {"number", "count", "word", "file", "pairs", "vertex", "vertices"}
        Which text it takes; a file is read as a table, of pairs as one of integers; vertices are the file's ids.
    default
        What holds without it; None leaves the argument out.
    required : bool
    """

    name: str
    help: str
    kind: str = "number"
    default: Any = None
    required: bool = False

    def declare(self, command: argparse.ArgumentParser) -> None:
        """Add it to a command."""
        parse = {"number": float, "count": int, "vertex": int, "vertices": int}.get(self.kind, str)
        shown = {"file": "FILE", "pairs": "FILE", "word": "W", "number": "X"}.get(self.kind, "N")
        command.add_argument(
            f"--{self.name.replace('_', '-')}", type=parse, metavar=shown, default=self.default,
            required=self.required, help=self.help, nargs="+" if self.kind == "vertices" else None,
        )  # fmt: skip

    def value(self, arguments: argparse.Namespace, found: Graph) -> Any:
        """Return the argument: tables read, vertices as rows."""
        given = getattr(arguments, self.name)
        if given is None:
            return None
        if self.kind in ("file", "pairs"):
            table = features.read(given, f"--{self.name.replace('_', '-')}")
            return table.astype("int64") if self.kind == "pairs" else table
        if self.kind == "vertex":
            return found.vertex(given)
        return [found.vertex(each) for each in given] if self.kind == "vertices" else given


@dataclass(frozen=True)
class App:
    """An application.

    Attributes
    ----------
    function : str
        Its name in the algorithms or the applications.
    help : str
    options : tuple of Option
    weights : str
        What it does with the values of the edges.
    show : callable
        Given the graph and the answer, returns the report's data, and what --out writes: a Vector, a Matrix, or arrays
        by name.
    graphs : int
        How many it takes.
    read_weights
        As ``weights`` of :func:`sparsezc.io.read`, where --weights does not say.
    """

    function: str
    help: str
    options: tuple[Option, ...]
    weights: str
    show: Callable[[Graph, Any], tuple[dict[str, Any], Any]]
    graphs: int = 1
    read_weights: Any = False

    @property
    def name(self) -> str:
        """The name on the command line."""
        return self.function.replace("_", "-")

    def call(self, *graphs: Any, **given: Any) -> Any:
        """Call the function."""
        from sparsezc import algorithms, applications

        room = applications if self.function in applications.__all__ else algorithms
        return getattr(room, self.function)(*graphs, **given)


def _scan(found: Graph, result: Any) -> tuple[dict[str, Any], Any]:
    psi, vertex = result
    return {"vertex": _id(found, vertex), "largest": psi.get(vertex)}, psi


def _flow(found: Graph, result: Any) -> tuple[dict[str, Any], Any]:
    value, flow = result
    return {"value": value, "edges_used": flow.nvals}, flow


def _cut(found: Graph, result: Any) -> tuple[dict[str, Any], Any]:
    value, side = result
    return {"value": value, "vertices_with_s": side.nvals}, side.dup("INT8")


def _places(found: Graph, result: Any) -> tuple[dict[str, Any], Any]:
    return {"located": result.nvals // 2}, result


def _nominated(found: Graph, result: Any) -> tuple[dict[str, Any], Any]:
    nominated, score = result
    best = nominated.to_dense()[:_TOP].tolist()
    return {"top": [{"vertex": _id(found, v), "score": score.get(v)} for v in best]}, score


def _projected(found: Graph, result: Any) -> tuple[dict[str, Any], Any]:
    if isinstance(result, int):
        return {"pairs": result}, None
    return {"pairs": result.nvals // 2}, result


def _clusters(found: Graph, result: Any) -> tuple[dict[str, Any], Any]:
    p, cluster, conductance = result
    rows = range(cluster.nrows)
    sizes = [cluster[row, :].new().nvals for row in rows]
    return {"clusters": [{"vertices": sizes[row], "conductance": conductance.get(row)} for row in rows]}, p


def _smoothed(found: Graph, result: Any) -> tuple[dict[str, Any], Any]:
    x, gap = result
    return {"gap": gap}, x


def _matched_pattern(found: Graph, result: Any) -> tuple[dict[str, Any], Any]:
    best = result.to_dense().argmax(axis=0).tolist()
    pairs = [{"pattern": j, "vertex": _id(found, v), "log_probability": result.get(v, j)} for j, v in enumerate(best)]
    return {"best": pairs}, result


def _factored(found: Graph, result: Any) -> tuple[dict[str, Any], Any]:
    U, V, loss = result
    return {"loss": [{"round": number, "loss": float(value)} for number, value in enumerate(loss)]}, {
        "U": U.to_dense(float("nan")), "V": V.to_dense(float("nan")), "loss": loss,
    }  # fmt: skip


def _embedded(found: Graph, result: Any) -> tuple[dict[str, Any], Any]:
    return {"columns": result.ncols}, result


def _assigned(found: Graph, result: Any) -> tuple[dict[str, Any], Any]:
    return {"assigned": result.nvals}, result


def _matched(found: Graph, result: Any) -> tuple[dict[str, Any], Any]:
    match, disagreements = result
    return {"disagreements": disagreements}, match


_ENDS = (Option("s", "the source", "vertex", required=True), Option("t", "the sink", "vertex", required=True))
_CAPACITIES = "capacities of the edges (those of the file, else 1 each)"
APPS = (
    App("scan_statistics", "edges within a few hops of each vertex",
        (Option("order", "hops that a neighbourhood reaches (1)", "count", 1),), "ignored", _scan),
    App("maximum_flow", "what capacities let through from one vertex to another", _ENDS, _CAPACITIES, _flow,
        read_weights=None),
    App("minimum_cut", "the edges of least capacity between two vertices", _ENDS, _CAPACITIES, _cut,
        read_weights=None),
    App("geolocation", "places of vertices by those of their neighbours",
        (Option("places", "latitude and longitude of each vertex, NaN where unknown", "file", required=True),
         Option("rounds", "rounds to run (10)", "count", 10), Option("tol", "stop at moves of so many km")),
        "ignored", _places),
    App("vertex_nomination", "vertices nearest to some of interest, in the graph and in content",
        (Option("seeds", "the vertices of interest", "vertices", required=True),
         Option("content", "a dissimilarity, or features, of each vertex", "file"),
         Option("k", "vertices to nominate at most", "count")),
        "lengths of the edges (those of the file, else 1 each)", _nominated, read_weights=None),
    App("projection", "who has how many neighbours in common with whom",
        (Option("onto", "rows or columns (rows)", "word", "rows"),
         Option("weight", "count, ratio, jaccard, overlap, collaboration or none (count)", "word", "count")),
        "ignored", _projected),
    App("local_clustering", "the cluster around each of some vertices",
        (Option("seeds", "the vertices", "vertices", required=True),
         Option("alpha", "share of the walk that begins anew (0.15)", default=0.15),
         Option("rho", "weight of the l1 norm (1e-4)", default=1e-4)), "ignored", _clusters),
    App("fused_lasso", "measured values, smoothed along edges",
        (Option("y", "what was measured, a number for each vertex", "file", required=True),
         Option("lambda1", "weight of differences along edges", required=True),
         Option("lambda2", "weight of absolute values (0)", default=0.0),
         Option("tol", "duality gap, as a share of the minimum (1e-6)", default=1e-6)), "ignored", _smoothed),
    App("application_classification", "where a pattern lies in a graph, by features",
        (Option("features", "a row of features for each vertex", "file", required=True),
         Option("pattern_features", "the same for the pattern", "file", required=True),
         Option("edge_features", "a row for each edge, by rows and columns (the values)", "file"),
         Option("pattern_edge_features", "the same for the pattern", "file"),
         Option("rule", "corrected or published (corrected)", "word", "corrected"),
         Option("rounds", "rounds of messages (the pattern's vertices)", "count")),
        "the edges' feature, unless --edge-features has others (those of the file)", _matched_pattern, 2, None),
    App("collaborative_filtering", "factors of users and items whose products are the ratings",
        (Option("k", "factors (20)", "count", 20), Option("solver", "gd or als (gd)", "word", "gd"),
         Option("rounds", "rounds to run (10)", "count", 10), Option("penalty", "of the factors (1e-3)", default=1e-3),
         Option("rate", "step of the descent (by the ratings)"),
         Option("seed", "chooses the factors to begin with (by chance)", "count")),
        "the ratings (those of the file)", _factored, read_weights=None),
    App("graphsage", "embeddings of vertices by features of sampled neighbours",
        (Option("X", "features, a row for each vertex", "file", required=True),
         *(Option(name, "weights", "file", required=True) for name in ("Wf1", "Wa1", "Wf2", "Wa2")),
         Option("children", "neighbours sampled for each (10)", "count", 10),
         Option("batch", "vertices in work at a time (2^20)", "count"),
         Option("seed", "chooses the samples (by chance)", "count")), "ignored", _embedded),
    App("linear_assignment", "a column for each row, of least cost in all",
        (Option("absent", "what entries cost that are not there (they cannot be chosen)"),
         Option("method", "exact or auction (exact)", "word", "exact"), Option("eps", "least bid of the auction")),
        "the costs (those of the file)", _assigned, read_weights=None),
    App("seeded_graph_matching", "which vertex of one graph is which of another",
        (Option("seeds", "pairs of a vertex of each graph", "pairs", required=True),
         Option("lap", "exact or auction (exact)", "word", "exact")), "ignored", _matched, 2),
)  # fmt: skip


def add(commands: Any) -> None:
    """Declare the command and its applications."""
    command = commands.add_parser("app", help="an application", description="Run an application on a graph.")
    names = command.add_subparsers(dest="app", metavar="NAME", required=True)
    for app in APPS:
        made = names.add_parser(app.name, help=app.help, description=f"Compute {app.help}.")
        graph.add_graph(made, weights=app.weights)
        for number in range(2, app.graphs + 1):
            made.add_argument(f"graph{number}", metavar=f"GRAPH{number}", help="another graph")
        for option in app.options:
            option.declare(made)
        graph.add_place(made)
        made.add_argument("--out", metavar="FILE", help="write the answer in the format that the name says")
        made.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
        made.add_argument("--debug", action="store_true", help="show the traceback of an error")
        made.set_defaults(run=partial(run, app))


def run(app: App, arguments: argparse.Namespace) -> Report:
    """Run an application, write what it answers and say what it is."""
    arguments.command = f"app {app.name}"
    into_file = app.function == "projection" and arguments.out is not None and answer.is_edge_list(arguments.out)
    if arguments.out is not None and _is_graph(app):
        answer.check_matrix(arguments.out, tables=app.show not in (_flow, _projected), arrays=app.show is _factored)
    found = loaded(arguments, app.read_weights, checked=not _is_graph(app))
    others = [_another(arguments, app, number) for number in range(2, app.graphs + 1)]
    given = {option.name: option.value(arguments, found) for option in app.options}
    given = {name: value for name, value in given.items() if value is not None}
    if into_file:
        given["out"] = arguments.out
    result, elapsed, engine = timed(found, lambda A: app.call(A, *others, **given))
    data, written = app.show(found, result)
    if arguments.out is not None and not into_file:
        _save(arguments.out, found, written)
    report = reported(arguments, found, elapsed, engine, None)
    report.data |= data
    for name, value in data.items():
        if isinstance(value, list) and value:
            report.tables.append(
                Table(tuple(value[0]), [tuple(map(_shown, row.values())) for row in value], title=name)
            )
        else:
            report.facts.append((name.replace("_", " "), f"{value:,}" if isinstance(value, int) else str(value)))
    return report


def _is_graph(app: App) -> bool:
    """Return whether the answer is a matrix that goes into a graph's file."""
    return app.show in (_flow, _projected, _clusters, _places, _matched_pattern, _factored, _embedded)


def _another(arguments: argparse.Namespace, app: App, number: int) -> Any:
    """Read a further graph, under the options of the first."""
    options = argparse.Namespace(**vars(arguments) | {"graph": getattr(arguments, f"graph{number}")})
    return graph.load(options, app.read_weights).matrix()


def _save(path: str, found: Graph, written: Any) -> None:
    """Write a Vector as the other commands do, arrays together, and a Matrix as a table or, by its name, as a graph."""
    import numpy as np

    from sparsezc.io import write

    if isinstance(written, dict):
        answer.save_arrays(path, written)
    elif written.ndim == 1:
        vertices, values = written.to_coo()
        missing = np.nan if values.dtype.kind == "f" else -1
        answer.save(path, found, vertices, values, missing=missing)
    elif path.lower().endswith((".npy", ".csv")):
        answer.save_table(path, found, written)
    else:
        write(written, path)


def _id(found: Graph, vertex: int) -> int:
    import numpy as np

    return int(found.named(np.array([vertex]))[0])


def _shown(value: Any) -> Any:
    return "-" if value is None else value
