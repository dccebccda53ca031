"""Masked SpMV over a semiring: mxv and vxm, by rows (pull, mxv.cu) or by frontier (push, vxm.cu).

Both are w = M v with M the matrix or its transpose; `vector_left` says that the vector is the multiply's left operand,
as in vxm. Pull needs the rows of M, push the rows of its transpose; plan.py decides, and this file launches.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sparsezc import stats
from sparsezc.device.launcher import Launcher
from sparsezc.device.protocol import Device
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.elementwise import vector_map
from sparsezc.engines.gpu.layouts import hub_columns
from sparsezc.engines.gpu.layouts.pull_cache import KeptPulls, Pull
from sparsezc.engines.gpu.layouts.row_groups import Groups
from sparsezc.engines.gpu.placements import Part
from sparsezc.engines.gpu.products import plan
from sparsezc.engines.gpu.products.plan import Plan, Product
from sparsezc.engines.gpu.runtime import codegen, groups, launch, presence_words
from sparsezc.engines.gpu.runtime.codegen import function
from sparsezc.engines.gpu.runtime.engine_state import ENGINE_STATE
from sparsezc.engines.gpu.storage.matrix_store import Form, MatrixStore, Rows
from sparsezc.engines.gpu.storage.vector_store import MaskBits, Out, VectorStore
from sparsezc.expr.dispatch import Write
from sparsezc.semirings import binary
from sparsezc.semirings.algebra.operators import TypedOp
from sparsezc.semirings.algebra.structures import register_anonymous
from sparsezc.semirings.types.datatypes import INT64, DataType

# The launches of a loop repeat, so their integers are converted to NumPy's types once.
_piece = lru_cache(maxsize=1024)(launch.piece)
_sparse_piece = lru_cache(maxsize=1024)(launch.sparse_piece)
_spread = lru_cache(maxsize=1024)(launch.spread)


def spmv(
    matrix: MatrixStore,
    transposed: bool,
    vector: VectorStore | None,
    semiring: Any,
    out: VectorStore,
    write: Write[MaskBits],
    *,
    vector_left: bool,
) -> None:
    """Compute w<mask> = accum(w, M v); without a vector, v is full and its values do not matter."""
    mask, accum, _ = write
    held = matrix.held(out.order)
    rows, columns = held[::-1] if transposed else held
    key = None
    if rows is not None and vector is not None:
        key = KeptPulls.key(matrix, columns, vector, semiring, out, write, vector_left)
        if key is not None and (kept := rows.layouts[KeptPulls].get(key)) is not None:
            kept.again(vector, out, write)
            return
    if held[0] is None or (vector is not None and vector.count == 0):
        vector_map.write_nothing(out, semiring.return_type, write)
        return
    reads, full = plan.reads_of(semiring, vector_left), vector is None or vector.is_full
    if rows is not None and full and reads.counts:
        vector_map.write_vector(_row_lengths(rows, semiring.return_type), out, write)
        return
    product = Product(semiring, vector_left, matrix.dtype, vector, full, reads)
    stays_full = out.is_full and accum is not None and not write.replace
    pulls, estimated = plan.pulls(product, rows, columns, mask)
    if estimated is not None and vector is not None and vector.is_full:  # counting the entries is needed later anyway
        product = product._replace(full=True)
    if pulls:
        assert rows is not None
        (first, *others), result = plan.blocks(product, rows, columns, out, write)
        read, first, hubs, grouped = (
            plan.ByHubs(product, first) if others else plan.by_hubs(product, first, columns, mask)
        )
        if grouped is not None:
            _sum_groups(read, rows, grouped, out, write)
        else:
            planned = plan.pull(read, first, columns, mask, estimated).with_hubs(hubs)
            keeps = key is not None and not hubs and plan.repeats(product, rows, mask)
            kept = _pull(read, planned, result, write, keeps=keeps)
            if key is not None and kept is not None:
                rows.layouts[KeptPulls].keep(key, kept)
        for block in others:
            added = plan.pull(product, block, None, mask, estimated)
            _pull(product, added, result, Write(mask, semiring.monoid.binaryop, False))
        if result.dtype is not out.dtype:
            vector_map.write_vector(result, out, write)
        elif result is not out:
            out.adopt(result)
    else:
        assert columns is not None
        _push(product, columns, rows, out, write)
    if stays_full:  # so that no later product counts its entries
        out.filled()
    # The result is a frontier, whose rows the next product reads.
    if reads.stops and rows is not None and rows is columns:
        out.expect_rows(rows)


def fold_rows(monoid: Any, matrix: MatrixStore, transposed: bool, out: VectorStore, write: Write[MaskBits]) -> None:
    """Compute w = A (+).first 1: rows folded without reading their ids."""
    spmv(matrix, transposed, None, folding(monoid), out, write, vector_left=False)


@lru_cache(maxsize=256)
def folding(monoid: Any) -> Any:
    """Return the semiring whose product with a full vector folds rows."""
    return register_anonymous(monoid.op, binary.first)[monoid.type]


def _row_lengths(rows: Rows, dtype: DataType) -> VectorStore:
    """Return the number of entries of each row that has any."""
    lengths = rows.indptr[1:] - rows.indptr[:-1]
    made = VectorStore(dtype, rows.nrows)
    made.set(lengths.astype(dtype.np_type), presence_words.nonzero(lengths, 0, INT64, rows.nrows))
    return made


def _pull(
    product: Product, planned: Plan, store: VectorStore, write: Write[MaskBits], *, keeps: bool = False
) -> Pull | None:
    """Launch a pull; with `keeps`, which asks that all rows are one part, return what launches it again."""
    mask, accum, _ = write
    rows, heads, packed, wanted, grid, hubs = planned
    xp, chunks, everything = rows.device.xp, rows.chunks, wanted.words is None
    vector = _operands(product)
    # A warp that writes single bits of a word would change a word that another warp may still read as the mask.
    masks_itself = (chunks.count > 0 or grid.at_once == 1) and mask.bits is store.bits
    out = Out(store, apart=store is product.vector or masks_itself)
    partial = groups.NO_PARTIAL
    if chunks.count:
        state = xp.zeros(2 * chunks.nrows, np.uint32)
        results = xp.empty(chunks.count, product.semiring.return_type.np_type)
        has = xp.empty(chunks.count, np.uint8)
        partial = groups.Partial(results, has, state[: chunks.nrows], state[chunks.nrows :])
    output = out.arguments(write)
    layouts = groups.Layouts(heads.ids, heads.values, heads.k, packed.bits, hubs)
    # All memory is allocated before the first launch, whose writes cannot be undone.
    needs_counter = chunks.count or store.nwords * 32 // grid.at_once > grid.warps
    shared: Any = xp.zeros(2, np.uint64) if needs_counter else 0
    needs_ids = product.reads.ids or not product.full
    parts = placements.parts(rows, packed.words, wanted, ids=needs_ids, values=product.reads.values)
    for number, part in enumerate(parts):
        kernel = _launcher("mxv", product, planned, accum, store.dtype, part)
        items = part.nwords * 32 // grid.at_once
        alone = not part.nchunks and items <= grid.warps  # no warp takes a second item: no counter is needed
        if number and not alone:
            shared.fill(0)
        counters = 0 if alone else shared
        spread = 1 if everything else _spread(grid.blocks, part.nchunks)
        turns = groups.Turns(counters, _piece(grid.warps, items, grid.most), spread)
        given = part.arguments, vector, output, turns, partial, layouts
        stats.counted(kernel, part.near)(grid.blocks, *given)
    out.done()
    return Pull(kernel.keep(grid.blocks, groups.PullAgain, *given), not alone, product.reads.vector) if keeps else None


def _sum_groups(product: Product, rows: Rows, groups: Groups, out: VectorStore, write: Write[MaskBits]) -> None:
    vector, sums = product.vector, product.semiring.return_type
    assert vector is not None
    made = VectorStore(out.dtype if write.accum is None else sums, out.size)
    case = Case(product.semiring, product.vector_left, vector.dtype, product.dtype, rows.form, None, made.dtype)
    device: Any = rows.device  # hashable, as in plan.py
    kernels = tuple(_kernel(device, name, stats.collecting is not None, case) for name in ("row_groups", "row_sums"))
    groups.product(kernels, vector, rows.arguments.values, sums, made)
    if write.accum is None:
        out.adopt(made)
    else:
        vector_map.write_vector(made, out, write)


class _Target(NamedTuple):
    """The arrays that a push writes, and the layouts that it reads (vxm.cu)."""

    t: Any
    t_bits: Any
    id_bits: int
    heads: Any
    slots: int


def _push(product: Product, columns: Rows, rows: Rows | None, store: VectorStore, write: Write[MaskBits]) -> None:
    mask, accum, replace = write
    monoid, result_type = product.semiring.monoid, product.semiring.return_type
    result = VectorStore(result_type, store.size)
    # Allocated before the plan holds heads, which may be dropped for it.
    neutral = None if monoid.stops_anywhere else monoid
    result.make(neutral)
    planned = plan.push(product, columns, rows)
    _, heads, packed, wanted, grid, _ = planned
    few = ENGINE_STATE.pool is not None or _is_sparse(product.vector)
    vector, allowed = _operands(product), mask.arguments()
    target = _Target(result.values, result.bits, packed.bits, heads.ids, heads.k)
    for part in placements.parts(columns, packed.words, wanted, ids=True, values=product.reads.values):
        kernel = _launcher("vxm", product, planned, None, result_type, part)
        counters = 0 if few else columns.device.xp.zeros(2, np.uint64)
        items = part.nwords * 32 // grid.at_once
        piece = _sparse_piece(grid.blocks, items) if few else _piece(grid.warps, items, grid.most)
        turns = groups.Turns(counters, piece, _spread(grid.blocks, part.nchunks) if few else 1)
        stats.counted(kernel, part.near)(grid.blocks, part.arguments, vector, allowed, target, turns)
    result.written(neutral=neutral)
    outside_matters = not replace and not mask.allows_all and store.count != 0
    if accum is None and not outside_matters and store.dtype is result_type:
        store.adopt(result)
    else:
        vector_map.write_vector(result, store, write)


def _operands(product: Product) -> groups.Vector:
    vector = product.vector
    if vector is None:
        return groups.NO_VECTOR
    if product.reads.vector:
        return groups.Vector(*vector.operands())
    return groups.Vector(groups.NULL, vector.presence())  # values that are all equal may not exist yet


def _is_sparse(vector: VectorStore | None) -> bool:
    return vector is not None and vector.count is not None and vector.count < vector.size // 64


class Case(NamedTuple):
    """The properties of a product that its kernel is specialised for.

    Attributes
    ----------
    vector_left : bool
        The vector is the multiply's left operand.
    form : Form
        Of the rows.
    accum, out_type
        Of the vector that is written: the accumulator, or None, and the type.
    rows_at_once, skips
        How warps share rows, as in :class:`~sparsezc.engines.gpu.products.rows_per_warp.Grid`.
    looks, packed : bool
        The row-head cache is read first; ids and values are in one word.
    partial, segment_bits
        Of the part, as in :class:`~sparsezc.engines.gpu.placements.Part`.
    hubs : int
        The values of the vector for which a block has shared memory; 0: it has none.
    """

    semiring: Any
    vector_left: bool
    vector_type: DataType
    matrix_type: DataType
    form: Form
    accum: TypedOp | None
    out_type: DataType
    rows_at_once: int = 32
    looks: bool = False
    packed: bool = False
    partial: bool = False
    segment_bits: int = 0
    skips: bool = False
    hubs: int = 0


def _launcher(
    name: str, product: Product, planned: Plan, accum: TypedOp | None, out_type: DataType, part: Part
) -> Launcher:
    """Return mxv or vxm for a part."""
    rows, heads, packed, _, grid, hubs = planned
    vector_type = product.dtype if product.vector is None else product.vector.dtype
    case = Case(
        product.semiring, product.vector_left, vector_type, product.dtype, rows.form, accum, out_type,
        grid.at_once, heads.k > 0, packed.bits > 0, part.partial, part.bits, grid.skips,
        hub_columns.capacity(vector_type) if hubs else 0,
    )  # fmt: skip
    return _kernel(rows.device, name, stats.collecting is not None, case)  # type: ignore[arg-type]  # hashable, as in plan.py


@lru_cache(maxsize=256)
def _kernel(device: Device, name: str, _counting: bool, case: Case) -> Launcher:
    """Return a product's kernel for a case, found by what decides rather than by its text: that is written once."""
    kernel = codegen.kernel(device, f"{name}.cu", prelude(case), name)
    if case.hubs:
        kernel.resize(hub_columns.THREADS, case.hubs * case.vector_type.np_type.itemsize)
    return kernel


def prelude(case: Case) -> str:
    """Return the prelude of these files: values `a` (matrix), `v` (vector); indices `o` (of w), `s` (shared)."""
    semiring, vector_left, form = case.semiring, case.vector_left, case.form
    reads = semiring.reads
    left, right = ("v", "a") if vector_left else ("a", "v")
    row, column = ("0", "o") if vector_left else ("o", "0")
    multiply = codegen.evaluate(semiring, x=left, y=right, i=row, k="s", j=column)
    reads_vector = ("x" if vector_left else "y") in reads
    return "\n".join(
        (
            codegen.typedefs(
                Id="u64" if form.wide else "u32",
                A=case.matrix_type,
                X=case.vector_type,
                Z=semiring.return_type,
                W=case.out_type,
            ),
            codegen.flags(
                READS_IDS=reads_vector or "k" in reads,  # the shared index is the id that a pull reads
                READS_VALUES=("y" if vector_left else "x") in reads,
                READS_VECTOR=reads_vector,
                ISO=form.iso,
                HEADS=case.looks,
                PACKED=case.packed,
                SKIPS=case.skips,
                COMPRESSED=form.compressed,
                PARTIAL=case.partial,
                SEGMENT_BITS=case.segment_bits,
                HUBS=case.hubs,
                THREADS=hub_columns.THREADS if case.hubs else launch.THREADS,
            ),
            f"constexpr u64 LONG = {form.long};\nconstexpr u32 ROWS_PER_WARP = {case.rows_at_once};",
            codegen.monoid(semiring.monoid),
            codegen.accumulator(case.accum),
            function("Z", "multiply", "A a, X v, u64 o, u64 s", multiply),
        )
    )
