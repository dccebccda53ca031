"""From edges in any order to a CSR: sort packed keys, merge duplicates, fill the placement part by part."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.memory.csr import Csr, index_dtype
from sparsezc.errors import DimensionMismatch, FileFormatError, OutOfMemory
from sparsezc.io.build import edge_order
from sparsezc.io.build import weights as weighting
from sparsezc.io.build.weights import FROM_FILE, Weights
from sparsezc.memory import allocate
from sparsezc.memory.budget import require_host, resolve
from sparsezc.terminal.progress import bar, working
from sparsezc.semirings.types import datatypes

BLOCK = 1 << 20  # entries handled at a time


@dataclass
class Edges:
    """Edges as a file lists them: 0-based ids below the sizes, and one value each or None.

    Attributes
    ----------
    rows, cols : arrays of uint32 or int64
    undirected : bool
        The format says that each edge stands for both directions.
    mirrored : bool
        Both directions are in the lists already.
    dtype : DataType or None
        The type that the file states for its values.
    """

    nrows: int
    ncols: int
    rows: NDArray[Any]
    cols: NDArray[Any]
    values: NDArray[Any] | None = None
    undirected: bool = False
    mirrored: bool = False
    dtype: datatypes.DataType | None = None


def narrow_ids(ids: NDArray[Any]) -> NDArray[Any]:
    """The ids, which lie below 2^63, in 4 bytes each where they fit, and else as int64 whatever they were: a column of
    uint64 and one of int64 would meet as floats.
    """
    if ids.dtype == np.uint32 or not ids.size:
        return ids
    return ids.astype(np.int64 if int(ids.max()) >= 2**32 else np.uint32, copy=False)


def relabel(edges: Edges) -> tuple[Edges, NDArray[np.int64]]:
    """The same edges over the ids that occur, numbered from 0 in ascending order; and those ids."""
    if max(edges.nrows, edges.ncols) <= 8 * edges.rows.size + BLOCK:  # a table of all ids is small enough
        occurs = np.zeros(max(edges.nrows, edges.ncols), np.bool_)
        occurs[edges.rows] = occurs[edges.cols] = True
        ids = np.flatnonzero(occurs)
        number = np.cumsum(occurs, dtype=np.int64) - 1
        rows, cols = (narrow_ids(number[part]) for part in (edges.rows, edges.cols))
    else:
        ids = np.union1d(np.unique(edges.rows), np.unique(edges.cols))
        rows, cols = (narrow_ids(np.searchsorted(ids, part)) for part in (edges.rows, edges.cols))
    n = ids.size
    made = Edges(n, n, rows, cols, edges.values, edges.undirected, edges.mirrored, edges.dtype)
    return made, ids.astype(np.int64)


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
    check_sizes(edges.nrows, edges.ncols)
    if both:
        check_square(edges.nrows, edges.ncols)
    if weights.kind != "file":
        edges.values = None
    mirrored = both and not edges.mirrored
    require_sorting(edges.rows.size * (1 + mirrored), edges.values, mirrored=mirrored)
    if mirrored:
        with working("adding the other directions"):
            _mirror(edges)
    nrows, ncols = edges.nrows, edges.ncols
    with working("sorting edges"):
        ordered, values = edge_order.arrange(edges, stable=dup_op in ("first", "second"))
    stated = edges.dtype
    del edges
    with working("merging duplicates"):
        values = edge_order.merge(ordered, values, dup_op)
    valued = values is not None
    values, dtype, iso = final_values(values, weights, stated)
    symmetric = both and alike(valued, dtype, dup_op)
    return _fill(nrows, ncols, ordered, values, dtype, iso, weights, symmetric, placement)


def alike(valued: bool, dtype: datatypes.DataType, dup_op: str) -> bool:
    """Whether merging gives both directions of edges the same values.

    Floating sums depend on their order, and first, second and any on the file's.
    """
    return not valued or dup_op in ("min", "max") or (dtype.is_integer and dup_op in ("plus", "times"))


def require_sorting(count: int, values: NDArray[Any] | None, *, mirrored: bool) -> None:
    """Refuse edges that there is no room to sort: keys and their copies beside what the lists take already."""
    each = 12 if values is None else 16 + values.itemsize
    require_host(count * (each + 4 * mirrored), f"sorting {count:,} edges")


def check_sizes(nrows: int, ncols: int) -> None:
    """Refuse a matrix whose offsets alone would not fit any machine."""
    only = "with relabel=True only the ids that occur are numbered"
    if ncols >= 2**60:
        raise OutOfMemory(f"ids reach {ncols - 1:,}; they must lie below 2^60, and {only}")
    if nrows >= 2**36:
        raise OutOfMemory(
            f"ids reach {nrows - 1:,}, so the offsets of {nrows:,} rows need {8 * (nrows + 1):,} bytes; {only}"
        )


def check_square(nrows: int, ncols: int) -> None:
    """Refuse a matrix whose edges cannot count in both directions."""
    if nrows != ncols:
        raise DimensionMismatch(f"a {nrows} x {ncols} matrix has no both directions; it must be square")


def check_count(path: Path, entries: int, width: int, *, whole: bool) -> None:
    """Refuse a header that promises more entries, of at least `width` bytes each, than the file can unfold to.

    Or more than the memory can hold, where they will lie there as a `whole`.
    """
    from sparsezc.io.files.source import InputFile

    with InputFile(path) as stream:
        if entries * width > stream.limit + width:
            raise FileFormatError(f"{path} is truncated: its header says {entries:,} entries, more than it can hold")
    if whole:
        require_host(8 * entries, f"{path} with its {entries:,} entries, 8 bytes each at the least,")


def _mirror(edges: Edges) -> None:
    """Add (j, i) for each (i, j) off the diagonal."""
    off = edges.rows != edges.cols
    rows = np.concatenate([edges.rows, edges.cols[off]])
    edges.cols = np.concatenate([edges.cols, edges.rows[off]])
    edges.rows = rows
    if edges.values is not None:
        edges.values = np.concatenate([edges.values, edges.values[off]])


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
    if wanted is None:
        wanted = datatypes.lookup(values.dtype)
        if values.dtype.kind in "iu" and values.size:
            least, most = int(values.min()), int(values.max())
            wanted = weighting.narrowest(least, most) if weights.narrow else weighting.whole(most)
    if values.size > 1 and bool((values == values[0]).all()):
        return datatypes.cast(values[:1], wanted), wanted, True
    return datatypes.cast(values, wanted), wanted, False


def _fill(
    nrows: int, ncols: int, ordered: edge_order.Ordered, values: NDArray[Any] | None, dtype: datatypes.DataType, iso: bool,
    weights: Weights, symmetric: bool, placement: str | None,
) -> Csr:  # fmt: skip
    nvals = len(ordered)
    placement = place(placement, nrows, ncols, nvals, dtype, iso)
    indices = allocate(placement, nvals, index_dtype(ncols, placement))
    target = allocate(placement, 1 if iso else nvals, dtype.np_type)
    if iso and values is not None:
        target.write(0, values)
    indptr = offsets(nrows)
    progress = bar(nvals, f"placing in {placement}", " edges")
    for start in range(0, nvals, BLOCK):
        rows, cols = ordered.block(start, min(start + BLOCK, nvals))
        indices.write(start, cols)
        if weights.kind == "hash":
            target.write(start, weighting.hashed(rows, cols, weights))
        elif values is not None and not iso:
            target.write(start, values[start : start + BLOCK])
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
    narrow, wide = (nvals * (index_dtype(ncols, name).itemsize + value) for name in ("device", "host"))
    return resolve(placement, narrow, nrows, nvals, host_nbytes=wide)
