"""Communities by the Leiden method."""

from __future__ import annotations

import sys
from itertools import islice
from typing import Any, Literal, overload

import numpy as np

from sparsezc.algorithms._communities import FINE, ROUGH, checked, louvain_pass, positions
from sparsezc.algorithms._host_communities import host_network
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector

_PASSES = 2  # passes over all levels, with refinement; each begins with the communities of the one before
_ALONE = 0.9  # communities per vertex; above this a further level gains almost nothing (GVE-Leiden: 0.8)


@overload
def leiden_communities(
    A: Matrix, resolution: float = ..., threshold: float = ..., max_level: Any = ..., seed: int | None = ..., *,
    weighted: bool = ..., return_levels: Literal[False] = ...,
) -> Vector: ...  # fmt: skip


@overload
def leiden_communities(
    A: Matrix, resolution: float = ..., threshold: float = ..., max_level: Any = ..., seed: int | None = ..., *,
    weighted: bool = ..., return_levels: Literal[True],
) -> list[Vector]: ...  # fmt: skip


def leiden_communities(
    A: Matrix,
    resolution: float = 1.0,
    threshold: float = 1e-2,
    max_level: Any = None,
    seed: int | None = None,
    *,
    weighted: bool = False,
    return_levels: bool = False,
) -> Vector | list[Vector]:
    """Find connected communities of high modularity: Louvain's method with a refinement of communities.

    The direction of edges is ignored; a pair of opposite edges counts twice.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) joins i and j.
    resolution : float
        The weight of the expected share in :func:`modularity`: above 1 it favours small communities, below 1 large
        ones.
    threshold : float
        Another pass over all levels follows if the last one gained more than this; it begins with the communities of
        the last one. There are at most three passes.
    max_level : int, optional
        Most levels of a pass, at least 1.
    seed : int, optional
        From 0 to 2**64 - 1. Chooses the order of moves. Random by default.
    weighted : bool
        Edges count by their values, which must be >= 0; else equally.
    return_levels : bool
        Return the communities of every level.

    Returns
    -------
    Vector of INT64, size n; or list of these
        An entry for every vertex: the smallest vertex of its community. Each community is connected. With
        `return_levels`, the refined communities of each level of the best pass; those of a level are unions of those of
        the level before, and the last level is the result.

    Raises
    ------
    InvalidValue
        `max_level` is less than 1, `resolution` is negative, NaN or infinite, `threshold` is NaN, `seed` is out of
        bounds, a weight is negative, NaN or infinite, or the sum of weights is infinite.
    DomainMismatch
        `resolution` or `threshold` is not a number; or `weighted` and `A` has complex or user-defined values.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    A level moves vertices as :func:`louvain_communities` does. Then each community S is refined: it is split into
    single vertices, and a vertex v that is still alone may join a community C inside S if both are well connected to
    the rest of S::

        E(v, S - v) >= resolution / m  k(v) (k(S) - k(v)),   likewise for C

    Such a v joins, along an edge, the C in which it gains most, and stays there, so that every C is connected. The C
    are the vertices of the next level, which begins with the communities S. The paper draws C at random, with higher
    probability for a higher gain; here the largest gain is chosen, as in GVE-Leiden, except a C that is a single vertex
    of the same turn as v (``ops.join_labels``). A pass ends once few communities have more than one vertex, or at
    `max_level`, and returns the connected components of its communities, whose modularity is no lower.

    The first pass contracts the communities without refinement, as Louvain's method does, and ends its rounds of moves
    early: it only provides the start of the second pass, whose communities are refined at every level.

    The same seed gives the same labels on every engine (see :func:`louvain_communities`).

    Source: V. Traag, L. Waltman, N. van Eck, From Louvain to Leiden: guaranteeing well-connected communities, 2019,
    doi:10.1038/s41598-019-41695-z; S. Sahu, K. Kothapalli, D. Banerjee, Fast Leiden algorithm for community detection
    in shared memory setting, ICPP 2024, doi:10.1145/3673038.3673146.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)], nrows=6, ncols=6)
    >>> gb.algorithms.leiden_communities(A, seed=1).to_dense().tolist()
    [0, 0, 0, 3, 3, 3]
    """
    most, rng, made = checked(A, resolution, threshold, max_level, seed, weighted)
    if made is None:
        return [positions(A)] if return_levels else positions(A)
    net: Any = host_network(made)
    most = None if most is None else min(most, sys.maxsize)
    best, reached = [net.apart()], net.modularity()
    found, before = best[0], reached
    for community, gained in islice(louvain_pass(net, rng, found, ROUGH), most):
        if gained <= before:
            break
        found, before = community, gained
    for _ in range(_PASSES):
        levels, gained = _pass(net, found, most, rng)
        if gained > reached:
            best, reached = levels, gained
        if gained - before <= threshold:
            break
        found, before = levels[-1], gained
    return [net.named(number) for number in best] if return_levels else net.named(best[-1])


def _pass(net: Any, found: Any, most: int | None, rng: np.random.Generator) -> tuple[list[Any], float]:
    """Run all levels from the partition `found` on; return the refined partitions, and the modularity of the last."""
    level, inner, outer = net, net.apart(), net.everywhere(found)
    levels: list[Any] = []
    while True:
        number, count = level.numbered(level.move(outer, rng, FINE))
        outer = level.everywhere(number)
        last = count >= _ALONE * level.size or len(levels) + 1 == most
        if not last:
            refined, parts = level.numbered(level.refine(outer, rng))
            last = parts == level.size  # no vertex joined another
        if last:
            refined, parts = level.numbered(level.connected(outer))
        inner = level.within(inner, refined)
        levels.append(inner)
        outer = level.shared(outer, refined, parts)
        level = level.contract(refined, parts)
        if last:
            return levels, level.modularity()
