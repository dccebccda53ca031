"""The records of which the table of applications is made: an application and its options."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sparsezc.cli import features
from sparsezc.cli.graph import Graph


@dataclass(frozen=True)
class Option:
    """An option of an application.

    Attributes
    ----------
    name : str
        Of the option, and of the argument that it becomes.
    help : str
    kind : {"number", "count", "word", "flag", "file", "pairs", "scores", "vertex", "vertices"}
        Which text it takes, a flag none; a file is read as a table, of pairs as one of integers, of scores as a Vector
        without what is NaN; vertices are the file's ids.
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
        option = f"--{self.name.replace('_', '-')}"
        if self.kind == "flag":
            command.add_argument(option, action="store_true", help=self.help)
            return
        parse = {"number": float, "count": int, "vertex": int, "vertices": int}.get(self.kind, str)
        files = dict.fromkeys(("file", "pairs", "scores"), "FILE")
        shown = ({"word": "W", "number": "X"} | files).get(self.kind, "N")
        command.add_argument(
            option, type=parse, metavar=shown, default=self.default, required=self.required, help=self.help,
            nargs="+" if self.kind == "vertices" else None,
        )  # fmt: skip

    def value(self, arguments: argparse.Namespace, graphs: Sequence[Graph]) -> Any:
        """Return the argument: tables read, vertices as rows, those of a pair each of its graph."""
        given, option = getattr(arguments, self.name), f"--{self.name.replace('_', '-')}"
        if given is None:
            return None
        if self.kind in ("file", "pairs", "scores"):
            table = features.read(given, option)
            if self.kind == "scores":
                return _vector(table, given)
            return _pairs(table, f"{option} {given}", graphs) if self.kind == "pairs" else table
        if self.kind == "vertex":
            return graphs[0].vertex(given, option)
        return [graphs[0].vertex(each, option) for each in given] if self.kind == "vertices" else given


def _vector(scores: Any, path: str) -> Any:
    """Return the numbers of a file as a Vector that has no entry where they are NaN."""
    import numpy as np

    from sparsezc.core.vector import Vector
    from sparsezc.errors import FileFormatError

    if scores.ndim != 1:
        raise FileFormatError(f"{path} has {scores.shape[1]} columns; one number for each vertex is needed")
    at = np.flatnonzero(~np.isnan(scores))
    return Vector.from_coo(at, scores[at], size=scores.size)


def _pairs(table: Any, source: str, graphs: Sequence[Graph]) -> Any:
    """Return the pairs of ids of a file as pairs of rows; files hold whole numbers as fractions, too."""
    import numpy as np

    from sparsezc.errors import FileFormatError

    if table.ndim != 2 or table.shape[1] != len(graphs):
        raise FileFormatError(f"{source} has shape {table.shape}; a line of {len(graphs)} vertices for each is needed")
    wrong = np.flatnonzero((table != np.floor(table)).any(axis=1) | ~np.isfinite(table).all(axis=1))
    if wrong.size:
        found = ", ".join(f"{each:g}" for each in table[wrong[0]].tolist())
        raise FileFormatError(f"{source} has {found} in row {wrong[0]}; whole numbers, of vertices, are needed")
    pairs = table.astype(np.int64)
    for side, graph in enumerate(graphs):
        if graph.ids is not None:
            pairs[:, side] = [graph.vertex(each, source) for each in pairs[:, side].tolist()]
    return pairs


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
        Given the graph, the answer, the options and further graphs, returns the report's data, and what --out writes.
    out : {"vertices", "graph", "table", "rows", "arrays"}
        What that is: a Vector; a Matrix for a graph's file, or of which a row a vertex can be a table too; an array
        whose rows are no vertices'; arrays by name.
    graphs : int
        How many it takes.
    read_weights
        As ``weights`` of :func:`sparsezc.io.read`, where --weights does not say.
    """

    function: str
    help: str
    options: tuple[Option, ...]
    weights: str
    show: Callable[..., tuple[dict[str, Any], Any]]
    out: Literal["vertices", "graph", "table", "rows", "arrays"] = "vertices"
    graphs: int = 1
    read_weights: Any = False

    @property
    def name(self) -> str:
        """The name on the command line."""
        return self.function.replace("_", "-")

    def call(self, *graphs: Any, **given: Any) -> Any:
        """Call the function."""
        from sparsezc import algorithms, applications

        room = applications if self.function in dir(applications) else algorithms
        return getattr(room, self.function)(*graphs, **given)
