"""Vector: a sparse vector on whatever engine it is needed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsezc import engines, ops, scalar
from sparsezc.engines import cpu
from sparsezc.errors import InvalidValue
from sparsezc.expression import Expression, IndexList
from sparsezc.mask import Mask, as_mask
from sparsezc.ops import arrays, checks, compare, indices
from sparsezc.semirings import binary, monoid, semiring
from sparsezc.semirings.types import FP64, DataType, cast, lookup
from sparsezc.writable import Writable

if TYPE_CHECKING:
    from sparsezc.engines import Engine
    from sparsezc.matrix import Matrix

__all__ = ["Vector"]

_numbers = itertools.count()


class Vector(Writable):
    """A sparse vector: `size` positions, some of which hold a value.

    A vector lies on the engine of the last statement that it took part in and moves by itself; a new one lies nowhere.

    Parameters
    ----------
    dtype : DataType, str, NumPy dtype or Python type
    size : int
    name : str, optional

    Raises
    ------
    UnknownDtype
        `dtype` is no type.
    InvalidValue
        `size` is negative or above 2**60.

    Examples
    --------
    >>> import sparsezc as gb
    >>> v = gb.Vector.from_coo([0, 2], [1.5, 2.5], size=4)
    >>> v.nvals, v.get(2), v.get(1, "missing")
    (2, 2.5, 'missing')
    >>> v[3] = 7
    >>> v.to_dense(fill_value=0)
    array([1.5, 0. , 2.5, 7. ])
    """

    __slots__ = ("_everywhere", "_size")
    ndim = 1

    def __init__(self, dtype: Any = FP64, size: int = 0, *, name: str | None = None) -> None:
        self.dtype = lookup(dtype)
        self.name = f"v_{next(_numbers)}" if name is None else name
        self._size = arrays.size(size, "Vector: size")
        self._engine = None
        self._store = None
        self._everywhere: scalar.Scalar | None = None  # what every position holds, until an engine stores it

    @classmethod
    def _blank(cls, dtype: DataType, shape: tuple[int, ...], name: str | None) -> Vector:
        made: Vector = cls.__new__(cls)
        made.dtype = dtype
        made.name = f"v_{next(_numbers)}" if name is None else name
        made._size = shape[0]
        made._engine = made._store = made._everywhere = None
        return made

    @classmethod
    def _from_store(cls, engine: Engine, store: Any, dtype: DataType, size: int, name: str | None = None) -> Vector:
        made = cls._blank(dtype, (size,), name)
        made._engine, made._store = engine, store
        return made

    def _settle(self, engine: Engine) -> None:
        old, content = self._engine, self._store
        if old is engine:
            return
        if old is None:
            self._store = engine.new_vector(self.dtype, self._size)
        else:
            self._store = engine.vector_from_coo(*old.vector_to_coo(content), self.dtype, self._size)
        self._engine = engine
        if self._everywhere is not None:
            value, self._everywhere = self._everywhere, None
            engine.run(self._express(value), self, None, None, False)

    def _need(self) -> tuple[Engine, Any]:
        """Engine and store; a vector that was never filled gets them on the CPU."""
        if self._engine is None:
            self._settle(engines.get("cpu"))
        assert self._engine is not None
        return self._engine, self._store

    # Making one
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
    ) -> Vector:
        """A vector from positions and values.

        Parameters
        ----------
        indices : array_like of integers, shape (n,)
            In any order.
        values : array_like, shape (n,), or a number
            A number stands for all of them.
        dtype : optional
            By default the values' own.
        size : int, optional
            By default the largest position and one.
        dup_op : binary operator or its name, optional
            What merges values at one position.
        name : str, optional

        Raises
        ------
        InvalidValue
            A position is there twice without `dup_op`, or the size is not known.
        IndexOutOfBound
            A position is negative or not below `size`.
        DimensionMismatch
            There are not as many values as positions.
        """
        at = arrays.ids(indices, "Vector.from_coo: indices", None if size is None else arrays.size(size, "size"))
        vals, kind = arrays.values(values, dtype, "Vector.from_coo: values", 0, 1)
        if size is None:
            if not at.size:
                raise InvalidValue("Vector.from_coo: indices is empty, so size= is needed")
            size = int(at.max()) + 1
        if vals.ndim:
            arrays.length(vals.size, at.size, "Vector.from_coo: values", "indices")
        engine = cpu.engine()
        store = engine.build_vector(at, vals, kind, size, cpu.merger(dup_op, kind, vals.ndim == 0, "Vector.from_coo"))
        return cls._from_store(engine, store, kind, size, name)

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[int, Any]], dtype: Any = None, **kwargs: Any) -> Vector:
        """A vector from ``(index, value)`` pairs; the other arguments as in :meth:`from_coo`.

        Raises
        ------
        InvalidValue
            An item is no pair.
        """
        rows = [tuple(pair) for pair in pairs]
        if any(len(row) != 2 for row in rows):
            raise InvalidValue("Vector.from_pairs: each item must be a pair (index, value)")
        return cls.from_coo([row[0] for row in rows], [row[1] for row in rows], dtype, **kwargs)

    @classmethod
    def from_dict(
        cls, d: Mapping[int, Any], dtype: Any = None, *, size: int | None = None, name: str | None = None
    ) -> Vector:
        """A vector from ``{index: value}``; the other arguments as in :meth:`from_coo`."""
        if not d and size is None:
            size = 0
        return cls.from_coo(list(d.keys()), list(d.values()), dtype, size=size, name=name)

    @classmethod
    def from_scalar(cls, value: Any, size: int, dtype: Any = None, *, name: str | None = None) -> Vector:
        """A vector with this value at each of `size` positions; it takes memory where it is first used."""
        given = checks.scalar(value, "Vector.from_scalar: value")
        made = cls(given.dtype if dtype is None else dtype, size, name=name)
        made._everywhere = None if given.value is None else given.dup(made.dtype)
        return made

    @classmethod
    def from_dense(
        cls, values: ArrayLike, missing_value: Any = None, *, dtype: Any = None, name: str | None = None
    ) -> Vector:
        """A vector with an entry for each element of an array, but for those equal to `missing_value`.

        Parameters
        ----------
        values : array_like, shape (size,)
        missing_value : number, optional
        dtype : optional
        name : str, optional

        Raises
        ------
        InvalidValue
            The array has not one dimension.
        """
        vals, kind = arrays.values(values, dtype, "Vector.from_dense: values", 1)
        engine = cpu.engine()
        made = cls._from_store(engine, engine.dense_vector(vals, kind), kind, vals.size, name)
        if missing_value is not None:
            made << ops.select(made, "valuene", missing_value)
        return made

    # Reading it
    @property
    def size(self) -> int:
        """Number of positions."""
        return self._size

    @property
    def shape(self) -> tuple[int, ...]:
        """``(size,)``."""
        return (self._size,)

    @property
    def nvals(self) -> int:
        """Number of entries."""
        if self._engine is None:
            return 0 if self._everywhere is None else self._size
        return self._engine.nvals(self._store)

    @property
    def S(self) -> Mask:
        """Mask: the positions that have an entry."""
        return Mask(self, True)

    @property
    def V(self) -> Mask:
        """Mask: the positions whose entry is true (not zero)."""
        return Mask(self, False)

    def to_coo(
        self,
        dtype: Any = None,
        *,
        indices: bool = True,
        values: bool = True,
        sort: bool = True,
    ) -> tuple[Any, Any]:
        """Positions (uint64, ascending) and values as arrays, copied; None for what is not asked for."""
        engine, store = self._need()
        at, vals = engine.vector_to_coo(store)
        if dtype is not None:
            vals = cast(vals, lookup(dtype))
        return at if indices else None, vals if values else None

    def to_dict(self) -> dict[int, Any]:
        """``{index: value}``."""
        at, vals = self.to_coo()
        return dict(zip(at.tolist(), vals.tolist(), strict=True))

    def to_dense(self, fill_value: Any = None, dtype: Any = None) -> NDArray[Any]:
        """An array of `size` elements, `fill_value` where there is no entry.

        Raises
        ------
        TypeError
            Entries are missing and no `fill_value` is given.
        """
        at, vals = self.to_coo()
        kind, fill = compare.filling(self, at.size, fill_value, dtype)
        out = np.full(self._size, fill, kind.np_type)
        out[at] = cast(vals, kind)
        return out

    def get(self, index: int, default: Any = None) -> Any:
        """The value at a position, or `default` where there is none.

        Raises
        ------
        IndexOutOfBound
            There is no such position.
        InvalidValue
            `index` is not one position.
        """
        keys = indices.parse(index, self.shape, self.name)
        if keys[0].kind != "one":
            raise InvalidValue(f"{self.name}.get: one position is needed; got {index!r}")
        return ops.extract(self, keys).new().get(default)

    def __contains__(self, index: Any) -> bool:
        return self.get(index) is not None

    def __iter__(self) -> Iterator[int]:
        return iter(self.to_coo()[0].tolist())

    def isequal(self, other: Vector, *, check_dtype: bool = False) -> bool:
        """Whether both have the same size, the same positions and equal values (and the same type)."""
        return compare.isequal(self, checks.stored(other, "isequal: other", 1), check_dtype)

    def isclose(self, other: Vector, *, rel_tol: float = 1e-7, abs_tol: float = 0.0, check_dtype: bool = False) -> bool:
        """Whether both have the same positions and ``|a - b| <= max(rel_tol * max(|a|, |b|), abs_tol)`` at each."""
        other = checks.stored(other, "isclose: other", 1)
        return compare.isclose(self, other, rel_tol, abs_tol, check_dtype)

    # Changing it
    def dup(self, dtype: Any = None, *, clear: bool = False, mask: Any = None, name: str | None = None) -> Vector:
        """A copy: of another type, without entries, or only of what a mask allows."""
        kind = self.dtype if dtype is None else lookup(dtype)
        made = self._blank(kind, self.shape, name)
        if mask is not None:
            mask = as_mask(mask, made)
        if clear or (self._engine is None and self._everywhere is None):
            return made
        if mask is not None:
            made(mask) << self
        elif self._engine is None:
            made._everywhere = self._everywhere
        else:
            made._engine, made._store = self._engine, self._engine.dup(self._store, kind)
        return made

    def clear(self) -> None:
        """Remove every entry."""
        self._everywhere = None
        if self._engine is not None:
            self._engine.clear(self._store)

    def resize(self, size: int) -> None:
        """Change the number of positions; entries beyond go."""
        size = arrays.size(size, f"{self.name}.resize: size")
        if self._everywhere is not None:
            self._need()
        if self._engine is not None:
            self._engine.resize(self._store, size)
        self._size = size

    def wait(self, how: str = "materialize") -> Vector:
        """Finish whatever is pending.

        Raises
        ------
        InvalidValue
            `how` is neither "materialize" nor "complete".
        """
        compare.check_how(how)
        if self._engine is not None:
            self._engine.wait(self._store)
        return self

    def to(self, engine: str) -> Vector:
        """The vector on an engine, ``"cpu"`` or ``"gpu"``: itself where it is there, else a copy.

        Raises
        ------
        DeviceUnavailable
            For "gpu" without one.
        """
        there = engines.get(engine)
        if self._engine is there:
            return self
        made = self.dup(name=self.name)
        made._settle(there)
        return made

    def to_graphblas(self, *, copy: bool = False) -> Any:
        """The vector as python-graphblas's: see :func:`sparsezc.to_graphblas`."""
        here = self if self._engine is None else self.to("cpu")
        engine, store = here._need()
        return engine.dup(store, self.dtype) if copy else store

    # Operations
    def vxm(self, other: Any, op: Any = semiring.plus_times) -> Expression:
        """``self @ other``: see :func:`sparsezc.ops.vxm`."""
        return ops.vxm(self, other, op)

    def inner(self, other: Any, op: Any = semiring.plus_times) -> Expression:
        """``self @ other``: see :func:`sparsezc.ops.inner`."""
        return ops.inner(self, other, op)

    def outer(self, other: Any, op: Any = binary.times) -> Expression:
        """Every entry with every entry: see :func:`sparsezc.ops.outer`."""
        return ops.outer(self, other, op)

    def reposition(self, offset: int, *, size: int | None = None) -> Expression:
        """Every entry moved: see :func:`sparsezc.ops.reposition`."""
        return ops.reposition(self, (offset,), (size,))

    def ewise_add(self, other: Any, op: Any = monoid.plus) -> Expression:
        """`op` on the union of two patterns: see :func:`sparsezc.ops.ewise_add`."""
        return ops.ewise_add(self, other, op)

    def ewise_mult(self, other: Any, op: Any = binary.times) -> Expression:
        """`op` on the intersection of two patterns: see :func:`sparsezc.ops.ewise_mult`."""
        return ops.ewise_mult(self, other, op)

    def ewise_union(self, other: Any, op: Any, left_default: Any, right_default: Any) -> Expression:
        """`op` on the union, with defaults for what is missing: see :func:`sparsezc.ops.ewise_union`."""
        return ops.ewise_union(self, other, op, left_default, right_default)

    def apply(self, op: Any, right: Any = None, *, left: Any = None) -> Expression:
        """`op` on each entry: see :func:`sparsezc.ops.apply`."""
        return ops.apply(self, op, right, left)

    def select(self, op: Any, thunk: Any = None) -> Expression:
        """The entries that `op` accepts: see :func:`sparsezc.ops.select`."""
        return ops.select(self, op, thunk)

    def reduce(self, op: Any = monoid.plus, *, allow_empty: bool = True) -> Expression:
        """All entries folded into a Scalar: see :func:`sparsezc.ops.reduce`."""
        return ops.reduce(self, op, allow_empty)

    def diag(self, k: int = 0, *, name: str | None = None) -> Matrix:
        """The square matrix with this vector on diagonal `k`: see :func:`sparsezc.ops.diag`."""
        made: Matrix = ops.diag(self, k).new(name=name)
        return made

    # What writing needs
    def _indexed(self, keys: Any) -> tuple[IndexList, ...]:
        return indices.parse(keys, (self._size,), self.name)

    def _express(self, value: Any) -> Expression:
        return ops.assign(self, (IndexList("all", None, self._size),), value)

    def _assignment(self, keys: tuple[IndexList, ...], value: Any, mask: Mask | None, submask: bool) -> Expression:
        return ops.assign(self, keys, value, mask, submask)

    def _extraction(self, keys: tuple[IndexList, ...]) -> Expression:
        return ops.extract(self, keys)

    def _deletion(self) -> Any:
        return scalar.Scalar(self.dtype)

    def __repr__(self) -> str:
        return compare.summary(self, "nowhere yet" if self._engine is None else self._engine.name)


# At the end, because it needs Vector: a program that never names Matrix may make one (diag).
import sparsezc.matrix  # noqa: E402, F401
