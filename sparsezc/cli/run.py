"""``sparsezc run NAME GRAPH``: read a graph, run one algorithm or application of the table, report its answer.

A row with a short name is a command of that name, too: ``sparsezc bfs GRAPH``. Where a graph was relabelled, vertices
in options and answers are the file's ids, and row k of a table of features belongs to the k-th of them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NoReturn

from sparsezc.cli import graph, plot
from sparsezc.cli.answers import files, ids, names
from sparsezc.cli.answers.answer import Columns, Given, Rows, Shown
from sparsezc.cli.answers.report import Report, Table, rate, seconds
from sparsezc.cli.graph import Graph
from sparsezc.cli.parameters import REQUIRED, function
from sparsezc.cli.table import BY_NAME, COMMANDS, ROWS, Row
from sparsezc.terminal import streams

_TOP = 10  # rows that a table shows by default


def add(commands: Any, wanted: str | None = None, named: str = "run") -> None:
    """Declare the command for all rows, or for the `wanted` one, and the rows' commands of their own.

    `named`: the command's name, "run" or "app".
    """
    text = f"an algorithm or an application, by its name; sparsezc {named} --list prints all names"
    command = commands.add_parser(named, help=text, description="Run an algorithm or an application on a graph.")
    command.add_argument("--list", action=_List, nargs=0, help="print the names and what each computes, and exit")
    names = command.add_subparsers(dest="name", metavar="NAME", required=True)
    for name, row in BY_NAME.items():
        if wanted not in BY_NAME or wanted == name:
            _declare(names, name, row)
    for name in COMMANDS:
        if wanted is None or wanted == name:
            _declare(commands, name, BY_NAME[name])


def _declare(commands: Any, name: str, row: Row) -> None:
    command = commands.add_parser(name, help=row.summary, description=f"{row.summary}.")
    graph.add_graph(command, weights=row.use)
    for number, _ in enumerate(row.graphs, 2):
        command.add_argument(f"graph{number}", metavar=f"GRAPH{number}", help="another graph")
    for option in row.options:
        option.declare(command)
    graph.add_place(command)
    add_output(command)
    command.add_argument(
        "--out",
        metavar="FILE",
        help="write the answer in the format of the suffix; - is standard output, and the report is then printed on"
        " standard error",
    )
    command.set_defaults(run=partial(run, row), name=name)


def add_output(command: argparse.ArgumentParser) -> None:
    """Declare the arguments for the report of an answer."""
    command.add_argument(
        "--top", type=partial(graph.count, least=0), default=_TOP, metavar="N",
        help=f"rows that a table shows at most ({_TOP})",
    )  # fmt: skip
    plot.add(command)


class _List(argparse.Action):
    """An action that prints the names of all algorithms and applications, and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        rows = [(row.short or row.name, row.summary) for row in ROWS]
        with streams.output() as out:
            out.write(Table(("name", "computes"), rows).text(1 << 20) + "\n")
        parser.exit()


def run(row: Row, arguments: argparse.Namespace) -> Report:
    """Run a row's function, write its answer and return the report."""
    from sparsezc.exceptions import InvalidValue

    into_file = row.function == "projection" and arguments.out is not None and names.is_edge_list(arguments.out)
    names.check(arguments, row.out, row.files)
    plot.check(arguments)
    if arguments.plot is not None and arguments.plot_kind == "answer" and not row.pictured:
        raise InvalidValue(
            f"--plot {arguments.plot}: {arguments.name} has no distribution; --plot-kind degrees, spy or graph draws"
            " the graph"
        )
    graph.configure(arguments)
    weights = row.read_weights(vars(arguments))
    found = graph.load(arguments, weights)
    if arguments.out is not None:
        ids.check(arguments.out, row.out, found)
    into_file = into_file and found.ids is None  # pieces of an edge list have rows, not the file's ids
    others = [_another(arguments, getattr(arguments, f"graph{k}"), weights) for k, _ in enumerate(row.graphs, 2)]
    given = {option.name: option.value(arguments, [found, *others]) for option in row.options}
    given = {name: value for name, value in given.items() if value is not None}
    facts = _source(row, found, given)
    all_true = row.weights == "lengths" and found.facts["dtype"] == "BOOL" and bool(found.csr.values.read().all())
    if into_file:
        given["out"] = arguments.out
    of_graph = arguments.plot is not None and arguments.plot_kind != "answer"
    drawn = plot.of_graph(arguments.plot_kind, found) if of_graph else None
    read = {name: getattr(arguments, f"graph{k}") for k, name in enumerate(row.graphs, 2)}
    read |= {o.name: file for o in row.options if o.is_file and (file := getattr(arguments, o.name)) is not None}
    result, elapsed, engine = timed(
        found, lambda A: row.call(A, *(other.matrix() for other in others), **given), arguments.name, read
    )
    defaults = {p.name: p.default for p in function(row.function).parameters if p.default is not REQUIRED}
    shown = row.show(found, result, Given(defaults | given, arguments.top, others))
    if arguments.out is not None and not into_file:
        _save(arguments.out, found, shown.out, row.out)
    if arguments.plot is not None:
        _draw(arguments, found, shown, drawn)
    if given.get("weighted") and found.facts["dtype"] == "BOOL":
        facts.append(("weights", "1 each (no weights)"))
    if row.weights == "lengths":
        facts.append(_lengths(found.facts["dtype"], result, all_true))
    return _report(arguments, found, shown, elapsed, engine, facts)


def _another(arguments: argparse.Namespace, path: str, weights: Any) -> Graph:
    """Read a further graph, under the options of the first."""
    return graph.load(graph.changed(arguments, graph=path), weights)


def _source(row: Row, found: Graph, given: dict[str, Any]) -> list[tuple[str, str]]:
    """Choose the source if none was given, and return the report's line of the source."""
    if not any(option.name == "source" and option.default is REQUIRED for option in row.options):
        return []
    if "source" in given:
        return [("source", str(found.name_of(given["source"])) if found.ids is not None else str(given["source"]))]
    vertex = given["source"] = found.busiest()
    most = int(found.degrees[vertex])
    return [("source", f"{found.name_of(vertex)} (most out-edges: {most:,}; --source takes another)")]


def _lengths(stored: str, result: Any, all_true: bool) -> tuple[str, str]:
    """Return the report's line of the edge lengths that an algorithm used."""
    if stored == "BOOL":
        return ("lengths", "1 each (no weights)" if all_true else "1 and 0 (BOOL values)")
    type = getattr(getattr(result, "dtype", None), "name", stored)
    return ("lengths", f"{stored} values" + f", distances {type}" * (type != stored))


def timed(found: Graph, compute: Callable[[Any], Any], label: str, others: Mapping[str, str]) -> tuple[Any, float, str]:
    """Run a function on the graph's matrix, and time it until its answer is complete; placing the matrix is loading.

    `others`: the files of other arguments.
    """
    from sparsezc.exceptions import naming
    from sparsezc.terminal.progress import watching

    start = time.perf_counter()
    A = found.matrix()
    A.wait()
    found.add_load(time.perf_counter() - start)
    start = time.perf_counter()
    with naming(found.name, others), watching(label):
        result = compute(A)
        for part in result if isinstance(result, tuple) else (result,):
            if hasattr(part, "wait"):
                part.wait()
    elapsed = time.perf_counter() - start
    return result, elapsed, A._engine.name if A._engine is not None else "none"


def _draw(arguments: argparse.Namespace, found: Graph, shown: Shown, drawn: Any) -> None:
    """Draw the picture of ``--plot``."""
    plot.save(
        arguments.plot, arguments.plot_kind, found, shown.picture if drawn is None else drawn, _colours(found, shown)
    )


def _colours(found: Graph, shown: Shown) -> Any:
    """Return a number for each vertex of the graph: the answer's first column."""
    import numpy as np

    if not isinstance(shown.out, Columns):
        return None
    (values, *_) = shown.out.values.values()
    values = np.unique(values.astype(str), return_inverse=True)[1] if values.dtype.kind == "O" else values
    full = np.full(found.degrees.size, np.nan)
    full[shown.out.rows.astype(np.int64)] = values
    return full


def _save(path: str, found: Graph, out: Any, form: str) -> None:
    """Write columns of vertices, rows, arrays and numbers as they are, a Matrix as a table, edges or a graph."""
    import numpy as np

    from sparsezc.io import write
    from sparsezc.io._write import write_files

    if isinstance(out, Columns):
        files.save(path, found, out)
    elif isinstance(out, Rows):
        files.save_rows(path, out.columns)
    elif isinstance(out, dict) and any(isinstance(each, np.ndarray) for each in out.values()):
        files.save_arrays(path, out)
    elif isinstance(out, dict):
        files.save_numbers(path, out)
    elif form == "table" and (names.holds_rows(path) or not names.is_graph(path)):
        files.save_table(path, found, out)
    elif form == "graph" and (not names.is_graph(path) or names.holds_edges(path, found, out)):
        files.save_edges(path, found, out)
    elif form == "graph" and found.ids is not None and path.lower().endswith(names.HDF5):
        write_files(out, path, vertices=found.ids)
    else:
        write(ids.by_ids(found, out) if form == "graph" else out, path)


def _report(
    arguments: argparse.Namespace, found: Graph, shown: Shown, run: float, engine: str, facts: list[tuple[str, str]]
) -> Report:
    """Return the report: the graph, the answer, the times and the engine."""
    import numpy as np

    edges = None if shown.reached is None else int(found.degrees[shown.reached.view(np.int64)].sum())
    data = {
        "command": arguments.name,
        "graph": found.facts,
        "engine": engine,
        "placement": found.facts["placement"],
        "time": {"load": found.load, "run": run},
    }
    if edges is not None:
        data |= {"edges_run": edges, "edges_per_second": edges / run if run > 0 else 0.0}
    out = [("written", "standard output" if arguments.out == "-" else arguments.out)] if arguments.out else []
    out += [("drawn", arguments.plot)] if arguments.plot else []
    closing = [
        ("load", seconds(found.load)),
        ("run", seconds(run) if edges is None else f"{seconds(run)} ({rate(edges, run)})"),
        ("engine", f"{engine}, {found.facts['placement']} memory"),
        *out,
    ]
    lines = [("graph", found.line()), *facts, *shown.facts]
    return Report(data | shown.data, lines, shown.tables, closing, aside=arguments.out == "-")
