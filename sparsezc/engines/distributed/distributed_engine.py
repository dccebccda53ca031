"""The distributed engine: each rank runs the same program, and has a part of each object.

A store is a partition and this rank's part, an ordinary object on the local engine. ``run`` receives the entries that a
statement needs from other ranks, and passes a statement between local objects to the dispatch. A statement that cannot
run by parts runs on whole objects, on every rank.

All ranks run the same statements in the same order. Each decision that leads to a collective depends only on numbers
that are equal on all ranks.
"""

from __future__ import annotations

import pickle
import sys
import weakref
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sparsezc.config import config
from sparsezc.engines.distributed.balancer import Balancer
from sparsezc.engines.distributed.parts import long_rows, matrix_exchange, search_exchange
from sparsezc.engines.distributed.parts.local_objects import Locals
from sparsezc.engines.distributed.parts.partition import Partitions
from sparsezc.engines.distributed.statements import (
    elementwise,
    extract,
    matrix_products,
    products,
    reductions,
    replicated,
    search_batches,
)
from sparsezc.engines.distributed.store_methods import Keeper
from sparsezc.engines.distributed.transports.agreement import Checked
from sparsezc.exceptions import InvalidValue
from sparsezc.expr.dispatch import Write
from sparsezc.expr.expression import IndexList
from sparsezc.expr.formatting import written
from sparsezc.expr.mask import Mask
from sparsezc.expr.sampling import Pick, Trail
from sparsezc.process import first_use, locks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sparsezc.engines.distributed.parts.stores import Store
    from sparsezc.engines.distributed.transports.protocol import Transport
    from sparsezc.expr.engines import Engine
    from sparsezc.expr.sampling import Hops, Subgraph

__all__ = ["HANDLERS", "DistributedEngine"]

_Handler = Callable[["DistributedEngine", Any, Any, Write[Mask | None]], bool | None]  # False: it lacks this case


class DistributedEngine(Keeper):
    """The engine protocol over ranks; see :class:`sparsezc.expr.engines.Engine`.

    Attributes
    ----------
    local : Locals
        Maker of objects on this rank's engine.
    partitions : Partitions
    latest : mapping of int to Store
        The square matrix of each size that was made last.
    forced : bool
        A single rank has distributed objects, too, instead of plain ones.
    balancer : Balancer
        Moves rows from slow ranks to others.
    """

    name = "distributed"

    def __init__(self, transport: Transport, local: Engine, *, force: bool = False) -> None:
        self._transport, self.rank, self.size = transport, transport.rank, transport.size
        self._checked = Checked(transport)
        self.local, self.partitions = Locals(local), Partitions(self.rank, self.size)
        self.forced = force
        self.balancer = Balancer(self)
        self.latest: Any = weakref.WeakValueDictionary()
        self.lock = locks.shared()  # collectives of two threads must not mix
        self.on_device = local.name != "cpu"

    @property
    def transport(self) -> Transport:
        """Return the transport, which checks the order of collectives if ``config.check`` is on."""
        return self._checked if config.check else self._transport

    def run(self, expression: Any, out: Any, write: Write[Mask | None]) -> None:
        """Run one statement; all ranks call it."""
        if config.check:
            self._checked.begin(_described(expression, out))
        self.balancer.apply()
        self._meet(expression, out, write)
        for handler in HANDLERS.get(expression.operation, ()):
            if handler(self, expression, out, write) is not False:
                break
        else:
            replicated.run(self, expression, out, write)
        if out.ndim == 2:
            out._store.lose_symmetry()
        if config.check:
            self._checked.end()

    def end(self) -> None:
        """Check that all ranks end the program here, if ``config.check`` is on and no error ends it."""
        if config.check and not hasattr(sys, "last_value"):
            self._checked.begin(("", "the end of the program"))

    def _meet(self, expression: Any, out: Any, write: Write[Mask | None]) -> None:
        """Move each operand, the mask and the output to the partition that its shape has now."""
        stored = [x for x in (out, *expression.operands) if x._stored]
        if write.mask is not None:
            stored.append(write.mask.parent)
        split = search_batches.partition_of(self, expression, out, stored)
        for x in stored:
            store = x._store
            if store.long is not None and not _takes_long_rows(expression, out):
                long_rows.join(self, store)
            searches = split is not None and x.ndim == 2 and store.nrows == split.bounds[-1]
            wanted = split if searches else self.partitions.of(store.shape)
            if store.partition is not wanted:
                self.move(store, wanted)

    def move(self, store: Any, wanted: Any = None) -> None:
        """Move a store to the partition of its shape, or to the one by searches; collective."""
        if wanted is not None and wanted.by_search:
            search_exchange.by_search(self, store)
            return
        if store.partition.by_search:
            search_exchange.by_columns(self, store)
            return
        if matrix_exchange.moves_by_rows(self, store):
            matrix_exchange.move_rows(self, store)
            return
        if len(store.shape) == 1:
            made = self.vector_from_coo(*self.vector_to_coo(store), store.dtype, store.shape[0])
        else:
            made = self.parts_of(self.matrix_to_csr(store))
        store.replace(made.local, made.partition, made.counts)

    def require_compatible(self, other: Any) -> None:
        """Refuse objects of another communicator, whose ranks need not run this statement.

        Raises
        ------
        InvalidValue
        """
        if isinstance(other, DistributedEngine):
            raise InvalidValue(
                f"a statement has operands of two communicators, of {self.size} and of {other.size} ranks; all must be"
                " distributed over one: give reads and distributed.init the same `comm`"
            )

    def on_whole(self, store: Any, what: str) -> None:
        """Warn once that every rank runs `what` on the whole object; raise if config.fallback is "error"."""
        if self.size > 1 and not store.partition.is_whole:
            replicated.say(self, what)

    def sample_hops(self, store: Any, transposed: bool, seeds: Any, hops: Hops) -> Subgraph | None:
        """Return a sampled subgraph, whole on every rank; a collective."""
        found: Subgraph | None = _sample_hops(self, store, transposed, seeds, hops)
        return found

    def searches(self, matrix: Store, sources: NDArray[np.int64]) -> Store | None:
        """Return the levels of breadth-first searches, one row a source; None where statements run them."""
        found: Store | None = _levels(self, matrix, sources)
        return found

    def components(self, matrix: Store) -> Store | None:
        """Return the smallest vertex of each vertex's weak component; None where statements compute it."""
        found: Store | None = _components(self, matrix)
        return found

    def part(self, matrix: Store, cost: float, values: Any) -> Any:
        """Return this rank's rows, over which compiled loops run; None where statements run."""
        return _part(self, matrix, cost, values)

    def known_symmetric(self, A: Any) -> bool:
        """Return whether a matrix is known to equal its transpose."""
        return bool((A.T if A._transposed else A)._symmetric or A._store.symmetric)


def _takes_long_rows(e: Any, out: Any) -> bool:
    """Return whether a statement computes with parts of long rows."""
    return e.operation in ("mxv", "vxm") and out.ndim == 1 and not (e.op.is_positional or e.op.of_users)


def _described(e: Any, out: Any) -> tuple[str, str]:
    """Return a text of a statement that must be equal on all ranks, and the text that messages name it by."""
    operands = " ".join(str(x.shape) if x._stored else _alike(x) for x in e.operands)
    numbers = "".join(f", {x.name} = {x.value}" for x in e.operands if getattr(x, "ndim", None) == 0)
    said = f"{out.name} << {written(e.operation, e.operands, e.op)}{numbers}"
    return f"{e.operation} {e.op!r} {operands} {e.shape}", said


def _alike(x: Any) -> str:
    """Return a text of a number, an index list or a random choice that must be equal on all ranks."""
    if isinstance(x, IndexList):
        return f"{x.kind} {x.key if x.kind != 'list' else zlib.crc32(x.key)}"
    if isinstance(x, Pick | Trail):  # their repr leaves out the seed, or the vertices where walks start
        return str(zlib.crc32(pickle.dumps(x)))
    return repr(x.value if getattr(x, "ndim", None) == 0 else x)


_ELEMENTWISE = (
    "ewise_add", "ewise_mult", "ewise_union", "apply", "apply_left", "apply_right", "apply_index", "select",
    "select_mask",
)  # fmt: skip


def _later(module: str, *names: str) -> dict[str, tuple[_Handler, ...]]:
    """Return handlers, functions of a module with the operations' names; the module is loaded at first use."""
    return {name: (first_use.function(f"sparsezc.engines.distributed.statements.{module}", name),) for name in names}


_by_place = first_use.function("sparsezc.engines.distributed.statements.positions", "product")
_of_positions = first_use.function("sparsezc.engines.distributed.statements.positions", "elementwise")
_by_rows = first_use.function("sparsezc.engines.distributed.statements.rowwise", "by_rows")
_labels = first_use.function("sparsezc.engines.distributed.statements.rowwise", "labels")
_assign = first_use.function("sparsezc.engines.distributed.statements.assign", "assign")
_levels = first_use.function("sparsezc.engines.distributed.statements.searches", "levels")
_components = first_use.function("sparsezc.engines.distributed.loops.components", "components")
_part = first_use.function("sparsezc.engines.distributed.loops.rows", "part")
_sample_hops = first_use.function("sparsezc.engines.distributed.statements.walks", "sample_hops")
#: The handlers that run each statement by parts, tried in turn until one does not return False.
HANDLERS: dict[str, tuple[_Handler, ...]] = {
    "mxv": (products.product, _by_place),
    "vxm": (products.product, _by_place),
    "mxm": (matrix_products.product, _by_place),
    "reduce": (reductions.reduce,),
    "reduce_rowwise": (reductions.reduce_rowwise,),
    "inner": (reductions.inner,),
    "assign": (_assign,),
    "subassign": (_assign,),
    "extract": (extract.extract,),
    "transpose": (elementwise.transpose,),
    **dict.fromkeys(_ELEMENTWISE, (elementwise.run, _of_positions)),
    **dict.fromkeys(("solve", "distances", "best_column", "sampled_mxm", "outer", "map_rows"), (_by_rows,)),
    **dict.fromkeys(("best_label", "label_weight"), (_labels,)),
    **_later("rowwise", "selectk"),
    **_later("sums", "sum_by_labels", "two_way_mxm", "two_way_sampled_mxm", "count_corners"),
    **_later("structure", "diag", "reposition", "stack", "kronecker", "power", "values_of", "with_values", "argsort"),
    **_later("walks", "walk"),
    **_later("flow", "net_flow"),
    **_later("labels", "move_labels", "join_labels", "color_rows"),
}
