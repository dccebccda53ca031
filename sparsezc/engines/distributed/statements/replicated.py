"""Statements that the engine does not run by parts: every rank runs them on the whole, and keeps its part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsezc.config import config
from sparsezc.engines.distributed.parts import matrix_exchange, vector_exchange
from sparsezc.exceptions import NotImplementedException, warn_slow
from sparsezc.expr.dispatch import Write, update
from sparsezc.expr.mask import Mask

if TYPE_CHECKING:
    from sparsezc.engines.distributed.distributed_engine import DistributedEngine

__all__ = ["run", "say"]

_warned: set[str] = set()


def run(engine: DistributedEngine, e: Any, out: Any, write: Any) -> None:
    """Run a statement on the whole on every rank."""
    parts = (out, *e.operands)
    if engine.size > 1 and not all(x._store.partition.is_whole for x in parts if x._stored):
        kinds = [x.ndim for x in parts if x._stored]
        say(engine, f"{e.operation} of a {'Matrix' if max(kinds, default=1) == 2 else 'Vector'}")
    made: dict[int, Any] = {}

    def whole(x: Any) -> Any:
        if not x._stored:
            return x
        store = x._store
        if id(store) not in made:
            found = (
                vector_exchange.whole_vector(engine, store)
                if x.ndim == 1
                else matrix_exchange.whole_matrix(engine, store)
            )
            made[id(store)] = found
        return made[id(store)].T if x._transposed else made[id(store)]

    mask = write.mask
    here = None if mask is None else Mask(whole(mask.parent), mask.structure, mask.complement)
    operands = e.with_operands(whole)
    if not out.ndim:
        update(out, operands, Write(here, write.accum, write.replace))
        return
    target = whole(out)
    alone = engine.size == 1 or out._store.partition.is_whole
    update(target, operands, Write(here, write.accum, write.replace))
    store = out._store
    if not alone:
        if out.ndim == 1:
            at, values = target.to_coo()
            store.take(engine.vector_from_coo(at, values, out.dtype, out.size))
        else:
            store.take(engine.parts_of(target._to_csr()))
    else:
        store.changed()


def say(engine: DistributedEngine, what: str) -> None:
    """Warn once of each kind, or raise an error on all ranks if one has config.fallback "error"; a collective.

    Raises
    ------
    NotImplementedException
    """
    refuses = engine.transport.numbers(config.fallback == "error")[:, 0].astype(np.bool_)
    if refuses.any():
        where = "" if refuses.all() else f" on rank {int(refuses.argmax())}"
        raise NotImplementedException(f"the distributed engine has no {what}, and config.fallback is 'error'{where}")
    if config.fallback == "warn" and what not in _warned:
        _warned.add(what)
        warn_slow(f"the distributed engine has no {what}: every rank runs it on the whole")
