"""Selection of columns from the lines of a table: chosen by name, quoted, between semicolons, with vertex names.

Each line is reduced to the two or three words that :mod:`sparsezc.io.formats.text` parses, and keeps its number for
error messages. A quoted cell must end on its line.
"""

from __future__ import annotations

import csv
import re
import shlex
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError, warn_caller
from sparsezc.io.build.table_columns import NamedVertices, Names, TableColumns
from sparsezc.io.build.weights import Weights
from sparsezc.io.files.source import Lines
from sparsezc.io.formats import text

_WHOLE = re.compile(r"[+-]?[0-9]+")
_BLANKS = " \t\r\f\v"  # other blanks, such as the non-breaking space, belong to names
_SEPARATORS = "\t;,"  # in order of preference; the first line decides, if possible by its text outside quotes
_QUOTED = re.compile(r'"[^"]*"')


@dataclass
class _FirstLine:
    """A first line of two names that was read as an edge, though it may name the columns."""

    where: str
    names: list[str]
    _found: int = 0
    _edges: int = 0

    def count(self, names: Names, ends: list[NDArray[Any]]) -> None:
        """Count the edges, and the ends that have one of the two names."""
        own = names.number(self.names)
        self._edges += ends[0].size
        self._found += sum(int(np.isin(part, own).sum()) for part in ends[:2])

    def warn_if_alone(self) -> None:
        """Warn if there are other edges, and none of them has one of the two names."""
        if self._found == len(self.names) and self._edges > 1:
            named = " ".join(
                f"--{what}-col {shlex.quote(name)}" for what, name in zip(("source", "target"), self.names, strict=True)
            )
            first, second = self.names
            warn_caller(
                f"{self.where}: {first!r} and {second!r} occur in no other line and were read as an edge; if they name"
                f" the columns, give {named} (source_col=, target_col=)"
            )


@dataclass
class Picker:
    """A picker of columns from the lines of a table.

    Attributes
    ----------
    columns : TableColumns
    names : Names or None
        The numbering of vertex names; None: vertices have numbers.
    heading : bool
        The first line may name the columns.
    warns : bool
        Warn of columns that are not read; of several ranks only one does.
    """

    columns: TableColumns
    names: Names | None
    heading: bool
    warns: bool = True
    _between: str | None = None
    _at: list[int] | None = None
    _kind: int | None = None
    _width: int = field(default=0)
    _doubtful: _FirstLine | None = None

    def table(self, chunk: Lines, weights: Weights) -> list[NDArray[Any]]:
        """Return the columns of a chunk: sources, targets and, if there are any, weights.

        Raises
        ------
        FileFormatError
            A line has too few cells, is not UTF-8, or a cell is no number where one is needed.
        """
        rows = self._rows(chunk)
        if self._at is None and rows:
            rows = self._begin(chunk, rows, weights)
        at = self._at or []
        chunk = replace(chunk, picked=at)
        kept, lines, kinds = [], [""] * chunk.data.count(b"\n"), set[str]()
        for number, cells in rows:
            if len(cells) != self._width:
                raise chunk.error(
                    number, f"found {text.in_words(len(cells))}; {self._width} are needed, as in the first line"
                )
            if self._kind is not None:
                kinds.add(cells[self._kind])
                if self.columns.only not in (None, cells[self._kind]):
                    continue
            words = [cells[k] for k in at]
            if self._between == ";" and len(words) > 2 and words[2].count(",") == 1 and "." not in words[2]:
                words[2] = words[2].replace(",", ".")  # between semicolons a comma is the decimal mark
            self._check(chunk, number, words)
            kept.append(words)
            lines[number] = " ".join(["0", "0", *words[2:]] if self.names is not None else words)
        self.columns.note(kinds)
        if not kept:
            return []
        picked = replace(chunk, data=("\n".join(lines) + "\n").encode())
        found, _ = text.table(picked, len(at), weights=weights)
        if self.names is not None:
            found[:2] = (self.names.number(words[k] for words in kept) for k in (0, 1))
            if self._doubtful is not None:
                self._doubtful.count(self.names, found)
        return found

    def finish(self) -> None:
        """Warn if the first line was read as an edge, and its two names occur in no other line."""
        if self._doubtful is not None:
            self._doubtful.warn_if_alone()

    def _check(self, chunk: Lines, number: int, words: list[str]) -> None:
        """Raise FileFormatError for an empty cell, an id that is no number, or a weight of several words."""
        for k, word in enumerate(words):
            if not word:
                raise chunk.error(number, "found an empty cell; an id and a number are needed in each", k)
            if k < 2 and self.names is None and not _WHOLE.fullmatch(word):
                raise named(chunk, number, k, text.shown(word.encode()))
            if k == 2 and len(word.replace(",", " ").split()) > 1:
                raise chunk.error(number, f"found {text.shown(word.encode())}; a number is needed as the weight", k)

    def _rows(self, chunk: Lines) -> list[tuple[int, list[str]]]:
        """Return the cells of each line that is not blank, with the line's number in the chunk."""
        data = text.without_comments(chunk.data)
        try:
            lines = data.decode().split("\n")
        except UnicodeDecodeError as error:
            raise chunk.error(
                data.count(b"\n", 0, error.start),
                "found bytes that are not UTF-8; iconv -f LATIN1 -t UTF-8 (or another encoding) converts them",
            ) from None
        numbers = [k for k, line in enumerate(lines) if line.strip(_BLANKS)]
        if self._between is None and numbers:
            first = lines[numbers[0]]
            bare = _QUOTED.sub("", first)
            self._between = next((mark for each in (bare, first) for mark in _SEPARATORS if mark in each), " ")
        if self._between == " ":
            return [(k, _words(lines[k])) for k in numbers]
        found = []
        for k in numbers:
            try:
                (cells,) = csv.reader(
                    [lines[k].rstrip("\r")], delimiter=str(self._between), skipinitialspace=True, strict=True
                )
            except (csv.Error, ValueError) as error:
                ends = "; a quoted cell must end on its line" if "unexpected end" in str(error) else f"; {error}"
                raise chunk.error(k, f"found {text.shown(lines[k].encode())}{ends}") from None
            found.append((k, [cell.strip(_BLANKS) for cell in cells]))
        return found

    def _begin(self, chunk: Lines, rows: list[tuple[int, list[str]]], weights: Weights) -> list[tuple[int, list[str]]]:
        """Choose the columns by the names in the first line, or the first columns if it has none; return the others."""
        number, cells = rows[0]
        self._width = len(cells)
        where = f"{chunk.path}, line {chunk.first + number}"
        unnamed = any(_WHOLE.fullmatch(cell) for cell in cells)
        later = rows[1][1][:2] if len(rows) > 1 else []
        if not self._usual(cells) and not (self.heading and any(map(_WHOLE.fullmatch, later))):
            unnamed = True  # names of vertices; else the line has names of columns, which must be usual ones
        if not self.columns.named and (unnamed or not self.heading):
            self._at = list(range(min(self._width, 3)))
            if len(self._at) < 2:
                raise chunk.error(number, f"found {text.in_words(self._width)}; 2 or 3 are needed")
            self._refuse_heading(chunk, rows)
            names_columns = cells[0] != cells[1] and not any(map(_is_number, cells))
            if self.heading and self.names is not None and names_columns:
                self._doubtful = _FirstLine(where, cells[:2])
            return rows
        self._at = self.columns.positions(cells, where)
        if self.warns and weights.kind == "file":
            self.columns.warn_of_unread(cells, self._at, where)
        if self.columns.kind is not None:
            self._kind = TableColumns(self.columns.kind, self.columns.kind).positions(cells, where)[0]
        return rows[1:]

    def _refuse_heading(self, chunk: Lines, rows: list[tuple[int, list[str]]]) -> None:
        """Raise FileFormatError if the first line names columns: its third word is no weight, the next line's is."""
        (number, cells), *others = rows
        if self.names is None or not others or min(len(cells), len(others[0][1])) < 3 or _is_number(cells[2]):
            return
        if _is_number(others[0][1][2]):
            flags = " ".join(
                f"--{what}-col {shlex.quote(cell)}"
                for what, cell in zip(("source", "target", "weight"), cells, strict=False)
            )
            found = text.shown(cells[2].encode())
            said = f"found {found}; a number is needed as the weight; columns are named by {flags}"
            raise replace(chunk, picked=self._at).error(number, said, 2)

    def _usual(self, cells: list[str]) -> bool:
        """Return whether a line consists of usual names of columns."""
        try:
            return bool(TableColumns().positions(cells, ""))
        except FileFormatError:
            return False


def _words(line: str) -> list[str]:
    """Return the words between blanks of a line."""
    return [word.decode() for word in line.encode().split()]  # as bytes: str.split would split at further blanks


def _is_number(cell: str) -> bool:
    """Return whether a cell is a weight; a comma may be the decimal mark."""
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def named(chunk: Lines, number: int, column: int, shown: str) -> NamedVertices:
    """Return the error for a vertex id that is no whole number."""
    said = f"found {shown}; a whole number is needed as a vertex id; relabel=True (--relabel) numbers names"
    return NamedVertices(*chunk.error(number, said, column).args)
