"""This rank's part of a Vector or a Matrix: the store of the distributed engine, and the forms that it keeps.

A *form* is a result that statements derive from a matrix and keep until the matrix changes, such as its transpose.
Forms are to a store what layouts are to the rows of the GPU engine: the registry ``store.forms`` has one object of each
class, made empty when a statement first uses it (``store.forms[Transpose]``). The modules that build forms define them;
the registry names none.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from numpy.typing import NDArray

from sparsezc.memory.registry import Registry
from sparsezc.semirings.types.datatypes import DataType

if TYPE_CHECKING:
    from sparsezc.engines.distributed.parts.long_rows import LongRows
    from sparsezc.engines.distributed.parts.partition import Partition
    from sparsezc.engines.distributed.store_methods import Keeper
    from sparsezc.memory.csr import Csr

__all__ = ["Built", "Form", "Forms", "Store"]


class Form(Protocol):
    """A result that statements derive from a store and keep.

    Its ``get_or_build`` takes the engine and the store; the form keeps no reference to the store, which refers to it.
    Building may be a collective, so all ranks must build and drop a form alike: no rank's memory budget counts it.
    """

    def drop(self) -> None:
        """Discard the result, as the store's entries have changed."""
        ...

    def rows_moved(self, engine: Keeper) -> None:
        """Update the result, as entries have moved between ranks; the whole is the same. A collective."""
        ...


_F = TypeVar("_F")


class Built(Generic[_F]):
    """A form of one object, which depends on the entries that each rank has.

    Attributes
    ----------
    built : object or None
        None until it exists.
    """

    def __init__(self) -> None:
        self.built: _F | None = None

    def drop(self) -> None:
        self.built = None

    def rows_moved(self, engine: Keeper) -> None:
        self.drop()


class Forms(Registry[Form]):
    """The forms of a store by their class, each made at first use."""

    def rows_moved(self, engine: Keeper) -> None:
        """Update each form, as entries have moved to other ranks."""
        for form in self.values():
            form.rows_moved(engine)


class Store:
    """This rank's part of an object. Statements write `local` and call :meth:`changed`; only methods change the rest.

    Attributes
    ----------
    local : Matrix or Vector
        The part, on the local engine: an ordinary object of the part's shape.
    partition : Partition
        The partition.
    shape : tuple of int
        The shape of the whole.
    counts : ndarray of int64, shape (ranks,), or None
        The entries of each rank's part; None: they are not known. All ranks know them or none does.
    edges : ndarray of int64, shape (ranks,), or None
        Of a vector: the entries in the rows of `rows` at its entries, on each rank, or an upper bound.
    rows : Store or None
        The matrix whose rows `edges` counts.
    symmetric : bool
        Of a matrix: the whole is known to equal its transpose.
    long : LongRows or None
        Of a matrix: rows longer than a rank's share, of which `local` has no entries.
    forms : Forms
        The results derived from it.
    """

    __slots__ = ("__weakref__", "_rows", "counts", "edges", "forms", "partition", "local", "long", "shape", "symmetric")

    def __init__(
        self, local: Any, partition: Partition, shape: tuple[int, ...], *, symmetric: bool = False,
        counts: NDArray[Any] | None = None, long: LongRows | None = None,
    ) -> None:  # fmt: skip
        self.local, self.partition, self.shape, self.symmetric = local, partition, shape, symmetric
        self.forms = Forms()
        self._rows: weakref.ref[Store] | None = None
        self.changed(counts)
        self.long: LongRows | None = long

    def changed(self, counts: NDArray[Any] | None = None) -> None:
        """Discard facts and forms after a write; `counts`: the entries that each rank has now, if known."""
        self.counts = counts
        self.edges: NDArray[Any] | None = None
        self.long = None
        self.forms.drop()

    def lose_symmetry(self) -> None:
        """Note that a statement wrote the matrix, which may no longer equal its transpose."""
        self.symmetric = False

    def counted(
        self, counts: NDArray[Any] | None, edges: NDArray[Any] | None = None, rows: Store | None = None
    ) -> None:
        """Record the entries of each rank's part, and of a vector the entries of a matrix's rows at them."""
        self.counts = counts
        if rows is not None:
            self.expect_rows(rows)
            self.edges = edges

    def expect_rows(self, rows: Store) -> None:
        """Expect the vector to be multiplied with these rows next, and count their entries with its own from now on."""
        if self.rows is not rows:
            self.edges = None  # the counted entries are those of other rows
        self._rows = weakref.ref(rows)  # weak, so that a large matrix can be freed

    def replace(self, local: Any, partition: Partition, counts: NDArray[Any] | None = None) -> None:
        """Replace this rank's part and the partition; the shape is the same."""
        self.local, self.partition = local, partition
        self.changed(counts)

    def take(self, other: Store) -> None:
        """Take over another store's content and shape."""
        self.shape, self.symmetric = other.shape, other.symmetric
        self.replace(other.local, other.partition, other.counts)
        self.long = other.long

    def move_rows(self, engine: Keeper, csr: Csr, partition: Partition, counts: NDArray[Any]) -> None:
        """Replace this rank's rows by those of a new partition of the same whole; the caller then updates forms."""
        self.partition, self.local = partition, engine.local.matrix(self.dtype, partition.local_shape(self.shape))
        if csr.nvals:  # the memory of the former part is free by now
            self.local = engine.local.matrix_of(csr)
        self.counts = counts

    def join(self) -> None:
        """Note that `local` has the entries of long rows, too; the caller then updates forms."""
        self.long = self.counts = None

    @property
    def dtype(self) -> DataType:
        """Return the type of the entries."""
        kind: DataType = self.local.dtype
        return kind

    @property
    def rows(self) -> Store | None:
        """Return the matrix whose entries `edges` counts."""
        return None if self._rows is None else self._rows()

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
        """Return whether this rank has no row or column of the object: no statement runs on such a part."""
        return self.partition.hi == self.partition.lo

    @property
    def is_full(self) -> bool:
        """Return whether every entry of a vector is known to be present."""
        return self.counts is not None and int(self.counts.sum()) == self.shape[0]
