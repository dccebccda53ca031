"""The fallback of statements that the GPU engine lacks: the CPU engine runs them on copies of the operands."""

from __future__ import annotations

from typing import Any

from sparsezc.engines.gpu.storage.matrix_store import MatrixStore
from sparsezc.engines.gpu.storage.user_typed import HostStore
from sparsezc.engines.gpu.storage.vector_store import VectorStore
from sparsezc.expr import engines
from sparsezc.expr.dispatch import Write
from sparsezc.expr.mask import Mask
from sparsezc.memory.csr import Csr


def run_on_cpu(expression: Any, out: Any, write: Write[Mask | None]) -> None:
    """Run a statement on the CPU engine: copy the operands to it, and the output back."""
    cpu = engines.get("cpu")

    def moved(x: Any) -> Any:
        if not getattr(x, "ndim", 0):
            return x
        return x.T.to("cpu").T if x._transposed else x.to("cpu")

    there = expression.with_operands(moved)
    if write.mask is not None:
        mask = write.mask
        write = write._replace(mask=Mask(moved(mask.parent), mask.structure, mask.complement))
    if out.ndim == 0:
        cpu.run(there, out, write)
        return
    copy = out.to("cpu")
    cpu.run(there, copy, write)
    if isinstance(out._store, HostStore):
        out._store.replace(copy._store)
    elif out.ndim == 1:
        _replace_vector(out._store, *cpu.vector_to_coo(copy._store))
    else:
        _replace_matrix(out._store, cpu.matrix_to_csr(copy._store))


def _replace_vector(store: VectorStore, indices: Any, values: Any) -> None:
    """Replace all entries of a vector."""
    store.take(engines.get("gpu").vector_from_coo(indices, values, store.dtype, store.size))


def _replace_matrix(store: MatrixStore, csr: Csr) -> None:
    """Replace all entries of a matrix; it keeps its placement, or gets the configured one if it had no entries."""
    fresh = MatrixStore.from_csr(csr if store.rows is None else csr.place(store.placement))
    store.replace(fresh.rows, fresh.columns)
