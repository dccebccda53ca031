"""Products with panels: a large sparse matrix times one of few columns, or one of few rows times it (spmm*.cu)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.elementwise.panel import Panel
from sparsezc.engines.gpu.placements import Wanted
from sparsezc.engines.gpu.products import plan, push_pull, rows_per_warp
from sparsezc.engines.gpu.products import sddmm as sampled_panels
from sparsezc.engines.gpu.products.sddmm import Sides, not_sampled
from sparsezc.engines.gpu.runtime import codegen, groups, launch, presence_words
from sparsezc.engines.gpu.runtime.codegen import evaluate, flags, function, typedefs
from sparsezc.engines.gpu.runtime.engine_state import ENGINE_STATE
from sparsezc.engines.gpu.storage.matrix_store import Form, Rows
from sparsezc.engines.gpu.storage.vector_store import MaskBits, VectorStore
from sparsezc.memory.placement import RECORDS
from sparsezc.semirings.types.datatypes import DataType


def pull(
    semiring: Any, rows: Rows, dtype: DataType, x: Panel, mask: MaskBits, sampled: Sides | None = None
) -> VectorStore:
    """Return the panel Y = M X, or with X across Y' = X' M', where a mask of its shape allows entries.

    Parameters
    ----------
    rows : Rows
        The rows of M, with as many columns as X is long.
    dtype : DataType
        The type of M's values.
    sampled : Sides, optional
        Full panels whose product, at M's entries, stands for M's values after its steps; it is never stored.
    """
    gpu, chunks = cuda.current(), rows.chunks
    xp = gpu.xp
    y = VectorStore(semiring.return_type, rows.nrows * x.width)
    y.make()
    partial: dict[str, Any] = {"partial": 0, "partial_has": 0, "arrived": 0}
    if chunks.count:
        sums = xp.empty(chunks.count * x.width, semiring.return_type.np_type)
        arrived = xp.zeros(chunks.nrows, np.uint32)
        partial = {"partial": sums, "partial_has": xp.empty(sums.size, np.uint8), "arrived": arrived}
    product = _Product(semiring, rows, dtype, x, mask, sampled)
    narrow = x.width <= _NARROW and (sampled is None or sampled.is_narrow)
    product.launch("spmm_few" if narrow else "spmm", _wanted(rows, mask, x.width), y, partial)
    return y


def push(
    semiring: Any, rows: Rows, dtype: DataType, x: Panel, mask: MaskBits, sampled: Sides | None = None,
    frontier: Any = None,
) -> VectorStore:  # fmt: skip
    """Return the panel Y = M' X as :func:`pull` does, from the rows of M; sums depend on timing in their last bits.

    `frontier`: presence words of the rows of X with entries, the rows of M that are read; None: all.
    """
    y = VectorStore(semiring.return_type, rows.ncols * x.width)
    y.make(semiring.monoid)
    _Product(semiring, rows, dtype, x, mask, sampled).launch("spmm_push", Wanted(frontier), y, {})
    return y


def frontier_to_push(semiring: Any, rows: Rows, columns: Rows | None, x: Panel, mask: MaskBits) -> Any:
    """Return presence words of the rows of X with entries if pushing from these reads less than a pull, else None.

    The rule is that of products with vectors (push_pull.py). Each entry that is read is combined with all entries of a
    row of X, and each of these by an atomic.

    Parameters
    ----------
    rows, columns : Rows
        Those of M, which a pull reads, and of its transpose, None where it is not stored.
    """
    vector = x.vector
    if columns is None or ENGINE_STATE.pool is not None or vector.nvals() * _THIN > vector.size:
        return None
    frontier = _lines(vector.bits, 0, columns.nrows, x.width)
    count, entries = presence_words.count_frontier(frontier, columns.nrows, columns.indptr)
    if push_pull.is_small(count, entries, rows.nvals):
        return frontier
    allowed = 0 if mask.allows_all else _lines(mask.bits, mask.flip, rows.nrows, x.width)
    work = push_pull.Work(count, entries, *presence_words.count_wanted(rows.indptr, rows.nrows, allowed, 0), rows.nvals)
    share = 1 if RECORDS[rows.indices.placement].resident else plan.LINK_SHARE
    own = ("y" if x.across else "x") in semiring.reads and not rows.iso
    pulls = push_pull.prefers_pull(
        work,
        stops=False,
        entry_bytes=rows.id_bytes + (rows.values.dtype.itemsize if own else 0),
        offset_bytes=plan.OFFSET_BYTES * share,
        atomic_bytes=plan.ATOMIC_BYTES * share * vector.nvals() / count,
    )
    return None if pulls else frontier


_THIN = 8  # a panel with entries in more than one of so many places is pulled, whatever its rows have
_NARROW = 4  # columns of a panel, all of which one lane has: a row of FP64 is one sector


class _Product(NamedTuple):
    """A product of rows and a panel."""

    semiring: Any
    rows: Rows
    dtype: DataType
    x: Panel
    mask: MaskBits
    sampled: Sides | None

    def launch(self, name: str, wanted: Wanted, y: VectorStore, partial: dict[str, Any]) -> None:
        """Launch a kernel that makes Y for every part of the rows."""
        semiring, rows, dtype, x, mask, sampled = self
        gpu = cuda.current()
        columns = 1 << max(0, -(-x.width // 32) - 1).bit_length()
        x.vector.nvals()  # the presence words of a full panel are not read
        group = {} if name == "spmm_few" else {"group": 1 << max(0, min(x.width, 32) - 1).bit_length()}
        values = x.vector.values if _reads_x(semiring, x.across) else 0
        bits = 0 if x.vector.is_full else x.vector.bits
        blocks = launch.blocks(gpu, 32 * max(-(-rows.nrows // 32), rows.chunks.count))
        operands = groups.Vector(values, bits), mask.arguments()
        target = {"width": x.width, "y": y.values, "y_bits": y.bits, **group}
        reads_values = ("y" if x.across else "x") in semiring.reads if sampled is None else sampled.reads_values
        panels = {"left": 0, "right": 0, "inner": 0} if sampled is None else sampled.arguments()
        dots = None if sampled is None else (sampled.prelude, sampled.weighing, sampled.dtype, sampled.reads_values)
        narrow = (x.width, sampled_panels.is_aligned(values)) if name == "spmm_few" else None
        at_once = rows_per_warp.choose(rows)
        for part in placements.listed(rows, wanted, ids=True, values=reads_values):
            case = _Case(
                semiring, dtype, x.vector.dtype, rows.form, x.across, columns, at_once, part.partial, part.bits, dots,
                narrow, name == "spmm" and columns == 1 and sampled is None and not x.vector.is_full,
            )  # fmt: skip
            kernel = codegen.kernel(gpu, f"{name}.cu", _prelude(case), name)
            counters = gpu.xp.zeros(2, np.uint64)
            run = stats.counted(kernel, part.near)
            run(blocks, part.arguments, *operands, **target, counters=counters, **partial, **panels)
        y.written()


def _wanted(rows: Rows, mask: MaskBits, width: int) -> Wanted:
    """Return the rows for which the mask allows at least one entry of the panel, if the placement uses that."""
    if mask.allows_all or not placements.serves(rows):
        return Wanted(None)
    return Wanted(_lines(mask.bits, mask.flip, rows.nrows, width))


def _lines(bits: Any, flip: int, count: int, width: int) -> Any:
    """Return presence words of the rows of a panel in which any of the bits, flipped by `flip`, is set."""
    gpu = cuda.current()
    made = gpu.xp.empty(-(-count // 32), np.uint32)
    lines = codegen.kernel(gpu, "presence_words.cu", "", "lines")
    lines.launch(launch.blocks(gpu, count), groups.Mask(bits, flip), count=count, width=width, bits=made)
    return made


def _reads_x(semiring: Any, across: bool) -> bool:
    return ("x" if across else "y") in semiring.reads


class _Case(NamedTuple):
    """The properties of a product with a panel that spmm.cu is specialised for.

    Attributes
    ----------
    a, x : DataType
        Of the matrix and of the panel.
    form : Form
        Of the rows.
    across : bool
        The panel stands across: Y' = X' M'.
    columns : int
        Of the panel that a lane holds.
    rows_at_once : int
        Rows that a warp reads together.
    dots : tuple or None
        The sampled product that stands for the matrix's values: as a part of the prelude, its steps likewise, the type
        of weights, and whether steps read the matrix's values.
    partial, segment_bits
        Of the part, as in :class:`~sparsezc.engines.gpu.placements.Part`.
    narrow : tuple or None
        Of a panel of few columns: how many, and whether its rows may be read in requests of 16 bytes.
    filters : bool
        Entries are compared with the panel and the mask before their columns are.
    """

    semiring: Any
    a: DataType
    x: DataType
    form: Form
    across: bool
    columns: int
    rows_at_once: int
    partial: bool
    segment_bits: int
    dots: tuple[str, str, DataType, bool] | None
    narrow: tuple[int, bool] | None = None
    filters: bool = False


def _narrow(width: int, aligned: bool) -> str:
    return f"constexpr u32 WIDTH = {width};\n{flags(ALIGNED_X=aligned)}"


@lru_cache(maxsize=256)
def _prelude(case: _Case) -> str:
    semiring, across, form = case.semiring, case.across, case.form
    x_is, y_is, i, j = ("v", "a", "col", "row") if across else ("a", "v", "row", "col")
    multiply = evaluate(semiring, x=x_is, y=y_is, i=i, k="shared", j=j)
    dots, weighing, weight, reads_own = (*not_sampled(), case.a, False) if case.dots is None else case.dots
    return "\n".join(
        (
            dots,
            typedefs(Id="u64" if form.wide else "u32", Own=case.a, A=weight, X=case.x, Z=semiring.return_type),
            weighing,
            flags(
                READS_A=("y" if across else "x") in semiring.reads,
                READS_OWN=reads_own,
                READS_X=_reads_x(semiring, across),
                ISO=form.iso,
                SAMPLED=case.dots is not None,
                COMPRESSED=form.compressed,
                PARTIAL=case.partial,
                SEGMENT_BITS=case.segment_bits,
                FILTERS=case.filters,
            ),
            f"constexpr u64 LONG = {form.long};",
            f"constexpr u32 COLUMNS = {case.columns}, ROWS_PER_WARP = {case.rows_at_once};",
            "" if case.narrow is None else _narrow(*case.narrow),
            codegen.monoid(semiring.monoid),
            function("Z", "multiply", "A a, X v, u64 row, u64 shared, u64 col", multiply),
        )
    )
