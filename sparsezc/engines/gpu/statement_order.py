"""The choice of the vertex order in which a statement is computed (vertex_order.py), made before it runs.

If the result does not depend on vertex numbers, it is the order of the statement's matrix or, without a matrix, of the
first vector that has an order; otherwise it is the users' own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sparsezc.engines.gpu.storage.matrix_store import MatrixStore
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.engines.gpu.storage.vertex_order import Order

_BY_MATRIX = frozenset({"mxv", "vxm", "reduce_rowwise"})
_BY_ENTRY = frozenset({
    "ewise_add", "ewise_mult", "ewise_union", "apply", "apply_left", "apply_right", "select", "inner", "select_mask",
})  # fmt: skip


def settle(e: Any, out: Any, mask: Any) -> None:
    """Put all vectors of a statement into one order; its matrices return rows in that order (``MatrixStore.held``)."""
    stores = list(_stores(e, out, mask))
    order = None if out.ndim == 2 or not _takes_any(e) else next(_orders(stores), None)
    for store in stores:
        if isinstance(store, VectorStore):
            store.arrange(order)


def _takes_any(e: Any) -> bool:
    """Return whether a statement's result is the same in all vertex orders."""
    if e.operation in ("assign", "subassign"):
        return all(index.kind == "all" for index in e.operands[1:])
    if e.operation == "reduce":
        return True
    if e.operation not in _BY_MATRIX | _BY_ENTRY:
        return False
    op = e.op
    return op is None or not (op.is_positional or op.reads & set("ijk"))


def _stores(e: Any, out: Any, mask: Any) -> Iterator[MatrixStore | VectorStore]:
    """Yield the stores of a statement that belong to this engine."""
    for x in (*e.operands, None if mask is None else mask.parent, out):
        store = getattr(x, "_store", None)
        if isinstance(store, MatrixStore | VectorStore):
            yield store


def _orders(stores: list[MatrixStore | VectorStore]) -> Iterator[Order]:
    """Yield the vertex orders of the stores: of matrices only, if there is a matrix."""
    matrices = [store for store in stores if isinstance(store, MatrixStore)]
    for store in matrices or stores:
        if store.order is not None:
            yield store.order
