"""Work on vectors where entry i comes from entries i: apply, select, ewise_*, assign, extract, casts (vector_map.cu).

Each function here writes one line of C++, the body of `compute`, and launches the one kernel. In a body, `u` and `v`
are the operands' values, `a` and `b` two scalars, `at` the position, `z` what is to be set; it returns whether there
is a result.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.runtime.array_pool import DeviceScalar
from sparsezc.engines.gpu.runtime.codegen import flags, function, typedefs
from sparsezc.engines.gpu.storage.mask_output import MaskBits, Out
from sparsezc.engines.gpu.storage.matrix_store import VectorStore
from sparsezc.semirings.algebra.operators import TypedOp
from sparsezc.semirings.types.datatypes import BOOL, DataType

_PARAMETERS = "U u, V v, bool has_u, bool has_v, S a, S b, u64 at, Z& z"


class _Operands(NamedTuple):
    """What vector_map.cu reads: two vectors (u at the positions `index`), two scalars, and what is assigned."""

    size: int
    u: Any
    u_bits: Any
    v: Any
    v_bits: Any
    index: Any
    s: Any
    s2: Any
    number: Any  # the first scalar where the device keeps it
    region: Any


class _Piece(NamedTuple):
    """Words that a warp looks at together."""

    piece: int


def run_map(
    body: str,
    result: DataType,
    store: VectorStore,
    mask: MaskBits,
    accum: TypedOp | None,
    replace: bool,
    *,
    u: VectorStore | None = None,
    v: VectorStore | None = None,
    scalars: tuple[Any, Any] = (0, 0),
    scalar_type: DataType = BOOL,
    helper: str = "",
    needs: str = "",
    region: Any = 0,
    positions: Any = 0,
    count: int | None = None,
) -> None:
    """Launch vector_map.cu: `body` makes entry `at` of `result`'s type from `u`, `v` and the scalars, for `store`.

    `needs`: "u", "v" or "uv", the operands without whose entry there is no result, and `body` is not run. `positions`
    (u64, as long as the output): u is read there instead. `region`: presence words of what is assigned. `count`: the
    output's number of entries afterwards, where the caller knows it.
    """
    gpu = cuda.current()
    gathers = not isinstance(positions, int)
    operand_types = u and u.dtype, v and v.dtype, scalar_type
    number = scalars[0] if isinstance(scalars[0], DeviceScalar) else None
    prelude = _prelude(body, helper, result, store.dtype, accum, *operand_types, gathers, needs, number is not None)
    kernel = codegen.kernel(gpu, "vector_map.cu", prelude, "map")
    out = Out(store, apart=gathers and store is u)
    blocks = launch.blocks(gpu, 32 * store.nwords)
    u_values, u_bits = (0, 0) if u is None else u.operands()
    v_values, v_bits = (0, 0) if v is None else v.operands()
    a, counter = (scalars[0], 0) if number is None else (0, number.array)
    operands = _Operands(store.size, u_values, u_bits, v_values, v_bits, positions, a, scalars[1], counter, region)
    kernel.launch(blocks, operands, out.arguments(mask, replace), _Piece(launch.share(blocks, store.nwords)))
    out.done(count)


@lru_cache(maxsize=256)
def _prelude(
    body: str,
    helper: str,
    result: DataType,
    out_type: DataType,
    accum: TypedOp | None,
    u_type: DataType | None,
    v_type: DataType | None,
    scalar_type: DataType,
    gather: bool,
    needs: str,
    counts: bool,
) -> str:
    return "\n".join(
        (
            typedefs(U=u_type or BOOL, V=v_type or BOOL, S=scalar_type, Z=result, W=out_type),
            flags(READS_U=u_type is not None, READS_V=v_type is not None, GATHER=gather),
            flags(NEEDS_U="u" in needs, NEEDS_V="v" in needs, COUNTS=counts),
            codegen.accumulator(accum),
            helper,
            function("bool", "compute", _PARAMETERS, body),
        )
    )


def _count_if_full(
    out: VectorStore, mask: MaskBits, accum: TypedOp | None, replace: bool, *operands: VectorStore
) -> int | None:
    """A full result that is written everywhere leaves the output full, and so does accumulating into a full one."""
    full = all(x.is_full for x in operands) and mask.allows_all
    return out.size if full or (accum is not None and out.is_full and not replace) else None


def write_nothing(out: VectorStore, result: DataType, mask: MaskBits, accum: TypedOp | None, replace: bool) -> None:
    """Write a result that has no entries."""
    if out.count == 0 or (accum is not None and not replace):
        return
    run_map("return false;", result, out, mask, accum, replace)


def write_vector(
    u: VectorStore,
    out: VectorStore,
    mask: MaskBits,
    accum: TypedOp | None,
    replace: bool,
    *,
    region: Any = 0,
) -> None:
    """w<mask> = accum(w, u)."""
    if u.count == 0 and isinstance(region, int):
        write_nothing(out, u.dtype, mask, accum, replace)
        return
    count = _count_if_full(out, mask, accum, replace, u)
    run_map("z = u; return true;", u.dtype, out, mask, accum, replace, u=u, needs="u", region=region, count=count)


def cast(u: VectorStore, dtype: DataType) -> VectorStore:
    """A copy of another type."""
    copy = VectorStore(dtype, u.size)
    write_vector(u, copy, MaskBits(), None, False)
    copy.count = u.count
    return copy


def write_scalar(
    value: Any,
    dtype: DataType,
    out: VectorStore,
    mask: MaskBits,
    accum: TypedOp | None,
    replace: bool,
    *,
    region: Any = 0,
) -> None:
    """w<mask>(region) = accum(w, value); a value None deletes."""
    if value is None:
        run_map("return false;", out.dtype, out, mask, accum, replace, region=region)
        return
    everywhere = isinstance(region, int) and mask.allows_all
    run_map(
        "z = a; return true;", dtype, out, mask, accum, replace, scalars=(value, 0), scalar_type=dtype, region=region,
        count=out.size if everywhere else None,
    )  # fmt: skip


def gather(
    u: VectorStore, positions: Any, out: VectorStore, mask: MaskBits, accum: TypedOp | None, replace: bool
) -> None:
    """w<mask> = accum(w, u(positions))."""
    count = _count_if_full(out, mask, accum, replace, u)
    run_map("z = u; return true;", u.dtype, out, mask, accum, replace, u=u, needs="u", positions=positions, count=count)


def _call(op: TypedOp, x: str, y: str) -> tuple[str, str]:
    return codegen.call(op, x=x, y=y, i="at", j="0", k="at", at="u64 at")


def apply(
    op: TypedOp,
    u: VectorStore,
    out: VectorStore,
    mask: MaskBits,
    accum: TypedOp | None,
    replace: bool,
    *,
    left: bool = False,
    scalar: Any = 0,
    scalar_type: DataType = BOOL,
) -> None:
    """w<mask> = accum(w, f(u)), f(u, scalar), or f(scalar, u) with `left`; positional operators see the position."""
    helper, call = _call(op, x="a" if left else "u", y="u" if left else "a")
    run_map(
        f"z = {call}; return true;", op.return_type, out, mask, accum, replace, u=u, needs="u", helper=helper,
        scalars=(scalar, 0), scalar_type=scalar_type, count=_count_if_full(out, mask, accum, replace, u),
    )  # fmt: skip


def select(
    op: TypedOp,
    u: VectorStore,
    thunk: Any,
    thunk_type: DataType,
    out: VectorStore,
    mask: MaskBits,
    accum: TypedOp | None,
    replace: bool,
) -> None:
    """w<mask> = accum(w, the entries of u for which the operator is true)."""
    helper, call = _call(op, x="u", y="a")
    run_map(
        f"z = u; return cast<bool>({call});", u.dtype, out, mask, accum, replace, u=u, needs="u", helper=helper,
        scalars=(thunk, 0), scalar_type=thunk_type,
    )  # fmt: skip


#: Whether there is a result, and which, from entries u and v of which one may be missing: by operation.
EWISE = {
    "ewise_mult": "if (!(has_u && has_v)) return false; z = {call}; return true;",
    "ewise_add": "if (has_u && has_v) z = {call}; else z = has_u ? cast<{result}>(u) : cast<{result}>(v);"
    " return has_u || has_v;",
    "ewise_union": "if (!(has_u || has_v)) return false; const {type} l = has_u ? cast<{type}>(u) : cast<{type}>(a);"
    " const {type} r = has_v ? cast<{type}>(v) : cast<{type}>(b); z = {call}; return true;",
}


def ewise(
    operation: str,
    op: TypedOp,
    u: VectorStore,
    v: VectorStore,
    out: VectorStore,
    mask: MaskBits,
    accum: TypedOp | None,
    replace: bool,
    *,
    scalars: tuple[Any, Any] = (0, 0),
    scalar_type: DataType = BOOL,
) -> None:
    """w<mask> = accum(w, op(u, v)) over the union or the intersection of the entries."""
    helper, call = _call(op, x="l" if operation == "ewise_union" else "u", y="r" if operation == "ewise_union" else "v")
    count = _count_if_full(out, mask, accum, replace, u, v)
    needs = "uv" if operation == "ewise_mult" else ""
    body = EWISE[operation].format(call=call, type=op.type.ctype, result="Z")
    run_map(
        body, op.return_type, out, mask, accum, replace, u=u, v=v, helper=helper, needs=needs,
        scalars=scalars, scalar_type=scalar_type, count=count,
    )  # fmt: skip
