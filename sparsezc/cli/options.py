"""The options of an algorithm or an application on the command line, made of its parameters."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparsezc.cli import features
from sparsezc.cli.parameters import REQUIRED, Parameter

if TYPE_CHECKING:
    from sparsezc.cli.graph import Graph

_VERTICES = ("source", "target", "s", "t")  # parameters of type int that take a vertex
#: The start of a parameter's type in its docstring, and the kind of its option.
_KINDS = {
    "bool": "flag",
    "array of integers": "pairs",
    "iterable of int": "vertices",
    "int, or iterable of int": "vertices",
    "int": "count",
    "float": "number",
    "number": "number",
    "Vector of integers": "labels",
}
_METAVARS = {"number": "X", "count": "N", "vertex": "N", "vertices": "N", "graph": "GRAPH"}
_TYPES = {"number": float, "count": int}
_TABLES = ("file", "pairs", "scores", "labels")  # kinds that are read as tables


@dataclass(frozen=True)
class Option:
    """An option of a command, made of a function's parameter.

    Attributes
    ----------
    name : str
        The name of the parameter that the option sets.
    help : str
    kind : {"number", "count", "choice", "flag", "file", "pairs", "scores", "labels", "vertex", "vertices", "graph"}
        The values that it takes: "file" is a table of numbers, "pairs" one of integers; "scores" and "labels" are
        tables that become Vectors without entries for NaN; "vertex" and "vertices" are ids of the graph's file.
    default
        The value without it; REQUIRED if there is none.
    choices : tuple of str
    """

    name: str
    help: str
    kind: str
    default: Any
    choices: tuple[str, ...] = ()

    @classmethod
    def of(cls, parameter: Parameter) -> Option | None:
        """Return the option of a parameter; None if a command line cannot give its value."""
        name, type, help, default = parameter
        if type.startswith("{"):
            return cls(name, help, "choice", default, tuple(sorted(ast.literal_eval(type.partition(", optional")[0]))))
        if name in _VERTICES:
            kind = "vertex"
        elif "callable" in type or "path" in type:
            return None
        elif type.startswith("Matrix,"):
            kind = "graph"
        else:
            found = next((kind for start, kind in _KINDS.items() if type.startswith(start)), None)
            kind = found or ("scores" if type.startswith("Vector") and "array" not in type else "file")
        return cls(name, help, kind, default)

    @property
    def flag(self) -> str:
        """The option's flag, such as ``--source``; ``--no-NAME`` for a switch that is on by default."""
        return f"--{'no-' * (self.kind == 'flag' and self.default is True)}{self.name.replace('_', '-')}"

    @property
    def is_file(self) -> bool:
        """Return whether the option takes the name of a file to read."""
        return self.kind in (*_TABLES, "graph")

    @property
    def needed(self) -> bool:
        """Return whether the option is required; `source` defaults to the vertex of most out-edges."""
        return self.default is REQUIRED and self.name != "source"

    def declare(self, command: argparse.ArgumentParser) -> None:
        """Add the option to a command's parser."""
        about = self.help.replace("%", "%%")
        if self.kind == "flag":
            off = self.default is True
            action = "store_false" if off else "store_true"
            about = f"turn off: {about}" if off else about
            command.add_argument(self.flag, dest=self.name, action=action, default=None, help=about)
            return
        if self.name == "source" and self.default is REQUIRED:
            about += " (the vertex of most out-edges)"
        elif self.default not in (REQUIRED, None):
            about += f" ({self.default:g})" if isinstance(self.default, float) else f" ({self.default})"
        command.add_argument(
            self.flag, dest=self.name, type=_TYPES.get(self.kind, str), help=about, required=self.needed,
            choices=self.choices or None, metavar="|".join(self.choices) or _METAVARS.get(self.kind, "FILE"),
            nargs="+" if self.kind == "vertices" else None,
        )  # fmt: skip

    def value(self, arguments: argparse.Namespace, graphs: Sequence[Graph]) -> Any:
        """Return the function's argument: a table is read, ids become rows of their graphs; None if not given."""
        found = graphs[0]
        given = getattr(arguments, self.name)
        if given is None:
            return None
        if self.kind in _TABLES:
            # rows of a pattern's table belong to the last graph; a first column of pairs is one of their two vertices
            owner = graphs[-1] if self.name.startswith("pattern") else found
            table = features.read(given, self.flag, None if self.kind == "pairs" else owner)
            if self.kind in ("scores", "labels"):
                return _vector(table, given, whole=self.kind == "labels")
            return _pairs(table, f"{self.flag} {given}", graphs) if self.kind == "pairs" else table
        if self.kind == "graph":
            return found.pairs(arguments, given, self.flag)
        if self.kind == "vertex":
            return found.vertex(given, self.flag)
        return [found.vertex(each, self.flag) for each in given] if self.kind == "vertices" else given


def _vector(scores: Any, path: str, *, whole: bool) -> Any:
    """Return the numbers of a file as a Vector that has no entry where they are NaN."""
    import numpy as np

    from sparsezc.core.vector import Vector
    from sparsezc.exceptions import FileFormatError

    if scores.ndim != 1:
        raise FileFormatError(f"{path} has {scores.shape[1]} columns; one number for each vertex is needed")
    at = np.flatnonzero(~np.isnan(scores))
    values = scores[at]
    if whole:
        wrong = (values != np.trunc(values)) | (abs(values) >= 2.0**63)
        if wrong.any():
            raise FileFormatError(f"{path} has {values[wrong][0]}; a whole number for each vertex is needed")
        values = values.astype(np.int64)
    return Vector.from_coo(at, values, size=scores.size)


def _pairs(table: Any, source: str, graphs: Sequence[Graph]) -> Any:
    """Return the pairs of ids of a file as pairs of rows; whole numbers that are stored as floats are accepted."""
    import numpy as np

    from sparsezc.exceptions import FileFormatError

    if table.ndim != 2 or table.shape[1] != len(graphs):
        raise FileFormatError(f"{source} has shape {table.shape}; a line of {len(graphs)} vertices for each is needed")
    wrong = np.flatnonzero((table != np.floor(table)).any(axis=1) | ~np.isfinite(table).all(axis=1))
    if wrong.size:
        found = ", ".join(f"{each:g}" for each in table[wrong[0]].tolist())
        raise FileFormatError(f"{source} has {found} in row {wrong[0]}; whole numbers, of vertices, are needed")
    pairs = table.astype(np.int64)
    for side, graph in enumerate(graphs):
        if graph.ids is not None:
            pairs[:, side] = [graph.vertex(str(each), source) for each in pairs[:, side].tolist()]
    return pairs
