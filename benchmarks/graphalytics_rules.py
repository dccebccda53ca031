"""When an answer counts as right by LDBC Graphalytics' rules, and what judges it where there is no reference output.

Source: A. Iosup et al., The LDBC Graphalytics Benchmark, arXiv:2011.15028.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from benchmarks import verify
from benchmarks.graphalytics_files import Graph
from benchmarks.verify import Undecided, Wrong

EPSILON = 1e-4  # of the reference value
UNREACHED = 2**63 - 1  # the level of a vertex that BFS does not reach
PLAIN = 1 << 24  # steps in plain Python or products in SciPy that a check takes at most

Values = NDArray[Any]


def exact(found: Values, reference: Values, ids: Values) -> None:
    """Each value is the reference's."""
    _refuse(found != reference, found, reference, ids)


def epsilon(found: Values, reference: Values, ids: Values) -> None:
    """Each value differs from the reference's by at most :data:`EPSILON` of that; infinity only equals itself."""
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        near = abs(found - reference) <= EPSILON * abs(reference)
    _refuse(~(near & np.isfinite(reference) | (found == reference)), found, reference, ids)


def equivalence(found: Values, reference: Values, ids: Values) -> None:
    """Two vertices have the same label just where the reference's are the same, whatever the labels are."""
    for one, other in ((found, reference), (reference, found)):
        _, first, group = np.unique(one, return_index=True, return_inverse=True)
        _refuse(other[first[group]] != other, found, reference, ids)


def _refuse(bad: Values, found: Values, reference: Values, ids: Values) -> None:
    if bad.any():
        at = int(bad.argmax())
        raise Wrong(f"{int(bad.sum()):,} vertices do not match; vertex {ids[at]} has {found[at]}, not {reference[at]}")


#: The rule by which the suite compares an algorithm's output with the reference's.
RULES: dict[str, Callable[[Values, Values, Values], None]] = {
    "BFS": exact, "CDLP": exact, "WCC": equivalence, "PR": epsilon, "LCC": epsilon, "SSSP": epsilon,
}  # fmt: skip


def validate(graph: Graph, algorithm: str, found: Values) -> str:
    """Judge an output; what it was judged by.

    Raises
    ------
    Wrong, Undecided
    """
    reference = graph.reference(algorithm)
    if reference is None:
        CHECKS[algorithm](graph, found)
        return "a check of its own: there is no reference output"
    rule = RULES[algorithm]
    rule(found, reference, graph.ids)
    return f"{graph.about.output(algorithm)}, {rule.__name__} match"


def _bfs(graph: Graph, found: Values) -> None:
    verify.bfs(graph.stream(), np.where(found == UNREACHED, -1, found), graph.source("bfs"))


def _sssp(graph: Graph, found: Values) -> None:
    reached = np.isfinite(found)
    verify.sssp(graph.stream(), np.where(reached, found, 0), reached, graph.source("sssp"))


def _wcc(graph: Graph, found: Values) -> None:
    verify.components(graph.stream(), np.searchsorted(graph.ids, found))


def _pr(graph: Graph, found: Values) -> None:
    damping = graph.about.number("pr.damping-factor", float)
    verify.pagerank(graph.stream(), found, damping, graph.about.number("pr.num-iterations"))


def _cdlp(graph: Graph, found: Values) -> None:
    """The rounds once more, vertex by vertex."""
    rounds = graph.about.number("cdlp.max-iterations")
    if graph.csr.nvals * rounds > PLAIN:
        raise Undecided("there is no reference output, and the graph is too large for the plain check")
    voters: list[list[int]] = [[] for _ in range(graph.n)]
    for i, j, _ in verify.Edges(graph.csr):
        for a, b in zip(i.tolist(), j.tolist(), strict=True):
            if a != b:
                voters[a].append(b)
                if graph.about.directed:
                    voters[b].append(a)
    label = graph.ids.tolist()
    for _ in range(rounds):
        votes = [Counter(label[u] for u in each) for each in voters]
        label = [_winner(count, old) for count, old in zip(votes, label, strict=True)]
    exact(found, np.array(label), graph.ids)


def _winner(votes: Counter[int], old: int) -> int:
    """The most frequent label, of several the smallest; without votes the old one."""
    most = max(votes.values(), default=0)
    return min((label for label, count in votes.items() if count == most), default=old)


def _lcc(graph: Graph, found: Values) -> None:
    """Edges among each vertex's neighbours over the pairs of those, by SciPy."""
    indices = graph.csr.indices.read().astype(np.int64)
    A = csr_matrix((np.ones(indices.size), indices, graph.csr.indptr), shape=(graph.n, graph.n))
    A.setdiag(0)
    A.eliminate_zeros()
    S = A.maximum(A.T).tocsr()
    if (S @ np.diff(S.indptr)).sum() > PLAIN:
        raise Undecided("there is no reference output, and the graph is too large for the plain check")
    degree = np.diff(S.indptr)
    closed = np.asarray((S @ A).multiply(S).sum(axis=1)).ravel()
    epsilon(found, closed / np.maximum(degree * (degree - 1), 1), graph.ids)


CHECKS = {"BFS": _bfs, "CDLP": _cdlp, "WCC": _wcc, "PR": _pr, "LCC": _lcc, "SSSP": _sssp}
