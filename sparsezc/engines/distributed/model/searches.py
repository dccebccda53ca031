"""Two ways to search from many vertices on several ranks, and the time that a batch takes in each.

*By vertices* each rank has some rows of the matrix and these vertices of all searches: the ranks together read the
edges once, and exchange at each level. *By searches* each rank has all of the matrix and some of the searches: it reads
as many edges as one process would for these searches, and exchanges nothing. On a GPU one pass over the edges serves
all searches of a batch, so half of the searches take 0.8 to 0.93 of the time; on a processor they take half of it. So
GPUs search by vertices.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Batch", "gathering", "saved"]

_LEVELS = 8  # levels of a search of a social or web graph; other graphs have more, which favours searches
#: The index of the rates of ids in device memory, of ids that GPUs read over the link, and of ids that processors read.
_DEVICE, _LINK, _HOST = range(3)
_RATE = 100e9, 80e9, 1e9  # bytes of ids a second that 64 searches read
#: The power of the number of searches with which this time grows: measured with 64, 32, 16 and 8 on kron:24 (H200).
_POWER = 0.13, 0.32, 1.0
_LEVEL = 0.7e-3, 0.7e-3, 1e-3  # fixed seconds of a level by vertices: counts, bits and launches on the host
_ALONE = 0.9e-3, 0.9e-3, 0.0  # fixed seconds of a level by searches: one card's statements
_VERTEX = 24.0, 24.0, None  # bytes sent for a vertex; on processors 8 for each search
_PEER = 200e9, 200e9, 2e8  # bytes a second at which vertices are packed, sent and unpacked
_GATHER = 4e9, 2.3e9, 1e9  # bytes a second at which every rank receives the ids of others


class Batch(NamedTuple):
    """A batch of searches on one graph.

    Attributes
    ----------
    searches, ranks : int
    vertices : int
    nbytes : int
        Bytes of the ids of all edges, in the memory that ranks have them in.
    on_device, resident : bool
        GPUs search; the ids are in device memory.
    """

    searches: int
    ranks: int
    vertices: int
    nbytes: int
    on_device: bool
    resident: bool

    @property
    def kind(self) -> int:
        """Return the index of the rates that apply."""
        return _HOST if not self.on_device else _DEVICE if self.resident else _LINK


def saved(batch: Batch) -> float:
    """Return the seconds that a batch by searches saves compared to one by vertices; negative: it takes longer.

    >>> kron16 = Batch(64, 2, 1 << 16, 15 << 20, on_device=False, resident=False)
    >>> saved(kron16) > 0 > saved(kron16._replace(on_device=True))
    True
    """
    kind, others = batch.kind, (batch.ranks - 1) / batch.ranks
    share = -(-batch.searches // batch.ranks) / batch.searches  # of the busiest rank
    reading: float = batch.nbytes / _RATE[kind] * (batch.searches / 64) ** _POWER[kind]
    by_searches: float = reading * share ** _POWER[kind]
    told = (_VERTEX[kind] or 8.0 * batch.searches) * batch.vertices * others
    return reading / batch.ranks + told / _PEER[kind] + _LEVELS * (_LEVEL[kind] - _ALONE[kind]) - by_searches


def gathering(batch: Batch) -> float:
    """Return the seconds in which every rank receives the whole matrix."""
    return batch.nbytes * (batch.ranks - 1) / batch.ranks / _GATHER[batch.kind]
