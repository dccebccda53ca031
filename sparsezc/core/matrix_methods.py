"""The methods that Matrix and TransposedMatrix share: operations, lookups, exports and comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from types import EllipsisType
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from sparsezc import ops
from sparsezc.exceptions import InvalidValue
from sparsezc.expr.expression import Expression, IndexList, Operand, stored
from sparsezc.expr.position import Position
from sparsezc.ops import compare, indices
from sparsezc.process.locks import hold_locks, locked
from sparsezc.semirings import binary, monoid, semiring
from sparsezc.semirings.types.datatypes import cast

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.scalar import Scalar
    from sparsezc.core.vector import Vector
    from sparsezc.expr.infix import Infix, Many, One

__all__ = ["Readable"]


class Readable(Operand["Matrix"]):
    """The methods that Matrix and TransposedMatrix share, all of which only read."""

    __slots__ = ()
    ndim = 2
    T: Any
    _full_values: Any

    @property
    def nrows(self) -> int:
        """Number of rows."""
        return self._shape[0]

    @property
    def ncols(self) -> int:
        """Number of columns."""
        return self._shape[1]

    def mxv(self, other: Infix[Vector], op: Any = semiring.plus_times) -> Expression[Vector]:
        """Multiply by a vector, ``self @ other``: see :func:`sparsezc.ops.mxv`."""
        return ops.mxv(self, other, op)

    def mxm(self, other: Infix[Matrix], op: Any = semiring.plus_times) -> Expression[Matrix]:
        """Multiply by a matrix, ``self @ other``: see :func:`sparsezc.ops.mxm`."""
        return ops.mxm(self, other, op)

    def power(self, n: int, op: Any = semiring.plus_times) -> Expression[Matrix]:
        """Raise the square matrix to the power `n`: see :func:`sparsezc.ops.power`."""
        return ops.power(self, n, op)

    def kronecker(self, other: Infix[Matrix], op: Any = binary.times) -> Expression[Matrix]:
        """Compute the Kronecker product with `other`: see :func:`sparsezc.ops.kronecker`."""
        return ops.kronecker(self, other, op)

    def reposition(
        self, row_offset: int, column_offset: int, *, nrows: int | None = None, ncols: int | None = None
    ) -> Expression[Matrix]:
        """Shift every entry by `row_offset` and `column_offset`: see :func:`sparsezc.ops.reposition`."""
        return ops.reposition(self, (row_offset, column_offset), (nrows, ncols))

    def ewise_add(self, other: Infix[Matrix | Vector], op: Any = monoid.plus) -> Expression[Matrix]:
        """Apply `op` on the union of two patterns: see :func:`sparsezc.ops.ewise_add`."""
        return ops.ewise_add(self, other, op)

    def ewise_mult(self, other: Infix[Matrix | Vector], op: Any = binary.times) -> Expression[Matrix]:
        """Apply `op` on the intersection of two patterns: see :func:`sparsezc.ops.ewise_mult`."""
        return ops.ewise_mult(self, other, op)

    def ewise_union(
        self, other: Infix[Matrix | Vector], op: Any, left_default: Any, right_default: Any
    ) -> Expression[Matrix]:
        """Apply `op` on the union, with defaults for missing entries: see :func:`sparsezc.ops.ewise_union`."""
        return ops.ewise_union(self, other, op, left_default, right_default)

    def apply(self, op: Any, right: Any = None, *, left: Any = None) -> Expression[Matrix]:
        """Apply `op` to each entry: see :func:`sparsezc.ops.apply`."""
        return ops.apply(self, op, right, left)

    def select(self, op: Any, thunk: Any = None) -> Expression[Matrix]:
        """Keep the entries that `op` accepts: see :func:`sparsezc.ops.select`."""
        return ops.select(self, op, thunk)

    def reduce_rowwise(self, op: Any = monoid.plus) -> Expression[Vector]:
        """Reduce each row to one value: see :func:`sparsezc.ops.reduce_rowwise`."""
        return ops.reduce_rowwise(self, op)

    def reduce_columnwise(self, op: Any = monoid.plus) -> Expression[Vector]:
        """Reduce each column to one value: see :func:`sparsezc.ops.reduce_columnwise`."""
        return ops.reduce_columnwise(self, op)

    def reduce_scalar(self, op: Any = monoid.plus, *, allow_empty: bool = True) -> Expression[Scalar]:
        """Reduce all entries to a Scalar: see :func:`sparsezc.ops.reduce`."""
        return ops.reduce(self, op, allow_empty)

    @locked
    def diag(self, k: int = 0, dtype: Any = None, *, name: str | None = None) -> Vector:
        """Return diagonal `k` as a Vector: see :func:`sparsezc.ops.diag`."""
        made: Vector = ops.diag(self, k).new(dtype, name=name)
        return made

    @locked
    def get(self, row: int, col: int, default: Any = None) -> Any:
        """Return the value at position (`row`, `col`), or `default` if it has no entry.

        Raises
        ------
        IndexOutOfBound
            The position is outside the matrix.
        InvalidValue
            `row` or `col` is a slice or an array, not a single index.
        """
        keys = indices.parse((row, col), self.shape, self.name)
        if any(key.kind != "one" for key in keys):
            raise InvalidValue(f"Bad row, col arguments in Matrix.get: one position is needed; got {row!r}, {col!r}")
        return ops.extract(self, keys).new().get(default)

    @property
    def nvals(self) -> int:
        """Number of entries."""
        raise NotImplementedError

    @overload
    def __getitem__(self, keys: tuple[One, One]) -> Position[Scalar]: ...
    @overload
    def __getitem__(self, keys: tuple[One, Many] | tuple[Many, One]) -> Position[Vector]: ...
    @overload
    def __getitem__(self, keys: tuple[Many, Many] | EllipsisType) -> Position[Matrix]: ...

    def __getitem__(self, keys: Any) -> Position[Any]:
        return Position(self, indices.parse(keys, self.shape, self.name))

    def _extraction(self, keys: tuple[IndexList, ...]) -> Expression[Any]:
        return ops.extract(self, keys)

    def __contains__(self, index: Any) -> bool:
        if not isinstance(index, tuple) or len(index) != 2:
            raise TypeError(f"{self.name}: Invalid index {index!r}; a position is a pair (row, column)")
        try:
            return self.get(*index) is not None
        except InvalidValue:
            raise TypeError(f"{self.name}: Invalid index {index!r}; a position is a pair of integers") from None

    def __iter__(self) -> Iterator[tuple[int, int]]:
        rows, columns, _ = self.to_coo()
        return iter(zip(rows.tolist(), columns.tolist(), strict=True))

    def to_coo(
        self, dtype: Any = None, *, rows: bool = True, columns: bool = True, values: bool = True, sort: bool = True
    ) -> tuple[Any, Any, Any]:
        """Return row ids, column ids and values as arrays; a collective if the matrix is distributed."""
        raise NotImplementedError

    def to_edgelist(self, dtype: Any = None, *, values: bool = True, sort: bool = True) -> tuple[NDArray[Any], Any]:
        """Return the positions, uint64 of shape (nvals, 2), and the values; None if not requested."""
        i, j, vals = self.to_coo(dtype, values=values, sort=sort)
        return np.column_stack([i, j]), vals

    @locked
    def to_dense(self, fill_value: Any = None, dtype: Any = None) -> NDArray[Any]:
        """Return an array of shape (nrows, ncols), `fill_value` where there is no entry; a collective if distributed.

        Raises
        ------
        TypeError
            Entries are missing and no `fill_value` is given.
        """
        if (full := self._full_values()) is not None:
            kind, _ = compare.filling(self, full.size, fill_value, dtype)
            return np.ascontiguousarray(cast(full, kind))
        i, j, vals = self.to_coo()
        kind, fill = compare.filling(self, i.size, fill_value, dtype)
        out = np.full(self.shape, fill, kind.np_type)
        out[i, j] = cast(vals, kind)
        return out

    def isequal(self, other: Any, *, check_dtype: bool = False) -> bool:
        """Return whether shapes, positions and values are equal; with `check_dtype`, types too."""
        other = stored(other, "isequal: other", 2)
        with hold_locks(self, other):
            return compare.isequal(self, other, check_dtype)

    def isclose(self, other: Any, *, rel_tol: float = 1e-7, abs_tol: float = 0.0, check_dtype: bool = False) -> bool:
        """Return whether patterns are equal and ``|a - b| <= max(rel_tol * max(|a|, |b|), abs_tol)`` for all values."""
        other = stored(other, "isclose: other", 2)
        with hold_locks(self, other):
            return compare.isclose(self, other, rel_tol, abs_tol, check_dtype)
