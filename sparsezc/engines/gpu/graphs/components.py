"""Connected components without the host (components.cu): a search from a hub, then trees of what it did not reach.

Three launches, of which none waits for the host where the edges are in device memory or have row heads.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sparsezc import stats
from sparsezc.device.launcher import Launcher
from sparsezc.device.protocol import Device
from sparsezc.engines.gpu import placements
from sparsezc.engines.gpu.graphs import whole_loops
from sparsezc.engines.gpu.graphs.search import Search, serves
from sparsezc.engines.gpu.graphs.whole_loops import rows_text, shares
from sparsezc.engines.gpu.products import rows_per_warp
from sparsezc.engines.gpu.runtime import codegen, launch
from sparsezc.engines.gpu.storage.matrix_store import MatrixStore
from sparsezc.engines.gpu.storage.vector_store import VectorStore, all_present
from sparsezc.semirings.types.datatypes import BOOL, INT64

#: Most levels of the search: a social or web graph has fewer, and of others trees take less time than levels.
LEVELS = 32
# Numbers that `hub` and `rest` count in, before those in which blocks wait for each other.
_STATE = 4


class _Case(NamedTuple):
    """The properties of a graph that the kernel `rest` is specialised for."""

    wide: bool
    directed: bool
    heads: bool
    leaves: bool
    long: int
    rows_at_once: int


@launch.locked
def components(matrix: MatrixStore) -> VectorStore | None:
    """Return the smallest vertex of each vertex's component, INT64; None where statements have to find it.

    They do where searches are theirs (search.py), in another vertex order, in which others are the smallest, and over
    the link where an edge is stored once in each direction, as they leave rows early in both.
    """
    rows, back = matrix.in_stored_order()
    if rows is None or rows.order is not None or not serves(rows, back):
        return None
    gpu, directed = rows.device, back is not rows
    if directed and back is not None and not placements.lie_near(rows):
        return None
    xp, at_once = gpu.xp, rows_per_warp.choose(rows)
    met, labels = xp.zeros(-(-rows.nrows // 32), np.uint32), xp.empty(rows.nrows, np.int64)
    state = xp.zeros(_STATE + whole_loops.WAIT, np.uint64)
    search = Search(rows, back, BOOL, met)
    near, heads = search.near, search.heads
    search.by_heads = search.has_heads and not (near or directed)
    case = _Case(rows.wide, directed, heads.k > 0, not (near or directed), rows.chunks.length, at_once)
    hub, rest = _kernels(gpu, stats.collecting is not None, case)  # type: ignore[arg-type]  # hashable, as in plan.py
    hub.launch(launch.blocks(gpu, rows.nrows), nrows=rows.nrows, indptr=rows.indptr, state=state, seen=search.seen)
    search.expand(LEVELS)
    blocks, shared = shares(rows, rest, at_once, few_waits=True)
    stats.together(rest, near)(
        blocks, rows.chunks.all, shared, size=rows.nrows, indptr=rows.indptr, indices=rows.arguments.indices,
        heads=heads.ids, k=heads.k, reached=met, closed=met if directed else search.seen, border=search.border,
        labels=labels, state=state, wait=state[_STATE:],
    )  # fmt: skip
    if not (near or search.by_heads):
        (_, pushed, pulled, *_), streamed = gpu.asnumpy(search.state).tolist(), int(gpu.asnumpy(state)[_STATE - 1])
        search.count_for_heads(pushed, pulled + streamed)
    found = VectorStore(INT64, rows.nrows)
    found.set(labels, all_present(rows.nrows), rows.nrows)
    return found


@lru_cache(maxsize=64)
def _kernels(device: Device, _counting: bool, case: _Case) -> tuple[Launcher, Launcher]:
    hub, rest = (codegen.kernel(device, "components.cu", text(case), name) for name in ("hub", "rest"))
    return hub, rest


def text(case: _Case) -> str:
    """Return the text before components.cu."""
    return "\n".join(
        (
            codegen.typedefs(Id="u64" if case.wide else "u32"),
            codegen.flags(DIRECTED=case.directed, HEADS=case.heads, LEAVES=case.leaves),
            rows_text(case.long, case.rows_at_once),
        )
    )
