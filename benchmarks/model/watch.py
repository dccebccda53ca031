"""Predict the reads of each product of an algorithm while it runs: the model's levels are the algorithm's.

Every statement that multiplies with a matrix, or folds its rows, is examined before it runs: the vector's entries, the
positions that the mask allows, the operands that the operators read. From these alone :mod:`benchmarks.model.reads`
computes the requests of the GPU engine's kernels, so no GPU is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.model import searches
from benchmarks.model.reads import Bits, Reading, Rows, pull, push
from sparsezc.config import config
from sparsezc.core.matrix import Matrix
from sparsezc.device import cuda
from sparsezc.engines.gpu.elementwise import panel
from sparsezc.engines.gpu.layouts.head_cache import HeadCache
from sparsezc.engines.gpu.layouts.packed_values import PackedValues
from sparsezc.engines.gpu.products import plan, push_pull, spmv
from sparsezc.engines.gpu.products.push_pull import Work
from sparsezc.engines.gpu.products.spgemm_rows import the_one_value
from sparsezc.expr import engines
from sparsezc.memory.buffer import index_dtype

_PRODUCTS = ("mxv", "vxm")


@dataclass(frozen=True)
class Statement:
    """A product before it runs: the direction in which it reads its matrix, and the predicted reads."""

    operation: str
    direction: str  # "push", "pull", "push and pull" of many searches, or "none" if no entry is read
    frontier: int  # entries of the vector, or of the matrix of many searches
    wanted: int  # results that the mask allows
    reading: Reading


class Model:
    """A model that predicts the reads of the statements that an engine runs.

    Parameters
    ----------
    direction : {"choose", "push", "pull"}
        With "choose" the GPU engine's choice, else always this one, if the matrix has the orientation for it.
    placement : str
        Placement of ids and values, on which the cost of an atomic depends.
    heads : int, optional
        Ids of each row in the row-head cache; by default those of the GPU engine's cache, 0 on other engines.
    packing : bool, optional
        Ids and small values share a word; by default if the GPU engine has packed them.
    """

    def __init__(
        self,
        *,
        direction: str = "choose",
        placement: str = "zerocopy",
        heads: int | None = None,
        packing: bool | None = None,
    ) -> None:
        self.direction, self.placement, self.heads, self.packing = direction, placement, heads, packing
        self.statements: list[Statement] = []
        self.unknown: dict[str, int] = {}  # operations that read a matrix in a way that is not modelled
        self._rows: dict[int, tuple[Any, Rows | None, Rows | None]] = {}

    @contextmanager
    def watching(self, engine: str) -> Iterator[Model]:
        """Predict every statement that the engine of this name runs in the context."""
        with engines.through(_Watched(engines.get(engine), self)):
            yield self

    def cost_nothing(self, store: Any) -> None:
        """Record that a matrix is stored in device memory, as vectors are: its products are not predicted."""
        self._rows[id(store)] = (store, None, None)

    def sample(self, A: Matrix) -> Matrix | None:
        """Return the part of A in the GPU engine's row-head cache, as a matrix that costs nothing to read."""
        rows, columns = self.orientations(A)
        if rows is None or not self.heads:
            return None
        ids = np.sort(rows.heads(self.heads, columns).ids, axis=1)
        there = ids < rows.ncols
        indptr = np.concatenate([[0], np.cumsum(there.sum(1))])
        made = Matrix.from_csr(indptr, ids[there], True, ncols=rows.ncols)
        self.cost_nothing(made._store)
        return made

    def look(self, expression: Any, mask: Any) -> None:
        """Predict one statement."""
        operation = expression.operation
        matrices = [x for x in expression.operands if getattr(x, "ndim", 0) == 2]
        if not matrices:
            return
        if operation in _PRODUCTS:
            left = operation == "vxm"
            v, A = expression.operands if left else reversed(expression.operands)
            self.statements.append(self._product(operation, A, A._transposed != left, v, expression.op, mask, left))
        elif operation in ("reduce", "reduce_rowwise"):
            A, op = matrices[0], spmv.folding(expression.op)
            self.statements.append(self._product(operation, A, A._transposed, None, op, mask, False))
        elif operation == "mxm" and (step := self._searches(expression, mask)) is not None:
            self.statements.append(step)
        else:
            self.unknown[operation] = self.unknown.get(operation, 0) + 1

    def orientations(self, A: Any) -> tuple[Rows | None, Rows | None]:
        """Return the rows of a matrix, and of its transpose if the GPU engine would store it, as NumPy arrays."""
        matrix = A.T if A._transposed else A
        if id(matrix._store) not in self._rows:  # the store is kept, so that its id is not reused
            self._rows[id(matrix._store)] = (matrix._store, *_orientations(matrix))
        return self._rows[id(matrix._store)][1:]

    def _product(
        self, operation: str, A: Any, transposed: bool, v: Any, op: Any, mask: Any, vector_left: bool
    ) -> Statement:
        """Return the statement w<mask> = M v, with M the matrix or its transpose; without a vector, v is full."""
        rows, columns = self.orientations(A)
        if transposed:
            rows, columns = columns, rows
        present = None if v is None or v.nvals == v.size else _pattern(v, structure=True)
        wanted = _allowed(mask)
        reads_vector = ("x" if vector_left else "y") in op.reads
        reads_ids, reads_values = reads_vector or "k" in op.reads, ("y" if vector_left else "x") in op.reads
        frontier = A.shape[0 if vector_left else 1] if v is None else v.nvals
        size = A.shape[1 if vector_left else 0] if wanted is None else int(wanted.sum())
        k = 0 if rows is None or present is None else self._slots(rows, A.dtype, op, reads_values)
        if frontier and rows is not None and present is None and plan.reads_of(op, vector_left).counts:
            return Statement(operation, "none", frontier, size, Reading())  # the offsets suffice
        if frontier and rows is not None and self._pulls(rows, columns, op, reads_values, present, wanted, k):
            stops = op.monoid.stops_anywhere
            near = rows.heads(k, columns) if k and stops else None
            whole = 0 if v is None or _stops(op) else self._whole_rows(rows, op, reads_values, pulls=True)
            if v is not None and reads_values and self._packed(rows):
                reads_ids, reads_values = True, False
            reading = pull(
                rows, wanted, present, reads_ids=reads_ids, reads_values=reads_values, stops=stops, heads=near,
                whole=whole,
            )  # fmt: skip
            return Statement(operation, "pull", frontier, size, reading)
        if frontier and columns is not None:
            apart = reads_values and not (v is not None and self._packed(columns))
            whole = self._whole_rows(columns, op, reads_values)
            reading = push(columns, present, wanted, reads_values=apart, whole=whole)
            return Statement(operation, "push", frontier, size, reading)
        return Statement(operation, "none", frontier, size, Reading())

    def _searches(self, expression: Any, mask: Any) -> Statement | None:
        """Return a step of many searches, made by panels (panel_statements.py); None for other products of matrices."""
        shape = panel.shape_of(*expression.shape)
        if shape is None or the_one_value(expression.op) is None:
            return None
        across = shape[1]
        few, A = expression.operands if across else reversed(expression.operands)
        if few._transposed or panel.shape_of(few.nrows, few.ncols) != shape:
            return None
        rows, columns = self.orientations(A)
        if A._transposed != across:
            rows, columns = columns, rows
        x = _panel(few, across, structure=True)
        wanted = np.ones((max(expression.shape), shape[0]), np.bool_)
        if mask is not None:
            wanted = _panel(mask.parent, across, structure=mask.structure) ^ mask.complement
        ways, reading = "none", Reading()
        if rows is not None or columns is not None:
            slots = 0 if rows is None else self._slots(rows, A.dtype, expression.op, False)
            options = {"slots": slots, "placement": self.placement, "direction": self.direction}
            ways, reading = searches.step(rows, columns, x, wanted, **options)
        return Statement("mxm", ways, few.nvals, int(wanted.sum()), reading)

    def _slots(self, rows: Rows, dtype: Any, op: Any, reads_values: bool) -> int:
        """Return how many cached ids of each row a pull reads first."""
        if not _stops(op):
            return 0
        if self.heads is not None:
            return self.heads
        held = rows.engine_rows
        return 0 if held is None else held.layouts[HeadCache].expected_slots(held, dtype, values=reads_values)

    def _whole_rows(self, rows: Rows, op: Any, reads_values: bool, *, pulls: bool = False) -> int:
        """Return how many ids of each row are cached for products that read whole rows."""
        if (reads_values and rows.value_bytes) or self.placement == "device":
            return 0
        if pulls and not plan.reads_of(op, False).any_order:
            return 0
        kept = 0 if rows.engine_rows is None else rows.engine_rows.layouts[HeadCache].usable.k
        k = kept if self.heads is None else self.heads
        return k if not pulls or rows.nvals <= k * rows.nrows else 0

    def _packed(self, rows: Rows) -> bool:
        """Return whether one word holds an entry's id and its value."""
        if self.packing is not None:
            return self.packing and rows.packs
        kept = None if rows.engine_rows is None else rows.engine_rows.layouts[PackedValues].built
        return kept is not None and kept.words is not None and config.packing != "off"

    def _pulls(
        self, rows: Rows, columns: Rows | None, op: Any, reads_values: bool, present: Bits | None,
        wanted: Bits | None, slots: int,
    ) -> bool:  # fmt: skip
        if columns is None:
            return True
        if self.direction != "choose":
            return self.direction == "pull"
        if present is None:
            return True
        asked = work(rows, columns, present, wanted)
        if push_pull.is_small(asked.frontier_rows, asked.frontier_entries, asked.nvals):
            return False
        share = 1 if self.placement == "device" else plan.LINK_SHARE
        return push_pull.prefers_pull(
            asked,
            stops=_stops(op),
            heads=slots,
            entry_bytes=rows.id_bytes + (rows.value_bytes if reads_values else 0),
            offset_bytes=plan.OFFSET_BYTES * share,
            atomic_bytes=0 if op.monoid.stops_anywhere else plan.ATOMIC_BYTES * share,
        )


class _Watched(engines.Stepping):
    """An engine whose statements a model predicts; loops run statement by statement."""

    def __init__(self, engine: Any, model: Model) -> None:
        super().__init__(engine)
        self._model = model

    def run(self, expression: Any, out: Any, write: Any) -> None:
        self._model.look(expression, write.mask)
        self.engine.run(expression, out, write)

    def pointers(self, store: Any) -> Any:
        made = self.engine.pointers(store)  # stored in device memory, as the vector that it is made of
        self._model.cost_nothing(made)
        return made

    def sample(self, matrix: Matrix) -> Any:
        if hasattr(self.engine, "sample"):
            return self.engine.sample(matrix)
        made = self._model.sample(matrix)
        return None if made is None else made._store


def _stops(op: Any) -> bool:
    """Return whether the GPU engine expects a row's answer before the row's end."""
    monoid = op.monoid
    return bool(monoid.stops_anywhere or (monoid.terminal is not None and monoid.type.is_bool))


def work(rows: Rows, columns: Rows, present: Bits, wanted: Bits | None) -> Work:
    """Return the counts of presence_words.cu's `frontier` and `wanted` (the latter of a sample, if large)."""
    out, into = np.diff(columns.indptr), np.diff(rows.indptr)
    if wanted is not None:
        into = into[wanted]
    first = int(np.minimum(into, 32).sum())
    return Work(int(present.sum()), int(out[present].sum()), into.size, first, int(into.sum()), rows.nvals)


def _orientations(matrix: Any) -> tuple[Rows | None, Rows | None]:
    if not matrix.nvals:
        return None, None
    csr = matrix._to_csr()
    value_bytes = 0 if csr.iso else csr.dtype.np_type.itemsize
    on_host = csr.indices.placement == "host"  # ids may be half as wide on a GPU
    id_bytes = index_dtype(csr.ncols, "device").itemsize if on_host else csr.indices.dtype.itemsize
    kept = None if on_host else matrix._store
    arrays = csr.indptr, csr.indices.read(), id_bytes, value_bytes, csr.ncols, csr.values.read()
    rows = Rows(*arrays, engine_rows=kept and kept.rows)
    if csr.symmetric:
        return rows, rows
    if kept is None or kept.columns is None:
        return rows, None
    other = kept.columns
    indptr, widths = cuda.current().asnumpy(other.indptr), (other.indices.dtype.itemsize, value_bytes)
    return rows, Rows(indptr, other.indices.read(), *widths, csr.nrows, other.values.read(), engine_rows=other)


def _pattern(v: Any, *, structure: bool) -> Bits:
    at, values = v.to_coo(values=not structure)
    found = np.zeros(v.size, np.bool_)
    found[at.astype(np.int64)] = True if structure else values.astype(np.bool_)
    return found


def _panel(X: Any, across: bool, *, structure: bool) -> Bits:
    """Return the entries of a matrix of few rows (`across`) or columns, as bools of shape (many, few)."""
    row, column, values = X.dup().to_coo(values=not structure)  # a copy, as to_coo turns a panel into a sparse matrix
    found = np.zeros((X.ncols, X.nrows) if across else (X.nrows, X.ncols), np.bool_)
    found[(column, row) if across else (row, column)] = True if structure else values.astype(np.bool_)
    return found


def _allowed(mask: Any) -> Bits | None:
    if mask is None:
        return None
    found = _pattern(mask.parent, structure=mask.structure)
    return ~found if mask.complement else found
