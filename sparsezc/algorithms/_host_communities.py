"""Louvain's levels in machine code, over arrays that a loop has made of the matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms._communities import Network, rounded
from sparsezc.algorithms.loops import labels as loops
from sparsezc.core import replay
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.expr import turns
from sparsezc.semirings import semiring

__all__ = ["HostNetwork", "host_network", "host_pass", "smallest"]

#: Nanoseconds for each row and entry, at least: too few for Python to run the loops as they are written.
COST = 15.0
_MOST = 1 << 22  # entries; statements move the rows of more by several threads


class HostNetwork(NamedTuple):
    """A weighted undirected graph, of one level, in host memory.

    Attributes
    ----------
    A : Matrix
        Whose engine runs the loops.
    begin, ids, weights, k : ndarray
        Where rows begin; the columns and weights of entries, no weights where they are all 1; the sums of rows.
    m : float
        The sum of all.
    scale : float
        As :attr:`sparsezc.algorithms._communities.Network.scale`.
    inside, squares : float
        The weight of loops, and the sum of the squares of `k`.
    """

    A: Matrix
    begin: NDArray[np.uint64]
    ids: NDArray[np.uint32]
    weights: NDArray[np.float64]
    k: NDArray[np.float64]
    m: float
    scale: float
    inside: float
    squares: float

    def modularity(self) -> float:
        """Compute it for communities of one vertex each."""
        return rounded(self.inside, self.squares, self.m, self.scale)


def host_network(net: Network) -> HostNetwork | None:
    """Return a network's arrays; None where statements do better."""
    if net.n >= 2**32 or net.W.nvals > _MOST:
        return None
    by_weight = net.weigh is semiring.plus_first
    found = replay.run_loop(
        loops.weighted if by_weight else loops.unweighted, net.W, cost=COST, values=np.float64 if by_weight else None
    )
    if found is None:
        return None
    return _level(net.W, found, net.m, net.scale)


def _level(A: Matrix, parts: Any, m: float, scale: float) -> HostNetwork:
    begin, ids, weights, k, inside, squares = parts
    return HostNetwork(A, begin, ids, weights, k, m, scale, inside, squares)


def host_pass(
    net: HostNetwork, rng: np.random.Generator, found: NDArray[np.uint64], least: float
) -> Iterator[tuple[NDArray[np.uint64], float]]:
    """Go through Louvain's levels from a partition on, as ``_communities.louvain_pass`` does.

    A community of n or more says that a vertex takes no part.
    """
    level, community, n = net, None, found.size
    label = np.where(found < n, found, np.arange(n, dtype=np.uint64))
    while True:
        chance = turns.multipliers(int(rng.integers(2**63)))
        how = net.scale, least, turns.MANY
        _run(loops.moved, level, label, chance, how)
        size = np.count_nonzero(level.k > 0)
        number, *parts = _run(loops.contracted, level, label)
        level = _level(net.A, parts, net.m, net.scale)
        if community is None:
            community = number
        else:
            community = np.append(number, np.uint64(n))[np.minimum(community, np.uint64(number.size))]
        yield community, level.modularity()
        if level.k.size == size:
            return
        label = np.arange(level.k.size, dtype=np.uint64)


def _run(loop: Any, net: HostNetwork, *given: Any) -> Any:
    """Run a loop over a level; the first one of the network has run, so this one does."""
    return replay.run_arrays(loop, net.A, net.begin, net.ids, net.weights, net.k, *given, cost=np.inf)


def smallest(community: NDArray[np.uint64]) -> Vector:
    """Return communities named by their smallest vertices; a vertex that takes no part is one."""
    n = community.size
    label, first = np.arange(n), np.empty(n + 1, np.int64)
    first[community[::-1]] = label[::-1]  # of several the last is kept
    return replay.vector(np.where(community < n, first[community], label))
