"""Rows of a CSR in a plain file, of which any range can be read: offsets, ids and values at known bytes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import FileFormatError
from sparsezc.semirings.types import datatypes

__all__ = ["Stored", "StoredRanges"]


@dataclass(frozen=True)
class Stored:
    """An array in a file: records of type `kind` from byte `start` on, or one `field` of each record."""

    path: Path
    start: int
    kind: np.dtype[Any]
    field: str = ""

    def read(self, first: int, last: int) -> NDArray[Any]:
        """Return the elements ``first:last``.

        Raises
        ------
        FileFormatError
            The file ends too early.
        """
        count = max(last - first, 0)
        if not count:
            found = np.empty(0, self.kind)
        else:
            found = np.fromfile(self.path, self.kind, count, offset=self.start + first * self.kind.itemsize)
        if found.size < count:
            raise FileFormatError(f"{self.path} ends {count - found.size:,} numbers early")
        return found[self.field] if self.field else found


@dataclass(frozen=True)
class StoredRanges:
    """The rows of a square matrix in files, with the interface of rows that ranks read (io/ranks/stored_rows.py).

    Attributes
    ----------
    path : Path
        The file that errors name.
    nrows, ncols, nvals : int
    dtype : DataType
        The type of the values; BOOL if there are none.
    symmetric : bool
        The file is marked undirected: both ends list each edge.
    """

    path: Path
    nrows: int
    nvals: int
    stored_offsets: Stored
    stored_ids: Stored
    stored_values: Stored | None
    dtype: datatypes.DataType
    symmetric: bool = False
    iso = False

    @property
    def ncols(self) -> int:
        """Return the number of columns."""
        return self.nrows

    def offsets(self, first: int, last: int) -> NDArray[np.int64]:
        """Return the offsets of the rows ``first:last``; the offset of row `nrows` is `nvals`.

        Raises
        ------
        FileFormatError
            The offsets descend, or are no positions of entries.
        """
        found: NDArray[np.int64] = self.stored_offsets.read(first, last).astype(np.int64)
        bad = np.flatnonzero((found < 0) | (found > self.nvals) | (np.diff(found, prepend=0) < 0))
        ends = (first == 0 and found.size and found[0] != 0) or (
            last > self.nrows and found.size and found[-1] != self.nvals
        )
        if bad.size or ends:
            at = int(bad[0]) if bad.size else (0 if first == 0 and found[0] != 0 else found.size - 1)
            raise FileFormatError(
                f"{self.path}: the offset of row {first + at} is {found[at]}; they must ascend from 0 to {self.nvals}"
            )
        return found

    def ids(self, start: int, stop: int) -> NDArray[Any]:
        """Return the ids of the entries ``start:stop``.

        Raises
        ------
        FileFormatError
            An id is no vertex.
        """
        found = self.stored_ids.read(start, stop)
        bad = np.flatnonzero((found < 0) | (found >= self.nrows))
        if bad.size:
            at = int(bad[0])
            raise FileFormatError(
                f"{self.path}: entry {start + at} has the id {found[at]}; ids from 0 to {self.nrows - 1} are needed"
            )
        return found

    def values(self, start: int, stop: int) -> NDArray[Any] | None:
        """Return the values of the entries ``start:stop``; None if there are no values."""
        return None if self.stored_values is None else self.stored_values.read(start, stop)
