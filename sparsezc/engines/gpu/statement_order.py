"""In which order of the vertices a statement is computed (orders.py): that of its matrix or, without one, of the first
vector that has one; if what is done does not ask for anybody's number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sparsezc.engines.gpu.storage.matrix_store import MatrixStore, VectorStore
from sparsezc.engines.gpu.storage.vertex_order import Order

_BY_MATRIX = frozenset({"mxv", "vxm", "reduce_rowwise"})
_BY_ENTRY = frozenset({
    "ewise_add", "ewise_mult", "ewise_union", "apply", "apply_left", "apply_right", "select", "inner", "select_mask",
})  # fmt: skip


def common(e: Any, out: Any, mask: Any) -> Order | None:
    """The order for one statement that makes a vector or a scalar; None: the users' own."""
    if out.ndim == 2 or not _takes_any(e):
        return None
    return next(_found(e, out, mask), None)


def _takes_any(e: Any) -> bool:
    """Whether the result is the same whatever the vertices' numbers are."""
    if e.operation in ("assign", "subassign"):
        return all(index.kind == "all" for index in e.operands[1:])
    if e.operation == "reduce":
        return True
    if e.operation not in _BY_MATRIX | _BY_ENTRY:
        return False
    op = e.op
    return op is None or not (op.is_positional or op.reads & set("ijk"))


def _found(e: Any, out: Any, mask: Any) -> Iterator[Order]:
    """The orders that there are among those who take part; that of a matrix only, if there is one."""
    vectors = [*e.operands, *([] if mask is None else [mask.parent]), *([out] if out.ndim == 1 else [])]
    stores = [getattr(x, "_store", None) for x in vectors]
    matrices = [store for store in stores if isinstance(store, MatrixStore)]
    for store in matrices or stores:
        if isinstance(store, MatrixStore | VectorStore) and store.order is not None:
            yield store.order
