"""Operations on vectors whose entry i depends on one entry of each operand: apply, select, ewise_*, assign, casts.

Each function builds the body of the C++ function `compute` as an :class:`Entry`, and launches the kernel vector_map.cu
with it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.runtime.array_pool import DeviceScalar
from sparsezc.engines.gpu.runtime.codegen import flags, function, typedefs
from sparsezc.engines.gpu.storage.vector_store import ALL, MaskBits, Out, VectorStore
from sparsezc.expr.dispatch import Write
from sparsezc.semirings.algebra.operators import TypedOp
from sparsezc.semirings.types.datatypes import BOOL, DataType

_PARAMETERS = "U u, V v, bool has_u, bool has_v, S a, S b, u64 at, Z& z"


class _Operands(NamedTuple):
    """The operands of vector_map.cu: two vectors (u at the positions `index`), two scalars, and assigned positions."""

    size: int
    u: Any
    u_bits: Any
    v: Any
    v_bits: Any
    index: Any
    s: Any
    s2: Any
    number: Any  # the first scalar, if it is in device memory
    region: Any


class _Piece(NamedTuple):
    """The presence words that a warp processes together."""

    piece: int


class Entry(NamedTuple):
    """The computation of one entry of a result.

    Attributes
    ----------
    body : str
        C++: `u` and `v` are the operands' values, `a` and `b` two scalars, `at` the position; it sets `z` to the result
        and returns whether there is one.
    result : DataType
        The type of `z`.
    u, v : VectorStore, optional
    scalars : pair
        `a` and `b`, of type `scalar_type`.
    helper : str
        C++ text in front of `compute`.
    needs : {"", "u", "v", "uv"}
        The operands whose entry must be present; elsewhere the body does not run and there is no result.
    positions : array of u64, as long as the output, or 0
        The position at which u is read for each output position; 0: the output position itself.
    present : array of uint32, or 0
        The presence words of u if its values are not read and `u` is None.
    """

    body: str
    result: DataType
    u: VectorStore | None = None
    v: VectorStore | None = None
    scalars: tuple[Any, Any] = (0, 0)
    scalar_type: DataType = BOOL
    helper: str = ""
    needs: str = ""
    positions: Any = 0
    present: Any = 0


_NOTHING = "return false;"


def run_map(
    entry: Entry, store: VectorStore, write: Write[MaskBits], *, region: Any = 0, count: int | None = None
) -> None:
    """Compute each entry of a result and write it to `store`, by vector_map.cu.

    `region`: presence words of the assigned positions; 0 for all. `count`: the output's number of entries afterwards,
    if the caller can derive it.
    """
    gpu = cuda.current()
    body, result, u, v, scalars, scalar_type, helper, needs, positions, present = entry
    gathers = not isinstance(positions, int)
    made, read = (result, store.dtype, scalar_type), (u and u.dtype, v and v.dtype)
    number = scalars[0] if isinstance(scalars[0], DeviceScalar) else None
    prelude = _prelude(body, helper, made, read, write.accum, needs, gathers, number is not None)
    kernel = codegen.kernel(gpu, "vector_map.cu", prelude, "vector_map")
    out = Out(store, apart=gathers and store is u)
    blocks = launch.blocks(gpu, 32 * store.nwords)
    u_values, u_bits = (0, present) if u is None else u.operands()
    v_values, v_bits = (0, 0) if v is None else v.operands()
    a, counter = (scalars[0], 0) if number is None else (0, number.array)
    operands = _Operands(store.size, u_values, u_bits, v_values, v_bits, positions, a, scalars[1], counter, region)
    kernel.launch(blocks, operands, out.arguments(write), _Piece(launch.sparse_piece(blocks, store.nwords)))
    out.done(count)


@lru_cache(maxsize=256)
def _prelude(
    body: str,
    helper: str,
    made: tuple[DataType, DataType, DataType],
    read: tuple[DataType | None, DataType | None],
    accum: TypedOp | None,
    needs: str,
    gathers: bool,
    counts: bool,
) -> str:
    """Return the prelude; `made`: the types of the result, the output and the scalars; `read`: those of u and v."""
    (result, out_type, scalar_type), (u_type, v_type) = made, read
    return "\n".join(
        (
            typedefs(U=u_type or BOOL, V=v_type or BOOL, S=scalar_type, Z=result, W=out_type),
            flags(READS_U=u_type is not None, READS_V=v_type is not None, GATHER=gathers),
            flags(NEEDS_U="u" in needs, NEEDS_V="v" in needs, COUNTS=counts),
            codegen.accumulator(accum),
            helper,
            function("bool", "compute", _PARAMETERS, body),
        )
    )


def _count_if_full(out: VectorStore, write: Write[MaskBits], *operands: VectorStore) -> int | None:
    """Return the output's size where it is known to be full afterwards, else None.

    A full result that is written everywhere leaves the output full, and so does accumulating into a full output.
    """
    full = all(x.is_full for x in operands) and write.mask.allows_all
    return out.size if full or (write.accum is not None and out.is_full and not write.replace) else None


def write_nothing(out: VectorStore, result: DataType, write: Write[MaskBits]) -> None:
    """Write a result that has no entries."""
    if out.count == 0 or (write.accum is not None and not write.replace):
        return
    run_map(Entry(_NOTHING, result), out, write)


def write_vector(u: VectorStore, out: VectorStore, write: Write[MaskBits], *, region: Any = 0) -> None:
    """Compute w<mask> = accum(w, u)."""
    if u.count == 0 and isinstance(region, int):
        write_nothing(out, u.dtype, write)
        return
    if u.same is None:
        entry = Entry("z = u; return true;", u.dtype, u=u, needs="u")
    else:
        entry = Entry(
            "z = a; return true;", u.dtype, scalars=(u.same, 0), scalar_type=u.dtype, needs="u", present=u.presence()
        )
    run_map(entry, out, write, region=region, count=_count_if_full(out, write, u))


def cast(u: VectorStore, dtype: DataType) -> VectorStore:
    """Return a copy of another type, in the same vertex order."""
    copy = VectorStore(dtype, u.size, u.order)
    write_vector(u, copy, ALL)
    copy.written(u.count)
    return copy


def write_scalar(value: Any, dtype: DataType, out: VectorStore, write: Write[MaskBits], *, region: Any = 0) -> None:
    """Compute w<mask>(region) = accum(w, value); a value None deletes."""
    if value is None:
        run_map(Entry(_NOTHING, out.dtype), out, write, region=region)
        return
    everywhere = isinstance(region, int) and write.mask.allows_all
    entry = Entry("z = a; return true;", dtype, scalars=(value, 0), scalar_type=dtype)
    run_map(entry, out, write, region=region, count=out.size if everywhere else None)


def gather(u: VectorStore, positions: Any, out: VectorStore, write: Write[MaskBits]) -> None:
    """Compute w<mask> = accum(w, u(positions))."""
    entry = Entry("z = u; return true;", u.dtype, u=u, needs="u", positions=positions)
    run_map(entry, out, write, count=_count_if_full(out, write, u))


def _call(op: TypedOp, x: str, y: str) -> tuple[str, str]:
    return codegen.call(op, x=x, y=y, i="at", j="0", k="at", at="u64 at")


def apply(
    op: TypedOp,
    u: VectorStore,
    out: VectorStore,
    write: Write[MaskBits],
    *,
    left: bool = False,
    scalar: Any = 0,
    scalar_type: DataType = BOOL,
) -> None:
    """Compute w<mask> = accum(w, f(u)), or of f(u, scalar), or of f(scalar, u) with `left`."""
    helper, call = _call(op, x="a" if left else "u", y="u" if left else "a")
    entry = Entry(
        f"z = {call}; return true;", op.return_type, u=u, scalars=(scalar, 0), scalar_type=scalar_type, helper=helper,
        needs="u",
    )  # fmt: skip
    run_map(entry, out, write, count=_count_if_full(out, write, u))


def select(
    op: TypedOp, u: VectorStore, thunk: Any, thunk_type: DataType, out: VectorStore, write: Write[MaskBits]
) -> None:
    """Compute w<mask> = accum(w, the entries of u for which the operator is true)."""
    helper, call = _call(op, x="u", y="a")
    body = f"z = u; return cast<bool>({call});"
    entry = Entry(body, u.dtype, u=u, scalars=(thunk, 0), scalar_type=thunk_type, helper=helper, needs="u")
    run_map(entry, out, write)


#: For each operation, the condition for a result and its value, from entries u and v of which one may be missing.
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
    write: Write[MaskBits],
    *,
    scalars: tuple[Any, Any] = (0, 0),
    scalar_type: DataType = BOOL,
) -> None:
    """Compute w<mask> = accum(w, op(u, v)) over the union or the intersection of the entries."""
    helper, call = _call(op, x="l" if operation == "ewise_union" else "u", y="r" if operation == "ewise_union" else "v")
    needs = "uv" if operation == "ewise_mult" else ""
    body = EWISE[operation].format(call=call, type=op.type.ctype, result="Z")
    entry = Entry(body, op.return_type, u, v, scalars, scalar_type, helper, needs)
    full = (u, v) if operation == "ewise_mult" else (u if u.is_full else v,)  # of a union one full operand suffices
    run_map(entry, out, write, count=_count_if_full(out, write, *full))
