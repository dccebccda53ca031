"""Expressions, which are operations that have not run, and the conversion of their operands.

:mod:`sparsezc.expr.dispatch` runs expressions; :mod:`sparsezc.expr.engines.protocol` lists the operands of
each operation.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any

from sparsezc.expr.deferred import Deferred, ready
from sparsezc.expr.formatting import Shown, sizes, written
from sparsezc.expr.infix import K
from sparsezc.expr.operand import IndexList, Inner, MaskKind, Operand, Step, Weights, says, says_noun, says_shape
from sparsezc.expr.options import check as check_options
from sparsezc.process.first_use import provided
from sparsezc.semirings.algebra.operators import TypedOp
from sparsezc.semirings.types.datatypes import DataType, lookup

__all__ = [
    "Deferred", "Expression", "IndexList", "Inner", "MaskKind", "Operand", "Step", "Weights", "adopted", "ready",
    "says", "says_noun", "says_shape", "stored",
]  # fmt: skip


class Expression(Deferred[K]):
    """An operation that has not run: its operands, its operator, and the type and shape of its result.

    Attributes
    ----------
    operation : str
        The key of the engines' tables; :mod:`sparsezc.expr.engines.protocol` lists them all.
    operands : tuple
    op : TypedOp or None
    dtype : DataType
    shape : tuple of int
        ``()``, ``(size,)`` or ``(nrows, ncols)``.
    empty : Any
        The value of a Scalar if there was nothing to reduce; None leaves it empty.
    mask_shape : tuple of int
        The shape that a mask must have.
    """

    __slots__ = ("dtype", "empty", "mask_shape", "op", "operands", "operation", "shape")

    def __init__(
        self,
        operation: str,
        operands: tuple[Any, ...],
        op: TypedOp | None,
        dtype: DataType,
        shape: tuple[int, ...],
        mask_shape: tuple[int, ...] | None = None,
        empty: Any = None,
    ) -> None:
        self.operation = operation
        self.operands = operands
        self.op = op
        self.dtype = dtype
        self.shape = shape
        self.mask_shape = shape if mask_shape is None else mask_shape
        self.empty = empty
        self._value: Any = None

    @property
    def expression(self) -> Expression[K]:
        """Return the expression itself."""
        return self

    @property
    def _parts(self) -> tuple[Any, ...]:
        """Return the operands."""
        return self.operands

    def with_operands(self, change: Callable[[Any], Any]) -> Expression:
        """Return the same operation on other operands: each is replaced by ``change(operand)``."""
        operands = tuple(map(change, self.operands))
        return Expression(self.operation, operands, self.op, self.dtype, self.shape, self.mask_shape, self.empty)

    def new(
        self,
        dtype: Any = None,
        *,
        mask: Any = None,
        name: str | None = None,
        is_cscalar: bool = False,
        **options: Any,
    ) -> K:
        """Compute the result as a new Matrix, Vector or Scalar.

        Parameters
        ----------
        dtype : DataType, optional
            Type of the new object; by default the expression's.
        mask : Mask, optional
            Only entries that the mask allows are computed.
        name : str, optional
        is_cscalar : bool
            For a Scalar: as in :class:`~sparsezc.core.scalar.Scalar`.
        **options
            python-graphblas's options of a statement, such as ``nthreads``: accepted, and ignored.
        """
        if options:
            check_options(options)
        kind = self.dtype if dtype is None else lookup(dtype)
        found = self._value
        if mask is None and found is not None and found[0] == get_ident() and found[1].dtype is kind:
            made, self._value = found[1], None  # computed already; returned once, as callers may change it
            if name is not None:
                made._rename(name)
            return made  # type: ignore[no-any-return]
        out = self.kind._blank(kind, self.shape, name)
        out._fill(self, mask)
        if is_cscalar and not self.shape:
            out._become_cscalar()
        return out  # type: ignore[no-any-return]

    @property
    def _shown(self) -> Shown:
        text, html = (written(self.operation, self.operands, self.op, html=html) for html in (False, True))
        hint = "Do <code>expr.new()</code> or <code>other << expr</code> to calculate the expression."
        columns = {**sizes(self.shape), "dtype": self.dtype}
        return Shown(f"{says_noun(len(self.shape))}Expression", text, html, columns, hint)


def stored(x: Any, where: str, *dimensions: int) -> Any:
    """Check that `x` is a Vector (1) or a Matrix (2) as `dimensions` allow, and return it.

    An expression is computed first, and an object of python-graphblas is adopted.

    Raises
    ------
    TypeError
        `x` is any other object.
    """
    if isinstance(x, Operand) and x.ndim in dimensions:
        return x
    x = x.operand(where) if isinstance(x, Deferred) else adopted(x)
    if not isinstance(x, Operand) or x.ndim not in dimensions:
        needed = " or ".join(f"a {says_noun(d)}" for d in dimensions)
        raise TypeError(f"Bad type for argument: {where} must be {needed}; got {says(x)}")
    return x


def adopted(x: Any) -> Any:
    """Return a python-graphblas object as ours, without a copy; any other object unchanged."""
    if type(x).__module__[:10] == "graphblas." and hasattr(x, "ndim"):
        return provided("from graphblas")(x)
    return x
