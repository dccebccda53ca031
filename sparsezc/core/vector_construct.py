"""Vectors made from a user's arrays: the ``from_...`` methods of :class:`~sparsezc.core.vector.Vector`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sparsezc import ops
from sparsezc.engines import cpu
from sparsezc.exceptions import InvalidValue
from sparsezc.ops import arrays, checks
from sparsezc.semirings.types.datatypes import DataType

__all__ = ["VectorFromArrays"]


class VectorFromArrays:
    """The constructors of a Vector from arrays."""

    __slots__ = ()

    @classmethod
    def from_coo(
        cls,
        indices: ArrayLike,
        values: Any = 1.0,
        dtype: Any = None,
        *,
        size: int | None = None,
        dup_op: Any = None,
        name: str | None = None,
    ) -> Self:
        """Make a vector from positions and values.

        Parameters
        ----------
        indices : array_like of integers, shape (n,)
            The positions, in any order.
        values : array_like, shape (n,), or a number
            A number is the value of every entry.
        dtype : optional
            The type of the vector; by default the type of the values.
        size : int, optional
            By default the largest position plus one.
        dup_op : binary operator or its name, optional
            The operator that combines the values of a position that occurs more than once.
        name : str, optional

        Raises
        ------
        InvalidValue
            A position occurs twice without `dup_op`, or there is neither a size nor a position.
        IndexOutOfBound
            A position is negative or at least `size`.
        DimensionMismatch
            The numbers of values and of positions differ.
        """
        at = arrays.ids(indices, "Vector.from_coo: indices", None if size is None else arrays.size(size, "size"))
        vals, kind = arrays.values(values, dtype, "Vector.from_coo: values", 0, 1)
        if size is None:
            if not at.size:
                raise InvalidValue("Vector.from_coo: No indices provided. Unable to infer size. Give size=")
            size = arrays.size(int(at.max()) + 1, "Vector.from_coo: size")
        arrays.lengths("Vector.from_coo", indices=at, values=vals)
        engine = cpu.engine()
        maker: Any = cls
        store = engine.build_vector(at, vals, kind, size, cpu.merger(dup_op, kind, vals.ndim == 0, "Vector.from_coo"))
        made: Self = maker._from_store(engine, store, kind, size, name)
        return made

    @classmethod
    def from_pairs(
        cls,
        pairs: Iterable[tuple[int, Any]],
        dtype: Any = None,
        *,
        size: int | None = None,
        dup_op: Any = None,
        name: str | None = None,
    ) -> Self:
        """Make a vector from ``(index, value)`` pairs; the other arguments as in :meth:`from_coo`.

        Raises
        ------
        InvalidValue
            An item is not a pair.
        """
        if isinstance(pairs, np.ndarray):
            raise TypeError(
                "Vector.from_pairs: pairs is an array; use `Vector.from_coo`, which takes indices and values"
            )
        rows = [tuple(pair) for pair in pairs]
        if any(len(row) != 2 for row in rows):
            raise InvalidValue("Vector.from_pairs: Each item in the pairs must be a pair (index, value)")
        return cls.from_coo(
            [row[0] for row in rows], [row[1] for row in rows], dtype, size=size, dup_op=dup_op, name=name
        )

    @classmethod
    def from_dict(
        cls, d: Mapping[int, Any], dtype: Any = None, *, size: int | None = None, name: str | None = None
    ) -> Self:
        """Make a vector from ``{index: value}``; the other arguments as in :meth:`from_coo`."""
        if not d and size is None:
            size = 0
        return cls.from_coo(list(d.keys()), list(d.values()), dtype, size=size, name=name)

    @classmethod
    def from_scalar(cls, value: Any, size: int, dtype: Any = None, *, name: str | None = None) -> Self:
        """Make a full vector, with `value` at each of `size` positions; its memory is allocated at first use."""
        given, made_of = checks.everywhere(value, dtype, "Vector.from_scalar: value")
        maker: Any = cls
        made: Any = maker(made_of, size, name=name)
        if given.value is not None:
            made._hold_everywhere(given.dup(made.dtype))
        return made  # type: ignore[no-any-return]

    @classmethod
    def from_dense(
        cls, values: ArrayLike, missing_value: Any = None, *, dtype: Any = None, name: str | None = None
    ) -> Self:
        """Make a vector with an entry for each element of an array, except those equal to `missing_value`.

        Parameters
        ----------
        values : array_like, shape (size,)
        missing_value : number, optional
        dtype : optional
        name : str, optional

        Raises
        ------
        InvalidValue
            The array does not have one dimension.
        """
        vals, kind = arrays.dense(values, dtype, "Vector", 1)
        engine = cpu.engine()
        maker: Any = cls
        if missing_value is not None and not kind.is_udt and _holds(kind, missing_value):
            at = np.flatnonzero(vals != missing_value)
            store = engine.adopt_vector(vals[at], kind, vals.size, at)
            return maker._from_store(engine, store, kind, vals.size, name)  # type: ignore[no-any-return]
        made: Any = maker._from_store(engine, engine.dense_vector(vals, kind), kind, vals.size, name)
        if missing_value is not None:
            made << ops.select(made, "valuene", missing_value)
        return made  # type: ignore[no-any-return]


def _holds(dtype: DataType, value: Any) -> bool:
    """Return whether `value` is a number that `dtype` represents exactly."""
    if not isinstance(value, int | float | np.number | np.bool_):
        return False
    try:
        return bool(dtype.np_type.type(value) == value)
    except OverflowError:
        return False
