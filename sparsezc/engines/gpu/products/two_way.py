"""Products of a matrix and of its transpose with the halves of a panel, in one pass over the matrix (two_way.cu)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.elementwise import panel, vector_map
from sparsezc.engines.gpu.elementwise.panel import Panel
from sparsezc.engines.gpu.placements import Wanted
from sparsezc.engines.gpu.products import rows_per_warp
from sparsezc.engines.gpu.products.sddmm import Sides, not_sampled
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.runtime.codegen import evaluate, flags, function, typedefs
from sparsezc.engines.gpu.storage.matrix_store import Form, MatrixStore
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.semirings.types.datatypes import DataType

# Values that a lane requests at once; a quarter if entries have values of their own, whose registers then allow 24
# warps a multiprocessor: 20 values of each entry of kron:18 took 3.8 ms instead of 4.3.
_AHEAD = 8
_COLUMNS = 6  # most columns of a lane if entries have values of their own: more do not fit in registers


class _Halves(NamedTuple):
    """A panel's halves: row i of the left one begins at i * stride, row j of the right one at right + j * stride."""

    width: int
    stride: int
    right: int


def two_way_mxm(e: Any, A: MatrixStore) -> MatrixStore | None:
    """Multiply a panel by A with each column of `values` as values; None if the operands are no full panels."""
    _A, values, X = e.operands
    k = values.ncols
    entries = _full(values, e.op.type)
    return None if entries is None else _run(e, A, X, _Halves(k, 2 * k, k), entries.values)


def two_way_sampled_mxm(e: Any, A: MatrixStore) -> MatrixStore | None:
    """Multiply a product of panels, sampled at A's entries, by the panels; None if they are no full panels."""
    X = e.operands[1]
    return _run(e, A, X, _Halves(X.ncols, X.ncols, A.nrows * X.ncols), 0)


def _full(matrix: Any, dtype: DataType | None = None) -> VectorStore | None:
    """Return a full matrix as a vector of its rows, cast to `dtype` if given; None if it is not full."""
    store: MatrixStore = matrix._store
    size = store.nrows * store.ncols
    if matrix._transposed or store.nvals != size or not panel.fits(size, store.dtype, *([dtype] if dtype else [])):
        return None
    narrow = panel.shape_of(store.nrows, store.ncols) == (store.ncols, False)
    found: VectorStore = (panel.get_or_build if narrow else panel.build)(store, store.ncols, False).vector
    return found if dtype in (None, found.dtype) else vector_map.cast(found, dtype)


def _run(e: Any, A: MatrixStore, X: Any, halves: _Halves, entries: Any) -> MatrixStore | None:
    rows, result = A.held()[0], e.dtype
    made = MatrixStore(result, e.shape[0], e.shape[1], None)
    if rows is None or 0 in e.shape:
        return made
    x = _full(X)
    if x is None or not panel.fits(x.size, result):
        return None
    inner = e.operands[2] if e.operation == "two_way_sampled_mxm" else None
    both = Panel(halves.width, False, x)
    sampled = None if inner is None else Sides(inner.op, both, both, inner.weights)
    y = VectorStore(result, x.size)
    y.make(e.op.monoid)
    reads_own = sampled is not None and sampled.reads_values
    dots = None if sampled is None else (sampled.prelude, sampled.weighing, sampled.dtype, reads_own)
    gpu, at_once = cuda.current(), rows_per_warp.choose(rows)
    blocks = launch.blocks(gpu, 32 * max(-(-rows.nrows // 32), rows.chunks.count))
    for part in placements.parts(rows, None, Wanted(None), ids=True, values=reads_own):
        case = _Case(e.op, A.dtype, x.dtype, rows.form, halves.width, at_once, part.partial, part.bits, dots)
        kernel = codegen.kernel(gpu, "two_way.cu", _prelude(case), "two_way")
        stats.counted(kernel, part.near)(
            blocks, part.arguments, x=x.values, entries=entries, starts=rows.indptr, **halves._asdict(), y=y.values,
            y_bits=y.bits, counters=gpu.xp.zeros(2, np.uint64),
        )  # fmt: skip
    y.written()
    return panel.put_panel(made, Panel(e.shape[1], False, y))


class _Case(NamedTuple):
    """The properties of a product by which two_way.cu is specialised: those of ``_Case`` of spmm.py, and the width."""

    semiring: Any
    a: DataType
    x: DataType
    form: Form
    width: int
    rows_at_once: int
    partial: bool
    segment_bits: int
    dots: tuple[str, str, DataType, bool] | None


def _shares(width: int) -> tuple[int, int]:
    """Return the lanes for an entry, and the columns of each lane, that leave the fewest lanes idle."""
    ways = [(1 << p, -(-width >> p)) for p in range(5, -1, -1)]
    return min((way for way in ways if way[0] == 32 or way[1] <= _COLUMNS), key=lambda way: way[0] * way[1])


def _wide_shares(width: int) -> tuple[int, int]:
    """Return the same with the fewest columns a lane, for a sampled product, of which each lane has a part."""
    return 1 << max(0, min(width, 32) - 1).bit_length(), 1 << max(0, -(-width // 32) - 1).bit_length()


@lru_cache(maxsize=256)
def _prelude(case: _Case) -> str:
    semiring, form = case.semiring, case.form
    dots, weighing, weight, reads_own = (*not_sampled(case.x), semiring.type, False) if case.dots is None else case.dots
    lanes, columns = _shares(case.width) if case.dots is None else _wide_shares(case.width)
    ahead = min(lanes, max(1, _AHEAD // columns // (4 if case.dots is None else 1)))
    return "\n".join(
        (
            dots,
            typedefs(Id="u64" if form.wide else "u32", Own=case.a, A=weight, X=case.x, Z=semiring.return_type),
            weighing,
            flags(
                READS_OWN=reads_own,
                ISO=form.iso,
                SAMPLED=case.dots is not None,
                COMPRESSED=form.compressed,
                PARTIAL=case.partial,
                SEGMENT_BITS=case.segment_bits,
            ),
            f"constexpr u64 LONG = {form.long};",
            f"constexpr u32 COLUMNS = {columns}, LANES = {lanes}, AHEAD = {ahead};",
            f"constexpr u32 ROWS_PER_WARP = {case.rows_at_once};",
            codegen.monoid(semiring.monoid),
            function("Z", "multiply", "A a, X v", evaluate(semiring, x="a", y="v", i="0", j="0", k="0")),
        )
    )
