"""``sparsezc app NAME GRAPH...``: the applications, from one table.

Where a graph was relabelled, vertices in options and answers are the file's ids, and row k of a table of features
belongs to the k-th of them.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from sparsezc.cli import answer, graph
from sparsezc.cli.algorithms import loaded, reported, timed
from sparsezc.cli.app_records import App
from sparsezc.cli.app_table import APPS
from sparsezc.cli.graph import Graph
from sparsezc.cli.report import Report, Table


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
    into_file = into_file and not arguments.relabel  # the pieces have rows' numbers, not the file's ids
    if arguments.out is not None and app.out != "vertices":
        answer.check_matrix(arguments.out, app.out)
    found = loaded(arguments, app.read_weights, checked=app.out == "vertices")
    others = [_another(arguments, app, number) for number in range(2, app.graphs + 1)]
    given = {option.name: option.value(arguments, [found, *others]) for option in app.options}
    given = {name: value for name, value in given.items() if value is not None}
    if into_file:
        given["out"] = arguments.out
    result, elapsed, engine = timed(found, lambda A: app.call(A, *(other.matrix() for other in others), **given))
    data, written = app.show(found, result, given, *others)
    if arguments.out is not None and not into_file:
        _save(arguments.out, found, _by_ids(found, written) if app.out == "graph" else written)
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


def _another(arguments: argparse.Namespace, app: App, number: int) -> Graph:
    """Read a further graph, under the options of the first."""
    options = argparse.Namespace(**vars(arguments) | {"graph": getattr(arguments, f"graph{number}")})
    return graph.load(options, app.read_weights)


def _by_ids(found: Graph, written: Any) -> Any:
    """Return a graph's matrix with the file's ids for rows and columns."""
    if found.ids is None:
        return written
    i, j, values = written.to_coo()
    n = int(found.ids.max(initial=-1)) + 1
    return type(written).from_coo(found.ids[i], found.ids[j], values, written.dtype, nrows=n, ncols=n)


def _save(path: str, found: Graph, written: Any) -> None:
    """Write a Vector as the other commands do, arrays as they are, a Matrix as a table or, by its name, as a graph."""
    import numpy as np

    from sparsezc.io import write

    if isinstance(written, dict):
        answer.save_arrays(path, written)
    elif isinstance(written, np.ndarray):
        answer.save_rows(path, written)
    elif written.ndim == 1:
        vertices, values = written.to_coo()
        missing = np.nan if values.dtype.kind == "f" else -1
        answer.save(path, found, vertices, values, missing=missing)
    elif path.lower().endswith((".npy", ".csv")):
        answer.save_table(path, found, written)
    else:
        write(written, path)


def _shown(value: Any) -> Any:
    return "-" if value is None else value
