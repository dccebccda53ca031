"""The shared steps of Louvain and Leiden: weights as integers, moves between communities, contraction."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sparsezc import ops
from sparsezc.algorithms import _check
from sparsezc.algorithms.connected_components import connected_components
from sparsezc.core.access import facts, forms
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.exceptions import DomainMismatch, InvalidValue
from sparsezc.semirings import binary, indexunary, monoid, select, semiring, unary
from sparsezc.semirings.types import datatypes

_EXACT_BITS = 52  # sums of whole numbers below 2^53 are exact in FP64, in any order

#: A level ends with a round in which at most this share of the vertices moves. Later passes make up for a rough end:
#: 0.05 and 0.02 lost less than 0.001 of modularity on the eight reference graphs, 0.0007 of 0.0638 on a Kronecker
#: graph.
ROUGH, FINE = 0.02, 0.01


@dataclass(frozen=True)
class Network:
    """The weighted undirected graph of one level, in GraphBLAS objects.

    Attributes
    ----------
    W : Matrix
        The symmetric adjacency matrix.
    weigh : semiring
        plus_pair if each entry of `W` counts 1, plus_first if it counts its value.
    m : float
        The sum of all weights.
    resolution : float
        The factor of the chance term in modularity.
    """

    W: Matrix
    weigh: Any
    m: float
    resolution: float

    @cached_property
    def k(self) -> Vector:
        """The weighted degrees of the vertices, FP64."""
        ones = Vector.from_scalar(1.0, self.n, datatypes.FP64)
        k = Vector.from_scalar(0.0, self.n, datatypes.FP64)
        k(binary.plus) << self.W.mxv(ones, self.weigh)
        return k

    @cached_property
    def some(self) -> Vector:
        """The active vertices: those with `k` > 0, which have a neighbour or a loop. The others never move."""
        return self.k.select(select.valuegt, 0.0).new()

    @property
    def n(self) -> int:
        """The number of vertices."""
        return int(self.W.nrows)

    @property
    def size(self) -> int:
        """The number of active vertices."""
        return int(self.some.nvals)

    @property
    def scale(self) -> float:
        """The factor of k(i) s(c) in the gain of moving i to c: resolution / m."""
        return self.resolution / self.m

    def modularity(self) -> float:
        """Compute the modularity of the partition into communities of one vertex each."""
        loops = self.W.select(select.diag).new()
        inside = loops.reduce_scalar(monoid.plus).new().get(0.0) if self.weigh is semiring.plus_first else loops.nvals
        chance = self.k.inner(self.k, semiring.plus_times).new().get(0.0)
        return rounded(inside, chance, self.m, self.scale)

    def apart(self) -> Vector:
        """Return the partition into communities of one vertex each."""
        return positions(self.W)

    def everywhere(self, number: Vector) -> Vector:
        """Return labels for all vertices: those without an entry in `number` are labelled with their own position."""
        label = positions(number)
        label(number.S) << number
        return label

    def move(self, label: Vector, rng: np.random.Generator, least: float) -> Vector:
        """Move vertices to the communities in which they gain most, in rounds; return the new labels, 0..n-1.

        `label`: the labels before. `least`: rounds end once at most this share of the vertices moves.
        """
        seed = int(rng.integers(2**63))
        moves = ops.move_labels(self.W, label, self.weigh, self.k, self.scale, seed=seed, least=least)
        moved: Vector = moves.new()
        return moved

    def refine(self, groups: Vector, rng: np.random.Generator) -> Vector:
        """Divide the communities of a partition into well-connected ones, each of them connected."""
        joins = ops.join_labels(self.W, groups, self.weigh, self.k, self.scale, seed=int(rng.integers(2**63)))
        parts: Vector = joins.new()
        return parts

    def connected(self, label: Vector) -> Vector:
        """Divide communities into their connected components."""
        L = label.diag()
        # A(i, j) where label(i) = label(j)
        left = L.mxm(self.W, semiring.any_first).new()
        same = left.ewise_mult(self.W.mxm(L, semiring.any_second).new(), binary.eq).new()
        same << same.select(select.valueeq, True)
        return connected_components(facts.known_symmetric(same))

    def numbered(self, label: Vector) -> tuple[Vector, int]:
        """Renumber the labels of active vertices from 0 on, in their order; return these and the number of labels."""
        P = forms.pointers(label)
        used = self.some.vxm(P, semiring.any_pair[datatypes.BOOL]).new().diag()
        count = int(used.nvals)
        # rank(c): the number of labels in use that are less than c
        rank = Vector(datatypes.INT64, self.n)
        if count:
            rank << ops.with_values(used, positions(self.k, count)).new().diag()
        number = Vector(datatypes.INT64, self.n)
        number(self.some.S) << P.mxv(rank, semiring.any_second)
        return number, count

    def contract(self, number: Vector, count: int) -> Network:
        """Return the network of communities, P' W P with P(i, number(i)) = 1."""
        # an inactive vertex has the number after the last
        label = Vector.from_scalar(count, self.n, datatypes.INT64)
        label(number.S) << number
        dtype = datatypes.UINT32 if self.m < 2**32 else datatypes.FP64
        B = ops.sum_by_labels(self.W, label, self.weigh, count, dtype).new()
        return Network(facts.known_symmetric(B), semiring.plus_first, self.m, self.resolution)

    def within(self, inner: Vector, outer: Vector) -> Vector:
        """Return outer(inner(i)) for each i; `outer` may be shorter than `inner`."""
        wide = outer
        if outer.size < inner.size:
            wide = forms.vector_like(inner, outer.dtype)
            wide[: outer.size] << outer
        found: Vector = forms.pointers(inner).mxv(wide, semiring.any_second).new()
        return found

    def shared(self, label: Vector, number: Vector, count: int) -> Vector:
        """Return the label of each number in 0..count-1; vertices of one number have one label."""
        return label.vxm(forms.pointers(number), semiring.any_first).new()[:count].new()

    def named(self, number: Vector) -> Vector:
        """Label communities with their smallest vertices; an inactive vertex is a community of its own."""
        return by_smallest(number)


def rounded(inside: float, squares: float, m: float, scale: float) -> float:
    """Return a modularity rounded to 12 decimals, which do not depend on the order of sums.

    `inside`: the weight within communities. `squares`: the sum of the squares of the communities' degrees.
    """
    return round(float(inside / m - scale * squares / m), 12)


def checked(
    A: Matrix, resolution: Any, threshold: Any, max_level: Any, seed: Any, weighted: bool
) -> tuple[int | None, np.random.Generator, Network | None]:
    """Check the arguments of both methods; return the maximum level, a random generator, and the network."""
    _check.adjacency(A)
    most = None if max_level is None else _check.count(max_level, "max_level", 1)
    scale = _check.number(resolution, "resolution", 0)
    if not isinstance(threshold, int | float | np.integer | np.floating):
        raise DomainMismatch(f"threshold is {threshold!r}; a number is needed")
    if math.isnan(threshold):
        raise InvalidValue("threshold is nan; a number is needed")
    rng = _check.generator(seed, "communities")
    if weighted:
        _check.weights(A)
    return most, rng, network(A, weighted, scale)


def network(A: Matrix, weighted: bool, resolution: float) -> Network | None:
    """Return the undirected network of A, with weights scaled to whole numbers; None if their sum is 0."""
    W = A.dup(datatypes.FP64) if weighted else A
    if weighted:
        _scale(W)  # first, as W + W' may be infinite
    if not facts.is_symmetric(A):
        W = W if weighted else W.apply(binary.pair[datatypes.FP64], right=1.0).new()
        # W = W + W'
        W << W.ewise_add(W.T, monoid.plus[datatypes.FP64])
    if W is A:
        return Network(A, semiring.plus_pair, A.nvals, resolution) if A.nvals else None
    if weighted:
        _scale(W)
        W << W.apply(unary.round)
    facts.known_symmetric(W)
    total = W.reduce_scalar(monoid.plus).new().get(0.0)
    return Network(W, semiring.plus_first, total, resolution) if total > 0 else None


def _scale(W: Matrix) -> None:
    """Multiply weights by a power of two, so that their sum is below 2^52 and at least half of that, unless it is 0.

    Sums of whole numbers do not depend on their order; a power of two keeps all digits of weights not far below the
    sum.
    """
    total = W.reduce_scalar(monoid.plus).new().get(0.0)
    bits = _EXACT_BITS - math.frexp(total)[1] if total > 0 else 0
    # 2^bits itself may be beyond FP64
    for part in (bits // 2, bits - bits // 2) if bits > 1000 else (bits,):
        if part:
            W << W.apply(binary.times, right=math.ldexp(1.0, part))


def positions(like: Matrix | Vector, size: int | None = None) -> Vector:
    """Return v(i) = i for each vertex, or for `size` positions, on the engine of `like`."""
    v = (
        forms.vector_beside(like, datatypes.INT64)
        if isinstance(like, Matrix)
        else forms.vector_like(like, datatypes.INT64)
    )
    if size is not None:
        v.resize(size)
    v << 0
    v << v.apply(indexunary.rowindex)
    return v


def louvain_pass(net: Any, rng: np.random.Generator, found: Any, least: float) -> Iterator[tuple[Any, float]]:
    """Run Louvain's levels from the partition `found` on; yield the partition and the modularity of each level.

    `net`: a :class:`Network`, or an object with its methods, whose type of partitions is used.
    """
    level, community, label = net, None, net.everywhere(found)
    while True:
        number, count = level.numbered(level.move(label, rng, least))
        community = number if community is None else level.within(community, number)
        shrinks = count < level.size
        level = level.contract(number, count)
        yield community, level.modularity()
        if not shrinks:
            return
        label = level.apart()


def by_smallest(number: Vector) -> Vector:
    """Label communities with their smallest vertices; a vertex without an entry is a community of its own."""
    P, label = forms.pointers(number), positions(number)
    smallest = label.vxm(P, semiring.min_first).new()
    label(number.S) << P.mxv(smallest, semiring.any_second)
    return label
