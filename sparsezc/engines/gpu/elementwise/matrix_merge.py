"""The merge of two matrices (matrix_merge.cu): ewise_add, ewise_mult, ewise_union and the write rule of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise import long_rows
from sparsezc.engines.gpu.elementwise.vector_map import EWISE
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.runtime.codegen import flags, function, typedefs
from sparsezc.engines.gpu.storage import assembly, row_blocks
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows
from sparsezc.expr.dispatch import Write
from sparsezc.semirings.algebra.operators import TypedOp
from sparsezc.semirings.types.datatypes import BOOL, DataType

_PARAMETERS = "bool has_u, X u, bool has_v, Y v, bool allowed, bool inside, u64 row, u64 col, S a, S b, W& z"
_ENTRY_BYTES = 48  # bytes of an entry: its id and value, those of its result entry, and 16 to spare


@dataclass(frozen=True)
class MaskRows:
    """The rows of a mask; `values`: an entry allows writing by its value, otherwise by its presence."""

    rows: Rows
    dtype: DataType
    values: bool
    complement: bool


@dataclass(frozen=True, eq=False)
class Region:
    """The positions that an assignment writes, as presence words of rows and of columns; 0 for all.

    `alone`: entries at other positions never change, whatever the mask and `replace` are.
    """

    rows: Any = 0
    columns: Any = 0
    alone: bool = False

    @property
    def is_all(self) -> bool:
        return isinstance(self.rows, int) and isinstance(self.columns, int)


@dataclass(frozen=True)
class _Case:
    """The types and flags that the merge kernel is specialised by."""

    body: str
    helper: str
    result: DataType
    x: tuple[DataType, bool, bool, bool]  # type, whether ids take 8 bytes, iso, whether values are read
    y: tuple[DataType, bool, bool, bool]
    mask: tuple[DataType, bool, bool, bool] | None
    region: bool
    scalar_type: DataType


def ewise(
    operation: str,
    op: TypedOp,
    x: MatrixStore,
    y: MatrixStore,
    scalars: tuple[Any, Any] = (0, 0),
    scalar_type: DataType = BOOL,
) -> MatrixStore:
    """Return op(X, Y) over the union or the intersection of the patterns."""
    union = operation == "ewise_union"
    helper, call = codegen.call(
        op, x="l" if union else "u", y="r" if union else "v", i="row", j="col", k="col", at="u64 row, u64 col"
    )
    left, right = assembly.rows_of(x), assembly.rows_of(y)
    everything = operation == "ewise_add"  # an entry that only one operand has keeps its value
    reads = [everything or name in op.reads for name in "xy"]
    body = EWISE[operation].format(call=call, type=op.type.ctype, result="W")
    case = _Case(
        body, helper, op.return_type,
        (x.dtype, left.wide, left.iso, reads[0]), (y.dtype, right.wide, right.iso, reads[1]),
        None, False, scalar_type,
    )  # fmt: skip
    return _merge(case, left, right, None, Region(), scalars, assembly.placement_of(x, y), False)


# C(M)(region) = accum(C, T), for u of C and v of T. Outside the mask u is kept or, with replace, deleted.
_WRITE = """
if (!inside && {alone}) {{ z = u; return has_u; }}
if (!allowed) {{ z = u; return has_u && !{replace}; }}
if (!inside) {{ z = u; return has_u; }}
if (ACCUM && has_u) {{ z = has_v ? accumulate(u, v) : u; return true; }}
z = cast<W>(v);
return has_v;
"""


def write(old: MatrixStore, new: MatrixStore, how: Write[MaskRows | None], region: Region) -> MatrixStore:
    """Return the content of C after ``C(mask, accum, replace)(region) << T``, for C `old` and T `new`."""
    mask, accum, replace = how
    left, right = assembly.rows_of(old), assembly.rows_of(new)
    body = _WRITE.format(alone=str(region.alone).lower(), replace=str(replace).lower())
    case = _Case(
        " ".join(body.split()),
        codegen.accumulator(accum),
        old.dtype,
        (old.dtype, left.wide, left.iso, True),
        (new.dtype, right.wide, right.iso, True),
        None if mask is None else (mask.dtype, mask.rows.wide, mask.rows.iso, mask.values),
        not region.is_all,
        BOOL,
    )
    # C was empty, so every entry of the result has the one value of T.
    iso = old.rows is None and right.iso and new.dtype is old.dtype
    return _merge(case, left, right, mask, region, (0, 0), assembly.placement_of(old, new), iso)


def _merge(
    case: _Case,
    x: Rows,
    y: Rows,
    mask: MaskRows | None,
    region: Region,
    scalars: tuple[Any, Any],
    placement: str,
    iso: bool,
) -> MatrixStore:
    gpu = cuda.current()
    xp = gpu.xp
    a, b = scalars
    m = mask.rows if mask else None
    merge_entries = codegen.kernel(gpu, "matrix_merge.cu", _prelude(case), "merge_entries")

    def make(first: int, last: int, whole: bool, *part: int) -> tuple[Any, Any, Any]:
        of = ("x", x, case.x), ("y", y, case.y), ("m", m, case.mask)
        sides: dict[str, Any] = {}
        for k, side in enumerate(of):
            sides |= _load(*side, first, last, part[2 * k : 2 * k + 2])
        nwords = -(-sides["x_count"] // 32) - (-sides["y_count"] // 32)
        bits, before = xp.zeros(nwords + 1, np.uint32), xp.zeros(nwords + 1, np.int64)
        grid = launch.blocks(gpu, 32 * nwords)
        operands = {
            "first": first, "last": last, **sides, "flip": int(mask is not None and mask.complement),
            "row_region": region.rows, "col_region": region.columns, "a": a, "b": b, "bits": bits, "before": before,
        }  # fmt: skip
        merge_entries.launch(grid, **operands, ids=0, values=0)
        before[1:] = xp.cumsum(before[:-1])
        before[0] = 0
        offsets = xp.empty(last - first + 1, np.int64)
        ends = {name: sides[name] for name in ("x_indptr", "x_base", "x_count", "y_indptr", "y_base")}
        codegen.kernel(gpu, "merge_offsets.cu", "", "merged_offsets").launch(
            launch.blocks(gpu, offsets.size), first=first, last=last, **ends, bits=bits, before=before, out=offsets
        )
        if not whole:
            return offsets, None, None
        count = int(before[-1])
        ids = xp.empty(count, np.uint64 if case.x[1] or case.y[1] else np.uint32)
        values = None if iso else xp.empty(count, case.result.np_type)
        if count:
            merge_entries.launch(grid, **operands, ids=ids, values=0 if values is None else values)
        return offsets, ids, values

    taking_part = [rows for rows in (x, y, m) if rows is not None]
    ranges = row_blocks.blocks(
        [rows.indptr for rows in taking_part], _ENTRY_BYTES, cut=long_rows.by_columns(taking_part)
    )
    return assembly.assemble(ranges, make, (x.nrows, x.ncols), case.result, placement, y.values if iso else None)


def _load(name: str, rows: Rows | None, typed: Any, first: int, last: int, part: Sequence[int]) -> dict[str, Any]:
    """Return the kernel arguments of side x, y or m: offsets, and ids, values, start and number of these rows' entries.

    `part`: start and stop of the entries to use if a single row is cut; empty for whole rows.
    """
    fields = [f"{name}_{field}" for field in ("indptr", "ids", "values", "base", "count")]
    if rows is None:
        return dict.fromkeys(fields, 0)
    start, stop = part or rows.ends(first, last)
    indptr = row_blocks.between(rows.indptr, first, start, stop) if part else rows.indptr
    values = 0 if not typed[3] else rows.values.load() if rows.iso else rows.values.load(start, stop)
    found = indptr, rows.indices.load(start, stop), values, start, stop - start
    return dict(zip(fields, found, strict=True))


@lru_cache(maxsize=256)
def _prelude(case: _Case) -> str:
    mask = case.mask or (BOOL, False, False, False)
    sides = {"X": case.x, "Y": case.y, "M": mask}
    types: dict[str, Any] = {name: side[0] for name, side in sides.items()}
    ids = {f"{name}Id": "u64" if side[1] else "u32" for name, side in sides.items()}
    ids["Id"] = "u64" if case.x[1] or case.y[1] else "u32"
    iso = {f"ISO_{name}": side[2] for name, side in sides.items()}
    reads = {"READS_X": case.x[3], "READS_Y": case.y[3], "MASK_VALUES": mask[3]}
    return "\n".join(
        (
            typedefs(**ids, **types, Z=case.y[0], S=case.scalar_type, W=case.result),
            flags(**iso, **reads, MASKED=case.mask is not None, REGION=case.region),
            case.helper,
            function("bool", "compute", _PARAMETERS, case.body),
        )
    )
