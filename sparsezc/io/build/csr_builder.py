"""From edges in any order to a CSR: sort packed keys, merge duplicates, fill the placement part by part."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.errors import OutOfMemory
from sparsezc.io.build import edge_list, edge_order
from sparsezc.io.build import weights as weighting
from sparsezc.io.build.edge_list import Edges
from sparsezc.io.build.edge_order import Positions
from sparsezc.io.build.weights import FROM_FILE, Weights
from sparsezc.memory import allocate_all
from sparsezc.memory.budget import require_host, resolve
from sparsezc.memory.csr import Csr, index_dtype
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import bar, working


def build(
    edges: Edges,
    weights: Weights = FROM_FILE,
    *,
    placement: str | None = None,
    dup_op: str = "min",
    symmetrize: bool = False,
) -> Csr:
    """Make the CSR of some edges.

    The edges' arrays are given up: the caller should hold no reference to them, so that their memory is free early.
    """
    both = edges.undirected or symmetrize
    edge_list.check_sizes(edges.nrows, edges.ncols)
    if both:
        edge_list.check_square(edges.nrows, edges.ncols)
    if weights.kind != "file":
        edges.values = None
    mirrored = both and not edges.mirrored
    edge_list.require_sorting(edges.rows.size * (1 + mirrored), edges.values, mirrored=mirrored)
    nrows, ncols, stated = edges.nrows, edges.ncols, edges.dtype
    with working("adding the other directions" if mirrored else "sorting edges") as say:
        if mirrored:
            edge_list.mirror(edges)
            say("sorting edges")
        positions, values = edge_order.arrange(edges, dup_op, say)
    del edges
    valued = values is not None
    values, dtype, iso = final_values(values, weights, stated)
    symmetric = both and alike(valued, dtype, dup_op)
    return _fill(nrows, ncols, positions, values, dtype, iso, weights, symmetric, placement)


def alike(valued: bool, dtype: datatypes.DataType, dup_op: str) -> bool:
    """Whether merging gives both directions of edges the same values.

    Floating sums depend on their order, and first, second and any on the file's.
    """
    return not valued or dup_op in ("min", "max") or (dtype.is_integer and dup_op in ("plus", "times"))


def final_values(
    values: NDArray[Any] | None, weights: Weights, stated: datatypes.DataType | None
) -> tuple[NDArray[Any] | None, datatypes.DataType, bool]:
    """Values in their final type, that type, and whether one value stands for all; then there is only that one."""
    if weights.kind == "hash":
        assert weights.dtype is not None
        return None, weights.dtype, False
    wanted = weights.dtype or stated
    if values is None:
        dtype = wanted or datatypes.BOOL
        return np.ones(1, dtype.np_type), dtype, True
    if wanted is None and values.dtype.kind in "iu" and values.size:
        least, most = int(values.min()), int(values.max())
        large = datatypes.UINT64 if most >= 2**63 else datatypes.INT64  # sums of small numbers must not wrap
        wanted = weighting.narrowest(least, most) if weights.narrow else large
    elif wanted is None:
        wanted = datatypes.lookup(values.dtype)
    iso = values.size > 1 and bool((values == values[0]).all())
    values = values[:1] if iso else values
    if weights.dtype is not None:
        weighting.check_fit(values, weights.dtype)
    if values.dtype != wanted.np_type:
        values = datatypes.cast(values, wanted)
    return values, wanted, iso


def _fill(
    nrows: int, ncols: int, positions: Positions, values: NDArray[Any] | None, dtype: datatypes.DataType, iso: bool,
    weights: Weights, symmetric: bool, placement: str | None,
) -> Csr:  # fmt: skip
    nvals = positions[0].size
    placement = place(placement, nrows, ncols, nvals, dtype, iso)
    ids = index_dtype(ncols, placement)
    indices, target = allocate_all(placement, (nvals, ids), (1 if iso else nvals, dtype.np_type))
    if iso and values is not None:
        target.write(0, values)
    indptr = offsets(nrows)
    progress = bar(nvals, f"placing in {placement}", " edges")
    for start in range(0, nvals, edge_list.BLOCK):
        rows, cols = edge_order.block(positions, start, min(start + edge_list.BLOCK, nvals))
        indices.write(start, cols)
        if weights.kind == "hash":
            target.write(start, weighting.hashed(rows, cols, weights))
        elif values is not None and not iso:
            target.write(start, values[start : start + edge_list.BLOCK])
        first = int(rows[0])
        found = np.bincount(rows - first)
        indptr[first + 1 : first + 1 + found.size] += found
        progress.update(rows.size)
    progress.close()
    np.cumsum(indptr, out=indptr)
    return Csr(nrows, ncols, indptr, indices, target, dtype, iso, symmetric)


def offsets(nrows: int) -> NDArray[np.int64]:
    """Zeroed offsets, or an OutOfMemory that says what they need."""
    try:
        require_host(8 * (nrows + 1), f"the array of offsets of {nrows:,} rows")
        return np.zeros(nrows + 1, np.int64)
    except MemoryError as error:
        told = str(error) if isinstance(error, OutOfMemory) else f"they need {8 * (nrows + 1):,} bytes: {error}"
        raise OutOfMemory(f"{told}; with relabel=True only the ids that occur are numbered") from None


def place(placement: str | None, nrows: int, ncols: int, nvals: int, dtype: datatypes.DataType, iso: bool) -> str:
    """Where the arrays go: what the caller or the configuration says, once the sizes are known."""
    value = 0 if iso else dtype.np_type.itemsize
    narrow, wide = index_dtype(ncols, "device").itemsize, index_dtype(ncols, "host").itemsize
    return resolve(placement, nvals * (narrow + value), nrows, nvals, host_nbytes=nvals * (wide + value))
