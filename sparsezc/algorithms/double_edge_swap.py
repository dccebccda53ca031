"""Random graphs with the degrees of a given one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.algorithms import _check
from sparsezc.algorithms._pattern import simple
from sparsezc.algorithms.loops.swaps import ends_of, exchanges, rows_of
from sparsezc.core import engine_loops
from sparsezc.core.access import facts, forms
from sparsezc.core.matrix import Matrix
from sparsezc.exceptions import ConvergenceFailure, InvalidValue
from sparsezc.semirings import select

_DRAWS = 1 << 12  # least draws a call; also at least one for each edge, as each call builds a table of the edges


def double_edge_swap(A: Matrix, swaps: int, max_tries: int | None = None, seed: int | None = None) -> Matrix:
    """Exchange ends of random pairs of edges, which preserves all degrees.

    The graph is undirected: the direction of edges is ignored. Loops are dropped.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, joins i and j.
    swaps : int
        Number of exchanges. Ten to a hundred times the number of edges give a graph that is as good as random.
    max_tries : int, optional
        The most pairs that are tried, at least `swaps`; a pair that would give a parallel edge counts, a pair that
        would give a loop does not. By default 100 for each exchange.
    seed : int, optional
        From 0 to 2**64 - 1. Chooses the pairs, the same on every engine. Random by default.

    Returns
    -------
    Matrix of BOOL, shape (n, n)
        Each edge in both directions.

    Raises
    ------
    InvalidValue
        `swaps` or `seed` is out of bounds, `max_tries` is less than `swaps`, or there are fewer than two edges.
    ConvergenceFailure
        `max_tries` pairs gave fewer than `swaps` exchanges.
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    Two edges, (u, v) and (x, y), each in one of its directions, become (u, x) and (v, y) unless these are loops or
    exist already. The exchanges are made one after the other, on the CPU for every engine.

    Source: R. Milo, N. Kashtan, S. Itzkovitz, M. Newman, U. Alon, On the uniform generation of random graphs with
    prescribed degree sequences, 2003, arXiv:cond-mat/0312028.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.io.read("grid:3x3")
    >>> B = gb.algorithms.double_edge_swap(A, 40, seed=1)
    >>> B.nvals, B.reduce_rowwise("plus[int64]").new().to_dense().tolist()
    (24, [2, 3, 2, 3, 4, 3, 2, 3, 2])
    """
    n = _check.adjacency(A)
    wanted = _check.count(swaps, "swaps")
    most = 100 * wanted if max_tries is None else _check.count(max_tries, "max_tries", wanted)
    rng = _check.generator(seed, "double_edge_swap")
    S = forms.whole(simple(A), "double_edge_swap")
    if (ends := engine_loops.run_loop(ends_of, S)) is None:
        ends = np.stack(S.select(select.triu).new().to_coo(values=False)[:2]).astype(np.int64)
    if wanted and ends.shape[1] < 2:
        raise InvalidValue(f"A has {ends.shape[1]} edges between different vertices; at least 2 are needed")
    if n <= ends.size:
        ends = _exchanged(A, n, ends, wanted, most, rng)
        if ends.size and (rows := engine_loops.run_arrays(rows_of, A, n, ends, times=ends.size)):
            indptr, ids = rows
            return engine_loops.matrix(indptr, ids, np.ones(1, np.bool_), n, symmetric=True)
    else:  # most vertices have no edge: renumber the others, so that arrays have their size
        vertices, ends = np.unique(ends, return_inverse=True)
        ends = vertices[_exchanged(A, vertices.size, ends.reshape(2, -1), wanted, most, rng)]
    i, j = np.r_[ends[0], ends[1]], np.r_[ends[1], ends[0]]
    made: Matrix = Matrix.from_coo(i, j, True, nrows=n, ncols=n)
    return facts.known_symmetric(made)


def _exchanged(
    A: Matrix, n: int, ends: NDArray[np.int64], wanted: int, most: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the ends of the edges, vertex numbers below `n`, after `wanted` exchanges, found in `most` tries."""
    done = tried = 0
    while done < wanted and tried < most:
        count = min(max(_DRAWS, ends.shape[1]), most - tried)
        draws = rng.integers(0, 2 * ends.shape[1], (2, count))
        given: tuple[Any, ...] = (n, ends, draws, wanted - done)
        found = engine_loops.run_arrays(exchanges, A, *given, times=min(count, wanted))
        if found is None:
            found = exchanges(*given)
        ends, now, more = found
        done, tried = done + now, tried + more
    if done < wanted:
        raise ConvergenceFailure(f"{done} exchanges of edges were found in max_tries = {most}; {wanted} are needed")
    return ends
