"""The methods that read a vector: operations, lookups, exports and comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from types import EllipsisType
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from sparsezc import ops
from sparsezc.exceptions import InvalidValue
from sparsezc.expr.expression import Expression, Operand, stored
from sparsezc.ops import compare, indices
from sparsezc.process.locks import hold_locks, locked
from sparsezc.semirings import binary, monoid, semiring
from sparsezc.semirings.types.datatypes import cast

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.scalar import Scalar
    from sparsezc.core.vector import Vector
    from sparsezc.expr.infix import Infix, Many, One
    from sparsezc.expr.position import Position

__all__ = ["ReadableVector"]


class ReadableVector(Operand["Vector"]):
    """The methods that read a Vector."""

    __slots__ = ()
    ndim = 1

    def vxm(self, other: Infix[Matrix], op: Any = semiring.plus_times) -> Expression[Vector]:
        """Multiply by a matrix, ``self @ other``: see :func:`sparsezc.ops.vxm`."""
        return ops.vxm(self, other, op)

    def inner(self, other: Infix[Vector], op: Any = semiring.plus_times) -> Expression[Scalar]:
        """Compute the inner product with a vector, ``self @ other``: see :func:`sparsezc.ops.inner`."""
        return ops.inner(self, other, op)

    def outer(self, other: Infix[Vector], op: Any = binary.times) -> Expression[Matrix]:
        """Compute the outer product with a vector: see :func:`sparsezc.ops.outer`."""
        return ops.outer(self, other, op)

    def reposition(self, offset: int, *, size: int | None = None) -> Expression[Vector]:
        """Shift every entry by `offset`: see :func:`sparsezc.ops.reposition`."""
        return ops.reposition(self, (offset,), (size,))

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, keys: One) -> Position[Scalar]: ...
        @overload
        def __getitem__(self, keys: Many | EllipsisType) -> Position[Vector]: ...
        def __getitem__(self, keys: Any) -> Position[Any]: ...

    # If `other` is a matrix, the vector is broadcast along its rows or columns.
    @overload
    def ewise_add(self, other: Infix[Vector], op: Any = ...) -> Expression[Vector]: ...
    @overload
    def ewise_add(self, other: Infix[Matrix], op: Any = ...) -> Expression[Matrix]: ...
    def ewise_add(self, other: Any, op: Any = monoid.plus) -> Expression[Any]:
        """Apply `op` on the union of two patterns: see :func:`sparsezc.ops.ewise_add`."""
        return ops.ewise_add(self, other, op)

    @overload
    def ewise_mult(self, other: Infix[Vector], op: Any = ...) -> Expression[Vector]: ...
    @overload
    def ewise_mult(self, other: Infix[Matrix], op: Any = ...) -> Expression[Matrix]: ...
    def ewise_mult(self, other: Any, op: Any = binary.times) -> Expression[Any]:
        """Apply `op` on the intersection of two patterns: see :func:`sparsezc.ops.ewise_mult`."""
        return ops.ewise_mult(self, other, op)

    @overload
    def ewise_union(
        self, other: Infix[Vector], op: Any, left_default: Any, right_default: Any
    ) -> Expression[Vector]: ...
    @overload
    def ewise_union(
        self, other: Infix[Matrix], op: Any, left_default: Any, right_default: Any
    ) -> Expression[Matrix]: ...
    def ewise_union(self, other: Any, op: Any, left_default: Any, right_default: Any) -> Expression[Any]:
        """Apply `op` on the union, with defaults for missing entries: see :func:`sparsezc.ops.ewise_union`."""
        return ops.ewise_union(self, other, op, left_default, right_default)

    def apply(self, op: Any, right: Any = None, *, left: Any = None) -> Expression[Vector]:
        """Apply `op` to each entry: see :func:`sparsezc.ops.apply`."""
        return ops.apply(self, op, right, left)

    def select(self, op: Any, thunk: Any = None) -> Expression[Vector]:
        """Keep the entries that `op` accepts: see :func:`sparsezc.ops.select`."""
        return ops.select(self, op, thunk)

    def reduce(self, op: Any = monoid.plus, *, allow_empty: bool = True) -> Expression[Scalar]:
        """Reduce all entries to a Scalar: see :func:`sparsezc.ops.reduce`."""
        return ops.reduce(self, op, allow_empty)

    @locked
    def diag(self, k: int = 0, *, name: str | None = None) -> Matrix:
        """Make the square matrix with this vector on diagonal `k`: see :func:`sparsezc.ops.diag`."""
        made: Matrix = ops.diag(self, k).new(name=name)
        return made

    # Export
    def _repeated(self) -> Any:
        """Return the one value of every position, if no engine stores the vector yet; else None."""
        raise NotImplementedError

    def to_coo(
        self, dtype: Any = None, *, indices: bool = True, values: bool = True, sort: bool = True
    ) -> tuple[Any, Any]:
        """Return positions and values as arrays; a collective if the vector is distributed."""
        raise NotImplementedError

    def to_dict(self) -> dict[int, Any]:
        """Return the entries as ``{index: value}``."""
        at, vals = self.to_coo()
        return dict(zip(at.tolist(), vals.tolist(), strict=True))

    @locked
    def to_dense(self, fill_value: Any = None, dtype: Any = None) -> NDArray[Any]:
        """Return an array of `size` elements, `fill_value` where there is no entry; a collective if distributed.

        Raises
        ------
        TypeError
            Entries are missing and no `fill_value` is given.
        """
        if (value := self._repeated()) is not None:
            kind, _ = compare.filling(self, self.shape[0], fill_value, dtype)
            return np.full(self.shape, cast(np.asarray(value, self.dtype.np_type), kind))
        at, vals = self.to_coo()
        kind, fill = compare.filling(self, at.size, fill_value, dtype)
        if at.size == self.shape[0]:
            full: NDArray[Any] = cast(vals, kind)
            return full
        out = np.full(self.shape, fill, kind.np_type)
        out[at] = cast(vals, kind)
        return out

    @locked
    def get(self, index: int, default: Any = None) -> Any:
        """Return the value at position `index`, or `default` if it has no entry.

        Raises
        ------
        IndexOutOfBound
            The position is outside the vector.
        InvalidValue
            `index` is a slice or an array, not a single index.
        """
        keys = indices.parse(index, self.shape, self.name)
        if keys[0].kind != "one":
            raise InvalidValue(f"Bad index in Vector.get: one position is needed; got {index!r}")
        return ops.extract(self, keys).new().get(default)

    def __contains__(self, index: Any) -> bool:
        try:
            return self.get(index) is not None
        except InvalidValue:
            raise TypeError(f"{self.name}: Invalid index {index!r}; a position is an integer") from None

    def __iter__(self) -> Iterator[int]:
        return iter(self.to_coo()[0].tolist())

    def isequal(self, other: Vector, *, check_dtype: bool = False) -> bool:
        """Return whether sizes, positions and values are equal; with `check_dtype`, types too."""
        other = stored(other, "isequal: other", 1)
        with hold_locks(self, other):
            return compare.isequal(self, other, check_dtype)

    def isclose(self, other: Vector, *, rel_tol: float = 1e-7, abs_tol: float = 0.0, check_dtype: bool = False) -> bool:
        """Return whether patterns are equal and ``|a - b| <= max(rel_tol * max(|a|, |b|), abs_tol)`` for all values."""
        other = stored(other, "isclose: other", 1)
        with hold_locks(self, other):
            return compare.isclose(self, other, rel_tol, abs_tol, check_dtype)
