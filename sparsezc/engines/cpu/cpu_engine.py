"""The CPU engine: it translates statements to python-graphblas, which runs them on SuiteSparse:GraphBLAS.

A store is python-graphblas's own Matrix or Vector, so objects pass both ways without a copy. SuiteSparse runs in
blocking mode, as in nonblocking mode, python-graphblas's default, it may corrupt an operand: after ``q << vxm(...)``, a
statement ``o(mask) << q.apply(op)`` may leave q's ids sorted and its values not. If a program has started nonblocking
mode itself, the engine waits for every result, which keeps results correct.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from sparsezc import exceptions
from sparsezc.engines.cpu.dense import distances, is_dense, map_rows, matmul, solve, values_of, with_values
from sparsezc.engines.cpu.store_methods import Keeper
from sparsezc.engines.cpu.suitesparse import native
from sparsezc.engines.cpu.suitesparse.expressions import EXPRESSIONS, acyclic, index, operand, operator, scalar, stack
from sparsezc.engines.cpu.suitesparse.expressions import mask as mask_of
from sparsezc.expr.dispatch import Write
from sparsezc.expr.expression import Expression
from sparsezc.expr.mask import Mask
from sparsezc.process import first_use

__all__ = ["CpuEngine", "engine"]

_engine: CpuEngine | None = None
_PIECE = 1 << 14  # positions of a vector that are processed at a time, so that they stay in cache
_LONG = 1 << 14  # positions: on fewer SuiteSparse takes less time than the calls that replace it
_NO_OPTIONS: dict[str, str] = {}
_element = first_use.function("sparsezc.engines.cpu.suitesparse.elements", "element")


def engine() -> CpuEngine:
    """Return the engine, started on first use."""
    global _engine
    if _engine is None:
        with native.making:
            if _engine is None:
                _engine = CpuEngine(blocking=native.start())
    return _engine


class CpuEngine(Keeper):
    """The engine protocol over python-graphblas; see :class:`sparsezc.expr.engines.Engine`.

    Attributes
    ----------
    blocking : bool
        SuiteSparse is in blocking mode; otherwise the engine waits for products.
    """

    name = "cpu"
    lock = None  # SuiteSparse serves several threads at once, if no two share an object

    def __init__(self, blocking: bool) -> None:
        self.blocking = blocking

    def run(self, expression: Expression, out: Any, write: Write[Mask | None]) -> None:
        """Run one python-graphblas statement."""
        try:
            mask, accum, _ = write
            operation = expression.operation
            translated = EXPRESSIONS.get(operation)
            if not expression.shape:
                out._receive(expression, _read(expression), accum)
                return
            if translated is None:
                _STATEMENTS[operation](expression, out, write)
            # under a mask SuiteSparse computes only the allowed entries, of full matrices, too
            elif operation == "mxm" and mask is None and is_dense(expression):
                _write_whole(matmul, expression, out, write)
            elif mask is None and accum is None:
                made = translated(expression)
                if operation in _MEETING:
                    made = _unmet(made, out)
                out._store._update(made, opts=_NO_OPTIONS)  # `store << made` in fewer calls
            else:
                _write(expression, out, write, translated)
            if not self.blocking:
                out._store.wait()
        except native.gb.exceptions.GraphblasException as error:
            raise ours(error, expression.operation) from error


def ours(error: Exception, operation: str) -> exceptions.GraphblasException:
    """Return python-graphblas's error as ours of the same name."""
    kind = getattr(exceptions, type(error).__name__, exceptions.GraphblasException)
    found: exceptions.GraphblasException = kind(f"{operation}: {error or type(error).__name__}")
    return found


# Statements, with workarounds for bugs of SuiteSparse 9.4.5


def _read(x: Expression) -> Any:
    """Return the value of an expression that makes a Scalar; None if it has none."""
    if x.operation == "extract":
        u, *keys = x.operands
        return _element(operand(u), *[key.key for key in keys])
    if x.operation == "inner":
        u, v = x.operands
        return operand(u).inner(operand(v), operator(x.op)).new().value
    if x.operation != "reduce":
        return _of_scalars(x)
    u = x.operands[0]
    reduce = u._store.reduce if u.ndim == 1 else u._store.reduce_scalar
    return reduce(operator(x.op)).new().value


def _of_scalars(x: Expression) -> Any:
    """Return the value of ewise, apply or select of Scalars, by the operators' NumPy functions."""
    op: Any = x.op
    values = [s.value for s in x.operands]
    if x.operation == "ewise_union":
        s, left, t, right = values
        if s is None and t is None:
            return None
        return op.numpy(left if s is None else s, right if t is None else t)
    if x.operation == "ewise_add" and None in values:
        return next((s for s in values if s is not None), None)
    if None in values:
        return None
    if x.operation == "select":
        return values[0] if op.numpy(values[0], 0, 0, values[1]) else None
    return op.numpy(values[0], 0, 0, values[1]) if x.operation == "apply_index" else op.numpy(*values)


def _unmet(made: Any, out: Any) -> Any:
    """Return an expression, or its result if the output is iso-valued and full, so that ``out << made`` may run.

    SuiteSparse 9.4.5 writes all values of two full operands into such an output (as after ``w << 1``), whose array has
    one value, and then takes the first of them for all.
    """
    return acyclic(made.new()) if out._store.ss.is_iso and _is_full(out._store) else made


def _write_whole(make: Callable[[Expression], Any], x: Expression, out: Any, write: Write[Mask | None]) -> None:
    """``out(mask, accum, replace) << made``, where NumPy makes the whole result."""
    made = make(x)
    if write.mask is None and write.accum is None:
        if len(x.shape) == 2 and made.dtype == out._store.dtype and made.nvals:  # moves the arrays, without a copy
            out._store.ss.pack_any(**made.ss.unpack(made.ss.format), take_ownership=True)
        else:
            out._store << made
        return
    _write_made(made, out, write)


# Operations that combine two operands entry by entry.
_MEETING = {"ewise_add", "ewise_mult", "ewise_union", "outer", "select"}


def _write(x: Expression, out: Any, write: Write[Mask | None], translate: Callable[[Expression], Any]) -> None:
    """Run ``out(mask, accum, replace) << expression``."""
    mask, accum, replace = write
    options, given, alone = _NO_OPTIONS, None, False
    first = accum is not None and _formed_first(x)
    if mask is not None:
        if not mask.complement:
            options = _options(x, mask)
            if _adds_under(write):
                first, given = True, _not_full(mask.parent._store)
        if x.operation in _MEETING:
            # If all are hypersparse, SuiteSparse 9.4.5 gives the result the list of rows of a mask or an operand, not
            # a copy, and frees it with the old entries of an output that is one of them: row ids are then read from
            # freed memory. An operand's list is freed where `replace` clears the output beforehand.
            alone = _meets_itself(x, mask)
            freed = [mask.parent, *x.operands] if replace else [mask.parent]
            first = first or alone or any(u._store is out._store for u in freed if u.ndim)
    allowed, made = mask_of(mask, given), translate(x)
    if first:
        made = acyclic(made.new(mask=None if alone else allowed, **options))
        options = _NO_OPTIONS
        if mask is not None:
            made = _not_full(made)
    # `store(mask, accum, replace) << made` in fewer calls: a tenth of a small statement's time
    out._store._update(made, allowed, operator(accum), replace, opts=options)


def _write_made(made: Any, out: Any, write: Write[Mask | None]) -> None:
    """Write a result that is computed already."""
    mask, accum, replace = write
    parent = None
    if mask is not None and _adds_under(write):
        made, parent = _not_full(made), _not_full(mask.parent._store)
    out._store(mask=mask_of(mask, parent), accum=operator(accum), replace=replace) << made


def _assign(x: Expression, out: Any, write: Write[Mask | None]) -> None:
    """Run an assignment, which python-graphblas writes as a statement and not as an expression."""
    value, *keys = x.operands
    mask, accum, replace = write
    store, at, adds = out._store, index(keys), _adds_under(write)
    if value.ndim:
        given = _not_full(operand(value)) if adds else operand(value)
    elif value.value is None:
        given = native.gb.Scalar(native.type_of(value.dtype), is_cscalar=False)
    elif mask is None and accum is not None and _adds_to_all(store, value, accum, keys):
        return
    else:
        given = scalar(value)
    if mask is None and accum is None and x.operation == "assign":
        store[at] = given
        return
    allowed = None if mask is None else mask_of(mask, _not_full(mask.parent._store) if adds else None)
    options = {"mask": allowed, "accum": operator(accum), "replace": replace}
    if x.operation == "subassign":
        store[at](**options) << given
    else:
        store(**options)[at] = given


def _adds_to_all(store: Any, number: Any, accum: Any, keys: list[Any]) -> bool:
    """Run ``w(plus)[:] << number`` of a long FP64 vector with missing entries; return whether it is one.

    SuiteSparse 9.4.5 takes 6 ns for a position of such a vector, a tenth of that for one of a full vector.
    """
    if store.ndim != 1 or store._size < _LONG or keys[0].kind != "all" or accum.name != "plus":
        return False
    doubles = native.gb.dtypes.FP64
    if store.dtype != doubles or accum.return_type.name != "FP64" or number.dtype.name != "FP64":
        return False
    if store.ss.format != "bitmap" or store.ss.is_iso or not number.value:  # 0.0 - 0.0 is not -0.0
        return False
    piece = np.empty(_PIECE, np.int64)  # before the vector is taken apart
    parts = store.ss.unpack("bitmap")
    values, present = parts["values"], parts["bitmap"].view(np.int8)
    bits = values.view(np.int64)
    for at in range(0, bits.size, _PIECE):  # 0.0 where there is no entry, in an eighth of an assignment's time
        some = slice(at, at + _PIECE)
        kept = piece[: bits[some].size]
        kept[:] = present[some]
        np.negative(kept, out=kept)
        bits[some] &= kept
    values += number.value
    store.ss.pack_full(values, take_ownership=True)
    return True


def _sampled_mxm(x: Expression, out: Any, write: Write[Mask | None]) -> None:
    _write_whole(lambda x: _sampled(x, write.mask), x, out, write)


def _run_labels(x: Expression, out: Any, write: Write[Mask | None]) -> None:
    _labels(_LABELS[x.operation], x, out, write, lambda made: _write_made(made, out, write))


_sampled = first_use.function("sparsezc.engines.cpu.sddmm", "sampled_mxm")
_labels = first_use.function("sparsezc.engines.cpu.labels.weights", "run")
_LABELS = {
    "best_label": first_use.function("sparsezc.engines.cpu.labels.weights", "best_label"),
    "label_weight": first_use.function("sparsezc.engines.cpu.labels.weights", "label_weight"),
    "move_labels": first_use.function("sparsezc.engines.cpu.labels.moves", "move_labels"),
    "join_labels": first_use.function("sparsezc.engines.cpu.labels.moves", "join_labels"),
    "color_rows": first_use.function("sparsezc.engines.cpu.labels.moves", "color_rows"),
}
#: Operations that python-graphblas has no expression for. NumPy computes the whole result of some.
_STATEMENTS: dict[str, Callable[[Expression, Any, Write[Mask | None]], None]] = {
    "argsort": partial(_write_whole, first_use.function("sparsezc.engines.cpu.selectk", "argsort")),
    "assign": _assign,
    "subassign": _assign,
    "best_column": partial(_write_whole, first_use.function("sparsezc.engines.cpu.selectk", "best_column")),
    "count_corners": partial(_write_whole, first_use.function("sparsezc.engines.cpu.two_way", "count_corners")),
    "distances": partial(_write_whole, distances),
    "map_rows": partial(_write_whole, map_rows),
    "net_flow": partial(_write_whole, first_use.function("sparsezc.engines.cpu.flow", "net_flow")),
    "sampled_mxm": _sampled_mxm,
    "selectk": partial(_write_whole, first_use.function("sparsezc.engines.cpu.selectk", "selectk")),
    "solve": partial(_write_whole, solve),
    "stack": partial(_write_whole, stack),
    "sum_by_labels": partial(_write_whole, first_use.function("sparsezc.engines.cpu.labels.moves", "sum_by_labels")),
    "two_way_mxm": partial(_write_whole, first_use.function("sparsezc.engines.cpu.two_way", "two_way_mxm")),
    "two_way_sampled_mxm": partial(
        _write_whole, first_use.function("sparsezc.engines.cpu.sddmm", "two_way_sampled_mxm")
    ),
    "values_of": partial(_write_whole, values_of),
    "walk": partial(_write_whole, first_use.function("sparsezc.engines.cpu.walk", "walk")),
    "with_values": partial(_write_whole, with_values),
    **dict.fromkeys(_LABELS, _run_labels),
}


def _adds_under(write: Write[Mask | None]) -> bool:
    """Return whether entries are added to the output's under a mask that is no complement.

    There SuiteSparse 9.4.5 reads and writes beyond arrays, which crashes the process, if either the mask or the added
    operand is in its full format and the other has few entries. With a bitmap instead of the full format it does not.
    """
    return write.mask is not None and write.accum is not None and not write.mask.complement


def _is_full(store: Any) -> bool:
    """Return whether every position has an entry."""
    return bool(store._nvals == math.prod(store.shape))


def _not_full(store: Any) -> Any:
    """Return the same operand, but never in SuiteSparse's full format."""
    if not _is_full(store):
        return store
    copy = acyclic(store.dup())
    copy.ss.config["sparsity_control"] = "bitmap"
    return copy


def _formed_first(x: Expression) -> bool:
    """Return whether the expression has to be computed into a temporary before it is accumulated.

    python-graphblas runs a selection by a mask as an assignment under that mask, in which SuiteSparse 9.4.5 crashes as
    :func:`_adds_under` describes. And SuiteSparse adds a product ``w(plus) << A.mxv(u)`` directly to a full w, and then
    reads the bits of A's or u's values without converting them to the semiring's type.
    """
    if x.operation == "select_mask":
        return True
    if x.op is None or x.operation not in ("mxv", "vxm", "mxm"):
        return False
    of = x.op.type
    return any(u.dtype is not of for u in x.operands)


def _meets_itself(x: Expression, mask: Mask) -> bool:
    """Return whether an object is both operands and the mask: then SuiteSparse 9.4.5 drops the values of ``second``."""
    if x.operation not in ("ewise_add", "ewise_union"):
        return False
    return all(u._store is mask.parent._store for u in x.operands if u.ndim)


def _options(x: Expression, mask: Mask) -> dict[str, str]:
    """Return the options that keep SuiteSparse from a hash table in a product whose mask is dense and no complement.

    SuiteSparse counts no work for the mask in rows of more than 256 entries, and sizes the table by it; the search of a
    full table never ends (9.4.5, in either mode, with any number of threads). The method chosen instead takes as much
    memory as a row of the mask. With a mask that is not dense the work is counted, and SuiteSparse chooses.
    """
    if not _is_dense(mask.parent._store):
        return {}
    if x.operation in ("vxm", "mxv"):
        by_rows = x.operation == "vxm"
        return {"axb_method": "gustavson" if x.operands[by_rows]._transposed != by_rows else "dot"}
    if x.operation == "mxm":
        A, B = x.operands
        return {"axb_method": "dot" if B._transposed and not A._transposed else "gustavson"}
    if x.operation == "power" or (x.operation == "ewise_mult" and x.operands[0].ndim != x.operands[1].ndim):
        return {"axb_method": "gustavson"}  # products inside python-graphblas
    return {}


def _is_dense(store: Any) -> bool:
    """Return whether SuiteSparse stores an object with a place for each position, or could."""
    return store.ss.format.startswith(("bitmap", "full")) or _is_full(store)
