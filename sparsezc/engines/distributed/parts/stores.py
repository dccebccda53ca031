"""This rank's part of a Vector or a Matrix: the store of the distributed engine."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from sparsezc.semirings.types.datatypes import DataType

if TYPE_CHECKING:
    from sparsezc.engines.distributed.parts.layout import Layout
    from sparsezc.engines.distributed.parts.long_rows import LongRows
    from sparsezc.engines.distributed.parts.search_rows import Batches
    from sparsezc.engines.distributed.statements.products import Halo

__all__ = ["Store"]


class Store:
    """This rank's part of an object.

    Attributes
    ----------
    local : Matrix or Vector
        The part, on the local engine: an ordinary object of the part's shape.
    layout : Layout
        The ranges of all ranks.
    shape : tuple of int
        Of the whole.
    counts : ndarray of int64, shape (ranks,), or None
        The entries of each rank's part; None: they are not known. All ranks know them or none does.
    edges : ndarray of int64, shape (ranks,), or None
        Of a vector: at most so many entries of `rows` are at its entries, on each rank.
    rows : Store or None
        The matrix whose rows `edges` counts.
    symmetric : bool
        Of a matrix: the whole is known to equal its transpose.
    turned : Store or None
        Of a matrix: its transpose, if that was formed.
    long : LongRows or None
        Of a matrix: rows longer than a rank's share, of which `local` has no entries.
    halo : tuple or None
        Of a matrix: the layout of a vector, and the positions of it that ranks ask each other for, or None.
    wide : Matrix or None
        Of a matrix: its part at its place in the whole, if that was formed.
    batches : Batches or None
        Of a matrix: what was searched in it so far, and its pattern if every rank has it whole.
    """

    __slots__ = (
        "__weakref__",
        "_degrees",
        "_rows",
        "batches",
        "counts",
        "edges",
        "halo",
        "layout",
        "local",
        "long",
        "shape",
        "symmetric",
        "turned",
        "wide",
    )

    def __init__(self, local: Any, layout: Layout, shape: tuple[int, ...], *, symmetric: bool = False) -> None:
        self.local, self.layout, self.shape, self.symmetric = local, layout, shape, symmetric
        self._rows: weakref.ref[Store] | None = None
        self.changed()

    def changed(self) -> None:
        """Forget facts about the content."""
        self.counts: NDArray[Any] | None = None
        self.edges: NDArray[Any] | None = None
        self.turned: Store | None = None
        self.long: LongRows | None = None
        self.halo: tuple[Layout, Halo | None] | None = None
        self.wide: Any = None
        self.batches: Batches | None = None
        self._degrees: Any = None

    @property
    def dtype(self) -> DataType:
        """Return the type of the entries."""
        kind: DataType = self.local.dtype
        return kind

    @property
    def rows(self) -> Store | None:
        """Return the matrix whose rows are counted."""
        return None if self._rows is None else self._rows()

    @rows.setter
    def rows(self, matrix: Store) -> None:
        self._rows = weakref.ref(matrix)  # weak, so that a large matrix can be freed

    @property
    def nrows(self) -> int:
        """Return the number of rows of the whole."""
        return self.shape[0]

    @property
    def ncols(self) -> int:
        """Return the number of columns of the whole."""
        return self.shape[1]

    @property
    def is_empty_range(self) -> bool:
        """Return whether this rank has no row or column of it: no statement runs on such a part."""
        return self.layout.hi == self.layout.lo

    @property
    def is_full(self) -> bool:
        """Return whether every entry of a vector is known to be present."""
        return self.counts is not None and int(self.counts.sum()) == self.shape[0]
