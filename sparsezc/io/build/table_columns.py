"""The choice of columns in a table of edges, and the numbering of vertices that have names."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError, meant, warn_caller
from sparsezc.io.build.edge_list import Edges, narrow_ids
from sparsezc.memory.budget import require_host

#: Column names, in lower case, of the source's ids, the target's ids and the weights.
HEADINGS = (
    ("source", "src", "from", "u", "row"),
    ("target", "dst", "dest", "to", "v", "col"),
    ("weight", "w", "value", "length", "cost"),
)
_NAME = 120  # bytes of a name in a dictionary, beside its letters
_CHECKED = 1 << 16  # names between two checks of the free memory
_NAMED = 5  # columns that a warning lists at most
_LISTED = 50  # names that a message lists at most


class NamedVertices(FileFormatError):
    """The error for vertex ids that are no whole numbers: they may be names, which relabel=True numbers."""


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table that a caller chooses by name; None: by their usual names, or the first ones.

    Attributes
    ----------
    source, target, weight, kind : str or None
        `kind` is the column of the edges' types; with `only`, only edges of this type are read.
    kinds : Names, optional
        A collection of the types that occur; with `only`, of that type and at most 50 others.
    named : bool
        A column is given by name.
    """

    source: str | None = None
    target: str | None = None
    weight: str | None = None
    kind: str | None = None
    only: str | None = None
    kinds: Names | None = field(default=None, compare=False, repr=False)
    named: bool = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "named", any((self.source, self.target, self.weight, self.kind)))

    def note(self, kinds: Iterable[str]) -> None:
        """Add the types of some edges to `kinds`."""
        if self.kinds is not None:
            names = sorted(set(kinds))
            if self.only is not None:
                listed = names[: max(0, _LISTED - len(self.kinds))]
                names = [*listed, *({self.only}.intersection(names).difference(listed))]
            self.kinds.number(names)

    def require_kind(self, path: str | PathLike[str]) -> None:
        """Raise FileFormatError if edges were read, but none of the requested type."""
        known = [] if self.kinds is None else [str(each) for each in self.kinds.sorted()[0]]
        if self.only is not None and known and self.only not in known:
            raise FileFormatError(
                f"{path}: no edge has the type {self.only!r} in the column {self.kind!r}{meant(self.only, known)};"
                f" the types are {', '.join(map(repr, known[:_LISTED]))}"
            )

    def positions(self, names: Sequence[str], where: str, *, first: bool = False) -> list[int]:
        """Return the positions of source, target and, if there is one, weight among the columns of a table.

        With `first`, the first three columns are taken if source or target has no usual name and none is chosen.

        Raises
        ------
        FileFormatError
            A column does not exist, or its name occurs twice; the message lists the columns.
        """
        low = [name.lower() for name in names]
        found: list[int] = []
        for given, usual in zip((self.source, self.target, self.weight), HEADINGS, strict=True):
            at = [k for k, name in enumerate(names) if name == given] if given else []
            if given is None:
                at = [k for k, name in enumerate(low) if name in usual and k not in found]
            if given is None and usual is HEADINGS[2] and not at:
                break
            if len(at) != 1:
                if given is None and first and not self.named:
                    return list(range(min(len(names), 3)))
                raise self._missing(given, usual, names, where)
            found.append(at[0])
        return found

    def warn_of_unread(self, names: Sequence[str], at: Sequence[int], where: str) -> None:
        """Warn of unread columns that may hold weights, if none has a usual name of weights and none is chosen."""
        rest = [name for k, name in enumerate(names) if k not in at]
        if rest and len(at) < 3 and not self.named:
            listed = ", ".join(map(repr, rest[:_NAMED])) + ", ..." * (len(rest) > _NAMED)
            usual = ", ".join(HEADINGS[2])
            warn_caller(
                f"{where}: edges have no weights, as no column is named {usual}; not read: {listed}; --weight-col"
                f" {shlex.quote(rest[-1])} (weight_col=) reads some, --weights none (weights=False) needs none"
            )

    @staticmethod
    def _missing(given: str | None, usual: Sequence[str], names: Sequence[str], where: str) -> FileFormatError:
        listed = ", ".join(map(repr, names[:_LISTED]))
        if given is not None:
            found = "occurs twice" if names.count(given) > 1 else f"does not exist{meant(given, names)}"
            return FileFormatError(f"{where}: the column {given!r} {found}; the columns are {listed}")
        which = usual[0]
        return FileFormatError(
            f"{where}: found the column names {listed}; one of {'/'.join(usual)} is needed, or its name as {which}_col="
            f" (--{which}-col)"
        )


USUAL = TableColumns()  # no column is chosen by name


class Names:
    """The names of vertices, numbered as they occur.

    >>> names = Names()
    >>> names.number(["b", "a", "b"]).tolist()
    [0, 1, 0]
    >>> names.sorted()[0].tolist()
    ['a', 'b']
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._looked = 0

    def number(self, words: Iterable[str]) -> NDArray[np.int64]:
        """Return the number of each word; a new word gets the next number.

        Raises
        ------
        OutOfMemory
            The names do not fit the host's memory.
        """
        numbers = self._numbers
        found = np.fromiter((numbers.setdefault(word, len(numbers)) for word in words), np.int64)
        if len(numbers) - self._looked >= _CHECKED:
            self._looked = len(numbers)
            require_host(len(numbers) * _NAME, f"the names of {len(numbers):,} vertices")
        return found

    def __len__(self) -> int:
        return len(self._numbers)

    def sorted(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the names, ascending (if all are whole numbers, by size as int64), and the position of each number."""
        numbers = self._numbers
        whole = all(map(_is_whole, numbers))
        order = sorted(numbers, key=int) if whole else sorted(numbers)
        place = np.empty(len(order), np.int64)
        place[[numbers[name] for name in order]] = np.arange(len(order))
        if whole:
            return np.array(list(map(int, order)), np.int64), place
        names = np.empty(len(order), object)
        names[:] = order
        return names, place


def _is_whole(name: str) -> bool:
    """Return whether a name is a whole number of at most 18 digits, as Python prints it."""
    return name.isascii() and name.isdigit() and len(name) <= 18 and str(int(name)) == name


def relabel(edges: Edges, names: Names) -> tuple[Edges, NDArray[Any]]:
    """Return the edges with vertices numbered in ascending order of their names, and the names."""
    found, place = names.sorted()
    rows, cols = (narrow_ids(place[part.astype(np.int64)]) for part in (edges.rows, edges.cols))
    n = found.size
    return Edges(n, n, rows, cols, edges.values, edges.undirected, edges.mirrored, edges.dtype), found
