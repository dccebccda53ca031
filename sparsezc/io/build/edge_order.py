"""Edges in ascending order of their positions, and values of the same position merged into one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.errors import FileFormatError, InvalidValue

if TYPE_CHECKING:
    from sparsezc.io.build.csr_builder import Edges

_LOW = np.uint64(0xFFFFFFFF)
SHIFT = np.uint64(32)

#: How values of the same position become one; first and second go by the order in the file.
MERGES: dict[str, np.ufunc | None] = {
    "min": np.minimum, "max": np.maximum, "plus": np.add, "times": np.multiply, "first": None, "second": None,
    "any": None, "lor": np.logical_or, "land": np.logical_and, "lxor": np.logical_xor,
}  # fmt: skip
_TRUTHS = ("lor", "land", "lxor")
REFUSED = "refused"  # in the place of a name above: no position may occur twice


def merge_name(dup_op: Any) -> str:
    """The name of an operator or monoid that :data:`MERGES` knows.

    >>> merge_name("plus")
    'plus'
    """
    name = dup_op if isinstance(dup_op, str) else getattr(dup_op, "name", None)
    if name not in MERGES:
        raise InvalidValue(f"dup_op={dup_op!r} cannot merge duplicates; choose one of {', '.join(MERGES)}")
    return str(name)


class Ordered:
    """Positions in ascending order, packed into 64-bit keys where ids have 32 bits, else as two arrays."""

    def __init__(self, *parts: NDArray[Any]) -> None:
        self.parts = parts

    def __len__(self) -> int:
        return len(self.parts[0])

    def block(self, start: int, stop: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Rows and columns of the positions start:stop."""
        if len(self.parts) == 2:
            return self.parts[0][start:stop], self.parts[1][start:stop]
        keys = self.parts[0][start:stop]
        return (keys >> SHIFT).astype(np.int64), (keys & _LOW)

    def news(self) -> NDArray[np.bool_]:
        """Where a position differs from the one before."""
        new = np.ones(len(self), np.bool_)
        if len(self):
            np.not_equal(self.parts[0][1:], self.parts[0][:-1], out=new[1:])
        if len(self.parts) == 2 and len(self):
            new[1:] |= self.parts[1][1:] != self.parts[1][:-1]
        return new

    def flipped(self) -> tuple[NDArray[np.bool_], list[NDArray[Any]]]:
        """Which positions lie off the diagonal, and those with rows and columns exchanged."""
        if len(self.parts) == 2:
            off = self.parts[0] != self.parts[1]
            return off, [self.parts[1][off], self.parts[0][off]]
        rows = self.parts[0] >> SHIFT
        off = rows != self.parts[0] & _LOW
        rows = rows[off]
        key = self.parts[0][off]
        key <<= SHIFT
        key |= rows
        return off, [key]

    def keep(self, where: NDArray[Any]) -> None:
        """Leave only these positions."""
        self.parts = tuple(part[where] for part in self.parts)


def arrange(edges: Edges, stable: bool) -> tuple[Ordered, NDArray[Any] | None]:
    """Positions in ascending order and the values in the same order; takes the arrays out of `edges`."""
    values, rows, cols = edges.values, edges.rows, edges.cols
    edges.rows = edges.cols = np.empty(0, np.uint32)
    edges.values = None
    if max(edges.nrows, edges.ncols) > 2**32:
        return ordered([rows, cols], values, stable)
    keys = rows.astype(np.uint64)
    del rows
    keys <<= SHIFT
    keys |= cols.astype(np.uint64)
    del cols
    return ordered([keys], values, stable)


def ordered(
    parts: list[NDArray[Any]], values: NDArray[Any] | None, stable: bool
) -> tuple[Ordered, NDArray[Any] | None]:  # fmt: skip
    """Keys, or rows and columns, in ascending order, and the values in the same order; takes the list's arrays."""
    if len(parts) == 2:
        order = np.lexsort(parts[::-1])
        return Ordered(*(part[order] for part in parts)), None if values is None else values[order]
    found = parts.pop()
    if found.size > 1 and bool((found[1:] >= found[:-1]).all()):
        return Ordered(found), values
    if values is None:
        found.sort()
        return Ordered(found), None
    order = np.argsort(found, kind="stable" if stable else None)
    return Ordered(found[order]), values[order]


def merge(ordered: Ordered, values: NDArray[Any] | None, dup_op: str) -> NDArray[Any] | None:
    """Leave each position once; the values of the same position become one."""
    new = ordered.news()
    if new.all():
        return values
    if dup_op == REFUSED:
        row, col = _position(ordered, int(np.flatnonzero(~new)[0]))
        raise FileFormatError(f"the position ({row}, {col}) occurs more than once")
    starts = np.flatnonzero(new)
    if values is not None:
        if dup_op in ("min", "max") and values.dtype.kind == "c":
            raise InvalidValue(
                f"positions occur more than once, and dup_op={dup_op!r} cannot order complex values; choose another"
                " dup_op, such as 'first'"
            )
        if dup_op in ("min", "max") and values.dtype.kind == "f":
            _refuse_nan(ordered, values, new, dup_op)
        ufunc = MERGES[dup_op]
        if ufunc is not None:
            before = values
            values = ufunc.reduceat(values, starts).astype(values.dtype, copy=False)
            if dup_op in _TRUTHS:  # these would change what occurs once, too
                alone = np.diff(starts, append=len(ordered)) == 1
                values[alone] = before[starts[alone]]
        elif dup_op == "second":
            values = values[np.append(starts[1:], len(ordered)) - 1]
        else:
            values = values[starts]
    ordered.keep(new)
    return values


def _position(ordered: Ordered, at: int) -> tuple[int, int]:
    row, col = (int(part[0]) for part in ordered.block(at, at + 1))
    return row, col


def _refuse_nan(ordered: Ordered, values: NDArray[Any], new: NDArray[np.bool_], dup_op: str) -> None:
    """NaN has no place in an order, so min and max cannot choose between it and another value."""
    twice = ~new
    twice[:-1] |= ~new[1:]
    bad = np.flatnonzero(np.isnan(values) & twice)
    if bad.size:
        row, col = _position(ordered, int(bad[0]))
        raise InvalidValue(
            f"the position ({row}, {col}) occurs more than once and one of its values is NaN, which dup_op={dup_op!r} "
            "cannot order; choose another dup_op, such as 'first'"
        )
