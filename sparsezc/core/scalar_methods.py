"""The methods that read a Scalar: as a number of Python and NumPy, and operations. It has no positions to index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc import ops
from sparsezc.expr.expression import Expression, Operand
from sparsezc.semirings import binary, monoid

if TYPE_CHECKING:
    from sparsezc.core.scalar import Scalar

__all__ = ["NotAnIndex", "ReadableScalar"]


class NotAnIndex(TypeError, AttributeError):
    """A Scalar of another type was used where Python needs an integer."""


class ReadableScalar(Operand["Scalar"]):
    """The methods that read a Scalar."""

    __slots__ = ()
    _value: Any

    def __getitem__(self, keys: Any) -> Any:
        raise TypeError(f"the Scalar {self.name} is not subscriptable")

    def __setitem__(self, keys: Any, value: Any, **options: Any) -> None:
        raise TypeError(f"the Scalar {self.name} does not support item assignment")

    def __delitem__(self, keys: Any) -> None:
        raise TypeError(f"the Scalar {self.name} does not support item deletion")

    def _indexed(self, keys: Any) -> Any:
        raise TypeError(f"Indexing not supported for Scalars: {self.name}(...)[...]")

    def __bool__(self) -> bool:
        return bool(self._value)

    def __complex__(self) -> complex:
        return complex(self._need())

    def __float__(self) -> float:
        return float(self._need())

    def __int__(self) -> int:
        return int(self._need())

    def __index__(self) -> int:
        if not self.dtype.is_integer:
            raise NotAnIndex(
                f"Scalar {self.name} of type {self.dtype}: only those have __index__ whose type is integral"
            )
        return int(self._need())

    def _need(self) -> Any:
        value = self._value
        if value is None:
            raise TypeError(f"{self.name} is empty, and so no number")
        return value

    def __array__(self, dtype: Any = None, *, copy: Any = None) -> Any:
        return np.array(self._need(), self.dtype.base if dtype is None else dtype)

    # Operations
    def ewise_add(self, other: Any, op: Any = monoid.plus) -> Expression[Scalar]:
        """Apply `op` to both values, or take the one that is there: see :func:`sparsezc.ops.ewise_add`."""
        return ops.ewise_add(self, other, op)

    def ewise_mult(self, other: Any, op: Any = binary.times) -> Expression[Scalar]:
        """Apply `op` to both values: see :func:`sparsezc.ops.ewise_mult`."""
        return ops.ewise_mult(self, other, op)

    def ewise_union(self, other: Any, op: Any, left_default: Any, right_default: Any) -> Expression[Scalar]:
        """Apply `op`, with defaults for missing values: see :func:`sparsezc.ops.ewise_union`."""
        return ops.ewise_union(self, other, op, left_default, right_default)

    def apply(self, op: Any, right: Any = None, *, left: Any = None) -> Expression[Scalar]:
        """Apply `op` to the value: see :func:`sparsezc.ops.apply`."""
        return ops.apply(self, op, right, left)

    def select(self, op: Any, thunk: Any = None) -> Expression[Scalar]:
        """Keep the value if `op` accepts it: see :func:`sparsezc.ops.select`."""
        return ops.select(self, op, thunk)
