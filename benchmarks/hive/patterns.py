"""Application classification: patterns that were copied from the graph, and must be found in it again."""

from __future__ import annotations

from typing import Any, NamedTuple
from unittest import mock

import numpy as np

import sparsezc as gb
from benchmarks.hive.row import Input, Peer, Row, on_a_gpu
from benchmarks.verify.answers import Wrong
from sparsezc import ops

VERTEX_FEATURES, EDGE_FEATURES = 13, 17  # as in Gunrock's runs


class _Hidden(NamedTuple):
    """The arguments of the application, and the graph's vertex of each vertex of the pattern."""

    arguments: tuple[Any, ...]
    where: Any


def _hidden(size: int, edges: int) -> Any:
    """Return a function that copies a pattern of `size` vertices and at most `edges` edges from the graph."""

    def make(given: Input) -> _Hidden:
        G, rng = given.read(), given.rng()
        indptr, ids, _values = G.to_csr()
        indptr, ids = indptr.astype(np.int64), ids.astype(np.int64)
        where, found = [int(given.sources(G, 1)[0])], []
        while len(where) < size:  # a random neighbour of the pattern's vertices so far
            u = where[int(rng.integers(len(where)))]
            at = int(rng.integers(indptr[u], indptr[u + 1]))
            if (v := int(ids[at])) not in where:
                where.append(v)
                found.append(at)
        rows = np.repeat(np.arange(G.nrows), np.diff(indptr))
        among = np.flatnonzero(np.isin(rows, where) & np.isin(ids, where))
        rest = rng.permutation(np.setdiff1d(among, found))[: max(0, edges - len(found))]
        chosen = np.r_[found, rest].astype(np.int64)
        number = {v: k for k, v in enumerate(where)}
        i, j = (np.array([number[int(v)] for v in ends[chosen]]) for ends in (rows, ids))
        order = np.lexsort((j, i))
        x, e = rng.random((G.nrows, VERTEX_FEATURES)), rng.random((G.nvals, EDGE_FEATURES))
        P = gb.Matrix.from_coo(i[order], j[order], 1.0, nrows=size, ncols=size)
        return _Hidden((G, P, x, x[where], e, e[chosen[order]]), np.array(where))

    return make


def _judge(given: _Hidden, match: gb.Matrix) -> None:
    """Check that columns are probabilities, and that each vertex of the pattern is found where it was copied from."""
    values = match.to_dense()
    if (off := np.abs(np.exp(values).sum(axis=0) - 1).max()) > 1e-9:
        raise Wrong(f"sums of probabilities differ from 1 by up to {off}")
    if not np.array_equal(best := values.argmax(axis=0), given.where):
        raise Wrong(
            f"{int((best != given.where).sum())} of {best.size} pattern vertices are not found at their origins"
        )


def _numpy(given: _Hidden) -> Any:
    """Run the rule by NumPy: messages along and against each edge of the pattern, a round for each of its vertices."""
    G, P, x, px, e, pe = given.arguments
    indptr, cols, _values = G.to_csr()
    cols, some = cols.astype(np.int64), np.flatnonzero(np.diff(indptr.astype(np.int64)))
    rows = np.repeat(np.arange(G.nrows), np.diff(indptr.astype(np.int64)))
    into = np.argsort(cols, kind="stable")
    starts, heads = np.flatnonzero(np.r_[True, np.diff(cols[into]) > 0]), np.unique(cols)
    i, j, _ = (each.astype(np.int64) for each in P.to_coo())
    D = np.stack([np.linalg.norm(x - row, axis=1) for row in px], axis=1)
    C = [np.linalg.norm(e - row, axis=1) for row in pe]
    N = [max(c.max(), float(np.linalg.norm(row))) for c, row in zip(C, pe, strict=True)]
    F, R = (np.zeros((i.size, G.nrows)) for _ in range(2))
    mu = -D - np.log(np.exp(-D).sum(axis=0))
    for _ in range(P.nrows):
        f, r = mu.T[j] - F, mu.T[i] - R
        for k, c in enumerate(C):
            F[k], R[k] = r[k].max() - N[k], f[k].max() - N[k]
            F[k][heads] = np.maximum(F[k][heads], np.maximum.reduceat((r[k][rows] - c)[into], starts))
            R[k][some] = np.maximum(R[k][some], np.maximum.reduceat(f[k][cols] - c, indptr[some].astype(np.int64)))
        mu = -D
        np.add.at(mu.T, j, F)
        np.add.at(mu.T, i, R)
        top = mu.max(axis=0)
        mu = mu - top - np.log(np.exp(mu - top).sum(axis=0))
    return mu


def _rounds(given: _Hidden) -> int:
    """Return the rounds of a call, which are passes over the graph's edges."""
    with mock.patch.object(ops, "two_way_mxm", wraps=ops.two_way_mxm) as products:
        _run(given)
    return products.call_count


def _bytes(given: _Hidden, _: Any) -> int:
    """Return the bytes of a call's rounds: ids of the graph's edges, and FP64 distances from each pattern edge."""
    G, P = given.arguments[:2]
    return int(_rounds(given) * (4 + 8 * P.nvals) * G.nvals)


def _run(given: _Hidden) -> gb.Matrix:
    return gb.applications.application_classification(*given.arguments)


ROWS = [
    Row(
        f"classification, {size} vertices", "kron:18", _hidden(size, edges), _run, _judge, nbytes=_bytes,
        what="log-probabilities of each vertex of the pattern, 13 features of vertices and 17 of edges",
        goals=on_a_gpu(0.06), host_graph="kron:12", made="a pattern taken from the graph; random features",
        peers=(Peer("NumPy", _numpy, most=1 << 20), *published),
    )
    for size, edges, published in ((10, 20, (Peer("Gunrock, P100", published=0.828),)), (21, 42, ()))
]  # fmt: skip
