"""Graphs for the algorithms' tests, as SciPy CSR arrays: by name, at random, and the data folder's real ones."""

import json
from functools import cache
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

import sparsezc as gb

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
#: Entries of graphs.json: name, file, format, directed.
REAL = json.loads((DATA / "graphs.json").read_text()) if (DATA / "graphs.json").exists() else []

needs_real = pytest.mark.skipif(not REAL, reason=f"the reference graphs are not at {DATA}")


def csr(n, edges=(), weights=None):
    """Return a graph of n vertices; of an edge given twice the first weight counts."""
    edges = np.array(list(edges), np.int64).reshape(-1, 2)
    weights = np.ones(len(edges), np.int64) if weights is None else np.asarray(weights)
    _, first = np.unique(edges[:, 0] * n + edges[:, 1], return_index=True)
    i, j = edges[first].T
    return csr_array(coo_array((weights[first], (i, j)), shape=(n, n)))


def both_ways(graph):
    """Return the same graph with each edge in both directions."""
    i, j = graph.nonzero()
    return csr(graph.shape[0], np.r_[np.c_[i, j], np.c_[j, i]])


def path(n, seed=None, directed=False):
    order = np.arange(n) if seed is None else np.random.default_rng(seed).permutation(n)
    graph = csr(n, np.c_[order[:-1], order[1:]])
    return graph if directed else both_ways(graph)


def star(n, centre=0, out=True):
    leaves = np.delete(np.arange(n), centre)
    edges = np.c_[np.full(n - 1, centre), leaves]
    return csr(n, edges if out else edges[:, ::-1])


def kronecker(scale, edge_factor=8, seed=1):
    """Return a small graph with Graph500's skew: hubs, a giant component, many isolated vertices."""
    rng = np.random.default_rng(seed)
    i, j = np.zeros((2, edge_factor << scale), np.int64)
    for _ in range(scale):
        quadrant = rng.choice(4, i.size, p=[0.57, 0.19, 0.19, 0.05])
        i, j = 2 * i + quadrant // 2, 2 * j + quadrant % 2
    return csr(1 << scale, np.c_[i, j])


SMALL = {
    "one vertex": csr(1),
    "one loop": csr(1, [(0, 0)]),
    "no edges": csr(7),
    "one edge": csr(2, [(1, 0)]),
    "path": path(40),
    "long path": path(200),  # longer than connected_components' sweeps reach
    "shuffled path": path(70, seed=3),
    "directed path": path(100, directed=True),
    "shuffled directed path": path(70, seed=4, directed=True),
    "star": star(50, 17),
    "star pointing in": star(50, 17, out=False),
    "cycle": csr(64, [(k, (k + 1) % 64) for k in range(64)]),
    "loops": csr(6, [(0, 0), (1, 1), (1, 2), (4, 4)]),
    "two cliques": csr(9, [(i, j) for i in range(9) for j in range(9) if (i < 4) == (j < 4) and i != j]),
    "lollipop": both_ways(
        csr(130, [*((i, j) for i in range(30, 40) for j in range(30, 40)), *((k, k + 1) for k in range(39, 129))])
    ),
    "diamonds": csr(31, [e for k in range(0, 30, 3) for e in ((k, k + 1), (k, k + 2), (k + 1, k + 3), (k + 2, k + 3))]),
    "kronecker": kronecker(9),
    "kronecker both ways": both_ways(kronecker(9)),
    "sparse kronecker": kronecker(10, 1),
}


@st.composite
def graphs(draw, weights=None, max_vertices=24):
    """Draw any graph: loops, vertices without edges, one direction or both; `weights` is the values' strategy."""
    n = draw(st.integers(1, max_vertices))
    edges = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=3 * n))
    values = draw(st.lists(weights, min_size=len(edges), max_size=len(edges))) if weights is not None else None
    return csr(n, edges, values)


def matrix(graph, dtype=None):
    return gb.Matrix.from_csr(graph.indptr, graph.indices, graph.data, ncols=graph.shape[1], dtype=dtype)


def network(graph):
    """Return the graph as NetworkX's directed graph, with its values as weights."""
    return nx.from_scipy_sparse_array(graph, create_using=nx.DiGraph)


def undirected(graph):
    """Return the undirected graph of the same edges, without loops, as NetworkX's."""
    made = network(graph).to_undirected()
    made.remove_edges_from(list(nx.selfloop_edges(made)))
    return made


def real(name):
    """Return a real graph as a SciPy array of ones."""
    i, j, _ = loaded(name).to_coo(values=False)
    return csr(loaded(name).nrows, np.c_[i, j])


def dense(v, missing=-1):
    """Return a Vector as an array with an element for each vertex, `missing` where there is no entry."""
    full = np.full(v.size, missing, np.result_type(v.dtype.np_type, type(missing)))
    indices, values = v.to_coo()
    full[indices.astype(np.int64)] = values
    return full


@cache
def references(name):
    with np.load(DATA / "refs" / f"{name}.npz") as stored:
        return {key: stored[key] for key in stored.files}


@cache
def loaded(name):
    """Return a real graph with the references' weights; an edge list's vertices are renumbered as in the references."""
    entry = next(entry for entry in REAL if entry["name"] == name)
    relabel = entry["format"] == "snap"
    found = gb.io.read(
        DATA / entry["file"],
        directed=None if entry["directed"] else False,
        weights=None if entry["format"] == "gr" else "hash:1-255",
        relabel=relabel,
    )
    return found[0] if relabel else found
