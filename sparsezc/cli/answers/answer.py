"""An answer as the command line shows it: the numbers to report, the tables to print, and the data of ``--out``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from sparsezc.cli.answers.report import Table

if TYPE_CHECKING:
    from sparsezc.cli.graph import Graph


class Given(NamedTuple):
    """The values of an algorithm's parameters (defaults included), the most rows of a table, and further graphs."""

    values: dict[str, Any]
    top: int
    others: Sequence[Graph] = ()


class Columns(NamedTuple):
    """Values of some vertices: the vertices' rows, ascending, and columns of values by name.

    `missing` is the value of all other vertices in an array for the whole graph.
    """

    rows: Any
    values: dict[str, Any]
    missing: Any = -1


class Rows(NamedTuple):
    """Rows that do not belong to vertices: columns by name, of equal length."""

    columns: dict[str, Any]


class Picture(NamedTuple):
    """Numbers to draw: bars, or a `tail` (for each value, the share of all values that are at least as large)."""

    kind: str
    title: str
    x: Any
    y: Any
    across: str
    upward: str


@dataclass
class Shown:
    """An answer as the command line reports it.

    Attributes
    ----------
    data : dict
        Keys of ``--json``.
    facts, tables
        As in :class:`~sparsezc.cli.answers.report.Report`.
    out
        The data of ``--out``: Columns, a Matrix, Rows, arrays by name, or numbers by name.
    reached : array, optional
        The vertices whose out-edges the algorithm followed; the rate in edges a second counts these edges.
    picture : Picture, optional
    """

    data: dict[str, Any]
    facts: list[tuple[str, str]] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    out: Any = None
    reached: Any = None
    picture: Picture | None = None


Show = Callable[["Graph", Any, Given], Shown]

#: Functions that report an answer with a picture of it.
PICTURED: set[Show] = set()


def pictured(show: Show) -> Show:
    """Register a function that reports each answer with a picture of it."""
    PICTURED.add(show)
    return show
