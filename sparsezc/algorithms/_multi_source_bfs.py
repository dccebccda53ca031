"""Breadth-first search from 64 sources at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.algorithms.loops import multi_source as loop
from sparsezc.core import engine_loops
from sparsezc.core.matrix import Matrix
from sparsezc.core.scalar import Scalar
from sparsezc.core.vector import Vector
from sparsezc.device.processors import processors
from sparsezc.exceptions import InvalidValue
from sparsezc.semirings import binary, monoid, select, semiring
from sparsezc.semirings.types import datatypes
from sparsezc.terminal.progress import steps

#: Searches that share a pass: one bit each of a UINT64.
WIDTH = 64
_ALL = 2**WIDTH - 1


def sweeps(A: Matrix, sources: NDArray[np.int64]) -> Iterator[tuple[int, Vector]]:
    """Yield each depth and a vector of UINT64 bit sets: the searches that reach each vertex there, 64 at a time.

    With q these bits, and m the bits of the searches that have not reached a vertex yet::

        m = m xor q
        w = m and (the bits of all of q)    the active searches that have not reached a vertex
        q<w> = q'A and w                    over (bor, band), every entry of A being all ones

    Source: M. Then et al., The more the merrier: efficient multi-source graph traversal, PVLDB 8, 2014,
    doi:10.14778/2735496.2735507.
    """
    ones = A.apply(binary.second, right=Scalar.from_value(_ALL, datatypes.UINT64)).new()
    chunks = (sources[start : start + WIDTH] for start in range(0, sources.size, WIDTH))
    for chunk in steps(chunks, "sources", total=sources.size, size=len):
        q = Vector.from_coo(chunk, np.uint64(1) << np.arange(chunk.size, dtype=np.uint64), size=A.nrows)
        unmet = Vector.from_scalar(_ALL, A.nrows, datatypes.UINT64)
        depth = 0
        while q.nvals:
            unmet(binary.bxor) << q
            yield depth, q
            # w = m and (the bits of all of q)
            wanted: Vector = unmet.apply(binary.band[datatypes.UINT64], right=q.reduce(monoid.bor).new().value).new()
            # q<w> = q'A and w
            q(wanted.V, replace=True) << q.vxm(ones, semiring.bor_band[datatypes.UINT64])
            q << q.ewise_mult(wanted, binary.band)
            q << q.select(select.valuene, 0)
            depth += 1


def loop_pieces(A: Matrix, over: range, sources: int) -> Iterable[tuple[range, float]]:
    """Yield the pieces of `over` that one call of a compiled loop takes, each with `times` for ``run_loop``.

    A number of `over` is one pass over the rows of `A`: a search, or up to 64 that share it. Threads divide a piece
    among them. `times` is the ratio of all passes to those of the piece, because the compiled loop serves all pieces.
    """
    size = engine_loops.passes(A, max(len(over), 1)) * processors(16) * over.step
    pieces = [range(at, min(at + size, over.stop), over.step) for at in range(over.start, over.stop, size)]
    some = [(piece, len(over) / len(piece)) for piece in pieces]
    return steps(some, "sources", total=sources, size=lambda piece: piece[0].stop - piece[0].start)


def popcount(bits: Vector) -> Vector:
    """Count the set bits of each entry: by pairs, by fours, by bytes, and then a product adds up the bytes."""
    # x - (x >> 1 & 01 01 ...)
    count = _masked(bits, 1, 0x5555555555555555)
    count << bits.ewise_mult(count, binary.minus)
    # (x & 0011 ...) + (x >> 2 & 0011 ...)
    high = _masked(count, 2, 0x3333333333333333)
    count << count.apply(binary.band[datatypes.UINT64], right=0x3333333333333333)
    count << count.ewise_mult(high, binary.plus)
    # (x + (x >> 4)) & 00001111 ...
    high = _masked(count, 4, 0x0F0F0F0F0F0F0F0F)
    count << count.apply(binary.band[datatypes.UINT64], right=0x0F0F0F0F0F0F0F0F)
    count << count.ewise_mult(high, binary.plus)
    # the highest byte of x * 0x0101...
    count << count.apply(binary.times[datatypes.UINT64], right=0x0101010101010101)
    return _masked(count, 56, 0x7F).dup(datatypes.INT64)


def _masked(x: Vector, shift: int, mask: int) -> Vector:
    """Return x >> shift & mask."""
    y: Vector = x.apply(binary.bshift[datatypes.UINT64], right=-shift).new()
    y << y.apply(binary.band[datatypes.UINT64], right=mask)
    return y


def sample(n: int, k: Any, seed: int | None, sources: Any = None) -> NDArray[np.int64]:
    """Draw `k` different vertices, ascending; return the given `sources` if any, and all vertices without `k`."""
    if sources is not None:
        if k is not None:
            raise InvalidValue("k and sources are both given; give one of them")
        return _check.vertices(sources, n)
    _check.seed(seed, "sources")
    if k is None:
        return np.arange(n)
    chance = _check.generator(seed, "sources")
    return np.sort(chance.permutation(n)[: _check.count(k, "k", 1)])


def counts(A: Matrix, sources: NDArray[np.int64]) -> tuple[NDArray[Any], ...] | None:
    """Run :func:`~sparsezc.algorithms.loops.multi_source.counts` from all sources; None if the engine runs no loop."""
    found: list[Any] = []
    for over, times in loop_pieces(A, range(0, sources.size, WIDTH), sources.size):
        if (each := engine_loops.run_loop(loop.counts, A, sources, times=times, over=over)) is None:
            return None
        reached, total, inverse, farthest = zip(*found, *each, strict=True)
        found = [(sum(reached), sum(total), sum(inverse), np.maximum.reduce(farthest))]
    return found[0] if found else None
