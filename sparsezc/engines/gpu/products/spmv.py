"""Masked SpMV over a semiring: mxv and vxm, by rows (pull, mxv.cu) or by frontier (push, vxm.cu).

Both are w = M v with M the matrix or its transpose; `vector_left` says that the vector is the multiply's left operand,
as in vxm. Pull needs the rows of M, push the rows of its transpose; where the matrix has both, push_pull.py chooses.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sparsezc import stats
from sparsezc.config import config
from sparsezc.device import cuda
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.elementwise import vector_map
from sparsezc.engines.gpu.layouts import column_blocks, head_cache, packed_values
from sparsezc.engines.gpu.placements import Part, Wanted
from sparsezc.engines.gpu.products import push_pull, rows_per_warp
from sparsezc.engines.gpu.runtime import array_pool, codegen, groups, launch, presence_words
from sparsezc.engines.gpu.runtime.codegen import function
from sparsezc.engines.gpu.storage.mask_output import MaskBits, Out
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, Rows, VectorStore
from sparsezc.expr.dispatch import Write
from sparsezc.memory import Buffer
from sparsezc.memory.placement import RECORDS
from sparsezc.semirings import binary
from sparsezc.semirings.algebra.operators import TypedOp
from sparsezc.semirings.algebra.structures import register_anonymous
from sparsezc.semirings.types.datatypes import INT64, DataType

_OFFSET_BYTES = 16  # two offsets a row, where the edges lie in the same memory
_ATOMIC_BYTES = 6  # measured: with 4-byte ids in device memory a full push takes 2.5 times what a full pull takes
_LINK_SHARE = 1 / 64  # device memory against the host link
_WORDS_TO_SKIP = 16  # a warp: with fewer a launch takes longer than the offsets


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
    """w<mask> = accum(w, M v); without a vector, v is full and its values do not matter."""
    mask, accum, _ = write
    held = matrix.held()
    rows, columns = held[::-1] if transposed else held
    if held[0] is None or (vector is not None and vector.count == 0):
        vector_map.write_nothing(out, semiring.return_type, write)
        return
    if rows is not None and (vector is None or vector.is_full) and _counts(semiring):
        vector_map.write_vector(_row_lengths(rows, semiring.return_type), out, write)
        return
    case = _Case(matrix, vector, semiring, vector_left)
    if columns is None or (rows is not None and _pull_is_better(case, rows, columns, mask)):
        assert rows is not None
        first, *others = _blocks(case, rows, columns, out, mask, accum)
        _pull(case, first, columns, out, write)
        for block in others:
            _pull(case, block, None, out, Write(mask, semiring.monoid.binaryop, False))
    else:
        _push(case, columns, rows, out, write)
    if case.stops and rows is not None and rows is columns:  # a frontier: the next product asks for its rows
        out.next_rows = rows


def fold_rows(monoid: Any, matrix: MatrixStore, transposed: bool, out: VectorStore, write: Write[MaskBits]) -> None:
    """w = A (+).first 1: rows folded without a look at their ids."""
    spmv(matrix, transposed, None, _folding(monoid), out, write, vector_left=False)


@lru_cache(maxsize=256)
def _folding(monoid: Any) -> Any:
    return register_anonymous(monoid.op, binary.first)[monoid.type]


def _blocks(
    case: _Case, rows: Rows, columns: Rows | None, out: VectorStore, mask: MaskBits, accum: TypedOp | None
) -> list[Rows]:
    """What a pull goes through: the rows, or blocks of their columns where a full vector is too large for the cache."""
    vector, semiring = case.vector, case.semiring
    if vector is None or (nblocks := column_blocks.count(rows.ncols * vector.dtype.np_type.itemsize)) == 1:
        return [rows]
    reads = ("x" if case.vector_left else "y") in semiring.reads
    if not vector.is_full or vector is out or not reads or case.stops:
        return [rows]
    if accum is not None or not mask.allows_all or out.dtype is not semiring.return_type:
        return [rows]
    if case.asks_for_values(rows) and config.packing == "on":  # blocks have no packed words
        return [rows]
    if rows.blocks is not None and out.bits is None:
        out.make()  # while blocks may go for it: those that a product holds stay until it is done
    return column_blocks.of(rows, columns, nblocks, values=case.reads_values)


def _counts(semiring: Any) -> bool:
    """Whether a sum of products is their number: what offsets tell."""
    return semiring.monoid.name == "plus" and semiring.binaryop.name == "pair" and not semiring.return_type.is_bool


def _row_lengths(rows: Rows, dtype: DataType) -> VectorStore:
    """How many entries each row has, where it has any."""
    lengths = rows.indptr[1:] - rows.indptr[:-1]
    made = VectorStore(dtype, rows.nrows)
    made.set(lengths.astype(dtype.np_type), presence_words.nonzero(lengths, 0, INT64, rows.nrows))
    return made


class _Target(NamedTuple):
    """What a push writes, and the layouts that it reads (vxm.cu)."""

    t: Any
    t_bits: Any
    id_bits: int
    heads: Any
    slots: int


class _Case:
    """What both directions share: the operands and which parts of them the multiply reads."""

    def __init__(self, matrix: MatrixStore, vector: VectorStore | None, semiring: Any, vector_left: bool) -> None:
        self.matrix, self.vector, self.semiring, self.vector_left = matrix, vector, semiring, vector_left
        self.reads_values = ("y" if vector_left else "x") in semiring.reads
        # Sums of truth values meet their terminal value soon; the bound of a number type is as good as never met.
        monoid = semiring.monoid
        self.stops = monoid.stops_anywhere or (monoid.terminal is not None and monoid.type.is_bool)
        self.pulls: float | None = None  # entries that a pull reads; None: nobody has estimated them

    @property
    def vector_type(self) -> DataType:
        return self.matrix.dtype if self.vector is None else self.vector.dtype

    def asks_for_values(self, rows: Rows) -> bool:
        """Whether each entry's value is read, beside its id."""
        return self.reads_values and not rows.iso

    def entry_bytes(self, rows: Rows) -> float:
        return rows.id_bytes + (rows.values.dtype.itemsize if self.asks_for_values(rows) else 0)

    def vector_arguments(self) -> groups.Vector:
        return groups.NO_VECTOR if self.vector is None else groups.Vector(*self.vector.operands())

    def packed(self, rows: Rows, entries: float) -> packed_values.Packed:
        """Ids and values in one word, where a product that reads so many entries has use for both."""
        if not self.reads_values or self.vector is None:
            return packed_values.NOT_PACKED
        return packed_values.of(rows, self.matrix.dtype, int(entries))

    def parts(self, rows: Rows, words: Buffer | None, wanted: Wanted | None, *, pushes: bool) -> Iterable[Part]:
        """The launches that the placement asks for; `words`: ids and values in one. A push always reads ids."""
        if wanted is None:
            return (placements.whole(rows, words),)
        reads_ids = "k" in self.semiring.reads or ("x" if self.vector_left else "y") in self.semiring.reads
        lacks = self.vector is not None and not self.vector.is_full
        return placements.parts(rows, words, wanted, ids=pushes or reads_ids or lacks, values=self.reads_values)

    def prelude(
        self, rows: Rows, accum: TypedOp | None, out_type: DataType, part: Part, *, together: int, looks: bool,
        words: bool, skips: bool = False,
    ) -> str:  # fmt: skip
        matrix = self.matrix.dtype, rows.wide, rows.compressed, rows.iso, rows.chunks.length
        flags = (accum, out_type, together, looks, words, part.partial, part.bits, skips)
        return _prelude(self.semiring, self.vector_left, self.vector_type, *matrix, *flags)


def _pull_is_better(case: _Case, rows: Rows, columns: Rows, mask: MaskBits) -> bool:
    vector = case.vector
    if vector is None or vector.is_full:
        return True
    if array_pool.serving() is not None:
        return False
    entries = vector.count_rows(columns)
    assert vector.count is not None
    if push_pull.is_small(vector.count, entries, rows.nvals):
        return False
    wanted = presence_words.count_wanted(rows.indptr, rows.nrows, mask.bits, mask.flip)
    work = push_pull.Work(vector.count, entries, *wanted, rows.nvals)
    near = RECORDS[case.matrix.placement].resident
    stops = case.stops and not placements.moves(rows)
    slots = head_cache.expected(rows, case.matrix.dtype, values=case.reads_values) if stops else 0
    case.pulls = push_pull.pull_entries(work, stops=stops)
    return push_pull.prefers_pull(
        work,
        stops=stops,
        heads=slots,
        entry_bytes=case.entry_bytes(rows),
        offset_bytes=_OFFSET_BYTES * (1 if near else _LINK_SHARE),
        atomic_bytes=0 if case.semiring.monoid.stops_anywhere else _ATOMIC_BYTES * (1 if near else _LINK_SHARE),
    )


@lru_cache(maxsize=256)
def _prelude(
    semiring: Any,
    vector_left: bool,
    vector_type: DataType,
    matrix_type: DataType,
    wide: bool,
    compressed: bool,
    iso: bool,
    long: int,
    accum: TypedOp | None,
    out_type: DataType,
    rows_at_once: int,
    looks: bool,
    words: bool,
    partial: bool,
    segment_bits: int,
    skips: bool,
) -> str:
    """The prelude of mxv.cu and vxm.cu: values `a` of the matrix, `v` of the vector; indices `o` of w, `s` shared."""
    reads = semiring.reads
    left, right = ("v", "a") if vector_left else ("a", "v")
    row, column = ("0", "o") if vector_left else ("o", "0")
    multiply = codegen.evaluate(semiring, x=left, y=right, i=row, k="s", j=column)
    reads_vector = ("x" if vector_left else "y") in reads
    return "\n".join(
        (
            codegen.typedefs(
                Id="u64" if wide else "u32", A=matrix_type, X=vector_type, Z=semiring.return_type, W=out_type
            ),
            codegen.flags(
                READS_IDS=reads_vector or "k" in reads,  # the shared index is the id that a pull reads
                READS_VALUES=("y" if vector_left else "x") in reads,
                READS_VECTOR=reads_vector,
                ISO=iso,
                HEADS=looks,
                PACKED=words,
                SKIPS=skips,
                COMPRESSED=compressed,
                PARTIAL=partial,
                SEGMENT_BITS=segment_bits,
            ),
            f"constexpr u64 LONG = {long};\nconstexpr u32 ROWS_PER_WARP = {rows_at_once};",
            codegen.monoid(semiring.monoid),
            codegen.accumulator(accum),
            function("Z", "multiply", "A a, X v, u64 o, u64 s", multiply),
        )
    )


def _skips(rows: Rows, warps: int) -> bool:
    """Whether a pull first asks which words of rows have entries: few have, and each warp has many to go through."""
    nwords = -(-rows.nrows // 32)
    return rows.nvals < 2 * nwords and nwords >= _WORDS_TO_SKIP * warps


def _most_items(rows: Rows, at_once: int, everything: bool) -> int:
    """Words of rows, or rows, that a warp takes at once, at most."""
    if at_once == 1:
        return rows_per_warp.most_rows(rows)
    return launch.words(rows.nvals, -(-rows.nrows // 32), everything)


def _is_sparse(vector: VectorStore | None) -> bool:
    return vector is not None and vector.count is not None and vector.count < vector.size // 64


def _in_any_order(monoid: Any) -> bool:
    """Whether values may be folded in any order, to the last bit."""
    return bool(monoid.is_idempotent or monoid.type.is_integer or monoid.type.is_bool)


def _heads_of(case: _Case, rows: Rows, columns: Rows | None) -> head_cache.Heads:
    """The row-head cache, where a pull has use for it: it leaves rows early, for the monoid stops and the vector lacks
    entries; or rows are whole there, and in whose order they are folded matters not.
    """
    if case.vector is None or placements.moves(rows):
        return head_cache.NO_HEADS
    if case.stops and not case.vector.is_full:
        entries = min(rows.nvals, 32 * rows.nrows) if case.pulls is None else case.pulls
        return head_cache.of(rows, columns, case.matrix.dtype, values=case.reads_values, entries=entries)
    if case.stops or case.asks_for_values(rows) or not _in_any_order(case.semiring.monoid) or placements.lie_near(rows):
        return head_cache.NO_HEADS
    return head_cache.of_short_rows(rows, columns, rows.nvals if case.pulls is None else case.pulls)


def _heads_to_push(case: _Case, columns: Rows, rows: Rows | None) -> head_cache.Heads:
    """The row-head cache, where rows that are whole there need not be read over the link."""
    if case.asks_for_values(columns):
        return head_cache.NO_HEADS
    count = None if case.vector is None or array_pool.serving() is not None else case.vector.count
    near = head_cache.to_push(columns, rows, count)
    if (pool := array_pool.serving()) is not None:
        pool.hold(near)
    return near


def _pull(case: _Case, rows: Rows, columns: Rows | None, store: VectorStore, write: Write[MaskBits]) -> None:
    mask, accum, replace = write
    gpu = cuda.current()
    xp = gpu.xp
    near = _heads_of(case, rows, columns)
    together = case.packed(rows, rows.nvals if case.pulls is None else case.pulls)
    chunks = rows.chunks
    at_once = rows_per_warp.choose(rows)
    # A warp that writes single bits of a word writes into what another may still read as the mask.
    masks_itself = (chunks.count > 0 or at_once == 1) and mask.bits is store.bits
    out = Out(store, apart=store is case.vector or masks_itself)
    partial = groups.NO_PARTIAL
    if chunks.count:
        state = xp.zeros(2 * chunks.nrows, np.uint32)
        results = xp.empty(chunks.count, case.semiring.return_type.np_type)
        has = xp.empty(chunks.count, np.uint8)
        partial = groups.Partial(results, has, state[: chunks.nrows], state[chunks.nrows :])
    items = store.nwords * 32 // at_once
    blocks = launch.blocks(gpu, 32 * max(items, chunks.count))
    warps = launch.warps(blocks)
    everything = mask.allows_all
    wanted = None
    if placements.serves(rows):
        entries = 0 if near.k else case.pulls  # what the heads leave is little, and it is not known of which rows
        wanted = Wanted(None if everything else mask.bits, mask.flip, entries, 32 if case.stops else 2**62)
    vector, output = case.vector_arguments(), out.arguments(mask, replace)
    skips = at_once == 32 and _skips(rows, warps)
    most = 32 if skips else 16 if near.k else _most_items(rows, at_once, everything)
    layouts = groups.Layouts(near.ids, near.values, near.k, together.bits)
    # All memory is asked for before the first launch, as what that writes cannot be taken back.
    shared: Any = xp.zeros(2, np.uint64) if chunks.count or items > warps else 0
    for number, part in enumerate(case.parts(rows, together.words, wanted, pushes=False)):
        prelude = case.prelude(rows, accum, store.dtype, part, together=at_once, looks=near.k > 0,
                               words=together.bits > 0, skips=skips)  # fmt: skip
        kernel = codegen.kernel(gpu, "mxv.cu", prelude, "mxv")
        items = part.nwords * 32 // at_once
        alone = not part.nchunks and items <= warps  # no warp has more than one to do: no counter is needed
        if number and not alone:
            shared.fill(0)
        counters = groups.NULL if alone else shared
        spread = 1 if everything else launch.spread(blocks, part.nchunks)
        turns = groups.Turns(counters, launch.piece(blocks, items, most), spread)
        stats.counted(kernel, part.near)(blocks, part.arguments, vector, output, turns, partial, layouts)
    out.done()


def _push(case: _Case, columns: Rows, rows: Rows | None, store: VectorStore, write: Write[MaskBits]) -> None:
    mask, accum, replace = write
    gpu = cuda.current()
    xp = gpu.xp
    if case.vector is not None and case.reads_values:
        case.vector.next_rows = columns  # whoever counts the frontier next counts what is read of them, too
    result_type = case.semiring.return_type
    counted = None  # or what is known of the entries of these rows, not of another matrix's
    if case.vector is not None and case.vector.next_rows is columns:
        counted = case.vector.row_entries
    if counted is None and case.vector is not None and case.vector.count is not None:  # to count takes a wait
        counted = case.vector.count * columns.nvals // columns.nrows
    together = case.packed(columns, columns.nvals if counted is None else counted)
    result = VectorStore(result_type, store.size)
    result.make(None if case.semiring.monoid.stops_anywhere else case.semiring.monoid)
    near = _heads_to_push(case, columns, rows)
    few = array_pool.serving() is not None or _is_sparse(case.vector)
    at_once = rows_per_warp.choose(columns)
    items = -(-columns.nrows // 32) * 32 // at_once
    blocks = launch.blocks(gpu, 32 * max(items, columns.chunks.count))
    words = None if case.vector is None or case.vector.is_full else case.vector.bits
    wanted = Wanted(words, 0, counted) if placements.serves(columns) else None
    most = _most_items(columns, at_once, words is None)
    vector, allowed = case.vector_arguments(), mask.arguments()
    target = _Target(result.values, result.bits, together.bits, near.ids, near.k)
    for part in case.parts(columns, together.words, wanted, pushes=True):
        prelude = case.prelude(columns, None, result_type, part, together=at_once, looks=near.k > 0,
                               words=together.bits > 0)  # fmt: skip
        kernel = codegen.kernel(gpu, "vxm.cu", prelude, "vxm")
        counters = groups.NULL if few else xp.zeros(2, np.uint64)
        items = part.nwords * 32 // at_once
        piece = launch.share(blocks, items) if few else launch.piece(blocks, items, most)
        turns = groups.Turns(counters, piece, launch.spread(blocks, part.nchunks) if few else 1)
        stats.counted(kernel, part.near)(blocks, part.arguments, vector, allowed, target, turns)
    result.count = None
    outside_matters = not replace and not mask.allows_all and store.count != 0
    if accum is None and not outside_matters and store.dtype is result_type:
        store.adopt(result)
    else:
        vector_map.write_vector(result, store, write)
