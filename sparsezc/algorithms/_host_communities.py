"""Networks of Louvain and Leiden in host memory, as arrays that compiled loops read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms._communities import Network, rounded
from sparsezc.algorithms.loops import connectivity, contraction, labels
from sparsezc.core import engine_loops
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.expr import label_turns
from sparsezc.semirings import semiring

__all__ = ["HostNetwork", "host_network"]

_MOST = 1 << 22  # entries; in larger matrices statements are faster, as they move vertices in several threads

#: Communities of vertices, or their numbers; n or more marks an inactive vertex.
Labels = NDArray[np.uint64]


class HostNetwork(NamedTuple):
    """The weighted undirected graph of one level, in host memory; it has the methods of :class:`Network`.

    Attributes
    ----------
    A : Matrix
        The matrix whose engine runs the loops.
    m : float
        The sum of all weights.
    scale : float
        As :attr:`Network.scale`.
    begin, ids, weights, k : ndarray
        The offsets of rows; the columns and the weights of entries; the weighted degrees. If all weights are 1,
        `weights` is empty, of INT64.
    inside, squares : float
        The weight of loops, and the sum of the squares of `k`.
    """

    A: Matrix
    m: float
    scale: float
    begin: NDArray[np.uint64]
    ids: NDArray[np.uint32]
    weights: NDArray[np.float64] | NDArray[np.int64]
    k: NDArray[np.float64]
    inside: float
    squares: float

    @property
    def size(self) -> int:
        return int(np.count_nonzero(self.k > 0))

    def modularity(self) -> float:
        return rounded(self.inside, self.squares, self.m, self.scale)

    def apart(self) -> Labels:
        return np.arange(self.k.size, dtype=np.uint64)

    def everywhere(self, number: Labels) -> Labels:
        return np.where(number < number.size, number, self.apart())

    def move(self, label: Labels, rng: np.random.Generator, least: float) -> Labels:
        moved = label.copy()
        self._run(
            labels.moved,
            moved,
            label_turns.multipliers(int(rng.integers(2**63))),
            (self.scale, least, label_turns.MANY),
        )
        return moved

    def refine(self, groups: Labels, rng: np.random.Generator) -> Labels:
        chance = label_turns.multipliers(int(rng.integers(2**63)), 1)[0]
        joined: Labels = self._run(labels.joined, groups, chance, self.scale)
        return joined

    def connected(self, label: Labels) -> Labels:
        found: Labels = engine_loops.run_arrays(
            connectivity.components, self.A, self.begin, self.ids, label, times=np.inf
        )
        return found.view(np.uint64)

    def numbered(self, label: Labels) -> tuple[Labels, int]:
        found: tuple[Labels, int] = engine_loops.run_arrays(contraction.numbered, self.A, self.k, label, times=np.inf)
        return found

    def contract(self, number: Labels, count: int) -> HostNetwork:
        return HostNetwork(self.A, self.m, self.scale, *self._run(contraction.contracted, number, count))

    def within(self, inner: Labels, outer: Labels) -> Labels:
        last = np.uint64(max(inner.size, outer.size))
        return np.append(outer, last)[np.minimum(inner, np.uint64(outer.size))]

    def shared(self, label: Labels, number: Labels, count: int) -> Labels:
        found = np.zeros(number.size + 1, np.uint64)
        found[number] = label
        return found[:count]

    def named(self, number: Labels) -> Vector:
        n = number.size
        label, first = np.arange(n), np.empty(n + 1, np.int64)
        first[number[::-1]] = label[::-1]  # reversed, so that the first vertex of each number is kept
        return engine_loops.vector(np.where(number < n, first[number], label))

    def _run(self, loop: Any, *given: Any) -> Any:
        """Run a loop over the entries. The engine has compiled the loop that made the arrays, so it never declines."""
        return engine_loops.run_arrays(loop, self.A, self.begin, self.ids, self.weights, self.k, *given, times=np.inf)


def host_network(net: Network) -> Network | HostNetwork:
    """Return a network's copy in host memory; `net` itself if statements are faster."""
    if net.n >= 2**32 or net.W.nvals > _MOST:
        return net
    by_weight = net.weigh is semiring.plus_first
    found = engine_loops.run_loop(
        contraction.weighted if by_weight else contraction.unweighted,
        net.W,
        values=np.float64 if by_weight else None,
    )
    return net if found is None else HostNetwork(net.W, net.m, net.scale, *found)
