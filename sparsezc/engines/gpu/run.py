"""The GPU engine: which function does which operation, how stores are made and read, what is left to the CPU engine."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc import device
from sparsezc.config import config
from sparsezc.csr import Csr
from sparsezc.engines.gpu import elementwise, entries, indexing, launch, matrices, reduce, spmv
from sparsezc.engines.gpu.output import MaskBits, mask_bits
from sparsezc.engines.gpu.stores import MatrixStore, VectorStore
from sparsezc.errors import NotImplementedException, warn_slow
from sparsezc.memory import budget, wrap
from sparsezc.semirings import binary
from sparsezc.semirings.structures import register_anonymous
from sparsezc.semirings.types import BOOL, COMPLEX, DataType, cast, unify

_COMPLEX = frozenset(COMPLEX)
_warned: set[str] = set()


class GpuEngine:
    """Runs expressions with our kernels; see :class:`sparsezc.engines.Engine`."""

    name = "gpu"

    def run(self, expression: Any, out: Any, mask: Any, accum: Any, replace: bool) -> None:
        native = None if _is_complex(expression, out, mask, accum) else _NATIVE.get(expression.operation)
        if native is None or not native(expression, out, mask, accum, replace):
            _fall_back(expression, out, mask, accum, replace)

    # Stores

    def new_matrix(self, dtype: DataType, nrows: int, ncols: int) -> MatrixStore:
        return MatrixStore(dtype, nrows, ncols, None)

    def new_vector(self, dtype: DataType, size: int) -> VectorStore:
        return VectorStore(dtype, size)

    def matrix_from_csr(self, csr: Csr) -> MatrixStore:
        if csr.indices.placement == "host":
            csr = csr.place(budget.resolve(config.placement, csr.placed_nbytes, csr.nrows))
        return matrices.store_of(csr)

    def matrix_to_csr(self, store: MatrixStore) -> Csr:
        return matrices.csr_of(store)

    def vector_from_coo(self, indices: NDArray[Any], values: NDArray[Any], dtype: DataType, size: int) -> VectorStore:
        gpu = device.current()
        store = VectorStore(dtype, size)
        if indices.size == 0:
            return store
        xp = gpu.xp
        numbers = xp.array(np.ascontiguousarray(values).astype(dtype.np_type, copy=False))  # a copy on any device
        if indices.size == size:  # ascending and distinct: all of them
            full = numbers if numbers.size == size else xp.full(size, numbers.reshape(-1)[0])
            bits = launch.mark(xp.arange(size, dtype=np.uint64), size)
            store.set(full, bits, size)
            return store
        positions = xp.asarray(np.ascontiguousarray(indices).astype(np.uint64, copy=False))
        spread = xp.empty(size, dtype.np_type)
        spread[positions.astype(np.int64)] = numbers
        store.set(spread, launch.mark(positions, size), int(indices.size))
        return store

    def vector_to_coo(self, store: VectorStore) -> tuple[NDArray[Any], NDArray[Any]]:
        if store.bits is None:
            return np.empty(0, np.uint64), np.empty(0, store.dtype.np_type)
        gpu = device.current()
        xp = gpu.xp
        if store.is_full:
            return np.arange(store.size, dtype=np.uint64), gpu.asnumpy(store.values).copy()
        # Only what is present crosses the link.
        present = xp.unpackbits(store.bits.view(np.uint8), bitorder="little")[: store.size]
        positions = xp.flatnonzero(present)
        store.count = int(positions.size)
        return gpu.asnumpy(positions.astype(np.uint64)), gpu.asnumpy(store.values[positions])

    def dup(self, store: Any, dtype: DataType) -> Any:
        if dtype is not store.dtype and (dtype.is_complex or store.dtype.is_complex):
            return self._through_host(store, dtype)
        if isinstance(store, MatrixStore):
            return matrices.cast(store, dtype)
        if dtype.is_complex:
            return self.vector_from_coo(*self.vector_to_coo(store), dtype, store.size)
        copy = VectorStore(dtype, store.size)
        elementwise.write_vector(store, copy, MaskBits(), None, False)
        copy.count = store.count
        return copy

    def _through_host(self, store: Any, dtype: DataType) -> Any:
        """A copy of another type; no kernel knows complex numbers."""
        if isinstance(store, VectorStore):
            indices, values = self.vector_to_coo(store)
            return self.vector_from_coo(indices, cast(values, dtype), dtype, store.size)
        csr = matrices.csr_of(store)
        changed_values = wrap(np.atleast_1d(cast(csr.values.read(), dtype)))
        changed = Csr(csr.nrows, csr.ncols, csr.indptr, csr.indices, changed_values, dtype, csr.iso)
        return self.matrix_from_csr(changed.place("host"))

    def nvals(self, store: Any) -> int:
        count: int = store.nvals if isinstance(store, MatrixStore) else store.nvals()
        return count

    def clear(self, store: Any) -> None:
        if isinstance(store, MatrixStore):
            store.rows = store.columns = None
        else:
            store.clear()

    def resize(self, store: Any, *shape: int) -> None:
        if isinstance(store, MatrixStore):
            matrices.resize(store, *shape)
            return
        indices, values = self.vector_to_coo(store)
        kept = indices < shape[0]
        other = self.vector_from_coo(indices[kept], values[kept], store.dtype, shape[0])
        store.size = shape[0]
        store.set(other.values, other.bits, other.count)

    def keep_transpose(self, store: MatrixStore) -> None:
        matrices.keep_transpose(store)

    def wait(self, store: Any) -> None:
        device.current().synchronize()


def _is_complex(expression: Any, out: Any, mask: Any, accum: Any) -> bool:
    """Whether a statement has to do with complex numbers, for which there are no kernels."""
    found = [out.dtype, expression.dtype, *(getattr(x, "dtype", None) for x in expression.operands)]
    found += [op.type for op in (expression.op, accum) if op is not None]
    return not _COMPLEX.isdisjoint(found) or (mask is not None and mask.parent.dtype in _COMPLEX)


# The operations. Each takes (expression, out, mask, accum, replace) and returns whether it did the work.


def _spmv(vector_left: bool) -> Callable[..., bool]:
    def run(e: Any, out: Any, mask: Any, accum: Any, replace: bool) -> bool:
        v, matrix = e.operands if vector_left else reversed(e.operands)
        bits, transposed = mask_bits(mask), matrix._transposed != vector_left
        spmv.spmv(matrix._store, transposed, v._store, e.op, out._store, bits, accum, replace, vector_left=vector_left)
        return True

    return run


def _ewise(e: Any, out: Any, mask: Any, accum: Any, replace: bool) -> bool:
    if out.ndim != 1:
        return False
    extra: dict[str, Any] = {}
    if e.operation == "ewise_union":
        u, s, v, t = e.operands
        extra = {"scalars": (s.value, t.value), "scalar_type": unify(s.dtype, t.dtype)}
    else:
        u, v = e.operands
    elementwise.ewise(e.operation, e.op, u._store, v._store, out._store, mask_bits(mask), accum, replace, **extra)
    return True


def _apply(e: Any, out: Any, mask: Any, accum: Any, replace: bool) -> bool:
    left = e.operation == "apply_left"
    u = e.operands[1 if left else 0]
    s = None if e.operation == "apply" else e.operands[0 if left else 1]
    value, scalar_type = (0, BOOL) if s is None else (s.value, s.dtype)
    if out.ndim == 2:
        if not _is_plain(u, mask, accum):
            return False
        made = entries.apply(e.op, u._store, left, value, scalar_type)
        matrices.become(out._store, matrices.cast(made, out.dtype))
        return True
    bits = mask_bits(mask)
    elementwise.apply(
        e.op, u._store, out._store, bits, accum, replace, left=left, scalar=value, scalar_type=scalar_type
    )
    return True


def _is_plain(matrix: Any, mask: Any, accum: Any) -> bool:
    """Whether a matrix's result is simply made and becomes the output."""
    return mask is None and accum is None and not matrix._transposed


def _select(e: Any, out: Any, mask: Any, accum: Any, replace: bool) -> bool:
    u, s = e.operands
    if out.ndim == 2:
        if not _is_plain(u, mask, accum):
            return False
        picked = entries.select(e.op, u._store, s.value, s.dtype)
        matrices.become(out._store, matrices.cast(picked, out.dtype))
        return True
    elementwise.select(e.op, u._store, s.value, s.dtype, out._store, mask_bits(mask), accum, replace)
    return True


def _transpose(e: Any, out: Any, mask: Any, accum: Any, _replace: bool) -> bool:
    matrix = e.operands[0]
    if not _is_plain(matrix, mask, accum):
        return False
    store = matrix._store
    made = matrices.transpose(store)
    if made is None:
        return False
    matrices.become(out._store, matrices.cast(made, out.dtype))
    return True


def _reduce(e: Any, out: Any, _mask: Any, accum: Any, _replace: bool) -> bool:
    u = e.operands[0]
    if u.ndim == 2:
        store = VectorStore(e.op.return_type, u._store.nrows)
        _fold_rows(e.op, u._store, False, store, MaskBits(), None, False)
    else:
        store = u._store
    out._receive(e, reduce.reduce_vector(e.op, store), accum)
    return True


def _reduce_rowwise(e: Any, out: Any, mask: Any, accum: Any, replace: bool) -> bool:
    matrix = e.operands[0]
    _fold_rows(e.op, matrix._store, matrix._transposed, out._store, mask_bits(mask), accum, replace)
    return True


def _fold_rows(
    monoid: Any, matrix: MatrixStore, transposed: bool, out: VectorStore, mask: MaskBits, accum: Any, replace: bool
) -> None:
    """w = A (+).first 1: rows folded without a look at their ids."""
    spmv.spmv(matrix, transposed, None, _folding(monoid), out, mask, accum, replace, vector_left=False)


@cache
def _folding(monoid: Any) -> Any:
    return register_anonymous(monoid.op, binary.first)[monoid.type]


def _assign(e: Any, out: Any, mask: Any, accum: Any, replace: bool) -> bool:
    if out.ndim != 1:
        return False
    x, index = e.operands
    bits = mask_bits(mask)
    if x.ndim == 0:
        indexing.assign_scalar(x.value, x.dtype, index, out._store, bits, accum, replace)
    elif index.kind == "one":
        return False
    else:
        indexing.assign_vector(x._store, index, out._store, bits, accum, replace)
    return True


def _extract(e: Any, out: Any, mask: Any, accum: Any, replace: bool) -> bool:
    u = e.operands[0]
    if u.ndim != 1:
        return False
    index = e.operands[1]
    if out.ndim == 0:
        out._receive(e, indexing.element(u._store, index.key), accum)
    else:
        indexing.extract_vector(u._store, index, out._store, mask_bits(mask), accum, replace)
    return True


_NATIVE: dict[str, Callable[..., bool]] = {
    "mxv": _spmv(vector_left=False),
    "vxm": _spmv(vector_left=True),
    "ewise_add": _ewise,
    "ewise_mult": _ewise,
    "ewise_union": _ewise,
    "apply": _apply,
    "apply_left": _apply,
    "apply_right": _apply,
    "apply_index": _apply,
    "select": _select,
    "transpose": _transpose,
    "reduce": _reduce,
    "reduce_rowwise": _reduce_rowwise,
    "assign": _assign,
    "extract": _extract,
}


def _fall_back(expression: Any, out: Any, mask: Any, accum: Any, replace: bool) -> None:
    """Run on the CPU engine: operands go there and the output comes back."""
    kinds = [x.ndim for x in (out, *expression.operands) if x._stored]
    said = f"{expression.operation} of a {'Matrix' if max(kinds, default=1) == 2 else 'Vector'}"
    if config.fallback == "error":
        raise NotImplementedException(f"the GPU engine has no {said}, and config.fallback is 'error'")
    if config.fallback == "warn" and said not in _warned:
        _warned.add(said)
        warn_slow(f"the GPU engine has no {said}: it runs on the CPU engine and comes back")
    matrices.on_cpu(expression, out, mask, accum, replace)
