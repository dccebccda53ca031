"""The protocol of layouts, other forms of a matrix's rows, and the registry that holds them.

Rows do not change. What products learn about them, and what they build to read less, is in their registry,
``rows.layouts``: one object of each class, empty until a product first asks for it (``rows.layouts[HeadCache]``).
Layouts are defined in higher folders (``layouts/``, ``placements/``); the registry names none of them. What is known of
the entries in whatever form is in a second registry, ``rows.facts``, which takes no device memory.

Most are of the protocol :class:`Layout`: a product asks whether building pays, and reads the rows as they are where it
does not. Three objects of a registry are no matter of worth, so they have ``get_or_build``, ``nbytes`` and ``drop``
only: ``PlainCopy`` and ``UncutRows`` are forms without which an operation cannot run, ``SegmentCache`` is what the
placements "cached" and "hybrid" are made of. Compressed ids are no second form at all, but the buffer of ids that the
rows were made with (``Rows.indices``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from sparsezc.memory.budget import Cache
from sparsezc.memory.registry import Registry
from sparsezc.semirings.types.datatypes import DataType

if TYPE_CHECKING:
    from sparsezc.engines.gpu.storage.matrix_store import Rows

_PAUSE = 4  # times the products of the first time: by then building costs less than a tenth of the products' time


class Demand(NamedTuple):
    """The use of a product for a layout of some rows.

    Attributes
    ----------
    entries : float
        The entries that it reads without the layout.
    dtype : DataType
        The type of the matrix.
    values : bool
        The multiply reads the matrix's values.
    columns : Rows or None
        The rows of the transpose, if the matrix has them.
    vector_bytes : int
        The bytes of the vector's values.
    """

    entries: float
    dtype: DataType
    values: bool = False
    columns: Rows | None = None
    vector_bytes: int = 0


class Layout(Cache, Protocol):
    """Another form of some rows, built once products have read enough without it to repay its cost.

    It keeps no reference to the rows, as these hold it. ``nbytes`` is the memory that it takes, 0 while nothing is
    built; only ``drop`` frees that.
    """

    def is_worth(self, rows: Rows, demand: Demand) -> bool:
        """Count the reads of the next product, and return whether building pays from now on."""
        ...

    def build(self, rows: Rows, demand: Demand) -> None:
        """Build it in the place of an earlier form; where memory is short, nothing is built."""
        ...


class _Sized(Protocol):
    @property
    def nbytes(self) -> int: ...


_F = TypeVar("_F", bound=_Sized)


class Built(Generic[_F]):
    """A layout that is one form of the rows, or nothing.

    Attributes
    ----------
    built : object or None
        The form, with its ``nbytes``; None until it exists.
    """

    def __init__(self) -> None:
        self.built: _F | None = None

    @property
    def nbytes(self) -> int:
        return 0 if self.built is None else self.built.nbytes

    def drop(self) -> None:
        self.built = None


class BuiltAfter(Built[_F]):
    """A layout that is built once so many products would have used it, and not soon again once its memory was needed.

    Whatever needed the memory may come with every product, and building takes longer than some products.

    Attributes
    ----------
    products : float
        Products that it would have served, less those that it pauses for; -inf where it never pays.
    """

    def __init__(self, after: float) -> None:
        super().__init__()
        self.wait(after)

    def wait(self, products: float) -> None:
        """Postpone the build by a number of products: 0 builds it at the next one, infinity never."""
        self.products, self.after = 0.0, products

    def drop(self) -> None:
        if self.built is not None:
            self.pause()
        super().drop()

    def pause(self) -> None:
        self.products = -_PAUSE * self.after

    def count(self) -> bool:
        """Count a product that it would have served; return whether enough were counted before."""
        self.products += 1
        return self.products > self.after


class Layouts(Registry[Cache]):
    """The layouts of some rows by their class, each made at first use."""
