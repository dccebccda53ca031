"""The protocol of layouts, other forms of a matrix's rows, and the registry of them.

Rows do not change. The counts that products keep of them, and the forms that they build to read less, are in a
registry, ``rows.layouts``: one object of each class, empty until a product first requests it
(``rows.layouts[HeadCache]``). Layouts are defined in higher folders (``layouts/``, ``placements/``), which the registry
does not import. Facts about the entries that hold in any form are in a second registry, ``rows.facts``, which takes no
device memory.

Most follow the protocol :class:`Layout`: they are built once building pays off, and until then a product reads the rows
themselves. Three classes are built in any case, so they have ``get_or_build``, ``nbytes`` and ``drop`` only:
``PlainCopy`` and ``UncutRows``, forms that an operation cannot run without, and ``SegmentCache``, which implements the
placements "cached" and "hybrid". Compressed ids are no layout, but the buffer of the rows' own ids (``Rows.indices``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from sparsezc.memory.budget import Cache
from sparsezc.memory.registry import Registry
from sparsezc.semirings.types.datatypes import DataType

if TYPE_CHECKING:
    from sparsezc.engines.gpu.storage.matrix_store import Rows

_PAUSE = 4  # times the products before the first build: building again then costs less than a tenth of their time


class Demand(NamedTuple):
    """The reads of a product, by which a layout of its rows decides whether to be built.

    Attributes
    ----------
    entries : float
        The number of entries that the product reads without the layout.
    dtype : DataType
        The type of the matrix.
    values : bool
        The multiply reads the matrix's values.
    columns : Rows or None
        The rows of the transpose, or None if the matrix does not have them.
    vector_bytes : int
        The bytes of the vector's values.
    """

    entries: float
    dtype: DataType
    values: bool = False
    columns: Rows | None = None
    vector_bytes: int = 0


class Layout(Cache, Protocol):
    """Another form of some rows, built once the reads that it would have saved have repaid its cost.

    A layout keeps no reference to the rows, which refer to it. ``nbytes`` is the memory that it takes, 0 while nothing
    is built; only ``drop`` frees it.
    """

    def is_worth(self, rows: Rows, demand: Demand) -> bool:
        """Count the reads of the next product, and return whether building pays off now."""
        ...

    def build(self, rows: Rows, demand: Demand) -> None:
        """Build the form, in place of an earlier one; if memory is short, build nothing."""
        ...


class _Sized(Protocol):
    @property
    def nbytes(self) -> int: ...


_F = TypeVar("_F", bound=_Sized)


class Built(Generic[_F]):
    """A layout with at most one form of the rows.

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
    """A layout that is built after a number of products, and after its drop only after several times as many.

    The need for its memory may recur with every product, and building takes longer than some products.

    Attributes
    ----------
    products : float
        The number of products that the layout would have served, less those of a pause; -inf if it never pays off.
    """

    def __init__(self, after: float) -> None:
        super().__init__()
        self.wait(after)

    def wait(self, products: float) -> None:
        """Postpone the build by a number of products: 0 builds at the next one, infinity never."""
        self.products, self.after = 0.0, products

    def drop(self) -> None:
        if self.built is not None:
            self.pause()
        super().drop()

    def pause(self) -> None:
        self.products = -_PAUSE * self.after

    def count(self) -> bool:
        """Count a product that the layout would have served; return whether enough were counted before."""
        self.products += 1
        return self.products > self.after


class Layouts(Registry[Cache]):
    """The layouts of some rows by class, each made at first use."""
