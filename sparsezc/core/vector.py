"""Vector: a sparse vector, which moves to the engine of each statement."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from sparsezc import ops
from sparsezc.core import formatting, scalar
from sparsezc.core.suitesparse import Accessor
from sparsezc.core.vector_construct import VectorFromArrays
from sparsezc.core.vector_methods import ReadableVector
from sparsezc.engines import cpu
from sparsezc.engines.cpu.suitesparse import native
from sparsezc.exceptions import OutputNotEmpty
from sparsezc.expr import engines
from sparsezc.expr.array_exchange import ByDlpack
from sparsezc.expr.dispatch import PLAIN
from sparsezc.expr.expression import Expression, IndexList, ready
from sparsezc.expr.mask import Mask, Maskable, as_mask
from sparsezc.expr.options import check as check_options
from sparsezc.expr.writable import Writable
from sparsezc.ops import arrays, compare, indices
from sparsezc.process import locks
from sparsezc.process.locks import hold_locks, locked
from sparsezc.semirings.types.datatypes import FP64, DataType, cast, lookup
from sparsezc.semirings.types.user_types import plain

if TYPE_CHECKING:
    from sparsezc.expr.engines import Engine

__all__ = ["Vector"]

_numbers = itertools.count()
_MOST_PENDING = 64  # assignments of one element that a vector without a store queues; the next makes a store


class Vector(VectorFromArrays, ReadableVector, ByDlpack, Maskable, Writable["Vector"]):
    """A sparse vector: `size` positions, some of which hold a value.

    A vector moves by itself to the engine of each statement that it takes part in; a new, empty vector has none.

    Parameters
    ----------
    dtype : DataType, str, NumPy dtype or Python type
    size : int
    name : str, optional

    Raises
    ------
    UnknownDtype
        `dtype` is not a type.
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

    __slots__ = ("_everywhere", "_make", "_pending", "_shape")
    ndim = 1
    #: The methods of SuiteSparse:GraphBLAS beyond the standard, as in python-graphblas.
    #:
    #: :meta hide-value:
    ss = Accessor()

    def __init__(self, dtype: Any = FP64, size: int = 0, *, name: str | None = None) -> None:
        self.dtype = lookup(dtype)
        self.name = f"v_{next(_numbers)}" if name is None else name
        self._shape: tuple[int, ...] = (arrays.size(size, "Vector: size"),)
        self._engine = None
        self._store = None
        self._lock = locks.new()
        # Before an engine stores the vector: the value of every position, and the assignments of single elements. So
        # the first statement with a matrix chooses the engine of an algorithm's vector.
        self._everywhere: scalar.Scalar | None = None
        self._pending: list[Expression] = []
        self._make: Callable[[], Any] | None = None

    @classmethod
    def _blank(cls, dtype: DataType, shape: tuple[int, ...], name: str | None) -> Vector:
        made: Vector = cls.__new__(cls)
        made.dtype = dtype
        made.name = f"v_{next(_numbers)}" if name is None else name
        made._shape = shape
        made._engine = made._store = made._everywhere = made._make = None
        made._pending = []
        made._lock = locks.new()
        return made

    @classmethod
    def _from_store(cls, engine: Engine, store: Any, dtype: DataType, size: int, name: str | None = None) -> Vector:
        made = cls._blank(dtype, (size,), name)
        made._put(engine, store)
        return made

    @classmethod
    def _made_late(cls, engine: Engine, make: Callable[[], Any], dtype: DataType, size: int) -> Vector:
        """Return a vector whose store is made at first use: making one takes as long as a loop over a small graph."""
        made = cls._blank(dtype, (size,), None)
        made._put(engine, None)
        made._make = make
        del made._store
        return made

    if not TYPE_CHECKING:  # checkers would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            if name != "_store":
                return object.__getattribute__(self, name)  # raises
            with self._lock:
                if self._make is not None:
                    self._store, self._make = self._make(), None
            return object.__getattribute__(self, name)

    def _settle(self, engine: Engine) -> None:
        old, content = self._engine, self._store
        if old is engine:
            return
        if old is None:
            self._put(engine, engine.new_vector(self.dtype, self._shape[0]))
        else:
            at, values = engines.in_use(old).vector_to_coo(content)
            self._put(engine, engine.vector_from_coo(at, values, self.dtype, self._shape[0]))
        if self._everywhere is not None:
            value, self._everywhere = self._everywhere, None
            engines.in_use(engine).run(self._express(value), self, PLAIN)
        pending, self._pending = self._pending, []
        for expression in pending:
            engines.in_use(engine).run(expression, self, PLAIN)

    def _postpone(self, expression: Expression) -> bool:
        """Queue ``self[i] << s`` until an engine stores this vector; return False for a statement that cannot wait."""
        if expression.operation != "assign" or len(self._pending) == _MOST_PENDING:
            return False
        s, index = expression.operands
        if index.kind != "one" or s.value is None:
            return False
        self._pending.append(expression.with_operands(lambda x: x.dup() if x is s else x))
        return True

    @locked
    def _need(self) -> tuple[Engine, Any]:
        """Return the engine and the store; a vector without a store gets one on the CPU engine."""
        if self._engine is None:
            self._settle(engines.get("cpu"))
        assert self._engine is not None
        return self._engine, self._store

    # Reading
    @property
    def size(self) -> int:
        """Number of positions."""
        return self._shape[0]

    @property
    @locked
    def nvals(self) -> int:
        """Number of entries; a collective if the vector is distributed."""
        if self._engine is None:
            if self._everywhere is not None:
                return self._shape[0]
            return len({expression.operands[1].key for expression in self._pending})
        return self._engine.nvals(self._store)

    def _repeated(self) -> Any:
        if self._everywhere is None or self._pending or self.dtype.is_udt:
            return None
        return self._everywhere.value

    @locked
    def to_coo(
        self,
        dtype: Any = None,
        *,
        indices: bool = True,
        values: bool = True,
        sort: bool = True,
    ) -> tuple[Any, Any]:
        """Return copies of the positions (uint64, ascending) and the values as arrays; None for arrays not requested.

        If the vector is distributed, this is a collective: all ranks must call it, and each gets all entries.
        """
        engine, store = self._need()
        at, vals = engines.in_use(engine).vector_to_coo(store)
        vals = plain(vals, self.dtype)
        if dtype is not None:
            vals = cast(vals, lookup(dtype))
        return at if indices else None, vals if values else None

    # Changing
    def dup(
        self,
        dtype: Any = None,
        *,
        clear: bool = False,
        mask: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> Vector:
        """Return a copy: converted to `dtype`, without entries (`clear`), or with only the entries in `mask`."""
        check_options(options)
        kind = self.dtype if dtype is None else lookup(dtype)
        if mask is not None:
            mask = as_mask(mask, self)
        with hold_locks(self) if mask is None else hold_locks(self, mask.parent):
            made = self._blank(kind, self.shape, name)
            if clear:
                return made
            if mask is not None:
                made(mask) << self
            elif self._engine is None and (kind is self.dtype or (not self._pending and self._everywhere is None)):
                made._everywhere, made._pending = self._everywhere, self._pending.copy()
            else:
                engine, store = self._need()  # pending elements are first converted to this vector's type
                made._put(engine, engine.dup(store, kind))
            return made

    def build(
        self, indices: ArrayLike, values: Any, *, dup_op: Any = None, clear: bool = False, size: int | None = None
    ) -> None:
        """Fill this empty vector from positions and values; the values are converted to its type.

        Parameters
        ----------
        indices, values, dup_op
            As in :meth:`from_coo`.
        clear : bool
            Remove existing entries first.
        size : int, optional
            Resize first.

        Raises
        ------
        OutputNotEmpty
            The vector has entries, and `clear` is not set.
        """
        indices, values = ready(indices), ready(values)
        with hold_locks(self):
            self._build(indices, values, dup_op, clear, size)

    def _build(self, indices: Any, values: Any, dup_op: Any, clear: bool, size: int | None) -> None:
        if not clear and self.nvals:
            raise OutputNotEmpty(f"{self.name}.build: there are {self.nvals} entries; clear=True removes them")
        size = self._shape[0] if size is None else size
        made = Vector.from_coo(indices, values, self.dtype, size=size, dup_op=dup_op)
        self.clear()
        if size != self._shape[0]:
            self.resize(size)
        self << made

    @locked
    def __sizeof__(self) -> int:
        held = 0 if self._engine is None or self._engine is not cpu.engine() else int(sys.getsizeof(self._store))
        return object.__sizeof__(self) + held

    def _hold_everywhere(self, value: scalar.Scalar) -> None:
        """Give every position of this new vector a value, which takes no memory until an engine stores the vector."""
        self._everywhere = value

    @locked
    def __reduce__(self) -> tuple[Any, ...]:
        at, values = self.to_coo()
        return _unpickle, (at, values, self.dtype, self._shape[0], self.name)

    def _repr_html_(self) -> str:
        return self._html()

    @locked
    def clear(self) -> None:
        """Remove every entry."""
        self._everywhere, self._pending = None, []
        if self._engine is not None:
            self._engine.clear(self._store)

    @locked
    def resize(self, size: int) -> None:
        """Change the number of positions; entries beyond it are removed."""
        size = arrays.size(size, f"{self.name}.resize: size")
        if self._everywhere is not None or self._pending:
            self._need()
        if self._engine is not None:
            self._engine.resize(self._store, size)
        self._shape = (size,)

    @locked
    def wait(self, how: str = "materialize") -> Vector:
        """Finish pending operations.

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
        """Return the vector on an engine, ``"cpu"`` or ``"gpu"``: itself if it is there, else a copy.

        Raises
        ------
        DeviceUnavailable
            The engine is "gpu" and there is none.
        InvalidValue
            The engine is "distributed", and the ranks' vectors differ in size, type or number of entries.
        """
        there = engines.get(engine, f"{self.name}.to({engine!r})")
        if self._engine is there:
            return self
        engines.capability(there, "refuse_different")(self, "to")
        made = self.dup(name=self.name)
        made._settle(there)
        return made

    @locked
    def to_graphblas(self, *, copy: bool = False) -> Any:
        """Return the vector as a python-graphblas Vector: see :func:`sparsezc.to_graphblas`."""
        here = self if self._engine is None else self.to("cpu")
        engine, store = here._need()
        return native.handed_out(engine.dup(store, self.dtype) if copy else store)

    # Methods for writing
    def _indexed(self, keys: Any) -> tuple[IndexList, ...]:
        return indices.parse(keys, self._shape, self.name)

    def _express(self, value: Any) -> Expression:
        return ops.assign(self, (IndexList("all", None, self._shape[0]),), value)

    def _assignment(self, keys: tuple[IndexList, ...], value: Any, mask: Mask | None, submask: bool) -> Expression:
        return ops.assign(self, keys, value, mask, submask)

    def _extraction(self, keys: tuple[IndexList, ...]) -> Expression:
        return ops.extract(self, keys)

    def _deletion(self) -> Any:
        return scalar.Scalar(self.dtype)

    @locked
    def _text(self, mask: Mask | None = None) -> str:
        return formatting.text(self, mask)

    @locked
    def _html(self, mask: Mask | None = None) -> str:
        return formatting.html(self, mask)

    def __repr__(self) -> str:
        return self._text()


def _unpickle(at: Any, values: Any, dtype: Any, size: int, name: str) -> Vector:
    return Vector.from_coo(at, values, dtype, size=size, name=name)


# Imported last, as the module needs Vector; `diag` makes a Matrix in programs that import only Vector.
import sparsezc.core.matrix  # noqa: E402, F401
