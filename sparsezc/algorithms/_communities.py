"""The shared steps of Louvain and Leiden: weights as integers, moves between communities, contraction."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sparsezc import ops
from sparsezc.algorithms import _check
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.errors import DomainMismatch, InvalidValue
from sparsezc.semirings import binary, indexunary, monoid, select, semiring, unary
from sparsezc.semirings.types import datatypes

_TURNS = 8  # parts of a round, in which one part of the vertices moves at once; with 2 communities swap their vertices
_ROUNDS = 64  # at most, of moves on one level; it takes 3 to 20
_FEW = 100  # a level ends with a round in which less than one of so many vertices moved
_EXACT_BITS = 52  # sums of whole numbers below 2^53 are exact in FP64, in any order


class Network(NamedTuple):
    """A weighted undirected graph, of one level.

    Attributes
    ----------
    W : Matrix
        Symmetric.
    weigh : semiring
        How its entries count: plus_pair, or plus_first where they have weights.
    k : Vector of FP64
        The sums of its rows.
    some : Vector
        Where that is more than 0: the vertices that have neighbours, or at least a loop. The others take no part.
    m : float
        The sum of all.
    resolution : float
    """

    W: Matrix
    weigh: Any
    k: Vector
    some: Vector
    m: float
    resolution: float

    @property
    def n(self) -> int:
        """The number of vertices."""
        return int(self.W.nrows)

    @property
    def size(self) -> int:
        """How many of them take part."""
        return int(self.some.nvals)

    @property
    def scale(self) -> float:
        """By which k(i) s(c) counts in a gain."""
        return self.resolution / self.m

    def modularity(self) -> float:
        """Compute it for communities of one vertex each, to the digits that do not depend on the order of sums."""
        loops = self.W.select(select.diag).new()
        inside = loops.reduce_scalar(monoid.plus).new().get(0.0) if self.weigh is semiring.plus_first else loops.nvals
        chance = self.k.inner(self.k, semiring.plus_times).new().get(0.0)
        return round(float(inside / self.m - self.scale * chance / self.m), 12)


def checked(
    A: Matrix, resolution: Any, threshold: Any, max_level: Any, seed: Any, weighted: bool
) -> tuple[int | None, np.random.Generator, Network | None]:
    """Check the arguments of both methods; return the most levels, a source of chance, and the network."""
    _check.adjacency(A)
    most = None if max_level is None else _check.count(max_level, "max_level", 1)
    scale = _check.resolution(resolution)
    if not isinstance(threshold, int | float | np.integer | np.floating):
        raise DomainMismatch(f"threshold is {threshold!r}; a number is needed")
    if math.isnan(threshold):
        raise InvalidValue("threshold is nan; a number is needed")
    rng = _check.generator(seed, "communities")
    if weighted:
        _check.weights(A)
    return most, rng, network(A, weighted, scale)


def network(A: Matrix, weighted: bool, resolution: float) -> Network | None:
    """Return A as a network, undirected, its weights in whole numbers; None where nothing weighs anything."""
    W = A.dup(datatypes.FP64) if weighted else A
    if weighted:
        _scale(W)  # first, as W + W' may be infinite
    if not A._symmetric:
        W = W if weighted else W.apply(binary.pair[datatypes.FP64], right=1.0).new()
        # W = W + W'
        W << W.ewise_add(W.T, monoid.plus[datatypes.FP64])
    if W is A:
        return _network(A, semiring.plus_pair, A.nvals, resolution) if A.nvals else None
    if weighted:
        _scale(W)
        W << W.apply(unary.round)
    W._known_symmetric()
    total = W.reduce_scalar(monoid.plus).new().get(0.0)
    return _network(W, semiring.plus_first, total, resolution) if total > 0 else None


def _scale(W: Matrix) -> None:
    """Multiply weights by a power of two, so that their sum is below 2^52 and at least half of that, unless it is 0.

    Sums of whole numbers do not depend on their order; a power of two changes no weight that is not far below the sum.
    """
    total = W.reduce_scalar(monoid.plus).new().get(0.0)
    bits = _EXACT_BITS - math.frexp(total)[1] if total > 0 else 0
    # 2^bits itself may be beyond FP64
    for part in (bits // 2, bits - bits // 2) if bits > 1000 else (bits,):
        if part:
            W << W.apply(binary.times, right=math.ldexp(1.0, part))


def _network(W: Matrix, weigh: Any, m: float, resolution: float) -> Network:
    ones = Vector.from_scalar(1.0, W.nrows, datatypes.FP64)
    k = Vector.from_scalar(0.0, W.nrows, datatypes.FP64)
    k(binary.plus) << W.mxv(ones, weigh)
    return Network(W, weigh, k, k.select(select.valuegt, 0.0).new(), m, resolution)


def positions(n: int) -> Vector:
    """Return v(i) = i."""
    v = Vector.from_scalar(0, n, datatypes.INT64)
    v << v.apply(indexunary.rowindex)
    return v


def sums(k: Vector, label: Vector) -> Vector:
    """Return s(c) = sum of k(i) over the i with label c, an entry everywhere."""
    s = Vector.from_scalar(0.0, k.size, datatypes.FP64)
    s(binary.plus) << k.vxm(label._pointers(), semiring.plus_first[datatypes.FP64])
    return s


def turns(n: int, rng: np.random.Generator) -> Vector:
    """Divide the vertices into parts by chance: the number of each one's part."""
    v = positions(n).apply(unary.identity).new(datatypes.UINT64)
    # multiplicative hashing, twice
    v << v.apply(binary.times[datatypes.UINT64], right=2 * int(rng.integers(2**62)) + 1)
    high = v.apply(binary.cdiv[datatypes.UINT64], right=2**32).new()
    v << v.ewise_mult(high, binary.bxor)
    v << v.apply(binary.times[datatypes.UINT64], right=2 * int(rng.integers(2**62)) + 1)
    v << v.apply(binary.cdiv[datatypes.UINT64], right=2**64 // _TURNS)
    return v.dup(datatypes.INT64)  # which is compared with a part's number as it is


def take_turns(
    net: Network, eligible: Callable[[], Vector], change: Callable[[Vector], int], rng: np.random.Generator
) -> None:
    """Give every eligible vertex its turn, round by round, until few change.

    Parameters
    ----------
    eligible : callable
        Returns a vector of size n with an entry for each vertex that may change now.
    change : callable
        Changes some of the vertices that it is given, all at once; returns how many.
    """
    for _ in range(_ROUNDS):
        turn, changed = turns(net.n, rng), 0
        for part in range(_TURNS):
            movers = Vector(datatypes.INT64, net.n)
            movers(eligible().S) << turn.select(select.valueeq, part)
            if movers.nvals:
                changed += change(movers)
        if changed * _FEW <= net.size:
            break


def move(net: Network, label: Vector, rng: np.random.Generator) -> Vector:
    """Move vertices to the communities where they gain most; label(i) in 0..n-1 is each one's, and is changed."""
    W, weigh, k, scale = net.W, net.weigh, net.k, net.scale
    s = sums(k, label)
    active = Vector(datatypes.BOOL, net.n)
    active(net.some.S) << True

    def change(movers: Vector) -> int:
        # to = argmax_c  e(i, c) - scale k s'
        to = Vector(datatypes.INT64, net.n)
        to(movers.S, replace=True) << ops.best_label(W, label, weigh, penalty=(k, s, scale))
        active(~movers.S, replace=True) << active
        if to.nvals:
            relabel(k, s, label, to)
            # whose neighbours have moved looks again
            woken = to.vxm(W, semiring.any_pair[datatypes.BOOL]).new()
            active(woken.S) << True
        return int(to.nvals)

    take_turns(net, lambda: active, change, rng)
    return label


def relabel(k: Vector, s: Vector, label: Vector, to: Vector) -> None:
    """Give vertices other labels, and s(c) the sums of k over these."""
    share, left = Vector(datatypes.FP64, k.size), Vector(datatypes.INT64, k.size)
    share(to.S) << k
    left(to.S) << label
    s(binary.minus) << share.vxm(left._pointers(), semiring.plus_first[datatypes.FP64])
    s(binary.plus) << share.vxm(to._pointers(), semiring.plus_first[datatypes.FP64])
    label(to.S) << to


def numbered(net: Network, label: Vector) -> tuple[Vector, int]:
    """Return the labels of the vertices that take part as numbers from 0 on, in their order, and how many there are."""
    P = label._pointers()
    used = net.some.vxm(P, semiring.any_pair[datatypes.BOOL]).new()
    at = used.to_coo(values=False)[0]
    rank = Vector.from_coo(at, np.arange(at.size), datatypes.INT64, size=net.n)
    number = Vector(datatypes.INT64, net.n)
    number(net.some.S) << P.mxv(rank, semiring.any_second)
    return number, int(at.size)


def everywhere(number: Vector) -> Vector:
    """Return labels for all vertices: one that takes no part has its own position, and changes nothing."""
    label = positions(number.size)
    label(number.S) << number
    return label


def contract(net: Network, number: Vector, count: int) -> Network:
    """Return the network of communities: P' W P, of which P(i, number(i)) = 1."""
    P = number._pointers()
    # B = P' (W P)
    B = net.W.mxm(P, net.weigh).new(datatypes.FP64)
    B << P.T.mxm(B, semiring.plus_second[datatypes.FP64])
    B = B[:count, :count].new()
    return _network(B._known_symmetric(), semiring.plus_first, net.m, net.resolution)


def within(inner: Vector, outer: Vector) -> Vector:
    """Return outer(inner(i)): inner numbers the positions of `outer`, which may have fewer."""
    n = inner.size
    wide = Vector(outer.dtype, n)
    wide[: outer.size] << outer
    found: Vector = inner._pointers().mxv(wide, semiring.any_second).new()
    return found


def by_smallest(number: Vector) -> Vector:
    """Return communities named by their smallest vertices; a vertex that takes no part is one."""
    P, label = number._pointers(), positions(number.size)
    smallest = label.vxm(P, semiring.min_first).new()
    label(number.S) << P.mxv(smallest, semiring.any_second)
    return label
