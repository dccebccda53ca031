"""Methods of the CPU engine that make, read and change stores, which are python-graphblas's own Matrix and Vector."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc import exceptions
from sparsezc.engines.cpu.suitesparse import native
from sparsezc.engines.cpu.suitesparse.expressions import acyclic
from sparsezc.expr.resolve import resolve
from sparsezc.memory import wrap
from sparsezc.memory.csr import Csr
from sparsezc.memory.placement import FILES
from sparsezc.process import first_use
from sparsezc.semirings import binary
from sparsezc.semirings.algebra.operators import TypedOp
from sparsezc.semirings.types.datatypes import UINT64, DataType
from sparsezc.semirings.types.user_types import packed, plain

if TYPE_CHECKING:
    from sparsezc.expr.sampling import Hops, Subgraph

__all__ = ["Keeper", "merger"]

_sample_hops = first_use.function("sparsezc.engines.cpu.selectk", "sample_hops")


_ROW_ARRAYS = "sparsezc.engines.cpu.suitesparse.row_arrays"
_vector_to_arrays = first_use.function(_ROW_ARRAYS, "vector_to_arrays")
_vector_from_arrays = first_use.function(_ROW_ARRAYS, "vector_from_arrays")
_borrowed = first_use.function(_ROW_ARRAYS, "borrowed")
_row_lengths = first_use.function(_ROW_ARRAYS, "row_lengths")
_full_values = first_use.function(_ROW_ARRAYS, "full_values")
_new_matrix = first_use.function("sparsezc.engines.cpu.suitesparse.pack_arrays", "new_matrix")
_new_vector = first_use.function("sparsezc.engines.cpu.suitesparse.pack_arrays", "new_vector")
_run_loop = first_use.function("sparsezc.engines.cpu.compiled_loops", "run_loop")
_reader = first_use.function("sparsezc.engines.cpu.file_engine", "reader")
_run_arrays = first_use.function("sparsezc.engines.cpu.compiled_loops", "run_arrays")


@lru_cache(maxsize=32)
def _empty_vector(dtype: str, size: int) -> Any:
    """Return a vector without entries to copy, which takes python-graphblas half the time of making one."""
    return native.gb.Vector(dtype, size)


class Keeper:
    """The methods of the engine protocol that do not compute; see :class:`sparsezc.expr.engines.Engine`."""

    def new_matrix(self, dtype: DataType, nrows: int, ncols: int) -> Any:
        return acyclic(native.gb.Matrix(native.type_of(dtype), nrows, ncols))

    def new_vector(self, dtype: DataType, size: int) -> Any:
        if dtype.is_udt:
            return acyclic(native.gb.Vector(native.type_of(dtype), size))
        return acyclic(_empty_vector(dtype.name, size).dup())

    def scalar(self, value: Any, dtype: DataType) -> Any:
        """Return a python-graphblas Scalar, empty for None."""
        theirs = native.type_of(dtype)
        if value is None:
            return native.gb.Scalar(theirs)
        only_c = dtype is UINT64  # of a Scalar's two kinds only the C kind holds values beyond INT64
        return native.gb.Scalar.from_value(value, theirs, is_cscalar=only_c).dup(is_cscalar=False)

    def _single(self, values: NDArray[Any], dtype: DataType) -> Any:
        """Return a single value in the form that python-graphblas takes."""
        if dtype.is_udt or dtype is UINT64:
            return self.scalar(plain(values, dtype) if dtype.is_udt else values.item(), dtype)
        return values.item()

    def build_matrix(
        self,
        rows: NDArray[np.uint64],
        columns: NDArray[np.uint64],
        values: NDArray[Any],
        dtype: DataType,
        shape: tuple[int, int],
        merge: TypedOp | None,
    ) -> Any:
        """Build from positions in any order; a `values` of no dimension stands for all (duplicates are dropped)."""
        store = acyclic(native.gb.Matrix(native.type_of(dtype), *shape))
        if values.ndim == 0:
            store.ss.build_scalar(rows, columns, self._single(values, dtype))
            return store
        store.build(rows, columns, plain(values, dtype), dup_op=native.operator(merge or binary.any[dtype]))
        if merge is None and store.nvals != rows.size:
            i, j = _first_twice(rows, columns)
            raise exceptions.InvalidValue(
                f"Matrix.from_coo: Duplicate indices found: position ({i}, {j}) is there twice; dup_op= says how to"
                " merge"
            )
        return store

    def build_vector(
        self, indices: NDArray[np.uint64], values: NDArray[Any], dtype: DataType, size: int, merge: TypedOp | None
    ) -> Any:
        """Build from positions in any order, as :meth:`build_matrix`."""
        store = acyclic(native.gb.Vector(native.type_of(dtype), size))
        if values.ndim == 0:
            store.ss.build_scalar(indices, self._single(values, dtype))
            return store
        store.build(indices, plain(values, dtype), dup_op=native.operator(merge or binary.any[dtype]))
        if merge is None and store.nvals != indices.size:
            (i,) = _first_twice(indices)
            raise exceptions.InvalidValue(
                f"Vector.from_coo: Duplicate indices found: position {i} is there twice; dup_op= says how to merge"
            )
        return store

    def dense_vector(self, values: NDArray[Any], dtype: DataType) -> Any:
        """Build a full vector; copies."""
        if dtype.is_udt:
            return acyclic(native.gb.Vector.from_dense(plain(values, dtype), dtype=native.type_of(dtype)))
        return _new_vector(native.type_of(dtype), values.size, np.array(values, dtype.np_type, order="C"))

    def dense_matrix(self, values: NDArray[Any], dtype: DataType) -> Any:
        """Build a full matrix from a two-dimensional array; copies."""
        return acyclic(native.gb.Matrix.from_dense(plain(values, dtype), dtype=native.type_of(dtype)))

    def storage(self, store: Any) -> tuple[str, None, int]:
        return store.ss.format + " (iso)" * store.ss.is_iso, None, sys.getsizeof(store)

    def full_values(self, store: Any) -> Any:
        """Return the values of a matrix that has every entry, or None (a capability)."""
        dtype = native.our_type(store.dtype)
        if dtype.is_udt or store.ss.is_iso or store.nvals != store.nrows * store.ncols:
            return None
        return store.to_dense()

    def matrix_from_full(self, values: NDArray[Any], dtype: DataType) -> Any:
        """Build a full matrix (a capability)."""
        return self.dense_matrix(values, dtype)

    def reader(self, csr: Csr) -> Any:
        """Return the engine of matrices whose ids stay in a file as they are (a capability)."""
        return _reader(self, csr) if csr.indices.placement in FILES else None

    def matrix_from_csr(self, csr: Csr) -> Any:
        return self._imported(csr, adopt=False)

    def adopt_csr(self, csr: Csr) -> Any:
        """Build from a Csr without a copy of ids and values if they are host arrays of the right types that own their
        memory; the Csr must not be used afterwards.
        """
        return self._imported(csr, adopt=True)

    def _imported(self, csr: Csr, adopt: bool) -> Any:
        placed = csr.place("host", ids=np.uint64)
        adopt = adopt or placed is not csr
        indices, values = placed.indices.read(), placed.values.read()
        made = native.gb.Matrix.ss.import_csr(
            nrows=csr.nrows,
            ncols=csr.ncols,
            indptr=csr.indptr.astype(np.uint64),
            col_indices=_owner(indices) if adopt else indices.copy(),
            values=plain(values, csr.dtype).copy() if csr.dtype.shape or not adopt else _owner(values),
            is_iso=csr.iso,
            sorted_cols=True,
            take_ownership=True,
            dtype=native.type_of(csr.dtype),
        )
        return acyclic(made)

    def adopt_rows(self, rows: Any, indptr: Any, ids: Any, values: Any, dtype: DataType, shape: tuple[int, int]) -> Any:
        """Build from some rows, ascending, and their entries; a single value stands for all (a capability).

        Takes over the arrays, as :meth:`adopt_vector` does.
        """
        iso = values.size != ids.size
        owned = map(_owner, (rows, indptr, ids, values))
        return _new_matrix(native.type_of(dtype), shape, *owned, iso=iso)

    def matrix_to_csr(self, store: Any) -> Csr:
        """Return copies; an iso-valued matrix keeps its one value."""
        try:
            info = store.ss.export("csr", sort=True)
        except native.gb.exceptions.OutOfMemory as error:
            raise exceptions.OutOfMemory(
                f"{store.nrows + 1:,} row offsets and {store.nvals:,} entries need more host memory than there is"
            ) from error
        dtype = native.our_type(store.dtype)
        values = packed(np.atleast_1d(info["values"]), dtype)
        values = values if dtype.shape else values.astype(dtype.np_type, copy=False)
        iso = bool(info["is_iso"])
        indices = info["col_indices"]
        return Csr(store.nrows, store.ncols, info["indptr"].view(np.int64), wrap(indices), wrap(values), dtype, iso)

    def matrix_to_coo(self, store: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return rows, columns and values, sorted by rows; for matrices whose row offsets would not fit in memory."""
        rows, columns, values = store.to_coo()
        order = np.lexsort((columns, rows))
        return rows[order], columns[order], packed(values[order], native.our_type(store.dtype))

    def vector_from_coo(self, indices: NDArray[Any], values: NDArray[Any], dtype: DataType, size: int) -> Any:
        ids = np.asarray(indices, np.uint64)
        vals = values if dtype.shape else np.asarray(values, dtype.np_type)
        if vals.ndim == 0 or (vals.size == 1 and ids.size != 1):
            return self.build_vector(ids, vals.reshape(()), dtype, size, None)
        if ids.size == size:
            return self.dense_vector(vals, dtype)
        return self.build_vector(ids, vals, dtype, size, None)

    def vector_to_coo(self, store: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        dtype = native.our_type(store.dtype)
        is_full = store._nvals == store._size and not dtype.is_udt
        if is_full and (every := _full_values(store)) is not None:
            return np.arange(every.size, dtype=np.uint64), every
        indices, values = store.to_coo()
        return indices, packed(values, dtype)

    def vector_to_arrays(self, store: Any, form: str) -> tuple[NDArray[Any], ...]:
        found: tuple[NDArray[Any], ...] = _vector_to_arrays(store, form)
        return found

    def vector_from_arrays(self, form: str, arrays: tuple[Any, ...], dtype: DataType, size: int) -> Any:
        return _vector_from_arrays(form, arrays, dtype, size)

    def adopt_vector(
        self,
        values: NDArray[Any],
        dtype: DataType,
        size: int,
        at: NDArray[Any] | None = None,
        present: NDArray[Any] | None = None,
    ) -> Any:
        """Build from values at positions `at`, ascending and distinct, or at all, where `present` marks the entries.

        Takes over the arrays, which must not be used afterwards; those that do not own their memory are copied.
        """
        owned = (None if x is None else _owner(x) for x in (values, at, present))
        return _new_vector(native.type_of(dtype), size, *owned)

    def by_position(self, vector: Any) -> None:
        """Store a vector as a bitmap: in a sparse one, dot products look up each column by bisection (a capability)."""
        if vector.ss.format == "sparse":
            vector.ss.config["sparsity_control"] = "bitmap"

    def pointers(self, store: Any) -> Any:
        """Make a square matrix with a true entry (i, v(i)) for each entry of a vector (a capability)."""
        at, values = store.to_coo(sort=True)
        indptr, columns = np.arange(at.size + 1, dtype=np.uint64), _owner(values.astype(np.uint64, copy=False))
        shape = store.size, store.size
        return _new_matrix("BOOL", shape, _owner(at), indptr, columns, np.ones(1, np.bool_), iso=True)

    def sample_hops(self, store: Any, transposed: bool, seeds: NDArray[np.int64], hops: Hops) -> Subgraph:
        """Pick entries hop by hop (a capability)."""
        found: Subgraph = _sample_hops(acyclic(store.T.new()) if transposed else store, seeds, hops)
        return found

    def run_loop(self, *given: Any) -> Any:
        """Run a compiled loop over the rows of a matrix (a capability)."""
        return _run_loop(*given)

    def run_arrays(self, *given: Any) -> Any:
        """Run a compiled loop over arrays (a capability)."""
        return _run_arrays(*given)

    def row_lengths(self, store: Any) -> NDArray[np.int64] | None:
        """Count the entries of each row, if a matrix stores where all begin (a capability)."""
        found: NDArray[np.int64] | None = _row_lengths(store)
        return found

    def lend_rows(self, store: Any) -> Any:
        """Lend the rows of a matrix (a capability)."""
        return _borrowed(store)

    def dup(self, store: Any, dtype: DataType) -> Any:
        theirs = native.type_of(dtype)
        if store.dtype != theirs and (dtype.is_udt or native.our_type(store.dtype).is_udt):
            raise exceptions.DomainMismatch(
                f"dup: {store.dtype} is not converted to {dtype}; a user defined one of them"
            )
        return acyclic(store.dup() if store.dtype == theirs else store.dup(theirs))

    def nvals(self, store: Any) -> int:
        return int(store._nvals)  # a quarter of the time of nvals, which notifies a Recorder

    def clear(self, store: Any) -> None:
        store.clear()

    def resize(self, store: Any, *shape: int) -> None:
        store.resize(*shape)

    def wait(self, store: Any) -> None:
        store.wait()


def merger(dup_op: Any, dtype: DataType, is_iso: bool, where: str) -> TypedOp | None:
    """Return the typed operator that merges duplicates, or None if none is given.

    Raises
    ------
    InvalidValue
        An operator is given, but one value stands for all, so there is nothing to merge.
    """
    if dup_op is None:
        return None
    if is_iso:
        raise exceptions.InvalidValue(f"{where}: dup_op must be None where values is a single one for all")
    return resolve("binary", dup_op, f"{where}: dup_op", dtype)


def _owner(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that owns its memory, as GraphBLAS adopts no other: the one behind a whole view, or a copy."""
    if not array.flags.c_contiguous:
        return array.copy()
    if array.flags.owndata:
        return array
    base, same = array.base, (array.dtype, (array.size,))
    if isinstance(base, np.ndarray) and base.flags.owndata and (base.dtype, base.shape) == same:
        return base
    return array.copy()


def _first_twice(*ids: NDArray[np.uint64]) -> tuple[int, ...]:
    """Return the smallest position that occurs twice."""
    order = np.lexsort(ids[::-1])
    same = np.logical_and.reduce([part[order][1:] == part[order][:-1] for part in ids])
    at = order[int(np.argmax(same))]
    return tuple(int(part[at]) for part in ids)
