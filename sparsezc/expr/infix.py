"""The infix operators: ``A + B``, ``A @ B``, ``A | B``, ``A < 3``, ``-A``; ops/overloads.py implements them.

Matrix, Vector, Scalar and deferred results inherit them. All of them make expressions, comparisons too, so ``A == B``
is an elementwise comparison; ``A.isequal(B)`` compares two objects as a whole.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

__all__ = ["Infix", "K", "StandIn"]

#: The kind of an object, or of the object that an expression makes: Matrix, Vector or Scalar. For type checkers.
K = TypeVar("K", covariant=True)

_signs: Any = None  # ops/overloads.py, which is imported before any Matrix, Vector or Scalar exists


def define(signs: Any) -> None:
    """Set the module that implements the operators: ops/overloads.py, with ``binary_sign``, ``call`` ..."""
    global _signs
    _signs = signs


class Infix(Generic[K]):
    """Base class with a method for each infix operator (sign); infix.pyi has their types."""

    __slots__ = ()
    __array_ufunc__ = None  # a NumPy number on the left leaves the operator to us
    __hash__ = object.__hash__

    def _call_operator(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run ``op(A)``, ``op(A, 1)``, ``op(A | B)``: operators call this on their first argument that has it."""
        return _signs.call(op, args, kwargs)

    # On the intersection of two patterns
    def __mul__(self, other: Any) -> Any:
        return _signs.binary_sign(self, other, "times")

    def __rmul__(self, other: Any) -> Any:
        return _signs.binary_sign(other, self, "times")

    def __truediv__(self, other: Any) -> Any:
        return _signs.binary_sign(self, other, "truediv")

    def __rtruediv__(self, other: Any) -> Any:
        return _signs.binary_sign(other, self, "truediv")

    def __floordiv__(self, other: Any) -> Any:
        return _signs.binary_sign(self, other, "floordiv")

    def __rfloordiv__(self, other: Any) -> Any:
        return _signs.binary_sign(other, self, "floordiv")

    def __mod__(self, other: Any) -> Any:
        return _signs.binary_sign(self, other, "mod")

    def __rmod__(self, other: Any) -> Any:
        return _signs.binary_sign(other, self, "mod")

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __pow__(self, other: Any) -> Any:
        return _signs.binary_sign(self, other, "pow")

    def __rpow__(self, other: Any) -> Any:
        return _signs.binary_sign(other, self, "pow")

    def __eq__(self, other: object) -> Any:
        return _signs.binary_sign(self, other, "eq")

    def __ne__(self, other: object) -> Any:
        return _signs.binary_sign(self, other, "ne")

    def __lt__(self, other: Any) -> Any:
        return _signs.binary_sign(self, other, "lt")

    def __le__(self, other: Any) -> Any:
        return _signs.binary_sign(self, other, "le")

    def __gt__(self, other: Any) -> Any:
        return _signs.binary_sign(self, other, "gt")

    def __ge__(self, other: Any) -> Any:
        return _signs.binary_sign(self, other, "ge")

    # On the union of two patterns
    def __add__(self, other: Any) -> Any:
        return _signs.binary_sign(self, other, "plus")

    def __radd__(self, other: Any) -> Any:
        return _signs.binary_sign(other, self, "plus")

    def __sub__(self, other: Any) -> Any:
        return _signs.binary_sign(self, other, "minus")

    def __rsub__(self, other: Any) -> Any:
        return _signs.binary_sign(other, self, "minus")

    def __xor__(self, other: Any) -> Any:
        return _signs.binary_sign(self, other, "lxor")

    def __rxor__(self, other: Any) -> Any:
        return _signs.binary_sign(other, self, "lxor")

    # On one object
    def __neg__(self) -> Any:
        return _signs.unary_sign(self, "ainv")

    def __abs__(self) -> Any:
        return _signs.unary_sign(self, "abs")

    def __invert__(self) -> Any:
        return _signs.unary_sign(self, "lnot")

    # Operands for an operator: op(A @ B), op(A & B), op(A | B)
    def __matmul__(self, other: Any) -> Any:
        return _signs.pair(self, other, "@", "__matmul__")

    def __rmatmul__(self, other: Any) -> Any:
        return _signs.pair(other, self, "@", "__rmatmul__")

    def __and__(self, other: Any) -> Any:
        return _signs.pair(self, other, "&", "__and__")

    def __rand__(self, other: Any) -> Any:
        return _signs.pair(other, self, "&", "__rand__")

    def __or__(self, other: Any) -> Any:
        return _signs.pair(self, other, "|", "__or__")

    def __ror__(self, other: Any) -> Any:
        return _signs.pair(other, self, "|", "__ror__")

    # In place
    def __iadd__(self, other: Any) -> Any:
        return _signs.run_in_place(self, other, "plus", "__iadd__")

    def __isub__(self, other: Any) -> Any:
        return _signs.run_in_place(self, other, "minus", "__isub__")

    def __imul__(self, other: Any) -> Any:
        return _signs.run_in_place(self, other, "times", "__imul__")

    def __itruediv__(self, other: Any) -> Any:
        return _signs.run_in_place(self, other, "truediv", "__itruediv__")

    def __ifloordiv__(self, other: Any) -> Any:
        return _signs.run_in_place(self, other, "floordiv", "__ifloordiv__")

    def __imod__(self, other: Any) -> Any:
        return _signs.run_in_place(self, other, "mod", "__imod__")

    def __ipow__(self, other: Any) -> Any:
        return _signs.run_in_place(self, other, "pow", "__ipow__")

    def __ixor__(self, other: Any) -> Any:
        return _signs.run_in_place(self, other, "lxor", "__ixor__")

    def __iand__(self, other: Any) -> Any:
        return _signs.run_in_place(self, other, "land", "__iand__")

    def __ior__(self, other: Any) -> Any:
        return _signs.run_in_place(self, other, "lor", "__ior__")

    def __imatmul__(self, other: Any) -> Any:
        return _signs.run_in_place(self, other, "@", "__imatmul__")


#: An object that stands in for its result; ``Deferred.__getattr__`` finds the methods that type checkers see.
StandIn = Infix
