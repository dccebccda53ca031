"""Communities by semi-synchronous label propagation."""

from __future__ import annotations

from sparsezc import ops
from sparsezc.algorithms import _check
from sparsezc.algorithms._communities import positions
from sparsezc.algorithms._pattern import simple
from sparsezc.algorithms.greedy_color import greedy_color
from sparsezc.algorithms.loops.labels import propagated
from sparsezc.core import engine_loops
from sparsezc.core.matrix import Matrix
from sparsezc.core.vector import Vector
from sparsezc.semirings import binary, semiring


def label_propagation(A: Matrix) -> Vector:
    """Find communities: vertices take the most frequent label of their neighbours, until each vertex has such a label.

    A proper colouring divides the vertices: those of one colour, no two of which are neighbours, change at once, one
    colour after another, and so the process ends. Of several most frequent labels a vertex keeps its own, else it takes
    the largest. Each edge is one vote for both of its ends, whatever its direction; loops do not count.

    Parameters
    ----------
    A : Matrix, shape (n, n), any dtype
        Adjacency matrix: an entry (i, j), whatever its value, joins i and j.

    Returns
    -------
    Vector of INT64, size n
        The labels, an entry for every vertex; each vertex starts with its own number as label.

    Raises
    ------
    DimensionMismatch
        `A` is not square.

    Notes
    -----
    With c a greedy colouring, by descending degrees, and W(v) the most frequent labels among v's neighbours, for each
    colour k in turn::

        l(v) = max W(v)      where c(v) = k and l(v) is not in W(v)

    The most frequent value is no monoid (see :func:`cdlp`), so this is an operation of its own (``ops.move_labels``).
    It recomputes only vertices that have a neighbour with a new label.

    Source: G. Cordasco, L. Gargano, Community detection via semi-synchronous label propagation algorithms, 2010,
    doi:10.1109/BASNA.2010.5730298.

    Examples
    --------
    >>> import sparsezc as gb
    >>> A = gb.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (3, 4)], nrows=6, ncols=6)
    >>> gb.algorithms.label_propagation(A).to_dense().tolist()
    [2, 2, 2, 4, 4, 5]
    """
    n = _check.adjacency(A)
    S = simple(A)
    if n < 2**32 and (found := engine_loops.run_loop(propagated, S)) is not None:
        return engine_loops.vector(found)
    color = greedy_color(S, strategy="largest_first")
    # labels are n - 1 - v, as move_labels prefers the smallest label and this method the largest
    label = positions(S)
    label << label.apply(binary.rminus, right=n - 1)
    label << ops.move_labels(S, label, semiring.plus_pair, turn=color)
    label << label.apply(binary.rminus, right=n - 1)
    return label
