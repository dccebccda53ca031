"""Objects that can be written to: ``w << x``, ``w(mask, accum, replace) << x``, ``w[I] << x``, ``del w[I]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsezc.config import changing
from sparsezc.expr.dispatch import PLAIN, Target, Write, update
from sparsezc.expr.expression import Deferred, Expression, IndexList, Operand, ready
from sparsezc.expr.infix import K
from sparsezc.expr.mask import Mask, as_mask, to_mask
from sparsezc.expr.options import check as check_options
from sparsezc.expr.position import InputMasked, Position
from sparsezc.expr.resolve import resolve
from sparsezc.process.locks import FreeAfterFork, Lost, new, shared
from sparsezc.semirings.algebra.operators import Operator, TypedOp
from sparsezc.semirings.types.datatypes import DataType

if TYPE_CHECKING:
    from sparsezc.expr.engines import Engine

__all__ = ["Writable", "replace"]


class _Replace:
    """The token ``replace`` in ``w(mask, replace) << ...``, which means ``replace=True``."""

    def __repr__(self) -> str:
        return "replace"

    def __reduce__(self) -> str:
        return "replace"


replace = _Replace()


class Writable(Operand[K]):
    """Base class of objects that can be written to: Matrix, Vector and Scalar."""

    __slots__ = ("__weakref__", "_engine", "_lock", "_store", "dtype", "name")

    def __init_subclass__(cls) -> None:
        Operand._kinds[cls.ndim] = cls

    @classmethod
    def _blank(cls, dtype: DataType, shape: tuple[int, ...], name: str | None) -> Any:
        raise NotImplementedError

    def _fill(self, expression: Expression, mask: Any) -> None:
        """Run an expression and write its result to this new object."""
        update(self, expression, PLAIN if mask is None else Write(as_mask(mask, self), None, False))

    def _put(self, engine: Engine, store: Any) -> None:
        """Set the engine and the store."""
        self._engine, self._store = engine, store
        if engine.lock is not None:
            self._lock = engine.lock

    def _rename(self, name: str) -> None:
        """Change the name."""
        self.name = name

    def _lose(self) -> None:
        """Discard the content after a fork: another thread of the parent process may have been changing it."""
        self._lock = new()
        if self._stored:
            self._engine = Lost()  # any use of it raises

    def _settle(self, engine: Engine) -> None:
        """Move the object's entries to a store on `engine`, or make an empty store there."""
        raise NotImplementedError

    def _postpone(self, expression: Expression) -> bool:
        """Queue a statement until an engine stores this object; return whether the statement was queued."""
        return False

    def _changed(self) -> None:
        """Drop cached facts about the content."""

    def _express(self, value: Any) -> Expression:
        """Return the expression of ``self << value``, for a `value` that is not an expression."""
        raise NotImplementedError

    def _take(self, value: Any, accum: TypedOp | None) -> None:
        """Run ``s << value`` or ``s(accum) << value`` of a Scalar, for a `value` that is not an expression."""
        raise NotImplementedError

    def _indexed(self, keys: Any) -> tuple[IndexList, ...]:
        raise NotImplementedError

    def _assignment(self, keys: tuple[IndexList, ...], value: Any, mask: Mask | None, submask: bool) -> Expression:
        raise NotImplementedError

    def _extraction(self, keys: tuple[IndexList, ...]) -> Expression:
        raise NotImplementedError

    def _deletion(self) -> Any:
        raise NotImplementedError

    def __call__(
        self,
        *args: Any,
        mask: Any = None,
        accum: Any = None,
        replace: bool = False,
        input_mask: Any = None,
        **options: Any,
    ) -> Target:
        """Return a target to write to: ``w(mask, accum, replace=True) << expression``.

        Parameters
        ----------
        mask : Mask, optional
            ``x.S``, ``x.V``, ``~x.S``, ``~x.V``; or a BOOL object, which is a mask by values.
        accum : binary operator or its name, optional
            ``w = accum(w, result)`` where both are present.
        replace : bool
            Delete entries that the mask does not allow.
        input_mask : Mask, optional
            For an extraction: a mask of the object that is read, ``C(input_mask=M) << A[rows, columns]``.
        **options
            python-graphblas's options of a statement, such as ``nthreads``: accepted, and ignored.
        """
        if options:
            check_options(options)
        for arg in args:
            if type(arg) is Mask or isinstance(arg, Operand | Deferred):
                if mask is not None:
                    raise TypeError(f"{self.name}(...): Got multiple values for argument 'mask'")
                mask = arg
            elif type(arg) is _Replace:
                replace = True
            elif accum is not None:
                raise TypeError(f"{self.name}(...): Got multiple values for argument 'accum'")
            elif isinstance(arg, str | TypedOp | Operator) or callable(arg):  # max and min are callable, too
                accum = arg
            else:
                raise TypeError(
                    f"{self.name}(...): Invalid item {arg!r}: neither a mask, nor an accumulator, nor replace"
                )
        if accum is not None:
            accum = resolve("binary", accum, f"{self.name}(...): accum", self.dtype)
        if not self.ndim:
            if mask is not None:
                raise TypeError(f"{self.name}(...): Mask not allowed for Scalars")
            if input_mask is not None:
                raise TypeError(f"{self.name}(...): input_mask not allowed for Scalars")
            if replace:
                raise TypeError(f"{self.name}(...): 'replace' argument may not be True for Scalars")
        if mask is not None:
            if input_mask is not None:
                raise TypeError(f"{self.name}(...): mask and input_mask arguments cannot both be given")
            if type(mask) is not Mask or not mask.structure:  # a mask by structure needs no check
                mask = to_mask(mask, f"mask of {self.name}")
        elif replace and input_mask is None:
            raise TypeError(f"{self.name}(...): 'replace' argument may only be True if a mask is provided")
        write = Write(mask, accum, bool(replace))
        if input_mask is not None:
            return InputMasked(self, write, to_mask(input_mask, "input_mask"))
        return Target(self, write)

    def __lshift__(self, value: Any) -> None:
        update(self, value, PLAIN)

    def update(self, expr: Any, **options: Any) -> None:
        """Run ``self << expr``."""
        check_options(options)
        update(self, expr, PLAIN)

    def __getitem__(self, keys: Any) -> Position:
        return Position(self, self._indexed(keys))

    def __setitem__(self, keys: Any, value: Any, **options: Any) -> None:
        if options:
            check_options(options)
        update(self, value, PLAIN, ready(keys), parsed=False)

    def __delitem__(self, keys: Any) -> None:
        update(self, self._deletion(), PLAIN, ready(keys), parsed=False)


shared(changing)
FreeAfterFork(Writable)
