"""Deferred results: objects that stand in for a result until it is computed, the base class of expressions."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import cache
from threading import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.config import config
from sparsezc.expr import formatting
from sparsezc.expr.infix import K, StandIn
from sparsezc.expr.operand import Operand
from sparsezc.expr.options import check as check_options
from sparsezc.semirings.types.datatypes import lookup

if TYPE_CHECKING:
    from sparsezc.expr.expression import Expression

__all__ = ["Deferred", "ready"]

_WRITES = {"build", "clear", "resize", "setdiag", "update"}


@cache
def _reads(kind: type) -> frozenset[str]:
    """Return the names of a class that its deferred results have: methods that read, not those that write.

    ``A[:2, :2].clear()`` would change a temporary result, but looks like a change of A.
    """
    return frozenset(name for name in dir(kind) if not name.startswith(("_", "from_")) and name not in _WRITES)


class Deferred(StandIn[K]):
    """A result that is not computed yet: of an expression, of ``A[i, j]``, or of an infix operator such as ``A @ B``.

    With ``config.autocompute`` it is computed at first use, and kept; without, the user must call ``new()``.
    """

    __slots__ = ("__weakref__", "_value")
    _value: Any  # None, or a thread and the result that it computed; other threads compute their own
    shape: tuple[int, ...]

    @property
    def expression(self) -> Expression[K]:
        """Return the expression that computes the result."""
        raise NotImplementedError

    @property
    def _parts(self) -> tuple[Any, ...]:
        """Return the objects that the expression reads."""
        raise NotImplementedError

    @property
    def kind(self) -> Any:
        """Return the class of the result: Matrix, Vector or Scalar."""
        return Operand._kinds[len(self.shape)]

    @property
    def ndim(self) -> int:
        """Return the number of dimensions of the result."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Return the number of positions of the Vector that results."""
        return self._length(0, 1, "size")

    @property
    def nrows(self) -> int:
        """Return the number of rows of the Matrix that results."""
        return self._length(0, 2, "nrows")

    @property
    def ncols(self) -> int:
        """Return the number of columns of the Matrix that results."""
        return self._length(1, 2, "ncols")

    def _length(self, along: int, ndim: int, name: str) -> int:
        if len(self.shape) != ndim:
            raise AttributeError(f"an expression that makes a {self.kind.__name__} has no attribute {name!r}")
        return self.shape[along]

    @property
    def name(self) -> str:
        """Return the name of the result, after computing it."""
        said: str = self.computed("name").name
        return said

    @property
    def _shown(self) -> formatting.Shown:
        """Return the parts of the printed form; printing computes nothing."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return formatting.shown(self._shown)

    def _repr_html_(self) -> str:
        return formatting.shown_html(self._shown)

    def new(self, dtype: Any = None, *, mask: Any = None, name: str | None = None, **options: Any) -> K:
        """Compute the result as a new Matrix, Vector or Scalar."""
        return self.expression.new(dtype, mask=mask, name=name, **options)

    def dup(
        self, dtype: Any = None, *, clear: bool = False, mask: Any = None, name: str | None = None, **options: Any
    ) -> K:
        """Compute the result as ``new`` does; with `clear`, return an empty object of its type and shape."""
        if clear:
            check_options({k: x for k, x in options.items() if k != "is_cscalar"})
            return self.kind._blank(self.dtype if dtype is None else lookup(dtype), self.shape, name)  # type: ignore[no-any-return]
        return self.new(dtype, name=name, **options) if mask is None else self.new(dtype, mask=mask, name=name)

    def computed(self, need: str) -> Any:
        """Return the result, computed at first use and kept; error messages name `need`, the operation that uses it.

        Raises
        ------
        TypeError
            ``config.autocompute`` is off.
        """
        self._check_autocompute(need)
        found = self._value
        if found is None or found[0] != get_ident():
            self._value = found = get_ident(), self.new()
        return found[1]

    def operand(self, need: str) -> Any:
        """Compute the result as an operand of a later statement: a new object, which no caller can change.

        Raises
        ------
        TypeError
            ``config.autocompute`` is off.
        """
        self._check_autocompute(need)
        return self.new()

    def _check_autocompute(self, need: str) -> None:
        if not config.autocompute:
            made = self.kind.__name__
            raise TypeError(
                f"{need} is not enabled for an expression that has not run; use .new() to make a {made} of it. Hint:"
                " call gb.config.set(autocompute=True) to enable automatic computation, that is, to automatically"
                " compute expressions at first use"
            )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        if name not in _reads(self.kind):
            made = self.kind.__name__
            hint = f"; .new() makes a {made}, which has it" if hasattr(self.kind, name) else f", nor has a {made}"
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{hint}")
        return getattr(self.computed(name), name)

    def __dir__(self) -> list[str]:
        sizes = {"ncols", "nrows", "size"}  # only those of the result's class are listed
        return sorted({*object.__dir__(self)} - sizes | _reads(self.kind))

    def __bool__(self) -> bool:
        if self.shape:
            raise TypeError(f"__bool__ is not defined for an expression that makes a {self.kind.__name__}")
        return bool(self.computed("__bool__"))

    def __float__(self) -> float:
        return float(self.computed("__float__"))

    def __int__(self) -> int:
        return int(self.computed("__int__"))

    def __complex__(self) -> complex:
        return complex(self.computed("__complex__"))

    def __index__(self) -> int:
        return operator.index(self.computed("__index__"))

    def __array__(self, dtype: Any = None, *, copy: Any = None) -> Any:
        return np.asarray(self.computed("__array__"), dtype)

    def __contains__(self, index: Any) -> bool:
        return index in self.computed("__contains__")

    def __iter__(self) -> Iterator[Any]:
        return iter(self.computed("__iter__"))

    def __getitem__(self, keys: Any) -> Any:
        return self.computed("__getitem__")[keys]


def ready(x: Any) -> Any:
    """Return `x` with deferred elements computed, itself or those in a list, before a statement takes its locks.

    Within a statement, ``u[v[0]] = 1`` and ``v[u[0]] = 1`` in two threads could deadlock.
    """
    if isinstance(x, Deferred):
        return x if x.shape else x.computed("an element")
    if type(x) in (list, tuple) and any(isinstance(each, Deferred) for each in x):
        return type(x)(map(ready, x))
    return x
