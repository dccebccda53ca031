"""Connected components without the host: a search from a hub, then union by trees for the vertices not reached.

Three launches (longest_row.cu, search.cu, components.cu) follow each other without a wait of the host, if the edges are
in device memory or have row heads.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sparsezc import stats
from sparsezc.device.launcher import Launcher
from sparsezc.device.protocol import Device
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.graphs import cooperative_launch
from sparsezc.engines.gpu.graphs.cooperative_launch import rows_text, shares
from sparsezc.engines.gpu.graphs.search import Search, serves
from sparsezc.engines.gpu.products import rows_per_warp
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore
from sparsezc.engines.gpu.storage.vector_store import VectorStore, all_present
from sparsezc.semirings.types.datatypes import BOOL, INT64

#: Most levels of the search: a social or web graph has fewer; in other graphs trees take less time than more levels.
LEVELS = 32


class _Case(NamedTuple):
    """The properties of a graph by which components.cu is specialised."""

    wide: bool
    directed: bool
    heads: bool
    leaves: bool
    long: int
    rows_at_once: int


@launch.locked
def components(matrix: MatrixStore) -> VectorStore | None:
    """Return the smallest vertex of each vertex's component, INT64; None if statements must compute it.

    They must where they must search, too (search.py); in another vertex order, in which other vertices are the
    smallest; and over the link if the transpose is stored apart, as their pulls exit rows early in both directions.
    """
    rows, back = matrix.held(matrix.order)
    if rows is None or rows.order is not None or not serves(rows, back):
        return None
    gpu, directed = rows.device, back is not rows
    if directed and back is not None and not placements.in_device_memory(rows):
        return None
    xp, at_once = gpu.xp, rows_per_warp.choose(rows)
    words = tuple(xp.zeros((4, -(-rows.nrows // 32)), np.uint32))
    state = xp.zeros(4 + cooperative_launch.WAIT, np.uint64)
    # Launched first: the device finds the hub while the host prepares the other two launches.
    hub = codegen.kernel(gpu, "longest_row.cu", "", "hub")
    hub.launch(launch.blocks(gpu, rows.nrows), nrows=rows.nrows, indptr=rows.indptr, state=state, seen=words[0])
    search = Search(rows, back, BOOL, words, leaves=not directed)
    near, heads = search.near, search.heads
    search.expand(LEVELS)
    case = _Case(rows.wide, directed, heads.k > 0, not (near or directed), rows.chunks.length, at_once)
    rest = _kernel(gpu, stats.collecting is not None, case)  # type: ignore[arg-type]  # hashable, as in plan.py
    blocks, shared = shares(rows, rest, at_once, few_waits=True)
    seen, _, border, met = words
    labels = xp.empty(rows.nrows, np.int64)
    stats.together(rest, near)(
        blocks, rows.chunks.all, shared, size=rows.nrows, indptr=rows.indptr, indices=rows.arguments.indices,
        heads=heads.ids, k=heads.k, reached=met, closed=met if directed else seen, border=border, labels=labels,
        state=state[2:], wait=state[4:],
    )  # fmt: skip
    if not (near or search.by_heads):
        (_, pushed, pulled, *_), streamed = gpu.asnumpy(search.state).tolist(), int(gpu.asnumpy(state)[3])
        search.count_for_heads(pushed, pulled + streamed)
    found = VectorStore(INT64, rows.nrows)
    found.set(labels, all_present(rows.nrows), rows.nrows)
    return found


@lru_cache(maxsize=64)
def _kernel(device: Device, _counting: bool, case: _Case) -> Launcher:
    return codegen.kernel(device, "components.cu", kernel_prelude(case), "components")


def kernel_prelude(case: _Case) -> str:
    """Return the prelude of components.cu."""
    return "\n".join(
        (
            codegen.typedefs(Id="u64" if case.wide else "u32"),
            codegen.flags(DIRECTED=case.directed, HEADS=case.heads, LEAVES=case.leaves),
            rows_text(case.long, case.rows_at_once),
        )
    )
