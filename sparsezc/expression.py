"""What an operation is before it runs: operands, index lists, masks, and the expression made of them.

:mod:`sparsezc.write` runs expressions and lists what each of them holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sparsezc.semirings.operators import TypedOp
from sparsezc.semirings.types import BOOL, DataType, lookup

if TYPE_CHECKING:
    from sparsezc.engines import Engine

__all__ = ["Expression", "IndexList", "Mask", "Operand", "as_mask", "says_shape"]


class Operand:
    """What an expression can be made of: it has a type, a shape and a name, and perhaps an engine and a store."""

    __slots__ = ()
    ndim: ClassVar[int]
    dtype: DataType
    name: str
    _engine: Engine | None
    _store: Any
    _transposed: ClassVar[bool] = False
    _stored: ClassVar[bool] = True  # whether an engine holds the content
    # The classes by number of dimensions: an expression makes the one that its shape asks for.
    _kinds: ClassVar[dict[int, Any]] = {}

    @property
    def shape(self) -> tuple[int, ...]:
        """``()``, ``(size,)`` or ``(nrows, ncols)``."""
        raise NotImplementedError

    def __bool__(self) -> bool:
        raise TypeError(f"{self.name} is neither true nor false; perhaps its nvals or isequal is meant")

    def __array__(self, dtype: Any = None, *, copy: Any = None) -> Any:
        raise TypeError(f"{self.name} does not become an array by itself; use to_coo() or to_dense()")


class IndexList:
    """One dimension of an index: all positions, a slice of them, a list of them, or a single one.

    Attributes
    ----------
    kind : {"all", "range", "list", "one"}
    key : None, range, ndarray of uint64, or int
        The positions, all checked: ``range`` may descend, a list may repeat and be in any order.
    size : int
        How many positions; 1 for a single one.
    """

    __slots__ = ("key", "kind", "size")
    _stored: ClassVar[bool] = False

    def __init__(self, kind: str, key: Any, size: int) -> None:
        self.kind = kind
        self.key = key
        self.size = size

    def positions(self) -> NDArray[np.uint64]:
        """Every position as an array."""
        if self.kind == "list":
            listed: NDArray[np.uint64] = self.key
            return listed
        if self.kind == "one":
            return np.array([self.key], np.uint64)
        steps: range = range(self.size) if self.kind == "all" else self.key
        return np.arange(steps.start, steps.stop, steps.step, dtype=np.int64).astype(np.uint64)

    def __repr__(self) -> str:
        if self.kind == "list":
            return "[" + ", ".join(map(str, self.key[:3].tolist())) + (", ...]" if self.size > 3 else "]")
        if self.kind == "range":
            return f"{self.key.start}:{self.key.stop}" + (f":{self.key.step}" if self.key.step != 1 else "")
        return ":" if self.kind == "all" else str(self.key)


class Expression:
    """An operation that has not run: what it reads, what it computes, what it makes.

    Attributes
    ----------
    operation : str
        The key of the engines' tables; the module's docstring lists them all.
    operands : tuple
    op : TypedOp or None
    dtype : DataType
    shape : tuple of int
        ``()``, ``(size,)`` or ``(nrows, ncols)``.
    empty : Any
        What a Scalar holds if there was nothing to reduce; None leaves it empty.
    mask_shape : tuple of int
        The shape that a mask must have.
    """

    __slots__ = ("_value", "dtype", "empty", "mask_shape", "op", "operands", "operation", "shape")

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
    def kind(self) -> Any:
        """What it makes: Matrix, Vector or Scalar."""
        return Operand._kinds[len(self.shape)]

    @property
    def ndim(self) -> int:
        """Number of dimensions of what it makes."""
        return len(self.shape)

    def with_operands(self, change: Callable[[Any], Any]) -> Expression:
        """The same operation on other operands: each is replaced by ``change(operand)``."""
        operands = tuple(map(change, self.operands))
        return Expression(self.operation, operands, self.op, self.dtype, self.shape, self.mask_shape, self.empty)

    def new(self, dtype: Any = None, *, mask: Any = None, name: str | None = None) -> Any:
        """Run into a new Matrix, Vector or Scalar.

        Parameters
        ----------
        dtype : DataType, optional
            Type of the new object; by default the expression's.
        mask : Mask, optional
            Only entries that it allows are made.
        name : str, optional
        """
        out = self.kind._blank(self.dtype if dtype is None else lookup(dtype), self.shape, name)
        out._fill(self, None if mask is None else as_mask(mask, out))
        return out

    dup = new

    def __getattr__(self, name: str) -> Any:
        # An expression stands in for its result (python-graphblas's autocompute): computed once, at first need.
        if name.startswith("_"):
            raise AttributeError(f"Expression has no attribute {name!r}")
        if self._value is None:
            self._value = self.new()
        return getattr(self._value, name)

    def __repr__(self) -> str:
        said = ", ".join(x.name if isinstance(x, Operand) else repr(x) for x in self.operands)
        op = "" if self.op is None else f", op={self.op!r}"
        return f"<{self.operation}({said}{op}), not run yet: {says_shape(self.shape)} {self.dtype}>"


def says_shape(shape: tuple[int, ...]) -> str:
    """A shape as messages name it: ``Vector 5``, ``Matrix 2 x 3``, ``Scalar``."""
    return {0: "Scalar", 1: "Vector", 2: "Matrix"}[len(shape)] + (f" {' x '.join(map(str, shape))}" if shape else "")


class Mask:
    """Which positions of an output may be written: ``A.S``, ``A.V``, ``~A.S`` or ``~A.V``.

    Attributes
    ----------
    parent : Matrix or Vector
    structure : bool
        Whether every entry counts (``S``), or the true ones only (``V``).
    complement : bool
    """

    __slots__ = ("complement", "parent", "structure")

    def __init__(self, parent: Any, structure: bool, complement: bool = False) -> None:
        self.parent = parent
        self.structure = structure
        self.complement = complement

    def __invert__(self) -> Mask:
        return Mask(self.parent, self.structure, not self.complement)

    @property
    def name(self) -> str:
        """As it is written: ``~m.S``."""
        return f"{'~' * self.complement}{self.parent.name}.{'S' if self.structure else 'V'}"

    def __repr__(self) -> str:
        return f"<Mask {self.name} of {says_shape(self.parent.shape)}>"

    def __bool__(self) -> bool:
        raise TypeError(f"the mask {self.name} is neither true nor false")


def as_mask(mask: Any, out: Operand) -> Mask:
    """The mask that a user gave for `out`; a Vector or Matrix of BOOL counts by its values.

    Raises
    ------
    TypeError
        Not a mask, or a mask of the wrong number of dimensions.
    """
    if type(mask) is not Mask:
        if isinstance(mask, Expression):
            mask = mask.new()
        if not isinstance(mask, Operand) or not mask.ndim or mask._transposed:
            raise TypeError(f"mask of {out.name} must be x.S, x.V, ~x.S or ~x.V; got {mask!r}")
        if mask.dtype is not BOOL:
            need = "say x.V (by values) or x.S (by structure)"
            raise TypeError(
                f"mask of {out.name}: {mask.name} is of type {mask.dtype}, so {need}; only BOOL needs neither"
            )
        mask = Mask(mask, False)
    checked: Mask = mask
    if checked.parent.ndim > out.ndim:
        raise TypeError(
            f"mask of {out.name} must be of a Vector; {checked.name} is of a {says_shape(checked.parent.shape)}"
        )
    return checked
