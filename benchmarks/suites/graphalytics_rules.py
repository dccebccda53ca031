"""LDBC Graphalytics' rules for correct answers, and the checks without a reference output.

Source: A. Iosup et al., The LDBC Graphalytics Benchmark, arXiv:2011.15028.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from benchmarks.suites.graphalytics_files import Graph
from benchmarks.verify import answers
from benchmarks.verify.answers import Undecided, Wrong

EPSILON = 1e-4  # relative to the reference value
UNREACHED = 2**63 - 1  # the level of a vertex that BFS does not reach
PLAIN = 1 << 28  # most multiplications of a check

Values = NDArray[Any]


def exact(found: Values, reference: Values, ids: Values) -> None:
    """Require values equal to the reference's."""
    _refuse(found != reference, found, reference, ids)


def epsilon(found: Values, reference: Values, ids: Values) -> None:
    """Require values within :data:`EPSILON` of the reference's, relatively; infinity equals only itself."""
    with np.errstate(invalid="ignore"):  # infinity minus infinity is NaN
        near = abs(found - reference) <= EPSILON * abs(reference)
    _refuse(~(near & np.isfinite(reference) | (found == reference)), found, reference, ids)


def equivalence(found: Values, reference: Values, ids: Values) -> None:
    """Require that two vertices have equal labels exactly if the reference's are equal, whatever the labels are."""
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
    """Judge an output, and return the reference or check by which it was judged.

    Raises
    ------
    Wrong, Undecided
    """
    reference = graph.reference(algorithm)
    if reference is None:
        CHECKS[algorithm](graph, found)
        return "an own check, as there is no reference output"
    rule = RULES[algorithm]
    rule(found, reference, graph.ids)
    return f"{graph.about.output(algorithm)}, {rule.__name__} match"


def _bfs(graph: Graph, found: Values) -> None:
    answers.bfs(graph.stream(), np.where(found == UNREACHED, -1, found), graph.source("bfs"))


def _sssp(graph: Graph, found: Values) -> None:
    reached = np.isfinite(found)
    answers.sssp(graph.stream(), np.where(reached, found, 0), reached, graph.source("sssp"))


def _wcc(graph: Graph, found: Values) -> None:
    answers.components(graph.stream(), np.searchsorted(graph.ids, found))


def _pr(graph: Graph, found: Values) -> None:
    damping = graph.about.number("pr.damping-factor", float)
    answers.pagerank(graph.stream(), found, damping, graph.about.number("pr.num-iterations"))


def _simple(graph: Graph) -> Any:
    """Return the graph's pattern without loops as SciPy's matrix."""
    indices = graph.csr.indices.read().astype(np.int64)
    A = csr_matrix((np.ones(indices.size), indices, graph.csr.indptr), shape=(graph.n, graph.n))
    A.setdiag(0)
    A.eliminate_zeros()
    return A


def _refuse_large(products: int) -> None:
    if products > PLAIN:
        raise Undecided("there is no reference output, and the graph is too large for the plain check")


def _cdlp(graph: Graph, found: Values) -> None:
    """Repeat the rounds, each as a SciPy product: vertices by voters times voters by their labels."""
    rounds = graph.about.number("cdlp.max-iterations")
    _refuse_large(graph.csr.nvals * rounds)
    A = _simple(graph)
    voters = (A + A.T if graph.about.directed else A).tocsr()
    label, pointers = np.arange(graph.n), np.arange(graph.n + 1)
    for _ in range(rounds):
        votes = voters @ csr_matrix((np.ones(graph.n), label, pointers), shape=(graph.n, graph.n))
        most = votes.max(axis=1).toarray().ravel()
        votes.sort_indices()
        row = np.repeat(np.arange(graph.n), np.diff(votes.indptr))
        winners = np.flatnonzero(votes.data == most[row])[::-1]
        label = label.copy()
        label[row[winners]] = votes.indices[winners]  # the smallest of several labels is written last
    exact(found, graph.ids[label], graph.ids)


def _lcc(graph: Graph, found: Values) -> None:
    """Compare with the edges among each vertex's neighbours over the pairs of neighbours, by SciPy."""
    A = _simple(graph)
    S = A.maximum(A.T).tocsr()
    degree = np.diff(S.indptr)
    _refuse_large(int((S @ degree).sum()))
    closed = np.asarray((S @ A).multiply(S).sum(axis=1)).ravel()
    epsilon(found, closed / np.maximum(degree * (degree - 1), 1), graph.ids)


CHECKS = {"BFS": _bfs, "CDLP": _cdlp, "WCC": _wcc, "PR": _pr, "LCC": _lcc, "SSSP": _sssp}
