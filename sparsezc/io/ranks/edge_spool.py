"""A store for edges until the owner of each row is known: in memory up to a limit, the rest in a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.io.build.edge_list import Chunk, narrow_ids

_MEMORY = 128 << 20  # bytes of edges in memory


class EdgeSpool:
    """Chunks of edges that can be read any number of times.

    Attributes
    ----------
    most : int
        The largest id, -1 without edges.
    kinds : set of dtype
        The types of the values.
    """

    def __init__(self, path: Path, memory: int | None = None) -> None:
        self.most, self.kinds = -1, set[np.dtype[Any]]()
        self._path, self._memory, self._held = path, _MEMORY if memory is None else memory, 0
        self._chunks: list[Chunk | tuple[int, list[tuple[int, np.dtype[Any]]]]] = []
        self._end = 0

    def fill(self, chunks: Iterable[Chunk]) -> None:
        """Add chunks, whose arrays must not change afterwards."""
        for rows, cols, values in chunks:
            if not rows.size:
                continue
            self.most = max(self.most, int(rows.max()), int(cols.max()))
            parts = [narrow_ids(np.ascontiguousarray(part)) for part in (rows, cols)]
            if values is not None:
                self.kinds.add(values.dtype)
                parts.append(np.ascontiguousarray(values))
            nbytes = sum(part.nbytes for part in parts)
            if self._held + nbytes <= self._memory:
                self._held += nbytes
                self._chunks.append((parts[0], parts[1], parts[2] if len(parts) > 2 else None))
                continue
            with self._path.open("ab") as file:
                for part in parts:
                    file.write(part.data)
            self._chunks.append((self._end, [(part.size, part.dtype) for part in parts]))
            self._end += nbytes

    def chunks(self) -> Iterator[Chunk]:
        """Yield all chunks."""
        for chunk in self._chunks:
            if len(chunk) == 3:
                yield chunk
                continue
            at, parts = chunk[0], []
            for count, kind in chunk[1]:
                parts.append(np.fromfile(self._path, kind, count, offset=at))
                at += count * kind.itemsize
            yield parts[0], parts[1], parts[2] if len(parts) > 2 else None

    def count(self, width: int, buckets: int, *, mirrored: bool) -> NDArray[np.int64]:
        """Return the number of edges in each bucket of `width` rows; `mirrored` edges count in both directions."""
        found = np.zeros(buckets, np.int64)
        for rows, cols, _ in self.chunks():
            found += np.bincount((rows // width).astype(np.int64), minlength=buckets)
            if mirrored:
                found += np.bincount((cols[rows != cols] // width).astype(np.int64), minlength=buckets)
        return found
