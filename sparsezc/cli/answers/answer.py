"""An answer as the command line shows it: the numbers to report, the tables to print, and what ``--out`` writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from sparsezc.cli.answers.report import Table

if TYPE_CHECKING:
    from sparsezc.cli.graph import Graph


class Given(NamedTuple):
    """The values of an algorithm's parameters, its defaults among them, the rows of tables, and further graphs."""

    values: dict[str, Any]
    top: int
    others: Sequence[Graph] = ()


class Columns(NamedTuple):
    """Values of some vertices: their rows, in ascending order, and columns by name.

    `missing` stands for the others in an array of all.
    """

    rows: Any
    values: dict[str, Any]
    missing: Any = -1


class Rows(NamedTuple):
    """Rows that are no vertices': columns by name, of the same length."""

    columns: dict[str, Any]


class Picture(NamedTuple):
    """Numbers to draw: bars, or a `tail`, the share of all values that are at least as large as each."""

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
        As of :class:`~sparsezc.cli.answers.report.Report`.
    out
        What ``--out`` writes: Columns, a Matrix, Rows, arrays by name, or numbers by name.
    reached : array, optional
        The vertices whose out-edges the work was.
    picture : Picture, optional
    """

    data: dict[str, Any]
    facts: list[tuple[str, str]] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    out: Any = None
    reached: Any = None
    picture: Picture | None = None


Show = Callable[["Graph", Any, Given], Shown]

#: What reports an answer with a picture of it.
PICTURED: set[Show] = set()


def pictured(show: Show) -> Show:
    """Note that a function reports a picture of each answer."""
    PICTURED.add(show)
    return show
