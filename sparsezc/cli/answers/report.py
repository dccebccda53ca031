"""The output of a command: facts as text for people, and as JSON for programs."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

from sparsezc.terminal.printable import printable

_ENDLESS = 1 << 20  # columns of a file or a pipe, whose lines are neither broken nor cut


@dataclass
class Report:
    """The outcome of one command.

    Attributes
    ----------
    data : dict
        The object that ``--json`` prints; docs/cli.md documents its keys.
    facts : list of (name, text)
        One line each, names aligned.
    tables : list of Table
        Printed between `facts` and `closing`.
    closing : list of (name, text)
    code : int
        The exit code.
    aside : bool
        Standard output carries the answer, so the report is printed on standard error.
    """

    data: dict[str, Any]
    facts: list[tuple[str, str]] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    closing: list[tuple[str, str]] = field(default_factory=list)
    code: int = 0
    aside: bool = False

    def text(self, out: TextIO, as_json: bool) -> str:
        """Return the report as whole lines that suit `out`."""
        if as_json:
            return json.dumps(_finite(self.data)) + "\n"
        width = shutil.get_terminal_size().columns if out.isatty() else _ENDLESS
        names = [len(name) for name, _ in (*self.facts, *self.closing)]
        indent = max(names, default=0) + 2
        blocks = ["\n".join(_fact(fact, indent, width) for fact in facts) for facts in (self.facts, self.closing)]
        parts = [blocks[0], *(table.text(width) for table in self.tables), blocks[1]]
        return "\n\n".join(part for part in parts if part) + "\n"


@dataclass
class Table:
    """Rows under a heading; columns of numbers are aligned right."""

    heading: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""

    def text(self, width: int) -> str:
        """Return the table in at most `width` columns: longer lines are cut at the end.

        >>> print(Table(("level", "vertices"), [(0, 1), (1, 20514)]).text(80))
        level  vertices
            0         1
            1    20,514
        """
        cells = [[_cell(value) for value in row] for row in self.rows]
        lines = [list(self.heading), *cells]
        widths = [max(len(line[k]) for line in lines) for k in range(len(self.heading))]
        right = [all(not isinstance(row[k], str) for row in self.rows) for k in range(len(self.heading))]
        text = [
            "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(line, widths, right, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join(cut(line, width) for line in ([self.title] if self.title else []) + text)


class Percent(float):
    """A share that tables print as a percentage."""


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Percent):
        return f"{100 * value:.1f}%"
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{int(value):,}"


def _fact(fact: tuple[str, str], indent: int, width: int) -> str:
    """Return ``name   text``, broken between words at the width of the terminal."""
    name, text = fact
    lines = [""]
    for word in printable(text).split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > max(width - indent, 20):
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return name.ljust(indent) + f"\n{'':{indent}}".join(lines)


def cut(line: str, width: int) -> str:
    """Return `line`, cut to `width` and ended with dots if it is longer."""
    return line if len(line) <= width else line[: max(width - 3, 0)] + "..."


def _finite(value: Any) -> Any:
    """Return NumPy's numbers and arrays as Python's; None for infinity and NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def counted(count: int, one: str, more: str) -> str:
    """Format a number with its noun.

    >>> counted(1, "vertex", "vertices"), counted(1234, "edge", "edges")
    ('1 vertex', '1,234 edges')
    """
    return f"{count:,} {one if count == 1 else more}"


def seconds(time: float) -> str:
    """Format a duration in seconds to three digits.

    >>> seconds(0.01234), seconds(1.5), seconds(312.4)
    ('12.3 ms', '1.5 s', '312 s')
    """
    if time < 1:
        return f"{1000 * time:.3g} ms"
    return f"{time:.3g} s" if time < 1000 else f"{time:.0f} s"


def size(nbytes: int) -> str:
    """Format a number of bytes to three digits, in binary units.

    >>> size(1000), size(1536), size(5 * 2**40)
    ('1000 B', '1.5 KiB', '5 TiB')
    """
    number = float(nbytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if number < 1024:
            return f"{number:.4g} {unit}" if unit == "B" else f"{number:.3g} {unit}"
        number /= 1024
    return f"{number:.3g} TiB"


def rate(count: float, time: float) -> str:
    """Format a rate in edges a second: a count over a time in seconds.

    >>> rate(3e6, 0.5)
    '6 M edges/s'
    """
    number = count / time if time > 0 else 0.0
    for unit in ("", "k", "M", "G"):
        if number < 999.5 or unit == "G":
            break
        number /= 1000
    return f"{number:.3g} {unit}{' ' if unit else ''}edges/s"


def version() -> str:
    """Return the installed package's version, or that of the source tree if none is installed."""
    from importlib import metadata

    try:
        return metadata.version("sparsezc")
    except metadata.PackageNotFoundError:
        return "(not installed)"
