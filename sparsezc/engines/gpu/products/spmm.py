"""Products with panels: a large sparse matrix times a matrix of few columns, or one of few rows times it (spmm.cu)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from sparsezc import stats
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.elementwise.panel import Panel
from sparsezc.engines.gpu.placements import Wanted
from sparsezc.engines.gpu.products import rows_per_warp
from sparsezc.engines.gpu.products.sampled import NOT_SAMPLED, Sides
from sparsezc.engines.gpu.runtime import codegen, groups, launch
from sparsezc.engines.gpu.runtime.codegen import evaluate, flags, function, typedefs
from sparsezc.engines.gpu.storage.mask_output import MaskBits
from sparsezc.engines.gpu.storage.matrix_store import Rows, VectorStore
from sparsezc.semirings.types.datatypes import DataType


def pull(
    semiring: Any, rows: Rows, dtype: DataType, x: Panel, mask: MaskBits, sampled: Sides | None = None
) -> VectorStore:
    """The panel Y = M X, or with X across Y' = X' M', in the places that a mask of its shape allows.

    Parameters
    ----------
    rows : Rows
        Of M; as many columns as X is long.
    dtype : DataType
        Of M's values.
    sampled : Sides, optional
        Full panels whose product, at M's entries, stands for M's values (`dtype` is its type); it is never stored.
    """
    gpu = cuda.current()
    xp = gpu.xp
    result, chunks = semiring.return_type, rows.chunks
    y = VectorStore(result, rows.nrows * x.width)
    y.make()
    columns = 1 << max(0, -(-x.width // 32) - 1).bit_length()
    x.vector.nvals()  # of a full one no presence words are read
    partial: dict[str, Any] = {"partial": 0, "partial_has": 0, "arrived": 0}
    if chunks.count:
        sums = xp.empty(chunks.count * x.width, result.np_type)
        arrived = xp.zeros(chunks.nrows, np.uint32)
        partial = {"partial": sums, "partial_has": xp.empty(sums.size, np.uint8), "arrived": arrived}
    group = 1 << max(0, min(x.width, 32) - 1).bit_length()  # lanes for an entry
    values, bits = x.vector.values if _reads_x(semiring, x.across) else 0, 0 if x.vector.is_full else x.vector.bits
    blocks = launch.blocks(gpu, 32 * max(-(-rows.nrows // 32), chunks.count))
    operands = groups.Vector(values, bits), mask.arguments()
    target = {"width": x.width, "group": group, "y": y.values, "y_bits": y.bits}
    reads_values = ("y" if x.across else "x") in semiring.reads and sampled is None
    panels = {"left": 0, "right": 0, "inner": 0} if sampled is None else sampled.arguments()
    wanted = _wanted(rows, mask, x.width)
    for part in placements.parts(rows, None, wanted, ids=True, values=reads_values):
        prelude = _prelude(
            semiring,
            dtype,
            x.vector.dtype,
            rows.wide,
            rows.compressed,
            rows.iso,
            x.across,
            columns,
            chunks.length,
            rows_per_warp.choose(rows),
            part.partial,
            part.bits,
            None if sampled is None else sampled.prelude,
        )
        kernel = codegen.kernel(gpu, "spmm.cu", prelude, "spmm")
        counters = xp.zeros(2, np.uint64)
        run = stats.counted(kernel, part.near)
        run(blocks, part.arguments, *operands, **target, counters=counters, **partial, **panels)
    y.count = None
    return y


def _wanted(rows: Rows, mask: MaskBits, width: int) -> Wanted:
    """The rows for which the mask allows an entry of the panel at least, where the placement wants to know."""
    if mask.allows_all or not placements.serves(rows):
        return Wanted(None)
    gpu = cuda.current()
    bits = gpu.xp.empty(-(-rows.nrows // 32), np.uint32)
    lines = codegen.kernel(gpu, "bits.cu", "", "lines")
    lines.launch(launch.blocks(gpu, rows.nrows), mask.arguments(), count=rows.nrows, width=width, bits=bits)
    return Wanted(bits)


def _reads_x(semiring: Any, across: bool) -> bool:
    return ("x" if across else "y") in semiring.reads


@lru_cache(maxsize=256)
def _prelude(
    semiring: Any, a: DataType, x: DataType, wide: bool, compressed: bool, iso: bool, across: bool, columns: int,
    long: int, at_once: int, partial: bool, segment_bits: int, sampled: str | None,
) -> str:  # fmt: skip
    x_is, y_is, i, j = ("v", "a", "col", "row") if across else ("a", "v", "row", "col")
    multiply = evaluate(semiring, x=x_is, y=y_is, i=i, k="shared", j=j)
    return "\n".join(
        (
            NOT_SAMPLED if sampled is None else sampled,
            typedefs(Id="u64" if wide else "u32", A=a, X=x, Z=semiring.return_type),
            flags(
                READS_A=("y" if across else "x") in semiring.reads,
                READS_X=_reads_x(semiring, across),
                ISO=iso,
                SAMPLED=sampled is not None,
                COMPRESSED=compressed,
                PARTIAL=partial,
                SEGMENT_BITS=segment_bits,
            ),
            f"constexpr u64 LONG = {long};\nconstexpr u32 COLUMNS = {columns}, ROWS_PER_WARP = {at_once};",
            codegen.monoid(semiring.monoid),
            function("Z", "multiply", "A a, X v, u64 row, u64 shared, u64 col", multiply),
        )
    )
