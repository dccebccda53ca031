"""The kernels that the GPU engine makes, for the tests that compile them: (label, source, name).

`every_semiring` has mxv and vxm of each semiring; `every_width` varies types, id widths, iso-valued matrices and
accumulators; `everything_else` has the other kernels, as a rehearsal of ordinary statements asks for them;
`every_complex` has some kernels of each kind for complex numbers, which have rows of their own in the table of
resources.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import sparsezc as gb
from sparsezc.engines.gpu.graphs import colors, components, flow, local_pagerank, paths, search
from sparsezc.engines.gpu.placements import segments
from sparsezc.engines.gpu.products import (
    best_column,
    bit_dots,
    dense_rows,
    labels,
    multi_source_bfs,
    sddmm,
    spgemm_masked_dot,
    spgemm_rows,
    spmm,
    spmv,
    two_way,
)
from sparsezc.engines.gpu.runtime import codegen
from sparsezc.engines.gpu.sampling import selectk, walks
from sparsezc.engines.gpu.several_processes import peer_searches
from sparsezc.engines.gpu.storage.matrix_store import Form
from sparsezc.memory import budget
from sparsezc.ops.panels import weights_of
from sparsezc.semirings import binary, select, semiring, unary
from sparsezc.semirings.algebra.structures import Semiring
from sparsezc.semirings.types import datatypes

from .rehearsal import rehearse

Case = tuple[str, str, str]
_TRIED = (datatypes.FP64, datatypes.INT64, datatypes.BOOL, datatypes.UINT64)


_NARROW = Form(False, False, False, budget.LONG)


def _products(typed: Any, dtype: Any, form: Form = _NARROW, *, accum: Any = None, **flags: Any) -> Iterator[Case]:
    """Yield mxv and vxm of a semiring over rows of this form; `flags` are fields of :class:`spmv.Case`."""
    for kernel in ("mxv", "vxm"):
        outputs = (accum, dtype) if kernel == "mxv" else (None, typed.return_type)
        prelude = spmv.prelude(spmv.Case(typed, kernel == "vxm", dtype, dtype, form, *outputs, **flags))
        yield kernel, f"#define KERNEL {kernel}\n" + codegen.source(f"{kernel}.cu", prelude), kernel


def every_semiring() -> list[Case]:
    """Return mxv and vxm of each semiring, for the first type that it takes."""
    found: list[Case] = []
    for name in dir(semiring):
        op = getattr(semiring, name)
        if isinstance(op, Semiring):
            dtype = next(t for t in _TRIED if t in op.types)
            found += _products(op[dtype], dtype)
    return found


def every_width(*, crossed: bool = True) -> list[Case]:
    """Return mxv and vxm of the main semirings for types of each size and kind, both id widths, iso-valued or not.

    Unless `crossed`, each semiring of a type has one of the widths, in turn.
    """
    found: list[Case] = []
    turn = 0
    for op, dtype in (
        (semiring.any_pair, datatypes.BOOL),
        (semiring.any_second, datatypes.INT64),
        (semiring.lor_land, datatypes.BOOL),
    ):
        for wide in (False, True):
            found += [
                case
                for case in _products(op[dtype], dtype, _NARROW._replace(wide=wide), looks=True)
                if case[0] == "mxv"
            ]
    found += _products(semiring.min_plus[datatypes.UINT8], datatypes.UINT8, packed=True)
    found += _products(semiring.plus_times[datatypes.FP64], datatypes.FP64, packed=True)
    for op, dtype in ((semiring.plus_times, datatypes.FP32), (semiring.any_pair, datatypes.BOOL)):
        found += [case for case in _products(op[dtype], dtype, skips=True) if case[0] == "mxv"]
    for op, dtype in (
        (semiring.plus_second, datatypes.FP32),
        (semiring.plus_times, datatypes.FP64),
        (semiring.min_plus, datatypes.INT64),
    ):
        some = [case for case in _products(op[dtype], dtype, hubs=1024) if case[0] == "mxv"]
        found += [("mxv.hubs", *case[1:]) for case in some]
        case = spmv.Case(
            op[dtype], False, dtype, dtype, Form(False, False, True, budget.LONG), None, op[dtype].return_type
        )
        for name in ("row_groups", "row_sums"):
            found.append((name, f"#define KERNEL {name}\n" + codegen.source(f"{name}.cu", spmv.prelude(case)), name))
    for op, dtype in (
        (semiring.plus_times, datatypes.FP32),
        (semiring.min_plus, datatypes.INT64),
        (semiring.any_pair, datatypes.BOOL),
    ):
        found += _products(op[dtype], dtype, rows_at_once=1)
    for part in ((True, 0), (False, segments.BITS), (True, segments.BITS)):
        for op, dtype in (
            (semiring.plus_times, datatypes.FP32),
            (semiring.min_plus, datatypes.INT64),
            (semiring.any_pair, datatypes.BOOL),
        ):
            found += _products(op[dtype], dtype, partial=part[0], segment_bits=part[1])
    for op in (semiring.plus_times, semiring.min_plus, semiring.any_pair):
        for dtype in (
            datatypes.BOOL,
            datatypes.INT8,
            datatypes.UINT16,
            datatypes.INT64,
            datatypes.FP32,
            datatypes.FP64,
        ):
            if dtype in op.types:
                accum = gb.binary.plus[dtype]
                widths = ((False, False), (True, False), (False, True))
                turn += 1
                for wide, iso in widths if crossed else (widths[turn % 3],):
                    form = _NARROW._replace(wide=wide, iso=iso)
                    found += _products(op[dtype], dtype, form, accum=accum if wide else None)
    return found


def _statements() -> None:
    rng = np.random.default_rng(1)
    at = np.arange(0, 40, 2)
    for dtype in ("INT8", "FP64"):
        v = gb.Vector.from_coo(at, 1, dtype, size=40)
        A = gb.Matrix.from_coo(at, at[::-1], rng.integers(0, 3, at.size), dtype, nrows=40, ncols=40).to("gpu")
        w = gb.Vector(dtype, 40)
        with gb.config.set(head_cache="on"):
            w << A.mxv(v, gb.semiring.any_first)
        w << A.mxv(v, gb.semiring.any_first)
        w(v.V) << v.ewise_add(w, gb.binary.min)
        w(~v.S, gb.binary.max, replace=True) << v.ewise_mult(w, gb.binary.first)
        w << v.ewise_union(w, gb.binary.max, 1, 1)
        w << v.apply(gb.unary.identity)
        w << v.apply(gb.binary.second, right=1)
        w << v.apply(gb.indexunary.rowindex)
        w << v.select(gb.select.valuene, 0)
        w[[1, 5]] << 1
        w[::2] << v[:20].new()
        w << v[::-1]
        v.reduce(gb.monoid.max).new()
        A.reduce_rowwise(gb.monoid.max).new()
        A.reduce_columnwise(gb.monoid.max).new()
        A.apply(gb.unary.identity).new()
        A.select(gb.select.valuene, 0).new()
        A.select(gb.select.tril).new()
        A.apply(gb.unary.identity).new("FP32")
        A.ewise_add(A.T, gb.binary.min).new()
        A.ewise_mult(A, gb.binary.first).new()
        A.ewise_union(A, gb.binary.max, 1, 1).new()
        C = A.dup()
        C(A.V) << A.T
        C(~A.S, gb.binary.max) << A
        C[[1, 3], :] = A[:2, :].new()
        A.mxm(A, gb.semiring.plus_times).new()
        A.mxm(A.T, gb.semiring.plus_times).new(mask=A.S)
        A.ewise_mult(v, gb.binary.times).new()
        few = gb.Matrix.from_coo([0] * 40, range(40), 1, dtype, nrows=1, ncols=40).to("gpu")
        for op in (gb.semiring.plus_times, gb.semiring.any_pair):
            made = few.mxm(A, op).new(mask=~few.S)
            made.select(gb.select.tril).new()


def _panels() -> Iterator[Case]:
    """Yield kernels of panel products that the engine chooses by counted reads, which a rehearsal does not count."""
    for words, aligned in ((1, True), (2, False)):
        for looks, way in ((False, "pull"), (True, "pull"), (False, "push"), (False, "both")):
            name = f"multi_source_bfs_{way}"
            prelude = multi_source_bfs.prelude(False, False, looks, words, aligned, budget.LONG)
            file = f"{name}.cu"
            yield name, f"#define KERNEL {name}\n" + codegen.source(file, prelude), name
    for name in ("count_rows", "list_rows", "put_words", "turn_rows", "write_levels"):
        aligned = name in ("turn_rows", "write_levels")
        yield name, codegen.source("panel_words.cu", multi_source_bfs.prelude(aligned=aligned)), name
    for name in ("send_words", "turn_words", "plan_step"):
        yield name, codegen.source("peer_searches.cu", peer_searches.constants()), name
    for dtype, filters in ((datatypes.INT8, False), (datatypes.FP64, True), (datatypes.FP64, False)):
        form = Form(False, False, False, budget.LONG)
        prelude = spmm._prelude(
            spmm._Case(semiring.plus_times[dtype], dtype, dtype, form, False, 1, 32, False, 0, None, None, filters)
        )
        yield "spmm", "#define KERNEL spmm\n" + codegen.source("spmm.cu", prelude), "spmm"
    source = codegen.source("panel.cu", codegen.typedefs(Id="u32"))
    yield "panel_rows", "#define KERNEL panel_rows\n" + source, "panel_rows"
    yield "lines", codegen.source("presence_words.cu", ""), "lines"
    for name in ("entry_keys", "row_slices"):
        yield name, f"#define KERNEL {name}\n" + codegen.source(f"{name}.cu", ""), name


def _by_vertex() -> Iterator[Case]:
    """Yield products that compute a column or a count for each vertex: kernels that no semiring of a user asks for."""
    for dtype in (datatypes.FP64, datatypes.UINT64):
        for name, source, kernel in _products(best_column._semiring(dtype), dtype):
            yield f"{name}.column", source, kernel
    for wide in (False, True):
        counting, slots = semiring.plus_pair[datatypes.UINT64 if wide else datatypes.UINT32], 3680 if wide else 6144
        sizes = slots, slots // 32, spgemm_masked_dot.WARP_MASK
        types, forms = (counting, datatypes.BOOL, datatypes.BOOL), ((wide,) * 3, (True,) * 2)
        prelude = spgemm_masked_dot._prelude(*types, *forms, sizes, True)
        source = "#define KERNEL masked_dot\n" + codegen.source("spgemm_masked_dot.cu", prelude)
        yield "masked_dot.corners", source, "masked_dot"
        source = codegen.source("bit_rows.cu", codegen.typedefs(Id="u64" if wide else "u32"))
        yield "bit_rows", "#define KERNEL bit_rows\n" + source, "bit_rows"
        source = codegen.source("bit_dots.cu", bit_dots.prelude(wide, datatypes.INT64))
        yield "bit_dots", "#define KERNEL bit_dots\n" + source, "bit_dots"


def _heavy() -> Iterator[Case]:
    """Yield kernels for rows of a product that all grid blocks share: a rehearsal's products are too small for them."""
    for dtype in (datatypes.INT8, datatypes.FP64):
        case = semiring.plus_times[dtype], dtype, dtype, (False, False), (False, False), True
        for file, prelude, name in (
            ("spgemm_heavy_mark", spgemm_rows._count_prelude(False, False), "heavy_mark"),
            ("spgemm_heavy_add", spgemm_rows._fill_prelude(*case, 0), "heavy_add"),
            ("spgemm_heavy_add", spgemm_rows._fill_prelude(*case, 0), "heavy_join"),
        ):
            yield name, f"#define KERNEL {name}\n" + codegen.source(f"{file}.cu", prelude), name


def _moves() -> Iterator[Case]:
    """Yield kernels that move rows between labels or sum entries between labels."""
    for joins, counts, wide in ((False, True, False), (True, True, False), (False, False, False), (True, False, True)):
        dtype = datatypes.UINT32 if counts else datatypes.FP64
        moving = labels.Case(dtype, wide, not counts, not counts or joins, wide, counts, joins, True, joins)
        steps = f"{labels.types(moving)}\nconstexpr u64 WARP_MOST = 400, BLOCK_MOST = 4000;"
        for name in ("list_turn", "move_rows", "join_cuts" if joins else "wake"):
            yield name, codegen.source("label_turns.cu", steps), name
        summing = moving._replace(within=False, penalty=False, joins=False, loops=True)
        for kind in range(5):
            flags = codegen.flags(CLASS=kind)
            source = codegen.source("label_choose.cu", f"{labels.types(moving)}\n{flags}")
            yield "label_choose", "#define KERNEL label_choose\n" + source, "label_choose"
            flags = codegen.flags(CLASS=kind, DENSE=wide)
            source = codegen.source("label_sums.cu", f"{labels.types(summing)}\n{flags}")
            yield "label_sums", "#define KERNEL label_sums\n" + source, "label_sums"
        if counts:
            for name in ("list_pairs", "first_of_pairs", "add_pairs"):
                yield name, codegen.source("label_pairs.cu", labels.types(summing)), name


def _colors() -> Iterator[Case]:
    """Yield the kernels that colour rows."""
    for wide in (False, True):
        for name in ("wait_rows", "color_rows"):
            yield name, codegen.source("colors.cu", colors.kernel_prelude(wide, wide)), name


def _loops() -> Iterator[Case]:
    """Yield the kernels that run whole loops."""
    levels, parents, met = datatypes.INT32, datatypes.INT64, datatypes.BOOL
    for near, heads, result in (
        (True, False, levels),
        (True, False, parents),
        (True, False, met),
        (False, False, levels),
        (False, True, parents),
        (False, True, met),
    ):
        for wide in (False, True):
            case = search._Case(wide, result, result is met, heads, near, budget.LONG, 1 if wide else 32)
            source = codegen.source("search.cu", search.kernel_prelude(case))
            yield "search.near" if near else "search", "#define KERNEL search\n" + source, "search"
    for directed, heads in ((False, False), (False, True), (True, False)):
        for leaves in {False, not directed}:
            for wide in (False, True):
                case = components._Case(wide, directed, heads, leaves, budget.LONG, 1 if wide else 32)
                source = codegen.source("components.cu", components.kernel_prelude(case))
                yield "components", "#define KERNEL components\n" + source, "components"
    yield "hub", codegen.source("longest_row.cu", ""), "hub"
    for wide in (False, True):
        for each in (False, True):
            source = codegen.source("local_pagerank.cu", local_pagerank.kernel_prelude(wide, each))
            yield "local_pageranks" if each else "local_pagerank", source, "solve"
            if not each:
                yield "later_ends", source, "later_ends"
    for lengths, distances in (
        (datatypes.UINT8, datatypes.INT32),
        (datatypes.FP32, datatypes.FP32),
        (datatypes.INT64, datatypes.INT64),
        (datatypes.FP64, datatypes.FP64),
    ):
        wide = distances.np_type.itemsize == 8
        case = paths._Case(
            wide, lengths, distances, wide, budget.LONG, 1 if wide else 32, distances is not datatypes.INT64
        )
        source = codegen.source("paths.cu", paths.kernel_prelude(case))
        yield "paths", "#define KERNEL paths\n" + source, "paths"


def _flows() -> Iterator[Case]:
    """Yield the kernels that push excess along edges."""
    for dtype, large in ((datatypes.INT64, True), (datatypes.FP64, False)):
        number = np.dtype(np.uint64 if large else np.uint32)
        source = codegen.source("flow.cu", flow.kernel_prelude(large, number, number, dtype))
        for name in ("leave", "search", "list_active", "push", "gather"):
            yield f"flow.{name}", source, name


def _labels() -> Iterator[Case]:
    """Yield the kernels of `labels.cu`, for rows of all lengths."""
    for reads, sums in ((False, False), (True, False), (True, True)):
        for blocks, in_memory in ((False, False), (True, False), (True, not sums)):
            for wide in (False, True):
                case = labels.Case(datatypes.FP64, wide, not reads, reads, wide, not (reads or sums))
                source = codegen.source("labels.cu", labels.prelude(case, blocks, in_memory, sums))
                yield "labels", "#define KERNEL labels\n" + source, "labels"


def _placed() -> Iterator[Case]:
    """Yield kernels of the placements that move entries."""
    for bound, entry in (("i32", "u32"), ("i64", "c128")):
        texts = {
            "segments.cu": f"constexpr u32 SEGMENT_BITS = {segments.BITS};\n{codegen.typedefs(A=entry)}",
            "row_runs.cu": codegen.typedefs(Bound=bound),
        }
        for file, name in (
            *(("segments.cu", name) for name in ("touch", "resident", "copy")),
            *(("row_runs.cu", name) for name in ("count_runs", "runs_before", "list_runs")),
        ):
            yield name, codegen.source(file, texts[file]), name


def _rounds() -> Iterator[Case]:
    """Yield kernels of recorded rounds, of which a rehearsal runs too few."""
    for dtype, limit in ((datatypes.INT32, datatypes.INT64), (datatypes.FP64, datatypes.FP64)):
        prelude = f"{codegen.typedefs(Z=dtype, S=limit)}\n{codegen.monoid(gb.monoid.min[dtype])}"
        yield "neutral", "#define KERNEL neutral\n" + codegen.source("neutral.cu", prelude), "neutral"
        for name in ("bucket_is_empty", "bucket_starts", "bucket_fills"):
            yield name, codegen.source("buckets.cu", prelude), name


def _sampling() -> Iterator[Case]:
    """Yield the kernels that pick entries, walk, and multiply panels at a matrix's entries."""
    for name in ("floyd", "with_replacement"):
        yield name, codegen.source("draws.cu", ""), name
    for name in ("know", "meet", "count_fresh", "number", "locate"):
        yield name, codegen.source("hops.cu", codegen.typedefs(Id="u64")), name
    yield "follow", codegen.source("follow.cu", ""), "follow"
    for dtype in ("u8", "c128"):
        for name in ("gather_rows", "shift_rows"):
            yield name, codegen.source("filter.cu", codegen.typedefs(Id="u32", A=dtype)), name
    for dtype in (datatypes.INT8, datatypes.FP64):
        prelude = selectk._prelude(dtype, False)
        source = "#define KERNEL weighted_draws\n" + codegen.source("weighted_draws.cu", prelude)
        yield "weighted_draws", source, "weighted_draws"
        for how in range(4):
            for most in (32, 128):
                source = codegen.source("smallest_keys.cu", selectk._prelude(dtype, False, how, most))
                for name in ("smallest_keys", "keys_of_entries"):
                    yield name, source, name
        for weights in range(3):
            for biased in (False, True):
                for label, goes_on in (("walk", False), ("walk.goes_on", True)):
                    prelude = walks._prelude(False, dtype, False, weights, biased, goes_on)
                    yield label, "#define KERNEL walk\n" + codegen.source("walk.cu", prelude), "walk"
    for op, dtype in ((semiring.plus_times, datatypes.FP64), (semiring.min_plus, datatypes.INT64)):
        inner = sddmm._prelude(op[dtype], dtype, dtype, 16, False)
        prelude = codegen.typedefs(Id="u32", W=dtype) + "\n" + inner
        yield "sampled", "#define KERNEL sampled\n" + codegen.source("sddmm.cu", prelude), "sampled"
        form = Form(False, False, False, budget.LONG)
        arcs = [(1, [unary.acos, unary.minv, (select.valuegt, 0.5)]), (2, [binary.minus])]
        weights = () if dtype.is_integer else weights_of("a case", arcs, dtype, dtype, gb.Matrix(dtype, 64, 2))[0]
        dots = inner, sddmm._weighing(dtype, weights), dtype, bool(weights)
        listed = spmm._prelude(spmm._Case(op[dtype], dtype, dtype, form, False, 1, 32, True, 0, None))
        yield "spmm_push", "#define KERNEL spmm_push\n" + codegen.source("spmm_push.cu", listed), "spmm_push"
        for name in ("spmm", "spmm_push"):
            prelude = spmm._prelude(spmm._Case(op[dtype], dtype, dtype, form, False, 1, 32, False, 0, dots))
            yield f"{name}.sampled", f"#define KERNEL {name}\n" + codegen.source(f"{name}.cu", prelude), name
        few = sddmm._prelude(op[dtype], dtype, dtype, 4, True), *dots[1:]
        case = spmm._Case(op[dtype], dtype, dtype, form, False, 1, 32, False, 0, few, (4, True))
        source = codegen.source("spmm_few.cu", spmm._prelude(case))
        yield "spmm_few.sampled", "#define KERNEL spmm_few\n" + source, "spmm_few"
        for label, given in (("two_way", None), ("two_way.sampled", dots)):
            prelude = two_way._prelude(two_way._Case(op[dtype], dtype, dtype, form, 21, 32, False, 0, given))
            yield label, "#define KERNEL two_way\n" + codegen.source("two_way.cu", prelude), "two_way"
        for name in ("gather", "put"):
            yield f"panel_{name}", codegen.source("panel_gather.cu", codegen.typedefs(T=dtype)), name
        prelude = codegen.typedefs(X=dtype, Z=dtype) + "\n" + codegen.monoid(op[dtype].monoid)
        yield "panel_fold", "#define KERNEL panel_fold\n" + codegen.source("panel_fold.cu", prelude), "panel_fold"
        prelude = dense_rows._prelude(dtype)
        yield "distances", "#define KERNEL distances\n" + codegen.source("distances.cu", prelude), "distances"


def everything_else() -> list[Case]:
    """Return every kernel that ordinary statements on two types ask for."""
    found = [(name, source, name) for source, name in rehearse([_statements]) if name not in ("mxv", "vxm")]
    found += [
        *_panels(),
        *_by_vertex(),
        *_heavy(),
        *_labels(),
        *_moves(),
        *_colors(),
        *_flows(),
        *_loops(),
        *_placed(),
        *_rounds(),
    ]
    return [*found, *_sampling()]


def _compressed_statements() -> None:
    at = np.arange(2000)
    A = gb.Matrix.from_coo(at % 40, at, at, nrows=2000, ncols=2000).to("gpu")
    v = gb.Vector.from_scalar(1.0, 2000)
    panels = [gb.Matrix.from_dense(np.ones((2000, width))).to("gpu") for width in (3, 6)]
    for order in ("natural", "degree"):
        B = A.compress(order)
        w = B.mxv(v, gb.semiring.min_first).new()
        with gb.config.set(head_cache="on"):
            w << B.mxv(v.select("==", 1), gb.semiring.any_first)
        w.to_coo()
        for X in panels:
            B.mxm(X, gb.semiring.plus_times).new()
            B.mxm(X, gb.semiring.any_pair).new()
        B.to_coo()


def every_compressed() -> list[Case]:
    """Return the kernels that read and write compressed ids, with labels of their own: they need more resources."""
    found: list[Case] = []
    for op, dtype in (
        (semiring.any_pair, datatypes.BOOL),
        (semiring.plus_second, datatypes.FP64),
        (semiring.plus_times, datatypes.FP64),
        (semiring.min_plus, datatypes.INT64),
        (semiring.plus_second, datatypes.FP32),
    ):
        found += _products(op[dtype], dtype, _NARROW._replace(compressed=True))
    found += [(name, source, name) for source, name in rehearse([_compressed_statements])]
    own = ("measure", "encode", "decode", "reorder")
    return [
        (name if name in own else f"{name}.compressed", source, name)
        for name, source, _ in found
        if name in own or "COMPRESSED = true" in source
    ]


def _complex_statements() -> None:
    at = np.arange(0, 40, 2)
    v = gb.Vector.from_coo(at, 1j, size=40)
    A = gb.Matrix.from_coo(at, at[::-1], at + 1j, nrows=40, ncols=40).to("gpu")
    w = gb.Vector(complex, 40)
    w << A.mxv(v, gb.semiring.any_first)
    w(v.V, gb.binary.plus) << v.ewise_add(w, gb.binary.truediv)
    w << v.apply(gb.unary.sqrt)
    v.reduce(gb.monoid.times).new()
    A.apply(gb.unary.abs).new()
    A.select(gb.select.valuene, 0).new()
    A.ewise_add(A.T, gb.binary.times).new()
    A.mxm(A, gb.semiring.plus_times).new()
    A.mxm(A.T, gb.semiring.plus_times).new(mask=A.S)
    gb.Matrix.from_coo([0] * 40, range(40), 1j, nrows=1, ncols=40).to("gpu").mxm(A, gb.semiring.plus_times).new()


def every_complex() -> list[Case]:
    """Return some kernels of each kind for complex numbers, with labels of their own: they need more resources."""
    found: list[Case] = []
    for op in (semiring.plus_times, semiring.times_second):  # plus by atomics, times in turn
        for dtype in datatypes.COMPLEX:
            found += _products(op[dtype], dtype, accum=gb.binary.plus[dtype])
    found += [(name, source, name) for source, name in rehearse([_complex_statements]) if name not in ("mxv", "vxm")]
    return [
        (f"{label}.complex", source, name) for label, source, name in found if " c64 " in source or " c128 " in source
    ]
