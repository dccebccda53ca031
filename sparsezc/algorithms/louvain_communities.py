"""Communities by the Louvain method."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from sparsezc.algorithms._communities import FINE, ROUGH, checked, louvain_pass, positions
from sparsezc.algorithms._host_communities import host_network
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector

_LEAST = ROUGH, FINE  # of each pass over all levels; the second moves vertices that the first left in wrong communities
_WORTH = 1e-3  # modularity that a pass must gain for another to follow


@overload
def louvain_communities(
    A: Matrix, resolution: float = ..., threshold: float = ..., max_level: Any = ..., seed: int | None = ..., *,
    weighted: bool = ..., return_levels: Literal[False] = ...,
) -> Vector: ...  # fmt: skip


@overload
def louvain_communities(
    A: Matrix, resolution: float = ..., threshold: float = ..., max_level: Any = ..., seed: int | None = ..., *,
    weighted: bool = ..., return_levels: Literal[True],
) -> list[Vector]: ...  # fmt: skip


def louvain_communities(
    A: Matrix,
    resolution: float = 1.0,
    threshold: float = 1e-7,
    max_level: Any = None,
    seed: int | None = None,
    *,
    weighted: bool = False,
    return_levels: bool = False,
) -> Vector | list[Vector]:
    """Find communities of high modularity: vertices move while modularity grows, then communities are contracted.

    The direction of edges is ignored; a pair of opposite edges counts twice.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j) joins i and j.
    resolution : float
        The weight of the expected share in :func:`modularity`: above 1 it favours small communities, below 1 large
        ones.
    threshold : float
        A pass ends with the first level that gains at most this; that level is dropped.
    max_level : int, optional
        Most levels, those of all passes together, at least 1.
    seed : int, optional
        From 0 to 2**64 - 1. Chooses the order of moves. Random by default.
    weighted : bool
        Edges count by their values, which must be >= 0; else equally.
    return_levels : bool
        Return the communities of every level.

    Returns
    -------
    Vector of INT64, size n; or list of these
        An entry for every vertex: the smallest vertex of its community. With `return_levels`, the communities of every
        level, each of higher modularity than those before; the last level is the result.

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
    With W the weights, of sum m, k the sums of rows, C(i, c(i)) = 1 and s = k C::

        G = W C - resolution / m  k s'        without i itself, in W and in s
        c(i) = argmax_j G(i, j)               if this is more than G(i, c(i))
        W = C' W C                            once few vertices move

    W C is never stored, neither for moves (``ops.move_labels``) nor for the contraction (``ops.sum_by_labels``). A
    random eighth of the vertices moves at a time, as vertices that move all at once could swap communities for ever;
    only vertices whose neighbours have moved choose again. A second pass begins with the communities of the first.

    The same seed gives the same labels on every engine: weights are rounded to multiples of 2^-52 of their sum or
    finer, so that no sum depends on its order.

    If the graph has each edge in both directions, a loop counts once, as in :func:`modularity`.

    Source: V. Blondel, J. Guillaume, R. Lambiotte, E. Lefebvre, Fast unfolding of communities in large networks, 2008,
    doi:10.1088/1742-5468/2008/10/P10008; which vertices choose again: S. Sahu, GVE-Louvain, 2023,
    doi:10.48550/arXiv.2312.04876; further passes: R. Rotta, A. Noack, Multilevel local search algorithms for modularity
    clustering, 2011, doi:10.1145/1963190.1970376.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)], nrows=6, ncols=6)
    >>> gb.algorithms.louvain_communities(A, seed=1).to_dense().tolist()
    [0, 0, 0, 3, 3, 3]
    """
    most, rng, made = checked(A, resolution, threshold, max_level, seed, weighted)
    if made is None:
        return [positions(A)] if return_levels else positions(A)
    net = host_network(made)
    levels = _levels(net, threshold, most, rng)
    return [net.named(number) for number in levels] if return_levels else net.named(levels[-1])


def _levels(net: Any, threshold: float, most: int | None, rng: np.random.Generator) -> list[Any]:
    """Return the partition of each level, at least one; communities are numbers from 0 on."""
    found, levels, best = net.apart(), [], net.modularity()
    for least in _LEAST:
        before = best
        for community, reached in louvain_pass(net, rng, found, least):
            if reached - best <= threshold:
                break
            found, best = community, reached
            levels.append(found)
            if len(levels) == most:
                return levels
        if best - before <= _WORTH:
            break
    return levels or [found]
