"""Aggregators: reductions of a vector, or of each row, to one value, composed of operators.

A *recipe* is a function of :class:`Entries`. It folds them with monoids, folds products of them with a constant, and
combines the results with operators. Recipes name no engine and no array: ``sparsezc.ops`` runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, overload

from sparsezc.semirings.algebra.operators import Operator
from sparsezc.semirings.algebra.structures import Monoid, TypedMonoid, TypedSemiring
from sparsezc.semirings.algebra.typed import TypedOp
from sparsezc.semirings.types.datatypes import DataType
from sparsezc.semirings.types.domains import Domain

if TYPE_CHECKING:
    from sparsezc.core.matrix import Matrix
    from sparsezc.core.scalar import Scalar
    from sparsezc.core.vector import Vector
    from sparsezc.expr.expression import Expression
    from sparsezc.expr.infix import Infix


class Result(Protocol):
    """The result of a recipe: one value, or one for each row; missing where there was no entry."""

    def apply(self, op: TypedOp, right: float | None = None) -> Result:
        """Apply `op` to each value, or to each value and a constant."""

    def combine(self, op: TypedOp, other: Result) -> Result:
        """Apply `op` to each value and its counterpart."""

    def finish(self, function: Callable[..., Any], *others: Any) -> Result:
        """Apply a user's function of Scalars or Vectors to this and others: ``function(*results, {})``."""


class Entries(Protocol):
    """The operand of a recipe: all entries, or those of each row at once."""

    dtype: DataType

    def fold(self, monoid: TypedMonoid) -> Result:
        """Return the sum of the entries."""

    def weigh(self, semiring: TypedSemiring, constant: float) -> Result:
        """Return the sum of ``entry * constant``."""

    def apply(self, op: TypedOp, right: float | None = None) -> Entries:
        """Return the entries with other values: ``op(entry)`` or ``op(entry, right)``."""

    def against(self, semiring: TypedSemiring, result: Result) -> Entries:
        """Return the entries with other values: ``result * entry``, each with the result of its own row."""

    def places(self, chosen: Recipe | None, last: bool) -> Result:
        """Return the first (or last) position of an entry, or of an entry with the value that ``chosen`` computes."""

    def value_at(self, places: Result) -> Result:
        """Return the entries at positions returned by :meth:`places`."""


Recipe = Callable[[Entries], Result]


class TypedAggregator(TypedOp):
    """An aggregator for one type of entries; see :class:`Aggregator`."""

    __slots__ = ()

    @overload  # type: ignore[override]
    def __call__(self, x: Infix[Vector]) -> Expression[Scalar]: ...
    @overload
    def __call__(self, x: Infix[Matrix]) -> Expression[Scalar]: ...
    @overload
    def __call__(self, x: Infix[Matrix], *, rowwise: Literal[True]) -> Expression[Vector]: ...
    @overload
    def __call__(self, x: Infix[Matrix], *, columnwise: Literal[True]) -> Expression[Vector]: ...
    def __call__(self, x: Any, *, rowwise: bool = False, columnwise: bool = False) -> Any:
        """Reduce as :meth:`Aggregator.__call__` does, for every type of entries."""
        return reduced(self, x, rowwise, columnwise)


class Aggregator(Operator):
    """A reduction of many values to one, such as ``agg.mean``.

    Parameters
    ----------
    name : str
    recipe : callable or Monoid
        A monoid is the recipe that folds with it.
    domain : Domain, optional
        The types of entries it accepts, with the result's types; by default the monoid's own.
    of_vectors : bool
        The result is a position; a whole matrix, whose entries have two, cannot be reduced by it.
    counts : bool
        The result is a number of entries, INT64 unless another type is requested, as in ``agg.count["INT16"]``.
    composite : list of Aggregator, optional
        Instead of `recipe`: the aggregators whose results are the arguments of `finalize`.
    finalize : callable, optional
        ``finalize(x, y, ..., options)`` of one result each, Scalars or Vectors, makes the expression of the result;
        `options` is an empty dict, for programs written for python-graphblas.
    types : list of Aggregator or Operator, optional
        The operators whose types it has, in turn: the result of each is the operand of the next. By default the first
        of `composite`.

    Raises
    ------
    TypeError
        There is neither a recipe nor a composite with its `finalize`.

    ``x.reduce(agg.mean)``, ``A.reduce_rowwise(agg.mean)`` and so on accept one. Calling it with a Matrix or a Vector
    means the same: ``agg.mean(v)``, ``agg.mean(A, rowwise=True)``.

    Examples
    --------
    >>> import sparsezc as gb
    >>> spread = gb.agg.Aggregator(
    ...     "spread", composite=[gb.agg.max, gb.agg.mean], finalize=lambda x, y, options: gb.binary.minus(x & y)
    ... )
    >>> gb.Vector.from_coo([0, 1, 2], [1.0, 2.0, 6.0]).reduce(spread).new().value
    3.0
    """

    kind = "agg"
    typed_class: ClassVar[type[TypedOp]] = TypedAggregator
    of_vectors: bool

    def __init__(
        self,
        name: str,
        recipe: Recipe | Monoid | None = None,
        *,
        domain: Domain | None = None,
        of_vectors: bool = False,
        counts: bool = False,
        composite: Sequence[Aggregator] | None = None,
        finalize: Callable[..., Any] | None = None,
        types: Sequence[Operator] | None = None,
    ) -> None:
        if recipe is None:
            if not composite or finalize is None:
                raise TypeError(f"Aggregator {name!r}: composite=, a list of aggregators, and finalize= are needed")
            recipe = _composed(composite, finalize)
            domain = _through(types or composite[:1])
            of_vectors = any(part.of_vectors for part in composite) or of_vectors
        self.monoid = recipe if isinstance(recipe, Monoid) else None
        self.recipe: Recipe = self._fold if isinstance(recipe, Monoid) else recipe
        table = recipe._domain if isinstance(recipe, Monoid) else domain
        super().__init__(name, numpy=self._fold, cuda="", domain={} if table is None else table)
        self.of_vectors = of_vectors
        self.counts = counts

    def _fold(self, entries: Entries) -> Result:
        assert self.monoid is not None
        return entries.fold(self.monoid[entries.dtype])

    @overload  # type: ignore[override]
    def __call__(self, x: Infix[Vector]) -> Expression[Scalar]: ...
    @overload
    def __call__(self, x: Infix[Matrix]) -> Expression[Scalar]: ...
    @overload
    def __call__(self, x: Infix[Matrix], *, rowwise: Literal[True]) -> Expression[Vector]: ...
    @overload
    def __call__(self, x: Infix[Matrix], *, columnwise: Literal[True]) -> Expression[Vector]: ...
    def __call__(self, x: Any, *, rowwise: bool = False, columnwise: bool = False) -> Any:
        """Return ``x.reduce(self)``; of a matrix, by rows or by columns if one of them is requested.

        Raises
        ------
        InvalidValue
            Both are requested, or one of them of a vector.
        TypeError
            `x` is neither a Matrix nor a Vector.
        """
        return reduced(self, x, rowwise, columnwise)


def _composed(parts: Sequence[Aggregator], finalize: Callable[..., Any]) -> Recipe:
    def recipe(entries: Entries) -> Result:
        first, *others = [part.recipe(entries) for part in parts]
        return first.finish(finalize, *others)

    return recipe


def _through(ops: Sequence[Operator]) -> Domain:
    """Return the domain of operators that are applied one after another."""
    first, *others = ops
    found: Domain = {}
    for t in first.types:
        made = first[t].return_type
        for op in others:
            made = op[made].return_type
        found[t] = (first[t].type, made)
    return found


def reduced(op: Any, x: Any, rowwise: bool, columnwise: bool) -> Any:
    """Reduce `x` by an aggregator; see :meth:`Aggregator.__call__`."""
    from sparsezc.exceptions import InvalidValue

    ndim = getattr(x, "ndim", None)
    if ndim not in (1, 2):
        raise TypeError(f"{op!r} takes a Matrix or a Vector; got {x!r} of type {type(x).__name__}")
    if rowwise and columnwise:
        raise InvalidValue(f"{op!r}: rowwise and columnwise cannot both be True; give at most one")
    if ndim == 1:
        if rowwise or columnwise:
            raise InvalidValue(f"{op!r}: a Vector has neither rows nor columns; leave out rowwise and columnwise")
        return x.reduce(op)
    if rowwise:
        return x.reduce_rowwise(op)
    return x.reduce_columnwise(op) if columnwise else x.reduce_scalar(op)
