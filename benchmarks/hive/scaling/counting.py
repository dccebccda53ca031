"""The CPU engine with counts, for parts of a graph, of the entries that each reads and the bytes that it receives.

:mod:`benchmarks.hive.scaling.parts` has the model; this file gives it, for every statement, the matrix's rows and the
values that they need. Algorithms run on this engine as on any other (docs/engines.md).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sparsezc as gb
from benchmarks.hive.scaling.parts import ID, Partition
from sparsezc.engines.cpu.labels import moves
from sparsezc.expr import engines
from sparsezc.expr.sampling import TRIES

Array = NDArray[Any]
NAME = "counting"


class Counting:
    """The CPU engine with counts of every statement.

    Attributes
    ----------
    partition : Partition
        The counts of the run since :meth:`begin`.
    seen : list of (str, int, int, int)
        For each statement that read a matrix: its kind, the matrix's rows and entries, the other operand's entries.
    """

    name = NAME
    lock = None  # none, as the CPU engine

    def __init__(self) -> None:
        self.cpu = engines.get("cpu")
        self.begin()

    def __getattr__(self, method: str) -> Any:
        return getattr(self.cpu, method)  # stores are the CPU engine's

    def lend_rows(self, *_: Any) -> None:
        """Return None, so that algorithms run statements, which are counted, instead of loops."""

    run_loop = run_arrays = lend_rows

    def begin(self) -> None:
        """Reset the counts, and forget the partitions of matrices."""
        self.partition = Partition()
        self.seen: list[tuple[str, int, int, int]] = []

    def run(self, expression: Any, out: Any, write: Any) -> None:
        """Count a statement and run it; walks are counted from their result."""
        count = _COUNTED.get(expression.operation, _local)
        if count is _walk:
            self.cpu.run(expression, out, write)
            _walk(self, expression, out)
            return
        if expression.operation in ("move_labels", "join_labels"):
            with _moves(self, expression):
                self.cpu.run(expression, out, write)
            return
        count(self, expression, write)
        self.cpu.run(expression, out, write)


def counting() -> Counting:
    """Return the engine, which the first call registers under its name."""
    global _engine
    if _engine is None:
        _engine = Counting()
        engines.register(NAME, _engine)
    return _engine


_engine: Counting | None = None


# The entries that statements read


def _coo(A: Any) -> tuple[Array, Array, tuple[int, int]]:
    """Return rows, columns and shape of a Matrix or TransposedMatrix."""
    rows, cols, _ = A._store.to_coo(values=False)
    rows, cols = rows.astype(np.int64), cols.astype(np.int64)
    return (cols, rows, A.shape) if A._transposed else (rows, cols, A.shape)


def _csr(A: Any) -> tuple[Array, Array]:
    rows, cols, shape = _coo(A)
    if A._transposed:
        order = np.argsort(rows, kind="stable")
        rows, cols = rows[order], cols[order]
    return np.r_[0, np.cumsum(np.bincount(rows, minlength=shape[0]))], cols


def _positions(v: Any) -> tuple[Array, Array]:
    at, values = v._store.to_coo()
    return at.astype(np.int64), values


def _allowed(mask: Any, size: int) -> Array:
    """Return the positions at which a vector's mask lets a statement write, as bools."""
    found = np.ones(size, np.bool_)
    if mask is None or mask.parent.ndim != 1:
        return found
    at, values = _positions(mask.parent)
    found[:] = False
    found[at if mask.structure else at[np.asarray(values, np.bool_)]] = True
    return ~found if mask.complement else found


def _sizes(x: Any, op: Any, letter: str, full: bool) -> float:
    """Return the bytes of a sent entry of an operand: its id unless the operand is full, its value if `op` reads it."""
    value = x.dtype.np_type.itemsize if op is None or letter in op.reads else 0
    return float(value if full else ID + value)


def _local(engine: Counting, x: Any, _: Any) -> None:
    """Count a statement on single entries, which reads those of its operands in place."""
    engine.partition.local(sum(operand.nvals for operand in x.operands if getattr(operand, "_stored", False)))


def _version(x: Any) -> tuple[Any, Array]:
    """Return an operand (of a transposed one its matrix), and a hash of each of its entries or rows."""
    source = x._matrix if x._transposed else x
    at, *more = source._store.to_coo()
    hashed = np.frombuffer(np.ascontiguousarray(more[-1].astype(np.float64)).tobytes(), np.uint64) + np.uint64(1)
    if source.ndim == 2:
        hashed = hashed * (more[0] * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0xD1B54A32D192ED03))
    found = np.zeros(source.shape[0], np.uint64)
    np.add.at(found, at.astype(np.int64), hashed)
    return source, found


def _pull(engine: Counting, A: Any, v: Any, nbytes: float, mask: Any) -> None:
    """Count a product in which rows of A read entries of a vector."""
    rows, cols, shape = _coo(A)
    if not A._transposed and shape[0] == shape[1]:
        engine.partition.cut(np.bincount(rows, minlength=shape[0]))
    at, _values = _positions(v)
    engine.seen.append(("pull", shape[0], rows.size, at.size))
    lengths = np.zeros(shape[1])
    lengths[at] = nbytes
    kept = _allowed(mask, shape[0])[rows]
    engine.partition.pull(rows[kept], cols[kept], shape, lengths, version=_version(v))


def _mxv(engine: Counting, x: Any, write: Any) -> None:
    A, v = x.operands
    _pull(engine, A, v, _sizes(v, x.op, "y", v.nvals == v.size), write.mask)


def _vxm(engine: Counting, x: Any, _: Any) -> None:
    v, A = x.operands
    at, _values = _positions(v)
    engine.seen.append(("push", A.shape[0], A._store.nvals, at.size))
    indptr, ids = _csr(A)
    if A.shape[0] == A.shape[1]:
        engine.partition.cut(np.diff(indptr))
    size = float(ID + (x.dtype.np_type.itemsize if x.op.reads else 0))
    engine.partition.push(np.zeros_like(at), at, (indptr, ids), (1, *A.shape), size)


def _mxm(engine: Counting, x: Any, write: Any) -> None:
    """Count a product of matrices: by the entries of its mask, as a panel's push, or by rows of the left matrix."""
    A, B = x.operands
    rows, cols, shape = _coo(A)
    indptr, ids = _csr(B)
    lengths = np.diff(indptr)
    if write.mask is not None and not write.mask.complement and write.mask.parent.nvals < A.shape[0] * B.shape[1] // 2:
        full = B._store.nvals == B.shape[0] * B.shape[1]
        _dot(engine, B, write.mask.parent, _sizes(B, x.op, "y", full))
        return
    if shape[0] == shape[1] and not A._transposed:
        engine.partition.cut(np.bincount(rows, minlength=shape[0]))
    engine.seen.append(("mxm", shape[0], rows.size, ids.size))
    if shape[0] < shape[1] and B.shape[0] == B.shape[1]:
        engine.partition.cut(lengths)
        size = float(ID + (x.dtype.np_type.itemsize if x.op.reads else 0))
        engine.partition.push(rows, cols, (indptr, ids), (shape[0], *B.shape), size)
        return
    full = ids.size == B.shape[0] * B.shape[1]
    # parts keep rows that they received until these change; rows of a transpose exist for one statement only
    version = None if B._transposed else _version(B)
    engine.partition.pull(rows, cols, shape, lengths * _sizes(B, x.op, "y", full), lengths, version)


def _corners(engine: Counting, x: Any, _: Any) -> None:
    """Count dot products of patterns, and the counts of shared ids that each part sends to the ids' parts."""
    A, B, M = x.operands
    _dot(engine, B, M, float(ID))
    rows, cols, shape = _coo(A)
    engine.partition.fold(rows, cols, cols, shape, float(ID + 8))


def _dot(engine: Counting, B: Any, mask: Any, size: float) -> None:
    """Count dot products at a mask's entries (i, j): the part of row i needs column j of B, of entries of `size`."""
    rows, cols, shape = _coo(mask)
    if shape[0] == shape[1]:
        engine.partition.cut(np.bincount(rows, minlength=shape[0]))
    _, columns, _ = _coo(B)
    lengths = np.bincount(columns, minlength=shape[1])
    engine.seen.append(("dot", shape[0], rows.size, columns.size))
    version = _version(B) if B._transposed else None
    engine.partition.pull(rows, cols, shape, lengths * size, lengths, version)


def _labels(engine: Counting, x: Any, write: Any) -> None:
    """Count the labels of neighbours that rows read."""
    A, label = x.operands[:2]
    _pull(engine, A, label, 8.0, write.mask)
    engine.seen[-1] = ("label", *engine.seen[-1][1:])


def _moves(engine: Counting, x: Any) -> AbstractContextManager[Any]:
    """Return a context in which each turn of a statement that moves or joins labels is counted."""
    rows, cols, shape = _coo(x.operands[0])
    engine.partition.cut(np.bincount(rows, minlength=shape[0]))
    has, label = np.zeros(shape[0], np.bool_), x.operands[1]
    totals = gb.Vector("FP64", shape[0])  # its identity marks the totals of labels that parts keep

    def counted(how: Any, listed: Array) -> None:
        has[:] = False
        has[listed] = True
        kept = has[rows]
        mine, other = rows[kept], cols[kept]
        engine.seen.append(("label", shape[0], rows.size, listed.size))
        each = np.full(shape[1], 8.0)
        engine.partition.pull(mine, other, shape, each, version=(label, how.label.copy()))
        if how.penalty is not None:
            total = how.penalty[1].view(np.int64).copy()
            engine.partition.pull(mine, how.label[other], shape, each, np.zeros(shape[1]), (totals, total))

    return moves.watched(counted)


def _sum_by_labels(engine: Counting, x: Any, write: Any) -> None:
    """Count a contraction: each part sums the entries of its rows, and sends the sums to the communities' parts."""
    A, label = x.operands
    rows, cols, shape = _coo(A)
    _pull(engine, A, label, 8.0, write.mask)
    of = label._store.to_dense().astype(np.int64)
    owners, width = of[rows], x.shape[0]
    engine.partition.fold(rows, owners * width + of[cols], owners, (shape[0], width), float(2 * ID + 8))


def _best_column(engine: Counting, x: Any, write: Any) -> None:
    A, v = x.operands
    _pull(engine, A, v, _sizes(v, None, "y", v.nvals == v.size), write.mask)


def _selectk(engine: Counting, x: Any, _: Any) -> None:
    """Count the picked entries of each row, read by the row's part."""
    A, index, pick = x.operands
    indptr, _ids = _csr(A)
    lengths = np.diff(indptr)
    engine.partition.cut(lengths)
    listed = index.positions().astype(np.int64)
    picked = np.minimum(lengths[listed], pick.k)
    engine.seen.append(("selectk", A.shape[0], int(lengths.sum()), int(picked.sum())))
    engine.partition.pull(
        np.repeat(listed, picked), np.zeros(int(picked.sum()), np.int64), (A.shape[0], 1), np.zeros(1)
    )


def _extract(engine: Counting, x: Any, write: Any) -> None:
    """Count listed rows of a square matrix: their parts read them, and send the ids to the first part."""
    A, key, *_others = x.operands
    if A.ndim == 1 or x.ndim == 1 or A.shape[0] != A.shape[1] or key.kind == "all":
        _local(engine, x, write)
        return
    indptr, _ids = _csr(A)
    lengths = np.diff(indptr)
    engine.partition.cut(lengths)
    sender = np.repeat(listed := key.positions().astype(np.int64), lengths[listed])
    engine.seen.append(("rows", A.shape[0], int(lengths.sum()), sender.size))
    engine.partition.messages(sender, np.zeros_like(sender), (A.shape[0], A.shape[0]), float(ID), np.ones(sender.size))


def _walk(engine: Counting, x: Any, out: Any) -> None:
    """Count steps: each is a message to the next vertex's part, and one from there to the part where the walk began."""
    A = x.operands[0]
    lengths = np.diff(_csr(A)[0])
    engine.partition.cut(lengths)
    walk, step, vertex = out._store.to_coo()
    n = A.shape[0]
    begin = vertex[np.flatnonzero(step == 0)].astype(np.int64)[walk.astype(np.int64)]
    vertex = vertex.astype(np.int64)
    goes = np.flatnonzero(step[1:] > 0)
    message = float(3 * ID)  # walk, step, vertex
    engine.seen.append(("walk", n, int(lengths.sum()), goes.size))
    engine.partition.messages(vertex[goes], vertex[goes + 1], (n, n), message, _looks(x)[vertex[goes]])
    engine.partition.messages(vertex[goes + 1], begin[goes + 1], (n, n), message, np.zeros(goes.size))


def _looks(x: Any) -> Array:
    """Return the entries that a step from each vertex reads: by weights, the mean number of tries, at most `TRIES`."""
    A, trail, *more = x.operands
    rows, cols, shape = _coo(A)
    if not trail.weights:
        return np.ones(shape[0])
    weights = np.asarray(
        A._store.to_coo()[2] if trail.weights == "values" else more[-1]._store.to_dense(0)[cols], float
    )
    most, total = np.zeros(shape[0]), np.bincount(rows, weights, minlength=shape[0])
    np.maximum.at(most, rows, weights)
    tries = np.bincount(rows, minlength=shape[0]) * np.divide(most, total, out=np.ones(shape[0]), where=total > 0)
    return np.minimum(np.maximum(tries, 1), TRIES)


def _sampled_mxm(engine: Counting, x: Any, _: Any) -> None:
    """Count products at A's entries (i, j), which read column j of Y, and row j of Z if there is one."""
    A, X, Y = x.operands[:3]
    rows, cols, shape = _coo(A)
    engine.partition.cut(np.bincount(rows, minlength=shape[0]))
    lengths = np.full(shape[1], X.shape[1])
    engine.seen.append(("sampled", shape[0], rows.size, Y.nvals))
    engine.partition.pull(rows, cols, shape, lengths * float(Y.dtype.np_type.itemsize), 2 * lengths, _version(Y))


def _two_way(engine: Counting, x: Any, _: Any) -> None:
    """Count products at A's entries (i, j), which read row j of half of X and add to row j of half of the result."""
    A, X, k = x.operands[0], x.operands[1], x.shape[1]
    if x.operation == "two_way_mxm":
        X, k = x.operands[2], k // 2
    rows, cols, shape = _coo(A)
    indptr, ids = _csr(A)
    engine.partition.cut(np.diff(indptr))
    engine.seen.append(("two way", shape[0], rows.size, X.nvals))
    source, found = _version(X)
    each = np.full(shape[1], k)
    work = (2 if x.operation == "two_way_mxm" else 3) * each
    engine.partition.pull(rows, cols, shape, each * 8.0, work, (source, found[-shape[1] :]))
    engine.partition.push(np.zeros(shape[0], np.int64), np.arange(shape[0]), (indptr, ids), (1, *shape), 8.0 * k)


_COUNTED: dict[str, Callable[[Counting, Any, Any], None]] = {
    "mxv": _mxv,
    "vxm": _vxm,
    "mxm": _mxm,
    "count_corners": _corners,
    "best_label": _labels,
    "label_weight": _labels,
    "sum_by_labels": _sum_by_labels,
    "best_column": _best_column,
    "extract": _extract,
    "selectk": _selectk,
    "walk": _walk,
    "sampled_mxm": _sampled_mxm,
    "two_way_mxm": _two_way,
    "two_way_sampled_mxm": _two_way,
}
