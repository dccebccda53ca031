"""Operands of expressions: objects with entries, index lists, mask kinds, and the steps within fused products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.expr.infix import Infix, K
from sparsezc.semirings.types.datatypes import DataType

if TYPE_CHECKING:
    from sparsezc.expr.engines import Engine

__all__ = ["IndexList", "Inner", "MaskKind", "Operand", "Step", "Weights", "says", "says_noun", "says_shape"]


class Operand(Infix[K]):
    """Base class of the objects in expressions: each has a type, a shape, a name and, unless a Scalar, a store."""

    __slots__ = ()
    ndim: ClassVar[int]
    dtype: DataType
    name: str
    _engine: Engine | None
    _store: Any
    _transposed: ClassVar[bool] = False
    _lock: Any  # locks.py
    _shape: tuple[int, ...]
    _stored: ClassVar[bool] = True  # an engine stores the content
    # The classes by number of dimensions; the shape of an expression selects the class of its result.
    _kinds: ClassVar[dict[int, Any]] = {}

    @property
    def shape(self) -> tuple[int, ...]:
        """Return ``()``, ``(size,)`` or ``(nrows, ncols)``."""
        return self._shape

    def __bool__(self) -> bool:
        raise TypeError(
            f"__bool__ is not defined for a {type(self).__name__}: {self.name} is neither true nor false; use its nvals"
            " or isequal"
        )

    def __array__(self, dtype: Any = None, *, copy: Any = None) -> Any:
        raise TypeError(
            f"{type(self).__name__} can't be directly converted to a numpy array; call {self.name}.to_coo() or"
            " .to_dense()"
        )

    # ``==`` makes an expression, so only ``is`` compares identity.
    __hash__ = object.__hash__


class IndexList:
    """One dimension of an index: all positions, a slice of them, a list of them, or a single one.

    Attributes
    ----------
    kind : {"all", "range", "list", "one"}
    key : None, range, ndarray of uint64, or int
        The checked positions: a ``range`` may descend; a list may be in any order and have repeats.
    size : int
        The number of positions; 1 for a single one.
    """

    __slots__ = ("key", "kind", "size")
    _stored: ClassVar[bool] = False
    _lock: ClassVar[None] = None

    def __init__(self, kind: str, key: Any, size: int) -> None:
        self.kind = kind
        self.key = key
        self.size = size

    def positions(self) -> NDArray[np.uint64]:
        """Return every position as an array."""
        if self.kind == "list":
            listed: NDArray[np.uint64] = self.key
            return listed
        if self.kind == "one":
            return np.array([self.key], np.uint64)
        steps: range = range(self.size) if self.kind == "all" else self.key
        return np.arange(steps.start, steps.stop, steps.step, dtype=np.int64).astype(np.uint64)

    def as_python(self, length: int) -> Any:
        """Return an integer, a slice or an array that selects the same from a NumPy array of this length.

        A slice omits the bounds that it shares with ``:``; an empty slice ends at 1, as in python-graphblas.
        """
        if self.kind != "range":
            return slice(None) if self.kind == "all" else self.key
        start, stop, step = self.key.start, self.key.stop, self.key.step
        if not self.size:
            return slice(max(start, 1), 1)
        if step > 0:
            return slice(start or None, stop if stop < length else None, step if step > 1 else None)
        return slice(start if start < length - 1 else None, stop - length if stop >= 0 else None, step)

    def __repr__(self) -> str:
        if self.kind == "list":
            return "[" + ", ".join(map(str, self.key[:3].tolist())) + (", ...]" if self.size > 3 else "]")
        if self.kind == "range":
            return f"{self.key.start}:{self.key.stop}" + (f":{self.key.step}" if self.key.step != 1 else "")
        return ":" if self.kind == "all" else str(self.key)


class MaskKind:
    """The way an operand is read as a mask: by structure or by values, itself or its complement."""

    __slots__ = ("complement", "structure")
    _stored: ClassVar[bool] = False
    _lock: ClassVar[None] = None

    def __init__(self, structure: bool, complement: bool) -> None:
        self.structure = structure
        self.complement = complement

    def __repr__(self) -> str:
        return "~" * self.complement + ("S" if self.structure else "V")


class Step(NamedTuple):
    """An elementwise statement on the values of a product that is never stored.

    Attributes
    ----------
    kind : {"apply", "apply_right", "select", "ewise_mult"}
        The operands of `op`: the value; the value and `right`; these and the position; the value of the matrix and
        that of the product.
    op : TypedOp
    right : Any
        The number on the right, or the thunk.
    right_type : DataType or None
    """

    kind: str
    op: Any
    right: Any = None
    right_type: Any = None

    @property
    def return_type(self) -> Any:
        """The type of `op`'s result."""
        return self.op.return_type


class Weights(NamedTuple):
    """The steps that turn a product's values into weights of the next one's columns, from the last `stop` to `stop`."""

    stop: int
    steps: tuple[Step, ...]


class Inner:
    """The semiring of a product within another product, and the elementwise steps between both."""

    __slots__ = ("op", "weights")
    _stored: ClassVar[bool] = False
    _lock: ClassVar[None] = None

    def __init__(self, op: Any, weights: tuple[Weights, ...] = ()) -> None:
        self.op = op
        self.weights = weights

    @property
    def reads_matrix(self) -> bool:
        """Return whether a step reads the values of the sampled matrix."""
        return any(step.kind == "ewise_mult" for weights in self.weights for step in weights.steps)

    def __repr__(self) -> str:
        return repr(self.op)


def says_noun(ndim: int) -> str:
    """Return ``"Scalar"``, ``"Vector"`` or ``"Matrix"``."""
    return ("Scalar", "Vector", "Matrix")[ndim]


def says_shape(shape: tuple[int, ...]) -> str:
    """Return a shape as messages name it: ``Vector 5``, ``Matrix 2 x 3``, ``Scalar``."""
    return says_noun(len(shape)) + (f" {' x '.join(map(str, shape))}" if shape else "")


def says(x: Any) -> str:
    """Return an object as messages name it: ``A (Matrix 2 x 3, INT64)``."""
    if isinstance(x, Operand):
        return f"{x.name} ({says_noun(x.ndim)} {' x '.join(map(str, x.shape))}, {x.dtype})"
    return f"{x!r} of type {type(x).__name__}"
