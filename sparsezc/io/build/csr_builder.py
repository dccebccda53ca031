"""The build of a CSR from edges in any order: sort packed keys, merge duplicates, fill the placement part by part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError, InvalidValue, OutOfMemory, meant
from sparsezc.io.build import edge_list
from sparsezc.io.build import weights as weighting
from sparsezc.io.build.edge_list import Edges
from sparsezc.io.build.limits import MERGES
from sparsezc.io.build.weights import FROM_FILE, Weights
from sparsezc.memory import allocate_all
from sparsezc.memory.budget import require_host, resolve
from sparsezc.memory.buffer import index_dtype
from sparsezc.memory.csr import Csr
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import bar, working

_LOW = np.uint64(0xFFFFFFFF)
SHIFT = np.uint64(32)

#: The operators of MERGES that fold values; the others choose one.
_FOLDS = {
    "min": np.minimum, "max": np.maximum, "plus": np.add, "times": np.multiply,
    "lor": np.logical_or, "land": np.logical_and, "lxor": np.logical_xor,
}  # fmt: skip
_TRUTHS = ("lor", "land", "lxor")
REFUSED = "refused"  # in place of an operator's name: no position may occur twice

#: Positions of edges: packed into one array of 64-bit keys where ids have 32 bits, else rows and columns.
Positions = tuple[NDArray[Any], ...]


class _Entries(NamedTuple):
    """The entries of a matrix: distinct positions in ascending order, and a value each or one for all (iso).

    Without `values`, they are generated as `weights` defines.
    """

    nrows: int
    ncols: int
    positions: Positions
    values: NDArray[Any] | None
    dtype: datatypes.DataType
    iso: bool
    weights: Weights


def merge_name(dup_op: Any) -> str:
    """Return the name of an operator or monoid of :data:`~sparsezc.io.build.limits.MERGES`.

    >>> merge_name("plus")
    'plus'
    """
    name = dup_op if isinstance(dup_op, str) else getattr(dup_op, "name", None)
    if name not in MERGES:
        nearest = meant(dup_op, MERGES) if isinstance(dup_op, str) else ""
        raise InvalidValue(f"dup_op={dup_op!r} cannot merge duplicates{nearest}; choose one of {', '.join(MERGES)}")
    return str(name)


def build(
    edges: Edges,
    weights: Weights = FROM_FILE,
    *,
    placement: str | None = None,
    dup_op: str = "min",
    symmetrize: bool = False,
) -> Csr:
    """Build the CSR of some edges in a placement.

    The edges' arrays are freed early: the caller should hold no reference to them.
    """
    both = edges.undirected or symmetrize
    edge_list.check_sizes(edges.nrows, edges.ncols)
    if both:
        edge_list.check_square(edges.nrows, edges.ncols)
    if weights.kind != "file":
        edges.take_values()
    mirrored = both and not edges.mirrored
    edge_list.require_sorting(edges.rows.size * (1 + mirrored), edges.values, mirrored=mirrored)
    nrows, ncols, stated = edges.nrows, edges.ncols, edges.dtype
    with working("adding the other directions" if mirrored else "sorting edges") as say:
        if mirrored:
            edge_list.mirror(edges)
            say("sorting edges")
        listed = edges.rows.size
        positions, values = arrange(edges, dup_op, say)
    del edges
    valued = values is not None
    values, dtype, iso = final_values(values, weights, stated)
    symmetric = both and alike(valued, dtype, dup_op)
    made = _fill(_Entries(nrows, ncols, positions, values, dtype, iso, weights), symmetric, placement)
    merged = listed - made.indices.count
    return made.add_merged(merged) if merged else made


def alike(valued: bool, dtype: datatypes.DataType, dup_op: str) -> bool:
    """Return whether both directions of an edge have the same value after merging.

    Floating-point sums depend on their order, and first, second and any depend on the file's order.
    """
    return not valued or dup_op in ("min", "max") or (dtype.is_integer and dup_op in ("plus", "times"))


def final_values(
    values: NDArray[Any] | None, weights: Weights, stated: datatypes.DataType | None
) -> tuple[NDArray[Any] | None, datatypes.DataType, bool]:
    """Return the values in their final type, this type, and whether all are equal: then only one value is returned."""
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


def _fill(entries: _Entries, symmetric: bool, placement: str | None) -> Csr:
    """Write entries into buffers of a placement, a block at a time."""
    nrows, ncols, positions, values, dtype, iso, weights = entries
    nvals = positions[0].size
    placement = place(placement, nrows, ncols, nvals, dtype, iso)
    ids = index_dtype(ncols, placement)
    indices, target = allocate_all(placement, (nvals, ids), (1 if iso else nvals, dtype.np_type))
    if iso and values is not None:
        target.write(0, values)
    indptr = offsets(nrows)
    progress = bar(nvals, f"placing in {placement}", " edges")
    for start in range(0, nvals, edge_list.BLOCK):
        rows, cols = block(positions, start, min(start + edge_list.BLOCK, nvals))
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
    """Return zeroed offsets; raise an OutOfMemory that gives their bytes if they do not fit."""
    try:
        require_host(8 * (nrows + 1), f"the array of offsets of {nrows:,} rows")
        return np.zeros(nrows + 1, np.int64)
    except MemoryError as error:
        told = str(error) if isinstance(error, OutOfMemory) else f"they need {8 * (nrows + 1):,} bytes: {error}"
        raise OutOfMemory(f"{told}; with relabel=True only the ids that occur are numbered") from None


def place(placement: str | None, nrows: int, ncols: int, nvals: int, dtype: datatypes.DataType, iso: bool) -> str:
    """Return the placement of arrays of these sizes, by the caller's choice or the configuration."""
    value = 0 if iso else dtype.np_type.itemsize
    narrow, wide = index_dtype(ncols, "device").itemsize, index_dtype(ncols, "host").itemsize
    return resolve(placement, nvals * (narrow + value), nrows, nvals, host_nbytes=nvals * (wide + value))


# Edges sorted by position, with values of the same position merged into one


def arrange(edges: Edges, dup_op: str, say: Callable[[str], Any]) -> tuple[Positions, NDArray[Any] | None]:
    """Return positions in ascending order, each once, and their values; `edges` gives up its arrays."""
    values = edges.take_values()
    positions, values = ascending(_taken(edges), values, dup_op in ("first", "second"))
    say("merging duplicates")
    return merge(positions, values, dup_op)


def _taken(edges: Edges) -> list[NDArray[Any]]:
    """Return keys, or rows and columns; `edges` gives up its arrays."""
    rows, cols = edges.take_ids()
    if max(edges.nrows, edges.ncols) > 2**32:
        return [rows, cols]
    keys = rows.astype(np.uint64)
    del rows
    keys <<= SHIFT
    keys |= cols.astype(np.uint64)
    return [keys]


def ascending(
    parts: list[NDArray[Any]], values: NDArray[Any] | None, stable: bool
) -> tuple[Positions, NDArray[Any] | None]:  # fmt: skip
    """Return keys, or rows and columns, in ascending order, and values in that order; keys are popped from `parts`."""
    if len(parts) == 2:
        order = np.lexsort(parts[::-1])
        return tuple(part[order] for part in parts), None if values is None else values[order]
    found = parts.pop()
    if found.size > 1 and bool((found[1:] >= found[:-1]).all()):
        return (found,), values
    if values is None:
        found.sort()
        return (found,), None
    order = np.argsort(found, kind="stable" if stable else None)
    return (found[order],), values[order]


def block(positions: Positions, start: int, stop: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return rows and columns of the positions start:stop."""
    if len(positions) == 2:
        return positions[0][start:stop], positions[1][start:stop]
    keys = positions[0][start:stop]
    return (keys >> SHIFT).astype(np.int64), (keys & _LOW)


def flipped(positions: Positions) -> tuple[NDArray[np.bool_], list[NDArray[Any]]]:
    """Return a mask of the positions off the diagonal, and these with rows and columns exchanged."""
    if len(positions) == 2:
        off = positions[0] != positions[1]
        return off, [positions[1][off], positions[0][off]]
    rows = positions[0] >> SHIFT
    off = rows != positions[0] & _LOW
    rows = rows[off]
    key = positions[0][off]
    key <<= SHIFT
    key |= rows
    return off, [key]


def _firsts(positions: Positions) -> NDArray[np.bool_]:
    """Return a mask of the positions that differ from the one before."""
    first = np.ones(positions[0].size, np.bool_)
    if first.size:
        np.not_equal(positions[0][1:], positions[0][:-1], out=first[1:])
    if first.size and len(positions) == 2:
        first[1:] |= positions[1][1:] != positions[1][:-1]
    return first


def merge(
    positions: Positions, values: NDArray[Any] | None, dup_op: str
) -> tuple[Positions, NDArray[Any] | None]:  # fmt: skip
    """Return each distinct position of an ascending list once, with the values of equal positions merged."""
    first = _firsts(positions)
    if first.all():
        return positions, values
    if dup_op == REFUSED:
        row, col = _position(positions, int(np.flatnonzero(~first)[0]))
        raise FileFormatError(f"the position ({row}, {col}) occurs more than once")
    if values is not None:
        values = _merged_values(positions, values, first, dup_op)
    return tuple(part[first] for part in positions), values


def _merged_values(
    positions: Positions, values: NDArray[Any], first: NDArray[np.bool_], dup_op: str
) -> NDArray[Any]:  # fmt: skip
    """Return a value for each position; `first` marks where a position's values begin."""
    starts = np.flatnonzero(first)
    if dup_op in ("min", "max") and values.dtype.kind == "c":
        raise InvalidValue(
            f"positions occur more than once, and dup_op={dup_op!r} cannot order complex values; choose another"
            " dup_op, such as 'first'"
        )
    if dup_op in ("min", "max") and values.dtype.kind == "f":
        _refuse_nan(positions, values, first, dup_op)
    ufunc = _FOLDS.get(dup_op)
    if ufunc is None:
        at = np.append(starts[1:], values.size) - 1 if dup_op == "second" else starts
        merged: NDArray[Any] = values[at]
        return merged
    merged = ufunc.reduceat(values, starts).astype(values.dtype, copy=False)
    if dup_op in _TRUTHS:  # these would change values that occur once, too
        alone = np.diff(starts, append=values.size) == 1
        merged[alone] = values[starts[alone]]
    return merged


def _position(positions: Positions, at: int) -> tuple[int, int]:
    row, col = (int(part[0]) for part in block(positions, at, at + 1))
    return row, col


def _refuse_nan(positions: Positions, values: NDArray[Any], first: NDArray[np.bool_], dup_op: str) -> None:
    """Raise InvalidValue if min or max would have to order a NaN."""
    twice = ~first
    twice[:-1] |= ~first[1:]
    bad = np.flatnonzero(np.isnan(values) & twice)
    if bad.size:
        row, col = _position(positions, int(bad[0]))
        raise InvalidValue(
            f"the position ({row}, {col}) occurs more than once and one of its values is NaN, which dup_op={dup_op!r} "
            "cannot order; choose another dup_op, such as 'first'"
        )
