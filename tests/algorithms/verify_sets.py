"""Judges of answers of which many are right: sets, colours, pairs. They share no code with the algorithms.

Graphs and answers come as to :mod:`tests.algorithms.verify`, and a wrong answer raises its :class:`Wrong`.
"""

import numpy as np

from tests.algorithms.verify import Wrong, edges, neighbours, refuse


def independent_set(graph, member):
    """Booleans: no edge joins two members, and everybody else has one as a neighbour."""
    rows, cols, _ = edges(graph)
    refuse(member[rows] & member[cols] & (rows != cols), "an edge joins two members")
    for v, around in enumerate(neighbours(graph)):
        if not member[v] and not member[list(around)].any():
            raise Wrong(f"vertex {v} could be added")


def coloring(graph, color):
    """Every vertex has a colour, neighbours different ones, and none could have a smaller one."""
    refuse(color < 0, "no colour")
    for v, around in enumerate(neighbours(graph)):
        taken = {int(color[u]) for u in around}
        if color[v] in taken:
            raise Wrong(f"vertex {v} has a neighbour of its colour")
        if missing := set(range(color[v])) - taken:
            raise Wrong(f"vertex {v} could have colour {min(missing)}")


def eigenvector(operator, x, bound):
    """``operator @ x`` is x times the largest eigenvalue, but for `bound`; `operator` is a dense array, x >= 0."""
    refuse(~(x >= 0), "score is negative or NaN")
    largest = np.abs(np.linalg.eigvals(operator)).max(initial=0.0)
    if np.abs(operator @ x - largest * x).sum() > bound * max(largest, 1.0):
        raise Wrong(f"not an eigenvector of {largest}")
