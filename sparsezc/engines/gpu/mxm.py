"""Matrix times matrix over a semiring.

Under a mask of few entries each of them is one dot product of a row of A and a column of B, and nothing else is formed
(dots.py). Else all products are formed, a block of rows at a time, sorted by their places and folded (mxm.cu).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from sparsezc import device
from sparsezc.engines.gpu import launch, parts, specialise, spmv
from sparsezc.engines.gpu.dots import dots
from sparsezc.engines.gpu.merge import MaskRows
from sparsezc.engines.gpu.output import MaskBits
from sparsezc.engines.gpu.specialise import evaluate, flags, function, typedefs
from sparsezc.engines.gpu.stores import MatrixStore, Rows, VectorStore
from sparsezc.engines.gpu.transpose import transposed
from sparsezc.memory import Buffer
from sparsezc.memory.device import DeviceBuffer
from sparsezc.semirings import semiring as semirings
from sparsezc.semirings.types import INT64, DataType

_PRODUCT_BYTES = 96  # a key, a value and an order, and what sorting takes beside them


def mxm(
    semiring: Any, a: MatrixStore, b: MatrixStore, b_transposed: bool, mask: MaskRows | None
) -> tuple[MatrixStore, bool]:
    """A (+).(x) B; with a mask, at least where it allows. `b_transposed`: B is the transpose of b.

    Also returned: whether there are entries only where the mask allows them.
    """
    shape = a.nrows, b.nrows if b_transposed else b.ncols
    if a.rows is None or b.rows is None:
        return MatrixStore(semiring.return_type, shape[0], shape[1], None), True
    columns = b.rows if b_transposed else b.columns
    if mask is not None and mask.complement:
        mask = None  # it spares no product
    if mask is not None and columns is not None and mask.rows.nvals <= a.nvals + b.nvals:
        return dots(semiring, a, b.dtype, columns, mask), True
    rows = b.rows if not b_transposed else b.columns or transposed(b.rows)
    counts = _products(a, rows)
    if mask is not None and mask.rows.nvals <= int(counts.sum()):
        return dots(semiring, a, b.dtype, columns or transposed(rows), mask), True
    return _expand(semiring, a, b.dtype, rows, counts), False


def _products(a: MatrixStore, b: Rows) -> Any:
    """How many products each row of A makes: A times the lengths of B's rows."""
    xp = device.current().xp
    lengths = VectorStore(INT64, b.nrows)
    lengths.put(xp.arange(b.nrows), b.indptr[1:] - b.indptr[:-1])
    sums = VectorStore(INT64, a.nrows)
    spmv.spmv(a, False, lengths, semirings.plus_second[INT64], sums, MaskBits(), None, False, vector_left=False)
    counts = xp.zeros(a.nrows, np.int64)
    at, values = sums.entries()
    counts[at] = values
    return counts


def _expand(semiring: Any, a: MatrixStore, b_type: DataType, b_rows: Rows, counts: Any) -> MatrixStore:
    gpu = device.current()
    xp = gpu.xp
    a_rows, monoid, dtype = a.rows, semiring.monoid, semiring.return_type
    assert a_rows is not None
    placement, b_rows = _placement(a, b_rows), parts.near(b_rows, values="y" in semiring.reads)
    constant = None if semiring.reads & set("xyijk") else DeviceBuffer(xp.asarray(_constant(semiring)))
    iso = constant if monoid.is_idempotent else None
    case = a.dtype, b_type, a_rows, b_rows, constant is not None
    kernel = specialise.kernel(gpu, "mxm.cu", _text(semiring, *case), "products")
    b_lengths = b_rows.indptr[1:] - b_rows.indptr[:-1]
    ncols = b_rows.ncols

    def make(first: int, last: int, whole: bool) -> tuple[Any, Any, Any]:
        start, stop = a_rows.ends(first, last)
        lengths = b_lengths[a_rows.indices.load(start, stop).astype(np.int64)]
        before = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(lengths)])
        count = int(before[-1])
        if count == 0:
            return xp.zeros(last - first + 1, np.int64), xp.empty(0, np.uint64), xp.empty(0, dtype.np_type)
        keys = xp.empty(count, np.uint64)
        results = xp.empty(0 if constant is not None else count, dtype.np_type)
        arguments = (
            np.uint64(count), np.uint64(stop - start), before, np.uint64(start), np.uint64(first), np.uint64(last),
            *_pointers(a_rows), *_pointers(b_rows), np.uint64(ncols), keys, results,
        )  # fmt: skip
        kernel(launch.blocks(gpu, count), launch.THREADS, arguments)
        order = xp.argsort(keys, kind="stable")  # products of a place stay in the order of k
        keys = keys[order]
        starts = xp.flatnonzero(xp.concatenate([xp.ones(min(count, 1), np.bool_), keys[1:] != keys[:-1]]))
        places = keys[starts]
        offsets = xp.searchsorted(places // np.uint64(ncols), xp.arange(last - first + 1, dtype=np.uint64))
        if not whole:
            return offsets, None, None
        ids = places % np.uint64(ncols)
        if iso is not None:
            return offsets, ids, None
        if monoid.stops_anywhere:
            return offsets, ids, results[order[starts]]
        products = constant if constant is not None else DeviceBuffer(results[order])
        return offsets, ids, _fold(semiring, starts, count, products, constant is not None)

    offsets = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(counts)])
    ranges = parts.blocks([offsets, a_rows.indptr], _PRODUCT_BYTES, most_rows=2**64 // max(ncols, 1))
    return parts.assemble(ranges, make, (a.nrows, ncols), dtype, placement, iso)


def _constant(semiring: Any) -> Any:
    """The one product that a multiply which reads nothing has."""
    ones = np.ones(1, semiring.type.np_type)
    return np.asarray(semiring.binaryop.numpy(ones, ones), semiring.return_type.np_type)


def _fold(semiring: Any, starts: Any, count: int, products: Buffer, iso: bool) -> Any:
    """Sums of products that lie side by side: the rows of a matrix, folded."""
    xp = device.current().xp
    indptr = xp.concatenate([starts, xp.full(1, count, np.int64)])
    ids = DeviceBuffer(xp.empty(0, np.uint32))  # never read
    rows = Rows(starts.size, 1, count, indptr, ids, products, iso)
    sums = VectorStore(semiring.return_type, starts.size)
    spmv.fold_rows(
        semiring.monoid, MatrixStore(semiring.return_type, rows.nrows, 1, rows), False, sums, MaskBits(), None, False
    )
    return sums.values if sums.values is not None else xp.empty(0, semiring.return_type.np_type)


def _placement(a: MatrixStore, b: Rows) -> str:
    return "zerocopy" if "zerocopy" in (a.placement, b.indices.placement) else "device"


def _pointers(rows: Rows) -> tuple[Any, ...]:
    return rows.indptr, np.uint64(rows.indices.pointer), np.uint64(rows.values.pointer)


def _text(semiring: Any, a: DataType, b: DataType, a_rows: Rows, b_rows: Rows, constant: bool) -> str:
    return _prelude(semiring, a, b, (a_rows.wide, b_rows.wide), (a_rows.iso, b_rows.iso), constant)


@cache
def _prelude(
    semiring: Any, a: DataType, b: DataType, wide: tuple[bool, bool], iso: tuple[bool, bool], constant: bool
) -> str:
    ids = {f"{name}Id": "u64" if long else "u32" for name, long in zip("AB", wide, strict=True)}
    multiply = evaluate(semiring, x="a", y="b", i="row", k="shared", j="col")
    return "\n".join(
        (
            typedefs(**ids, A=a, B=b, Z=semiring.return_type),
            flags(READS_A="x" in semiring.reads, READS_B="y" in semiring.reads, ISO_A=iso[0], ISO_B=iso[1]),
            flags(CONSTANT=constant),
            function("Z", "multiply", "A a, B b, u64 row, u64 shared, u64 col", multiply),
        )
    )
