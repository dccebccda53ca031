"""Matrix: a sparse matrix on an engine, in a placement; its transpose is a view until ``A.T.new()`` forms it."""

from __future__ import annotations

import itertools
import sys
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

import sparsezc.core.vector  # noqa: F401  (expressions of matrices make vectors)
from sparsezc import ops
from sparsezc.core import formatting, placement, scalar
from sparsezc.core.matrix_construct import FromArrays
from sparsezc.core.matrix_export import MatrixContents
from sparsezc.core.matrix_methods import Readable
from sparsezc.core.placement import Placeable
from sparsezc.core.suitesparse import Accessor
from sparsezc.core.transposed import TransposedMatrix
from sparsezc.engines import cpu
from sparsezc.engines.cpu.suitesparse import native
from sparsezc.exceptions import OutputNotEmpty, UnknownDtype, maker
from sparsezc.expr import engines
from sparsezc.expr.array_exchange import ByDlpack
from sparsezc.expr.expression import Expression, IndexList, ready
from sparsezc.expr.mask import Mask, Maskable, as_mask
from sparsezc.expr.options import check as check_options
from sparsezc.expr.writable import Writable
from sparsezc.memory import budget
from sparsezc.ops import arrays, compare, indices
from sparsezc.process import locks
from sparsezc.process.locks import hold_locks, locked
from sparsezc.semirings.types.datatypes import FP64, DataType, lookup

if TYPE_CHECKING:
    from sparsezc.expr.engines import Engine
    from sparsezc.memory.csr import Csr

__all__ = ["Matrix", "TransposedMatrix"]

_numbers = itertools.count()


def _is_graph(dtype: Any) -> bool:
    """Return whether the argument `dtype` is a matrix, a table or a graph instead of a type."""
    if isinstance(dtype, list):  # a list of (name, type) pairs is a record type
        return bool(dtype) and isinstance(dtype[0], list)
    if isinstance(dtype, type | np.dtype):  # classes and dtypes, too, have attributes `shape` or `adj`
        return False
    return len(getattr(dtype, "shape", ())) == 2 or hasattr(dtype, "adj")


class Matrix(FromArrays, MatrixContents, Readable, ByDlpack, Placeable, Maskable, Writable["Matrix"]):
    """A sparse matrix of `nrows` rows and `ncols` columns.

    A matrix stays on the engine on which it was made (``config.engine``); :meth:`to` copies it to another.

    Parameters
    ----------
    dtype : DataType, str, NumPy dtype or Python type
    nrows, ncols : int
    name : str, optional

    Raises
    ------
    UnknownDtype
        `dtype` is not a type.
    InvalidValue
        A size is negative or above 2**60.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_coo([0, 0, 1], [1, 2, 2], [5, 1, 2], nrows=3, ncols=3)
    >>> d = gb.Vector.from_coo([0], [0], size=3)
    >>> w = gb.Vector(int, 3)
    >>> w(~d.S) << d.vxm(A, gb.semiring.min_plus)
    >>> w.to_dict()
    {1: 5, 2: 1}
    """

    __slots__ = ("_facts", "_shape", "_symmetric", "_transpose")
    ndim = 2
    #: The methods of SuiteSparse:GraphBLAS beyond the standard, as in python-graphblas.
    #:
    #: :meta hide-value:
    ss = Accessor()

    def __init__(self, dtype: Any = FP64, nrows: int = 0, ncols: int = 0, *, name: str | None = None) -> None:
        if _is_graph(dtype) and (made := maker(dtype, "A")):  # NumPy would take the type of its elements
            raise UnknownDtype(f"Matrix: dtype is a {type(dtype).__name__}; a type is needed, or a Matrix{made}")
        try:
            kind = lookup(dtype)
        except UnknownDtype as error:
            raise UnknownDtype(f"Matrix: {error}") from None
        self._begin(kind, (arrays.size(nrows, "Matrix: nrows"), arrays.size(ncols, "Matrix: ncols")), name)

    def _begin(
        self, dtype: DataType, shape: tuple[int, ...], name: str | None, engine: Engine | None = None, store: Any = None
    ) -> None:
        self.dtype = dtype
        self.name = f"M_{next(_numbers)}" if name is None else name
        self._shape = shape
        self._symmetric = False
        # Weak: in a reference cycle both objects would stay until the garbage collector runs.
        self._transpose: weakref.ref[TransposedMatrix] | None = None
        self._facts: dict[str, Any] | None = {}  # facts computed from the entries; None: facts are not cached
        self._engine, self._store = engine, store
        self._lock = locks.new() if engine is None or engine.lock is None else engine.lock

    @classmethod
    def _blank(cls, dtype: DataType, shape: tuple[int, ...], name: str | None) -> Self:
        made = cls.__new__(cls)
        made._begin(dtype, shape, name)
        return made

    @classmethod
    def _from_store(
        cls, engine: Engine, store: Any, dtype: DataType, shape: tuple[int, ...], name: str | None = None
    ) -> Self:
        made = cls.__new__(cls)
        made._begin(dtype, shape, name, engine, store)
        return made

    @classmethod
    def _from_csr(cls, csr: Csr, engine: str | None = None, *, name: str | None = None, adopt: bool = False) -> Self:
        """Make a matrix from CSR arrays, on the engine of their placement or on the named engine.

        With `adopt` the CPU engine takes over arrays that own their memory: the caller must not use them afterwards.
        """
        there = engines.get(budget.engine_of(csr.indices.placement) if engine is None else engine)
        if engine is None and (reader := engines.capability(there, "reader")(csr)) is not None:
            there = reader
        store = engines.capability(there, "adopt_csr")(csr) if adopt else None
        if store is None:
            store = there.matrix_from_csr(csr)
        return cls._from_store(there, store, csr.dtype, (csr.nrows, csr.ncols), name)._known_symmetric(csr.symmetric)

    @locked
    def _to_csr(self) -> Csr:
        """Return the entries as CSR arrays: copies, unless a file's pages hold them."""
        engine, store = self._kept()
        return engine.matrix_to_csr(store).known_symmetric(self._symmetric)

    def _known_symmetric(self, symmetric: bool = True) -> Self:
        """Mark the matrix as equal to its transpose until it changes, and return it.

        Only this method sets `_symmetric` to true.
        """
        self._symmetric = symmetric
        return self

    def _changed(self) -> None:
        self._symmetric = False
        if self._facts:
            self._facts = {}

    @locked
    def _fact(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return the result of ``compute()``, usually a pass over all entries, cached until the matrix changes."""
        if self._facts is None:
            return compute()
        if name not in self._facts:
            self._facts[name] = compute()
        return self._facts[name]

    def _settle(self, engine: Engine) -> None:
        if self._engine is None or self.nvals == 0:
            self._put(engine, engine.new_matrix(self.dtype, *self._shape))
            return
        if (values := self._full_values()) is not None:
            made = engines.capability(engine, "matrix_from_full")(values, self.dtype)
            if made is not None:
                placement.report_move(self, engine.name, values.nbytes)
                self._put(engine, made)
                return
        csr = self._to_csr()
        placement.report_move(self, engine.name, csr.nbytes)
        self._put(engine, engine.matrix_from_csr(csr))

    @locked
    def _need(self) -> tuple[Engine, Any]:
        """Return the engine that runs statements on this matrix, and its store there, loaded from a file if need be."""
        if self._engine is None:
            self._settle(engines.get("cpu"))
        assert self._engine is not None
        engines.capability(self._engine, "load")(self)
        return self._engine, self._store

    def _kept(self) -> tuple[Engine, Any]:
        """Return the engine and the store without loading a file's entries; the caller holds the lock."""
        return self._need() if self._engine is None else (self._engine, self._store)

    @property
    @locked
    def nvals(self) -> int:
        """Number of entries; a collective if the matrix is distributed."""
        return 0 if self._engine is None else self._engine.nvals(self._store)

    @property
    def T(self) -> TransposedMatrix:
        """The transpose as a view, for use as an operand; ``A.T.new()`` forms it."""
        view = None if self._transpose is None else self._transpose()
        if view is None:
            view = TransposedMatrix(self)
            self._transpose = weakref.ref(view)
        return view

    def dup(
        self,
        dtype: Any = None,
        *,
        clear: bool = False,
        mask: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> Matrix:
        """Return a copy: converted to `dtype`, without entries (`clear`), or with only the entries in `mask`."""
        check_options(options)
        kind = self.dtype if dtype is None else lookup(dtype)
        if mask is not None:
            mask = as_mask(mask, self)
        with hold_locks(self) if mask is None else hold_locks(self, mask.parent):
            made = self._blank(kind, self.shape, name)
            if clear or self._engine is None:
                return made
            if mask is not None:
                made(mask) << self
            else:
                made._put(self._engine, self._engine.dup(self._store, kind))
                made._known_symmetric(self._symmetric)
            return made

    def build(
        self,
        rows: ArrayLike,
        columns: ArrayLike,
        values: Any,
        *,
        dup_op: Any = None,
        clear: bool = False,
        nrows: int | None = None,
        ncols: int | None = None,
    ) -> None:
        """Fill this empty matrix from row ids, column ids and values; the values are converted to its type.

        Parameters
        ----------
        rows, columns, values, dup_op
            As in :meth:`from_coo`.
        clear : bool
            Remove existing entries first.
        nrows, ncols : int, optional
            Resize first.

        Raises
        ------
        OutputNotEmpty
            The matrix has entries, and `clear` is not set.
        """
        rows, columns, values = ready(rows), ready(columns), ready(values)
        with hold_locks(self):
            self._build(rows, columns, values, dup_op, clear, nrows, ncols)

    def _build(
        self, rows: Any, columns: Any, values: Any, dup_op: Any, clear: bool, nrows: int | None, ncols: int | None
    ) -> None:
        if not clear and self.nvals:
            raise OutputNotEmpty(f"{self.name}.build: there are {self.nvals} entries; clear=True removes them")
        shape = self.nrows if nrows is None else nrows, self.ncols if ncols is None else ncols
        made = Matrix.from_coo(rows, columns, values, self.dtype, nrows=shape[0], ncols=shape[1], dup_op=dup_op)
        self.clear()
        if shape != self.shape:
            self.resize(*shape)
        self << made

    def setdiag(self, values: Any, k: int = 0, *, mask: Any = None, accum: Any = None, **options: Any) -> None:
        """Write `values` to diagonal `k`: see :func:`sparsezc.ops.setdiag`."""
        ops.setdiag(self, values, k, mask, accum)

    @locked
    def __sizeof__(self) -> int:
        held = 0 if self._engine is None or self._engine is not cpu.engine() else int(sys.getsizeof(self._store))
        return object.__sizeof__(self) + held

    @locked
    def __reduce__(self) -> tuple[Any, ...]:
        i, j, values = self.to_coo()
        return _unpickle, (i, j, values, self.dtype, self.shape, self.name)

    def _repr_html_(self) -> str:
        return self._html()

    @locked
    def clear(self) -> None:
        """Remove every entry."""
        if self._engine is not None:
            self._engine.clear(self._store)
        self._changed()

    @locked
    def resize(self, nrows: int, ncols: int) -> None:
        """Change the numbers of rows and columns; entries outside the new shape are removed."""
        shape = arrays.size(nrows, f"{self.name}.resize: nrows"), arrays.size(ncols, f"{self.name}.resize: ncols")
        if self._engine is not None:
            self._engine.resize(self._store, *shape)
        self._shape = shape
        self._changed()
        self._transpose = None

    @locked
    def wait(self, how: str = "materialize") -> Matrix:
        """Finish pending operations.

        Raises
        ------
        InvalidValue
            `how` is neither "materialize" nor "complete".
        """
        compare.check_how(how)
        if self._engine is not None:
            self._engine.wait(self._store)
        return self

    @locked
    def to_graphblas(self, *, copy: bool = False) -> Any:
        """Return the matrix as a python-graphblas Matrix: see :func:`sparsezc.to_graphblas`."""
        here = self if self._engine is None else self.to("cpu")
        engine, store = here._need()
        if copy:
            return native.handed_out(engine.dup(store, self.dtype))
        if here is self:
            self._changed()  # writes through the returned object change this matrix unnoticed
            self._facts = None
        return native.handed_out(store)

    # Methods for writing
    def _indexed(self, keys: Any) -> tuple[IndexList, ...]:
        return indices.parse(keys, self.shape, self.name)

    def _express(self, value: Any) -> Expression:
        if isinstance(value, TransposedMatrix):
            return ops.transpose(value.T)
        return ops.assign(self, indices.parse(..., self.shape, self.name), value)

    def _assignment(self, keys: tuple[IndexList, ...], value: Any, mask: Mask | None, submask: bool) -> Expression:
        return ops.assign(self, keys, value, mask, submask)

    def _deletion(self) -> Any:
        return scalar.Scalar(self.dtype)

    @locked
    def _text(self, mask: Mask | None = None) -> str:
        return formatting.text(self, mask)

    @locked
    def _html(self, mask: Mask | None = None) -> str:
        return formatting.html(self, mask)

    def __repr__(self) -> str:
        return self._text()


def _unpickle(i: Any, j: Any, values: Any, dtype: Any, shape: tuple[int, int], name: str) -> Matrix:
    return Matrix.from_coo(i, j, values, dtype, nrows=shape[0], ncols=shape[1], name=name)
