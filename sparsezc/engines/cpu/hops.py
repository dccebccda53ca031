"""Sampling hop by hop on the CPU engine, by the rules of :class:`sparsezc.expr.draws.Hops`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.engines.cpu.row_arrays import RowArrays, borrowed
from sparsezc.engines.cpu.selectk import picked
from sparsezc.expr.draws import Hops, Subgraph
from sparsezc.memory.budget import require_host

__all__ = ["sample_hops"]

Ints = NDArray[np.int64]


def sample_hops(store: Any, seeds: Ints, hops: Hops) -> Subgraph:
    """Return the sampled subgraph of python-graphblas's Matrix."""
    require_host(8 * store.ncols, f"sample_hops: local numbers of {store.ncols:,} vertices")
    with borrowed(store) as given:
        return _sampled(given, seeds, hops, int(store.ncols))


def _sampled(given: RowArrays, seeds: Ints, hops: Hops, n: int) -> Subgraph:
    after = np.zeros(n, np.int64)  # 1 after each vertex's local number, 0 for none: only what is met is touched
    after[seeds[::-1]] = np.arange(seeds.size, 0, -1)  # of equal seeds the first
    nodes, parts, listed, known = [seeds], [], seeds, 0
    for hop in range(len(hops.fanouts)):
        begin, end = given.ends(listed)
        pick = hops.pick(hop, n)
        row, at, count = picked(pick, given, begin, end, np.arange(listed.size))
        if pick.replace:
            row, at = np.repeat(row, count), np.repeat(at, count)
        col, known = row + known, known + listed.size
        met = given.indices[at]
        new = met[after[met] == 0]
        slot = np.arange(-1, -1 - new.size, -1)
        after[new[::-1]] = slot[::-1]  # of equal ones the first is written last
        listed = new[after[new] == slot]
        after[listed] = np.arange(known + 1, known + 1 + listed.size)
        nodes.append(listed)
        parts.append((after[met] - 1, col, at))
    none = np.empty(0, np.int64)
    row, col, edge = (np.concatenate([none, *(part[k] for part in parts)]) for k in range(3))
    values = None
    if hops.values:
        values = np.repeat(given.values[:1], edge.size) if given.iso else given.values[edge]
    sizes = [part.size for part in nodes], [part[2].size for part in parts]
    return Subgraph(np.concatenate(nodes), row, col, edge, values, *sizes)
