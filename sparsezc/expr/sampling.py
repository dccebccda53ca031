"""Picks of rows' entries and steps of walks: their operands, and the rules for random numbers that all engines share.

Every random number is 64 bits of Philox 4x32-10 (:mod:`sparsezc.engines.cpu.philox`), identified by seed, stream, step
and draw. The stream is the number of the result's row, so a row's picks depend on no other row. Engines compute in
integers, or in FP64 operations that round alike everywhere, so results are equal to the bit. ``x * n >> 64`` maps a
random number x to one below n.

==================  ====================================================================================================
`how`               the entries of a row of d entries that are picked
==================  ====================================================================================================
first, last         by position
largest, smallest   by value, then by smallest column; NaN comes last
random              step 0, draws 0 to k-1: Floyd's sample of k out of d; for k above MOST_FLOYD the k smallest of the
                    numbers of step 1, draws 0 to d-1. With `replace`: draw c of step 0 is a position
random_weighted     the k smallest of E/w, E = -ln(u) of step 2, draws 0 to d-1 (Efraimidis and Spirakis 2006). With
                    `replace`: draw c of step 3 is a place in 0..Q, Q the sum of the whole numbers q
==================  ====================================================================================================

``q = floor(w / top * 2**b)``, top the row's largest weight, ``b = 62 - ceil(log2(d))``: their sums are exact in any
order. Walks: see :class:`Trail`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

__all__ = ["MOST_FLOYD", "TRIES", "Hops", "Pick", "Subgraph", "Trail", "draw_seeds_by", "fresh_seed"]

#: Floyd's sampling compares each number with all picked before; for more picks than this, sorting is less work.
MOST_FLOYD = 256
#: Rejected tries of a step after which its whole row is read: rows of similar weights hardly ever need as many.
TRIES = 32

_source: list[Callable[[], int]] = [lambda: secrets.randbits(64)]


def fresh_seed() -> int:
    """Return a random seed of 64 bits, for a call without one."""
    return _source[0]()


def draw_seeds_by(source: Callable[[], int]) -> None:
    """Replace the function that draws such seeds: processes that run the same statements need the same seeds."""
    _source[0] = source


@dataclass(frozen=True)
class Pick:
    """The rule that picks entries of each row; the module's table explains it.

    Attributes
    ----------
    how : str
    k : int
        The most entries of a row; of a shorter row all are picked.
    replace : bool
        Whether an entry may be drawn again: then the result has the number of draws of each.
    seed : int
        Below 2**64.
    """

    how: str
    k: int
    replace: bool = False
    seed: int = 0
    _stored: ClassVar[bool] = False
    _lock: ClassVar[None] = None

    def fits(self, shape: tuple[int, ...], A: Any, index: Any) -> bool:
        """Return whether the matrix still has the listed rows, and as many columns as the result."""
        if index.kind == "all":
            return bool(shape == A.shape)
        listed = index.positions()
        return bool(A.ncols == shape[1] and (not listed.size or int(listed.max()) < A.nrows))


@dataclass(frozen=True)
class Trail:
    """The rule by which walks choose their next vertex.

    If all edges weigh the same, step s takes position ``x * d >> 64`` of the row's d entries, x number s of step 0.
    Else, in try t of step s, number 2t of step s+1 is a position, and number 2t+1 accepts it if it is at most 2**64
    w/top, times the edge's share of the p-q bias. After :data:`TRIES` tries, number 2 TRIES of that step is a place
    among the whole numbers q of all entries, each times its share.

    Attributes
    ----------
    starts : ndarray of int64
        The first vertex of each walk.
    length : int
        The most steps of a walk.
    size : int
        The number of rows of the square matrix.
    weights : {"", "values", "columns"}
        Weights are the entries' values, or a vector's values at their columns; "": all edges weigh the same.
    shares : tuple of int, or None
        Factors of an edge's weight, as multiples of 1 / (2**64 - 1): of an edge back to the vertex before, to a
        neighbour of that vertex, and to any other vertex (node2vec).
    seed : int
    """

    starts: Any
    length: int
    size: int
    weights: str = ""
    shares: tuple[int, int, int] | None = None
    seed: int = 0
    _stored: ClassVar[bool] = False
    _lock: ClassVar[None] = None

    def fits(self, A: Any, *weights: Any) -> bool:
        """Return whether the matrix and the vectors still have the size that they had when this was made."""
        return bool(A.shape == (self.size, self.size) and all(v.shape == (self.size,) for v in weights))

    def __repr__(self) -> str:
        return f"{self.starts.size} walks of {self.length} steps"


@dataclass(frozen=True)
class Hops:
    """The rule that picks entries hop by hop: the columns of a hop's entries are the rows of the next hop.

    Hop h picks from the vertices that hop h - 1 met first; in the order of their local numbers, the r-th of these is
    row r of a :class:`Pick` with seed `seed` + h, modulo 2**64. Hop 0 picks from every seed vertex, each time that it
    is listed; edges lead to the first of equal seed vertices.

    Attributes
    ----------
    fanouts : tuple of int
        The most entries of a row that each hop picks; -1: all.
    replace, weighted : bool
        An entry may be drawn again, and is then listed again; entries are drawn in proportion to their values.
    values : bool
        The values of the picked entries are returned, too.
    seed : int
        Below 2**64.
    """

    fanouts: tuple[int, ...]
    replace: bool = False
    weighted: bool = False
    values: bool = False
    seed: int = 0

    def pick(self, hop: int, ncols: int) -> Pick:
        """Return the Pick of one hop, for a matrix of `ncols` columns."""
        k, seed = self.fanouts[hop], (self.seed + hop) % 2**64
        if k < 0:
            return Pick("first", ncols)
        return Pick("random_weighted" if self.weighted else "random", k, self.replace, seed)


class Subgraph(NamedTuple):
    """The vertices and edges that were picked hop by hop: arrays of int64 on the matrix's engine.

    Attributes
    ----------
    node : array
        The vertices by their local numbers: the seeds, then others in the order in which edges met them.
    row, col : array
        Local numbers: edge e leads to ``node[row[e]]``, and was picked from the row of ``node[col[e]]``. Edges are
        ordered by hop, then `col`, then `edge`.
    edge : array
        The position of each edge among the matrix's entries, by row, then column.
    values : array of the matrix's type, or None
        The value of each edge, if the Hops require values.
    num_sampled_nodes, num_sampled_edges : list of int
        The numbers of seeds and of vertices first met in each hop; the number of edges of each hop.
    """

    node: Any
    row: Any
    col: Any
    edge: Any
    values: Any
    num_sampled_nodes: list[int]
    num_sampled_edges: list[int]
