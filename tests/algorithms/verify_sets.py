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


def matching(graph, partner):
    """The partner of each vertex, -1 without: partners are neighbours and agree, and no two left are neighbours."""
    n = graph.shape[0]
    refuse((partner < -1) | (partner >= n), "partner is no vertex")
    paired = np.flatnonzero(partner >= 0)
    refuse(partner[partner[paired]] != paired, "the partner's partner is another one")
    around = neighbours(graph)
    for v in paired.tolist():
        if int(partner[v]) not in around[v]:
            raise Wrong(f"vertex {v} is no neighbour of its partner")
    rows, cols, _ = edges(graph)
    refuse((partner[rows] < 0) & (partner[cols] < 0) & (rows != cols), "an edge is left")


def walks(graph, sources, length, table):
    """A row of vertices a walk, -1 once it has ended: every step is an edge, and only a dead end ends a walk early.

    An edge whose value is 0 counts as none.
    """
    if table.shape != (len(sources), length + 1):
        raise Wrong(f"the table has shape {table.shape}")
    n = graph.shape[0]
    rows, cols, value = edges(graph)
    known = np.isin(np.arange(n), rows[value > 0])
    refuse(table[:, 0] != np.asarray(sources, np.int64), "a walk starts elsewhere")
    here, there = table[:, :-1].ravel(), table[:, 1:].ravel()
    refuse((here < 0) & (there >= 0), "a walk goes on after its end")
    refuse((here >= 0) & (there < 0) & known[here], "a walk ends where an edge leads on")
    step = there >= 0
    exists = np.isin(here[step] * n + there[step], (rows * n + cols)[value > 0])
    refuse(~exists, "a step is no edge")
