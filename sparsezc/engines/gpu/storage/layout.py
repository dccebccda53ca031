"""Other forms of a matrix's rows, and what is remembered about them: one protocol, and the registry that holds them.

Rows do not change. What products learn about them, and what they make of them to read less, lies in their registry,
``rows.layouts``: one object of each class, empty until a product asks for it first (``rows.layouts[HeadCache]``).
Layouts live in the rooms above (``layouts/``, ``placements/``); the registry knows none of them by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from sparsezc.memory.budget import Cache
from sparsezc.semirings.types.datatypes import DataType

if TYPE_CHECKING:
    from sparsezc.engines.gpu.storage.matrix_store import Rows


class Demand(NamedTuple):
    """The use that a product has for a layout of some rows.

    Attributes
    ----------
    entries : float
        Entries that it reads where there is no layout.
    dtype : DataType
        Of the matrix.
    values : bool
        Whether the multiply reads the matrix's values.
    columns : Rows or None
        The rows of the transpose, where the matrix has them.
    vector_bytes : int
        Of the vector's values.
    """

    entries: float
    dtype: DataType
    values: bool = False
    columns: Rows | None = None
    vector_bytes: int = 0


class Layout(Cache, Protocol):
    """Another form of some rows, built once products have read so much without it that it pays.

    It keeps no reference to the rows, as these hold it. ``nbytes`` is the memory that it takes, 0 while nothing is
    built; ``drop`` gives that back, and is the only one that does.
    """

    def is_worth(self, rows: Rows, demand: Demand) -> bool:
        """Count what a product is about to read, and return whether building pays from now on."""
        ...

    def build(self, rows: Rows, demand: Demand) -> None:
        """Build it in the place of what was built before; where memory is short, nothing is built."""
        ...


_L = TypeVar("_L", bound=Cache)


class Layouts(dict[type[Cache], Cache]):
    """The layouts of some rows, each by its class, and made at first use."""

    if TYPE_CHECKING:

        def __getitem__(self, kind: type[_L]) -> _L: ...

    def __missing__(self, kind: type[_L]) -> _L:
        made = self[kind] = kind()
        return made

    def drop(self) -> None:
        """Drop all of them, and forget what was counted."""
        for layout in self.values():
            layout.drop()
        self.clear()
