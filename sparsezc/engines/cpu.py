"""The CPU engine: SuiteSparse:GraphBLAS, through python-graphblas. It translates and adds nothing.

A store is python-graphblas's own Matrix or Vector, so objects pass both ways without a copy. SuiteSparse runs in
blocking mode, for in nonblocking mode, python-graphblas's default, it may corrupt an operand: after ``q << vxm(...)``,
a statement ``o(mask) << q.apply(op)`` may leave q's ids sorted and its values not. Where a program has started
nonblocking mode itself, every result is waited for, which keeps answers right.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc import errors
from sparsezc.csr import Csr
from sparsezc.engines import cpu_operators
from sparsezc.expression import Expression, IndexList, Mask
from sparsezc.memory import wrap
from sparsezc.resolve import resolve
from sparsezc.semirings.operators import TypedOp
from sparsezc.semirings.types import DataType, cast, lookup

__all__ = ["CpuEngine", "engine", "merger"]

gb: Any = None  # python-graphblas, imported when the engine starts
_engine: CpuEngine | None = None


def engine() -> CpuEngine:
    """The engine, started on first use."""
    global _engine
    if _engine is None:
        _engine = CpuEngine(blocking=_start())
    return _engine


def _start() -> bool:
    """Start python-graphblas in blocking mode, unless the program has started it before; whether it is in that mode."""
    global gb
    import graphblas
    from suitesparse_graphblas import ffi, is_initialized, lib

    if not is_initialized():
        graphblas.init("suitesparse", blocking=True)
    gb = graphblas
    _ = gb.Vector  # starts python-graphblas itself, in whatever mode the library below it is
    mode = ffi.new("int32_t*")
    lib.GxB_Global_Option_get_INT32(lib.GxB_MODE, mode)
    if mode[0] == lib.GrB_BLOCKING:
        return True
    warnings.warn(
        "graphblas was started in nonblocking mode, in which SuiteSparse can give wrong answers. sparsezc waits for"
        " each of its own results, so they are right; for your own calls, say"
        " graphblas.init('suitesparse', blocking=True) before anything else",
        RuntimeWarning,
        stacklevel=4,
    )
    return False


def merger(dup_op: Any, dtype: DataType, is_iso: bool, where: str) -> TypedOp | None:
    """The typed operator that merges duplicates, or None where none is given.

    Raises
    ------
    InvalidValue
        There is one and only one value for all, so there is nothing to merge.
    """
    if dup_op is None:
        return None
    if is_iso:
        raise errors.InvalidValue(f"{where}: dup_op merges several values; values is a single one for all")
    return resolve("binary", dup_op, f"{where}: dup_op", dtype)


# Operands

_translated: dict[TypedOp | None, Any] = {}


def _op(op: TypedOp | None) -> Any:
    """python-graphblas's operator of the same name and type."""
    try:
        return _translated[op]
    except KeyError:
        assert op is not None
        return _translated.setdefault(op, _translate(op))


def _translate(op: TypedOp) -> Any:
    if cpu_operators.is_made(op):
        return cpu_operators.make(gb, op)
    room = getattr(gb, op.op.kind)
    # `.ss` first: python-graphblas still has its names outside of it, but warns.
    homes = (getattr(room, "ss", None), room, getattr(room, "numpy", None))
    found = next((getattr(home, op.name) for home in homes if op.name in dir(home)), None)
    if found is None:
        raise errors.NotImplementedException(f"the cpu engine (python-graphblas) has no operator {op.op!r}")
    for dtype in (op.type, *op.op.types):  # some are known by the types that are converted to theirs only
        if dtype in op.op.types and op.op[dtype] is op and dtype.name in found:
            return found[dtype.name]
    for dtype in op.op.types.values():
        if op.op.is_positional and dtype.name in found:
            return found[dtype.name]
    raise errors.NotImplementedException(f"the cpu engine (python-graphblas) has no {op!r}")


def _operand(x: Any) -> Any:
    return x._store.T if x._transposed else x._store


_PLAIN = {
    "BOOL": bool,
    "INT64": int,
    "FP64": float,
    "FC64": complex,
}  # Python's numbers that python-graphblas takes for these types


def _scalar(s: Any) -> Any:
    if _PLAIN.get(s.dtype.name) is type(s.value):
        return s.value
    return gb.Scalar.from_value(s.value, s.dtype.name, is_cscalar=True)


def _thunk(s: Any, op: TypedOp) -> Any:
    """The thunk in the operator's own type: with another, python-graphblas compares with whatever bits lie there."""
    if s.dtype is op.thunk_type:
        return _scalar(s)
    return gb.Scalar.from_value(cast(s.value, op.thunk_type).item(), op.thunk_type.name, is_cscalar=True)


def _index(keys: tuple[IndexList, ...]) -> Any:
    found = tuple(_one_index(key) for key in keys)
    return found if len(found) == 2 else found[0]


def _one_index(key: IndexList) -> Any:
    if key.kind == "all":
        return slice(None)
    if key.kind == "range":
        steps = key.key
        if not len(steps):
            return np.empty(0, np.uint64)
        return slice(steps.start, None if steps.stop < 0 else steps.stop, steps.step)
    return key.key


def _mask(mask: Mask | None) -> Any:
    if mask is None:
        return None
    store = mask.parent._store
    native = store.S if mask.structure else store.V
    return ~native if mask.complement else native


# Operations: each makes python-graphblas's unrun expression


def _mxv(x: Expression) -> Any:
    A, v = x.operands
    return _operand(A).mxv(v._store, _op(x.op))


def _vxm(x: Expression) -> Any:
    v, A = x.operands
    return v._store.vxm(_operand(A), _op(x.op))


def _mxm(x: Expression) -> Any:
    A, B = x.operands
    return _operand(A).mxm(_operand(B), _op(x.op))


def _ewise_add(x: Expression) -> Any:
    u, v = x.operands
    return _operand(u).ewise_add(_operand(v), _op(x.op))


def _ewise_mult(x: Expression) -> Any:
    u, v = x.operands
    return _operand(u).ewise_mult(_operand(v), _op(x.op))


def _ewise_union(x: Expression) -> Any:
    u, left, v, right = x.operands
    return _operand(u).ewise_union(_operand(v), _op(x.op), _scalar(left), _scalar(right))


def _apply(x: Expression) -> Any:
    return _operand(x.operands[0]).apply(_op(x.op))


def _apply_left(x: Expression) -> Any:
    s, u = x.operands
    return _operand(u).apply(_op(x.op), left=_scalar(s))


def _apply_right(x: Expression) -> Any:
    u, s = x.operands
    return _operand(u).apply(_op(x.op), right=_scalar(s))


def _apply_index(x: Expression) -> Any:
    u, s = x.operands
    op: Any = x.op
    return _operand(u).apply(_op(op), right=_thunk(s, op))


def _select(x: Expression) -> Any:
    u, s = x.operands
    op: Any = x.op
    if op.is_positional or op.type is u.dtype:
        return _operand(u).select(_op(op), _thunk(s, op))
    # SuiteSparse compares rightly in the operand's own type only; apply converts as it should.
    true = _operand(u).apply(_op(op), right=_thunk(s, op)).new().select(gb.select.valuene["BOOL"], False).new()
    return true.ewise_mult(_operand(u), gb.binary.second[u.dtype.name])


def _reduce_rowwise(x: Expression) -> Any:
    return _operand(x.operands[0]).reduce_rowwise(_op(x.op))


def _transpose(x: Expression) -> Any:
    A = x.operands[0]
    return A.T._store if A._transposed else A._store.T


def _extract(x: Expression) -> Any:
    u, *keys = x.operands
    return _operand(u)[_index(tuple(keys))]


def _diag(x: Expression) -> Any:
    u, k = x.operands
    return _operand(u).diag(k.value)


_EXPRESSIONS: dict[str, Callable[[Expression], Any]] = {
    "mxv": _mxv,
    "vxm": _vxm,
    "mxm": _mxm,
    "ewise_add": _ewise_add,
    "ewise_mult": _ewise_mult,
    "ewise_union": _ewise_union,
    "apply": _apply,
    "apply_left": _apply_left,
    "apply_right": _apply_right,
    "apply_index": _apply_index,
    "select": _select,
    "reduce_rowwise": _reduce_rowwise,
    "transpose": _transpose,
    "extract": _extract,
    "diag": _diag,
}


def _not_full(native: Any) -> Any:
    """The same operand, but never in SuiteSparse's full format.

    ``w(m.S, accum) << u`` with such a u, mostly absent entries in w and a mask of few entries writes beyond an array in
    SuiteSparse 9.4.5, which ends the process; with a bitmap it does not.
    """
    if native.nvals < (native.size if native.ndim == 1 else native.nrows * native.ncols):
        return native
    copy = native.dup()
    copy.ss.config["sparsity_control"] = "bitmap"
    return copy


def _assign(x: Expression, out: Any, mask: Any, accum: Any, replace: bool) -> None:
    value, *keys = x.operands
    store, index = out._store, _index(tuple(keys))
    if value.ndim:
        native = _operand(value)
        if accum is not None and mask is not None and not (mask.complement or replace):
            native = _not_full(native)
    elif value.value is None:
        native = gb.Scalar(value.dtype.name, is_cscalar=False)
    else:
        native = _scalar(value)
    if x.operation == "subassign":
        store[index](mask=mask, accum=accum, replace=replace) << native
    elif mask is None and accum is None:
        store[index] = native
    else:
        store(mask=mask, accum=accum, replace=replace)[index] = native


def _read(x: Expression) -> Any:
    """The value of an expression that makes a Scalar; None where there is none."""
    if x.operation == "extract":
        u, *keys = x.operands
        return _operand(u).get(*(key.key for key in keys))
    u = x.operands[0]
    reduce = u._store.reduce if u.ndim == 1 else u._store.reduce_scalar
    return reduce(_op(x.op)).new().value


def _method(x: Expression, mask: Any) -> dict[str, str]:
    """Keep SuiteSparse from a hash table in a matrix times vector whose mask is no complement.

    It sizes the table by the products and puts the mask's entries in too; one that is full is searched for ever (9.4.5,
    in either mode, with any number of threads).
    """
    if mask is None or mask.complement or x.operation not in ("vxm", "mxv"):
        return {}
    by_rows = x.operation == "vxm"
    return {"axb_method": "gustavson" if x.operands[by_rows]._transposed != by_rows else "dot"}


class CpuEngine:
    """The engine protocol over python-graphblas; see :class:`sparsezc.engines.Engine`.

    Attributes
    ----------
    blocking : bool
        Whether SuiteSparse is in blocking mode; else products are waited for.
    """

    name = "cpu"

    def __init__(self, blocking: bool) -> None:
        self.blocking = blocking

    def run(self, expression: Expression, out: Any, mask: Any, accum: TypedOp | None, replace: bool) -> None:
        """One python-graphblas statement."""
        try:
            if not expression.shape:
                out._receive(expression, _read(expression), accum)
                return
            native_accum = None if accum is None else _op(accum)
            make = _EXPRESSIONS.get(expression.operation)
            if make is None:
                _assign(expression, out, _mask(mask), native_accum, replace)
            elif mask is None and native_accum is None:
                out._store << make(expression)
            else:
                options = _method(expression, mask)
                out._store(mask=_mask(mask), accum=native_accum, replace=replace, **options) << make(expression)
            if not self.blocking:
                out._store.wait()
        except gb.exceptions.GraphblasException as error:
            raise _ours(error, expression.operation) from error

    # Making and reading stores
    def new_matrix(self, dtype: DataType, nrows: int, ncols: int) -> Any:
        return gb.Matrix(dtype.name, nrows, ncols)

    def new_vector(self, dtype: DataType, size: int) -> Any:
        return gb.Vector(dtype.name, size)

    def scalar(self, value: Any, dtype: DataType) -> Any:
        """A python-graphblas Scalar, empty for None."""
        return gb.Scalar(dtype.name) if value is None else gb.Scalar.from_value(value, dtype.name)

    def build_matrix(
        self,
        rows: NDArray[np.uint64],
        columns: NDArray[np.uint64],
        values: NDArray[Any],
        dtype: DataType,
        shape: tuple[int, int],
        merge: TypedOp | None,
    ) -> Any:
        """From positions in any order; `values` without dimensions is one for all, and duplicates do not matter."""
        store = gb.Matrix(dtype.name, *shape)
        if values.ndim == 0:
            store.ss.build_scalar(rows, columns, values.item())
            return store
        store.build(rows, columns, values, dup_op=gb.binary.any if merge is None else _op(merge))
        if merge is None and store.nvals != rows.size:
            i, j = _first_twice(rows, columns)
            raise errors.InvalidValue(f"Matrix.from_coo: position ({i}, {j}) is there twice; dup_op= says how to merge")
        return store

    def build_vector(
        self, indices: NDArray[np.uint64], values: NDArray[Any], dtype: DataType, size: int, merge: TypedOp | None
    ) -> Any:
        """From positions in any order, as :meth:`build_matrix`."""
        store = gb.Vector(dtype.name, size)
        if values.ndim == 0:
            store.ss.build_scalar(indices, values.item())
            return store
        store.build(indices, values, dup_op=gb.binary.any if merge is None else _op(merge))
        if merge is None and store.nvals != indices.size:
            (i,) = _first_twice(indices)
            raise errors.InvalidValue(f"Vector.from_coo: position {i} is there twice; dup_op= says how to merge")
        return store

    def dense_vector(self, values: NDArray[Any], dtype: DataType) -> Any:
        """A full vector; copies."""
        return gb.Vector.from_dense(values, dtype=dtype.name)

    def dense_matrix(self, values: NDArray[Any], dtype: DataType) -> Any:
        """A full matrix from an array of two dimensions; copies."""
        return gb.Matrix.from_dense(values, dtype=dtype.name)

    def matrix_from_csr(self, csr: Csr, adopt: bool = False) -> Any:
        """With `adopt`, ids and values are taken over without a copy where they are host arrays of the right types that
        own their memory; the Csr must not be used afterwards.
        """
        placed = csr.place("host", ids=np.uint64)
        adopt = adopt or placed is not csr
        indices, values = placed.indices.read(), placed.values.read()
        return gb.Matrix.ss.import_csr(
            nrows=csr.nrows,
            ncols=csr.ncols,
            indptr=csr.indptr.astype(np.uint64),
            col_indices=_owner(indices) if adopt else indices.copy(),
            values=_owner(values) if adopt else values.copy(),
            is_iso=csr.iso,
            sorted_cols=True,
            take_ownership=True,
            dtype=csr.dtype.name,
        )

    def matrix_to_csr(self, store: Any) -> Csr:
        """Copies; an iso-valued matrix keeps its one value."""
        info = store.ss.export("csr", sort=True)
        dtype = lookup(store.dtype.name)
        values = np.atleast_1d(info["values"]).astype(dtype.np_type, copy=False)
        iso = bool(info["is_iso"])
        indices = info["col_indices"]
        return Csr(store.nrows, store.ncols, info["indptr"].view(np.int64), wrap(indices), wrap(values), dtype, iso)

    def vector_from_coo(self, indices: NDArray[Any], values: NDArray[Any], dtype: DataType, size: int) -> Any:
        ids, vals = np.asarray(indices, np.uint64), np.asarray(values, dtype.np_type)
        if vals.ndim == 0 or (vals.size == 1 and ids.size != 1):
            return self.build_vector(ids, vals.reshape(()), dtype, size, None)
        if ids.size == size:
            return self.dense_vector(vals, dtype)
        return self.build_vector(ids, vals, dtype, size, None)

    def vector_to_coo(self, store: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        indices, values = store.to_coo()
        return indices, values

    def dup(self, store: Any, dtype: DataType) -> Any:
        return store.dup() if store.dtype.name == dtype.name else store.dup(dtype.name)

    def nvals(self, store: Any) -> int:
        return int(store.nvals)

    def clear(self, store: Any) -> None:
        store.clear()

    def resize(self, store: Any, *shape: int) -> None:
        store.resize(*shape)

    def keep_transpose(self, store: Any) -> None:
        """Nothing: SuiteSparse chooses for itself."""

    def wait(self, store: Any) -> None:
        store.wait()


def _owner(array: NDArray[Any]) -> NDArray[Any]:
    """The array that owns the memory of a whole view, for GraphBLAS can adopt nothing else; else the array itself."""
    base = array.base
    if not isinstance(base, np.ndarray) or not base.flags.owndata:
        return array
    return base if base.ndim == 1 and base.dtype == array.dtype and base.size == array.size else array


def _first_twice(*ids: NDArray[np.uint64]) -> tuple[int, ...]:
    """The smallest position that is there twice."""
    order = np.lexsort(ids[::-1])
    same = np.logical_and.reduce([part[order][1:] == part[order][:-1] for part in ids])
    at = order[int(np.argmax(same))]
    return tuple(int(part[at]) for part in ids)


def _ours(error: Exception, operation: str) -> errors.GraphblasException:
    """python-graphblas's error as ours of the same name."""
    kind = getattr(errors, type(error).__name__, errors.GraphblasException)
    found: errors.GraphblasException = kind(f"{operation}: {error or type(error).__name__}")
    return found
