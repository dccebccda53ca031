"""Matrix: a sparse matrix that lies where it was put, and its transpose, which is never formed unless asked for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sparsezc import engines, ops, scalar
from sparsezc.config import config
from sparsezc.construct import FromArrays
from sparsezc.csr import index_dtype
from sparsezc.engines import cpu
from sparsezc.errors import InvalidValue
from sparsezc.memory import budget
from sparsezc.ops import arrays, checks, compare, indices
from sparsezc.semirings import binary, monoid, semiring
from sparsezc.semirings.types import FP64, DataType, cast, lookup
from sparsezc.vector import Vector
from sparsezc.write import Expression, IndexList, Mask, Operand, Position, Writable, as_mask

if TYPE_CHECKING:
    from sparsezc.csr import Csr
    from sparsezc.engines import Engine

__all__ = ["Matrix", "TransposedMatrix"]

_numbers = itertools.count()


def _lengths(indptr: NDArray[Any]) -> NDArray[np.int64]:
    """How many entries each row has."""
    lengths: NDArray[np.int64] = (indptr[1:] - indptr[:-1]).astype(np.int64)
    return lengths


class _Operations(Operand):
    """What a matrix and its transpose can both do: everything that reads."""

    __slots__ = ()
    ndim = 2
    T: Any

    @property
    def nrows(self) -> int:
        """Number of rows."""
        return self.shape[0]

    @property
    def ncols(self) -> int:
        """Number of columns."""
        return self.shape[1]

    def mxv(self, other: Any, op: Any = semiring.plus_times) -> Expression:
        """``self @ other``: see :func:`sparsezc.ops.mxv`."""
        return ops.mxv(self, other, op)

    def ewise_add(self, other: Any, op: Any = monoid.plus) -> Expression:
        """`op` on the union of two patterns: see :func:`sparsezc.ops.ewise_add`."""
        return ops.ewise_add(self, other, op)

    def ewise_mult(self, other: Any, op: Any = binary.times) -> Expression:
        """`op` on the intersection of two patterns: see :func:`sparsezc.ops.ewise_mult`."""
        return ops.ewise_mult(self, other, op)

    def ewise_union(self, other: Any, op: Any, left_default: Any, right_default: Any) -> Expression:
        """`op` on the union, with defaults for what is missing: see :func:`sparsezc.ops.ewise_union`."""
        return ops.ewise_union(self, other, op, left_default, right_default)

    def apply(self, op: Any, right: Any = None, *, left: Any = None) -> Expression:
        """`op` on each entry: see :func:`sparsezc.ops.apply`."""
        return ops.apply(self, op, right, left)

    def select(self, op: Any, thunk: Any = None) -> Expression:
        """The entries that `op` accepts: see :func:`sparsezc.ops.select`."""
        return ops.select(self, op, thunk)

    def reduce_rowwise(self, op: Any = monoid.plus) -> Expression:
        """Each row folded: see :func:`sparsezc.ops.reduce_rowwise`."""
        return ops.reduce_rowwise(self, op)

    def reduce_columnwise(self, op: Any = monoid.plus) -> Expression:
        """Each column folded: see :func:`sparsezc.ops.reduce_columnwise`."""
        return ops.reduce_columnwise(self, op)

    def reduce_scalar(self, op: Any = monoid.plus, *, allow_empty: bool = True) -> Expression:
        """All entries folded into a Scalar: see :func:`sparsezc.ops.reduce`."""
        return ops.reduce(self, op, allow_empty)

    def diag(self, k: int = 0, dtype: Any = None, *, name: str | None = None) -> Vector:
        """Diagonal `k` as a Vector: see :func:`sparsezc.ops.diag`."""
        made: Vector = ops.diag(self, k).new(dtype, name=name)
        return made

    def get(self, row: int, col: int, default: Any = None) -> Any:
        """The value at a position, or `default` where there is none.

        Raises
        ------
        IndexOutOfBound
            There is no such position.
        InvalidValue
            `row` and `col` are not one position.
        """
        keys = indices.parse((row, col), self.shape, self.name)
        if any(key.kind != "one" for key in keys):
            raise InvalidValue(f"{self.name}.get: one position is needed; got {row!r}, {col!r}")
        return ops.extract(self, keys).new().get(default)

    def __getitem__(self, keys: Any) -> Position:
        return Position(self, indices.parse(keys, self.shape, self.name))

    def _extraction(self, keys: tuple[IndexList, ...]) -> Expression:
        return ops.extract(self, keys)

    def __contains__(self, index: Any) -> bool:
        if not isinstance(index, tuple) or len(index) != 2:
            raise TypeError(f"{self.name}: a position is a pair (row, column); got {index!r}")
        return self.get(*index) is not None

    def __iter__(self) -> Iterator[tuple[int, int]]:
        rows, columns, _ = self.to_coo()
        return iter(zip(rows.tolist(), columns.tolist(), strict=True))

    def to_coo(
        self, dtype: Any = None, *, rows: bool = True, columns: bool = True, values: bool = True, sort: bool = True
    ) -> tuple[Any, Any, Any]:
        raise NotImplementedError

    def to_edgelist(self, dtype: Any = None, *, values: bool = True, sort: bool = True) -> tuple[NDArray[Any], Any]:
        """Positions as an array of shape (nvals, 2), and values."""
        i, j, vals = self.to_coo(dtype, values=values, sort=sort)
        return np.column_stack([i, j]), vals

    def to_dense(self, fill_value: Any = None, dtype: Any = None) -> NDArray[Any]:
        """An array of shape (nrows, ncols), `fill_value` where there is no entry.

        Raises
        ------
        TypeError
            Entries are missing and no `fill_value` is given.
        """
        i, j, vals = self.to_coo()
        kind, fill = compare.filling(self, vals.size, fill_value, dtype)
        out = np.full(self.shape, fill, kind.np_type)
        out[i, j] = cast(vals, kind)
        return out

    def isequal(self, other: Any, *, check_dtype: bool = False) -> bool:
        """Whether both have the same shape, the same positions and equal values (and the same type)."""
        return compare.isequal(self, checks.stored(other, "isequal: other", 2), check_dtype)

    def isclose(self, other: Any, *, rel_tol: float = 1e-7, abs_tol: float = 0.0, check_dtype: bool = False) -> bool:
        """Whether both have the same positions and ``|a - b| <= max(rel_tol * max(|a|, |b|), abs_tol)`` at each."""
        return compare.isclose(self, checks.stored(other, "isclose: other", 2), rel_tol, abs_tol, check_dtype)


class Matrix(FromArrays, _Operations, Writable):
    """A sparse matrix of `nrows` rows and `ncols` columns.

    A matrix stays on the engine where it was made (``config.engine``); :meth:`to` makes it on another one.

    Parameters
    ----------
    dtype : DataType, str, NumPy dtype or Python type
    nrows, ncols : int
    name : str, optional

    Raises
    ------
    UnknownDtype
        `dtype` is no type.
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

    __slots__ = ("_nrows", "_ncols", "_symmetric", "_transpose")
    ndim = 2

    def __init__(self, dtype: Any = FP64, nrows: int = 0, ncols: int = 0, *, name: str | None = None) -> None:
        shape = arrays.size(nrows, "Matrix: nrows"), arrays.size(ncols, "Matrix: ncols")
        self._begin(lookup(dtype), shape, name)

    def _begin(self, dtype: DataType, shape: tuple[int, ...], name: str | None) -> None:
        self.dtype = dtype
        self.name = f"M_{next(_numbers)}" if name is None else name
        self._nrows, self._ncols = shape
        self._symmetric = False
        self._transpose: TransposedMatrix | None = None
        self._engine = None
        self._store = None

    @classmethod
    def _blank(cls, dtype: DataType, shape: tuple[int, ...], name: str | None) -> Self:
        made = cls.__new__(cls)
        made._begin(dtype, shape, name)
        return made

    @classmethod
    def _from_store(
        cls, engine: Engine, store: Any, dtype: DataType, shape: tuple[int, ...], name: str | None = None
    ) -> Self:
        made = cls._blank(dtype, shape, name)
        made._engine, made._store = engine, store
        return made

    @classmethod
    def _from_csr(cls, csr: Csr, engine: str | None = None, *, name: str | None = None, adopt: bool = False) -> Self:
        """A matrix on the engine that the arrays' placement belongs to, or on the one named.

        With `adopt` the CPU engine takes over the arrays themselves, where they own their memory: nobody may use them
        afterwards.
        """
        if engine is None:
            engine = "cpu" if csr.indices.placement == "host" else "gpu"
        there = engines.get(engine)
        host = cpu.engine()
        store = host.matrix_from_csr(csr, adopt) if there is host else there.matrix_from_csr(csr)
        made = cls._from_store(there, store, csr.dtype, (csr.nrows, csr.ncols), name)
        made._symmetric = csr.symmetric
        return made

    def _to_csr(self) -> Csr:
        """The content as plain arrays; copies."""
        engine, store = self._need()
        csr = engine.matrix_to_csr(store)
        csr.symmetric = self._symmetric
        return csr

    def _changed(self) -> None:
        self._symmetric = False

    def _settle(self, engine: Engine) -> None:
        self._engine, self._store = engine, engine.new_matrix(self.dtype, self._nrows, self._ncols)

    def _need(self) -> tuple[Engine, Any]:
        if self._engine is None:
            self._settle(engines.get("cpu"))
        assert self._engine is not None
        return self._engine, self._store

    @property
    def shape(self) -> tuple[int, ...]:
        """``(nrows, ncols)``."""
        return (self._nrows, self._ncols)

    @property
    def nvals(self) -> int:
        """Number of entries."""
        return 0 if self._engine is None else self._engine.nvals(self._store)

    @property
    def S(self) -> Mask:
        """Mask: the positions that have an entry."""
        return Mask(self, True)

    @property
    def V(self) -> Mask:
        """Mask: the positions whose entry is true (not zero)."""
        return Mask(self, False)

    @property
    def T(self) -> TransposedMatrix:
        """The transpose, for operations to read; ``A.T.new()`` forms it."""
        if self._transpose is None:
            self._transpose = TransposedMatrix(self)
        return self._transpose

    def to(self, engine: str | None = None, placement: str | None = None) -> Matrix:
        """The matrix on another engine or in another placement: itself where nothing changes, else a copy.

        Parameters
        ----------
        engine : {"cpu", "gpu"}, optional
            By default "gpu", if a placement of the GPU is asked for.
        placement : {"auto", "device", "zerocopy"}, optional
            By default ``config.placement``.

        Raises
        ------
        DeviceUnavailable
            For "gpu" without one.
        OutOfMemory
            The matrix does not fit; the message says what each placement needs and what there is.
        """
        if engine is None:
            engine = "cpu" if placement == "host" else "gpu"
        there = engines.get(engine)
        if self._engine is there and placement is None:
            return self
        if there is cpu.engine():
            if placement not in (None, "host"):
                raise InvalidValue(
                    f"{self.name}.to: placement={placement!r} is none of engine {engine!r}, which has 'host'"
                )
            if self._engine is there:
                return self
            csr, wanted = self._to_csr(), "host"
        else:
            csr = self._to_csr()
            nbytes = csr.nvals * index_dtype(csr.ncols, "device").itemsize + csr.values.nbytes
            wanted = budget.resolve(placement or config.placement, nbytes, csr.nrows)
            if self._engine is there and csr.indices.placement == wanted:
                return self
        placed = csr.place(wanted)
        return Matrix._from_csr(placed, engine, name=self.name, adopt=placed is not csr)

    def to_coo(
        self,
        dtype: Any = None,
        *,
        rows: bool = True,
        columns: bool = True,
        values: bool = True,
        sort: bool = True,
    ) -> tuple[Any, Any, Any]:
        """Row ids, column ids (uint64) and values, by rows and then by columns; None for what is not asked for."""
        indptr, cols, vals = self.to_csr(dtype)
        i = np.repeat(np.arange(self._nrows, dtype=np.uint64), _lengths(indptr)) if rows else None
        return i, cols if columns else None, vals if values else None

    def to_csr(self, dtype: Any = None, *, sort: bool = True) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """``indptr``, column ids (both uint64, ids ascending in each row) and values, copied."""
        csr = self._to_csr()
        vals = csr.values.read()
        if dtype is not None:
            vals = cast(vals, lookup(dtype))
        if csr.iso:
            vals = np.broadcast_to(vals, (csr.nvals,))
        return csr.indptr.view(np.uint64), csr.indices.read().astype(np.uint64, copy=False), vals

    def to_csc(self, dtype: Any = None, *, sort: bool = True) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """``indptr``, row ids (both uint64, ids ascending in each column) and values, copied."""
        formed: Matrix = self.T.new()
        return formed.to_csr(dtype)

    def dup(self, dtype: Any = None, *, clear: bool = False, mask: Any = None, name: str | None = None) -> Matrix:
        """A copy: of another type, without entries, or only of what a mask allows."""
        kind = self.dtype if dtype is None else lookup(dtype)
        made = self._blank(kind, self.shape, name)
        if mask is not None:
            mask = as_mask(mask, made)
        if clear or self._engine is None:
            return made
        if mask is not None:
            made(mask) << self
        else:
            made._engine, made._store = self._engine, self._engine.dup(self._store, kind)
            made._symmetric = self._symmetric
        return made

    def clear(self) -> None:
        """Remove every entry."""
        if self._engine is not None:
            self._engine.clear(self._store)

    def resize(self, nrows: int, ncols: int) -> None:
        """Change the sizes; entries beyond go."""
        shape = arrays.size(nrows, f"{self.name}.resize: nrows"), arrays.size(ncols, f"{self.name}.resize: ncols")
        if self._engine is not None:
            self._engine.resize(self._store, *shape)
        self._nrows, self._ncols = shape
        self._symmetric, self._transpose = False, None

    def wait(self, how: str = "materialize") -> Matrix:
        """Finish whatever is pending.

        Raises
        ------
        InvalidValue
            `how` is neither "materialize" nor "complete".
        """
        compare.check_how(how)
        if self._engine is not None:
            self._engine.wait(self._store)
        return self

    # What writing needs
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

    def __repr__(self) -> str:
        return compare.summary(self, "nowhere yet" if self._engine is None else self._engine.name)


class TransposedMatrix(_Operations):
    """``A.T``: A with rows and columns exchanged, for operations to read. ``new()`` forms a Matrix."""

    __slots__ = ("_matrix", "__weakref__")
    _transposed = True

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix

    @property
    def T(self) -> Matrix:
        """The matrix itself."""
        return self._matrix

    @property
    def shape(self) -> tuple[int, ...]:
        """``(nrows, ncols)``."""
        return self._matrix.shape[::-1]

    @property
    def dtype(self) -> DataType:  # type: ignore[override]
        """Type of the entries."""
        return self._matrix.dtype

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the matrix and ``.T``."""
        return f"{self._matrix.name}.T"

    @property
    def _engine(self) -> Engine | None:  # type: ignore[override]
        return self._matrix._engine

    @property
    def _store(self) -> Any:
        return self._matrix._store

    def _settle(self, engine: Engine) -> None:
        self._matrix._settle(engine)

    @property
    def nvals(self) -> int:
        """Number of entries."""
        return self._matrix.nvals

    def new(self, dtype: Any = None, *, mask: Any = None, name: str | None = None) -> Matrix:
        """The transpose as a Matrix."""
        made: Matrix = ops.transpose(self._matrix).new(dtype, mask=mask, name=name)
        return made

    def dup(self, dtype: Any = None, *, clear: bool = False, mask: Any = None, name: str | None = None) -> Matrix:
        """The transpose as a Matrix; with `clear`, an empty one of its shape."""
        if clear:
            return Matrix(self.dtype if dtype is None else dtype, *self.shape, name=name)
        return self.new(dtype, mask=mask, name=name)

    def to_coo(
        self, dtype: Any = None, *, rows: bool = True, columns: bool = True, values: bool = True, sort: bool = True
    ) -> tuple[Any, Any, Any]:
        """Row ids, column ids (uint64) and values, by columns and then by rows."""
        i, j, vals = self._matrix.to_coo(dtype, rows=columns, columns=rows, values=values, sort=sort)
        return j, i, vals

    def to_csr(self, dtype: Any = None, *, sort: bool = True) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """As :meth:`Matrix.to_csr`, of the transpose."""
        return self._matrix.to_csc(dtype, sort=sort)

    def to_csc(self, dtype: Any = None, *, sort: bool = True) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """As :meth:`Matrix.to_csc`, of the transpose."""
        return self._matrix.to_csr(dtype, sort=sort)

    def wait(self, how: str = "materialize") -> TransposedMatrix:
        """Finish whatever is pending."""
        self._matrix.wait(how)
        return self

    def __repr__(self) -> str:
        return f"<{self.name}: the transpose of {self._matrix!r}>"
