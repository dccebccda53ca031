"""Judges of answers that are not unique: sets, colours, pairs, walks, trees, cycles.

They share no code with the algorithms. Graphs and answers have the form of :mod:`tests.algorithms.verify`, and a wrong
answer raises its :class:`Wrong`.
"""

import networkx as nx
import numpy as np

from tests.algorithms.verify import Wrong, edges, neighbours, refuse


def independent_set(graph, member):
    """Check a maximal independent set: no edge joins two members, and every other vertex has a member as neighbour."""
    rows, cols, _ = edges(graph)
    refuse(member[rows] & member[cols] & (rows != cols), "an edge joins two members")
    for v, around in enumerate(neighbours(graph)):
        if not member[v] and not member[list(around)].any():
            raise Wrong(f"vertex {v} could be added")


def coloring(graph, color):
    """Check colours: neighbours differ, and no vertex could have a smaller colour."""
    refuse(color < 0, "no colour")
    for v, around in enumerate(neighbours(graph)):
        taken = {int(color[u]) for u in around}
        if color[v] in taken:
            raise Wrong(f"vertex {v} has a neighbour of its colour")
        if missing := set(range(color[v])) - taken:
            raise Wrong(f"vertex {v} could have colour {min(missing)}")


def eigenvector(operator, x, bound):
    """Check that ``operator @ x`` is x times the largest eigenvalue within `bound`; `operator` is dense, x >= 0."""
    refuse(~(x >= 0), "score is negative or NaN")
    largest = np.abs(np.linalg.eigvals(operator)).max(initial=0.0)
    if np.abs(operator @ x - largest * x).sum() > bound * max(largest, 1.0):
        raise Wrong(f"not an eigenvector of {largest}")


def matching(graph, partner):
    """Check a maximal matching: partners (-1 for none) are mutual neighbours, and no two others are neighbours."""
    n = graph.shape[0]
    refuse((partner < -1) | (partner >= n), "partner is no vertex")
    paired = np.flatnonzero(partner >= 0)
    refuse(partner[partner[paired]] != paired, "the partner has another partner")
    around = neighbours(graph)
    for v in paired.tolist():
        if int(partner[v]) not in around[v]:
            raise Wrong(f"vertex {v} is no neighbour of its partner")
    rows, cols, _ = edges(graph)
    refuse((partner[rows] < 0) & (partner[cols] < 0) & (rows != cols), "an edge is left")


def walks(graph, sources, length, table):
    """Check walks, one a row, -1 after the end: steps are edges, and only dead ends end a walk early.

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


def shortest_path_tree(graph, source, distance, parent):
    """Check the parent of each vertex, the source its own, -1 where not reached: edges add up to the distances."""
    n, length = graph.shape[0], {(u, v): w for u, v, w in zip(*(x.tolist() for x in edges(graph)), strict=True)}
    refuse((parent >= 0) != np.isfinite(distance), "a vertex has a parent or a distance, and not both")
    refuse((parent < -1) | (parent >= n), "parent is no vertex")
    if parent[source] != source:
        raise Wrong(f"the source's parent is {parent[source]}, not itself")
    for v in np.flatnonzero(parent >= 0).tolist():
        u, steps = int(parent[v]), 0
        if v != source and (u, v) not in length:
            raise Wrong(f"there is no edge from {u} to {v}")
        if v != source and distance[u] + length[u, v] != distance[v]:
            raise Wrong(f"the edge from {u} does not end at the distance of {v}")
        while u != source and steps <= n:
            u, steps = int(parent[u]), steps + 1
        if u != source:
            raise Wrong(f"the parents of {v} do not lead to the source")


def negative_cycle(graph, cycle, source=None):
    """Check a negative cycle, each vertex once: its edges exist and their sum is negative; empty if none exists."""
    judge = nx.DiGraph()
    judge.add_nodes_from(range(graph.shape[0]))
    judge.add_weighted_edges_from(zip(*(x.tolist() for x in edges(graph)), strict=True))
    if source is not None:
        judge = judge.subgraph({source} | nx.descendants(judge, source)).copy()
    if cycle.size == 0:
        if nx.negative_edge_cycle(judge):
            raise Wrong("there is a negative cycle")
        return
    if np.unique(cycle).size != cycle.size:
        raise Wrong("a vertex comes twice")
    steps = list(zip(cycle.tolist(), np.roll(cycle, -1).tolist(), strict=True))
    if missing := [step for step in steps if step not in judge.edges]:
        raise Wrong(f"no edge {missing[0]}")
    if sum(judge.edges[step]["weight"] for step in steps) >= 0:
        raise Wrong("the sum is not negative")


def spanning_forest(graph, forest):
    """Check a minimum spanning forest: edges of the graph, in both directions, without a cycle, of least weight."""
    judge = nx.Graph()
    judge.add_nodes_from(range(graph.shape[0]))
    for u, v, w in zip(*(x.tolist() for x in edges(graph)), strict=True):
        if u != v and w < judge.get_edge_data(u, v, {"weight": np.inf})["weight"]:
            judge.add_edge(u, v, weight=w)
    found = {(u, v): w for u, v, w in zip(*(x.tolist() for x in edges(forest)), strict=True)}
    for (u, v), w in found.items():
        if found.get((v, u)) != w:
            raise Wrong(f"the edge from {u} to {v} has another opposite")
        if (u, v) not in judge.edges or judge.edges[u, v]["weight"] != w:
            raise Wrong(f"no edge of weight {w} joins {u} and {v}")
    if len(found) != 2 * (graph.shape[0] - nx.number_connected_components(judge)):
        raise Wrong(f"{len(found) // 2} edges; a spanning forest has another number")
    tree = nx.Graph(found.keys())
    if len(found) and not nx.is_forest(tree):
        raise Wrong("there is a cycle")
    least = sum(edge["weight"] for *_, edge in nx.minimum_spanning_edges(judge))
    if not np.isclose(sum(found.values()), 2 * least, rtol=1e-12, atol=0):
        raise Wrong(f"the weight is {sum(found.values()) / 2}, not {least}")


def minimum_cut(graph, cut_value, part):
    """Check a minimum cut: two non-empty parts, edges of this weight between them, and no cut of less weight."""
    n = graph.shape[0]
    if not 0 < part.sum() < n:
        raise Wrong(f"a part has {part.sum()} of {n} vertices")
    heavy = np.zeros((n, n))
    rows, cols, weight = edges(graph)
    np.maximum.at(heavy, (rows, cols), weight)
    heavy = np.maximum(heavy, heavy.T)
    if not np.isclose(heavy[part][:, ~part].sum(), cut_value, rtol=1e-9, atol=1e-9):
        raise Wrong(f"the edges between the parts weigh {heavy[part][:, ~part].sum()}, not {cut_value}")
    judge = nx.from_numpy_array(heavy)
    judge.remove_edges_from(list(nx.selfloop_edges(judge)))
    least = nx.stoer_wagner(judge)[0] if nx.is_connected(judge) else 0
    if cut_value > least + 1e-9 * (1 + least):
        raise Wrong(f"there is a cut of {least}")
