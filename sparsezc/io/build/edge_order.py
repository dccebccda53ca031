"""Edges sorted by position, with values of the same position merged into one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.errors import FileFormatError, InvalidValue

if TYPE_CHECKING:
    from sparsezc.io.build.edge_list import Edges

_LOW = np.uint64(0xFFFFFFFF)
SHIFT = np.uint64(32)

#: How values of the same position become one; first and second depend on the order in the file.
MERGES: dict[str, np.ufunc | None] = {
    "min": np.minimum, "max": np.maximum, "plus": np.add, "times": np.multiply, "first": None, "second": None,
    "any": None, "lor": np.logical_or, "land": np.logical_and, "lxor": np.logical_xor,
}  # fmt: skip
_TRUTHS = ("lor", "land", "lxor")
REFUSED = "refused"  # instead of a name above: no position may occur twice


def merge_name(dup_op: Any) -> str:
    """Return the name of an operator or monoid that :data:`MERGES` knows.

    >>> merge_name("plus")
    'plus'
    """
    name = dup_op if isinstance(dup_op, str) else getattr(dup_op, "name", None)
    if name not in MERGES:
        raise InvalidValue(f"dup_op={dup_op!r} cannot merge duplicates; choose one of {', '.join(MERGES)}")
    return str(name)


#: Positions of edges: packed into one array of 64-bit keys where ids have 32 bits, else rows and columns.
Positions = tuple[NDArray[Any], ...]


def arrange(edges: Edges, dup_op: str, say: Callable[[str], Any]) -> tuple[Positions, NDArray[Any] | None]:
    """Return positions in ascending order, each once, and their values; the arrays of `edges` are taken out of it."""
    values, edges.values = edges.values, None
    positions, values = ascending(_taken(edges), values, dup_op in ("first", "second"))
    say("merging duplicates")
    return merge(positions, values, dup_op)


def _taken(edges: Edges) -> list[NDArray[Any]]:
    """Return keys, or rows and columns; `edges` gives up its arrays."""
    rows, cols = edges.rows, edges.cols
    edges.rows = edges.cols = np.empty(0, np.uint32)
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
    """Return keys, or rows and columns, in ascending order, and values in that order; frees the list's arrays."""
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
    """Return which positions are off the diagonal, and these with rows and columns exchanged."""
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
    """Return where a position differs from the one before."""
    first = np.ones(positions[0].size, np.bool_)
    if first.size:
        np.not_equal(positions[0][1:], positions[0][:-1], out=first[1:])
    if first.size and len(positions) == 2:
        first[1:] |= positions[1][1:] != positions[1][:-1]
    return first


def merge(
    positions: Positions, values: NDArray[Any] | None, dup_op: str
) -> tuple[Positions, NDArray[Any] | None]:  # fmt: skip
    """Return each of some ascending positions once, with the values of equal positions merged."""
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
    ufunc = MERGES[dup_op]
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
