"""Bipartite projections: in memory, and in pieces to a file."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sparsezc as gb
from benchmarks.hive.inputs import MOVIELENS, ratings
from benchmarks.hive.row import HOST, Goal, Input, Peer, Row, on_a_gpu
from benchmarks.verify.answers import Wrong

PIECES = 8  # divisor of MovieLens-20M's shape in the row that writes a file
JUDGED = 20  # rows of the result that are computed again


class _Sides(NamedTuple):
    """A bipartite graph, and SciPy's transpose of its pattern, whose rows are the projected side."""

    A: gb.Matrix
    theirs: Any
    folder: Any = None
    placement: str = HOST

    @property
    def most(self) -> int:
        """The most neighbours of a vertex of the projected side."""
        return int(np.diff(self.theirs.indptr).max())


def _films(given: Input) -> _Sides:
    table = ratings(given, MOVIELENS)
    theirs = table.scipy().astype(bool).T.tocsr()
    return _Sides(given.put(table.matrix()), theirs)


def _films_in_pieces(given: Input) -> _Sides:
    part = tuple(size // PIECES for size in MOVIELENS)
    table = ratings(given, (part[0], part[1], part[2]))
    theirs, folder = table.scipy().astype(bool).T.tocsr(), Path(tempfile.mkdtemp())
    weakref.finalize(theirs, shutil.rmtree, folder, ignore_errors=True)
    return _Sides(given.put(table.matrix()), theirs, folder)


def _rmat(given: Input) -> _Sides:
    A = given.read()
    theirs = gb.io.to_scipy_sparse(A.to("cpu")).astype(bool).T.tocsr()
    return _Sides(A, theirs, placement=given.placement)


def _women(given: Input) -> _Sides:
    """Return NetworkX's Southern Women graph: 18 women and the 14 events that they attended."""
    import networkx as nx

    G = nx.davis_southern_women_graph()
    women = [v for v, side in G.nodes(data="bipartite") if side == 0]
    events = [v for v, side in G.nodes(data="bipartite") if side == 1]
    theirs = nx.bipartite.biadjacency_matrix(G, events, women).astype(bool).tocsr()
    return _Sides(given.put(gb.io.from_scipy_sparse(theirs.T.tocsr())), theirs)


def _row(given: _Sides, at: int) -> Any:
    """Return the numbers of neighbours that vertex `at` has in common with each other one, by SciPy."""
    counts = (given.theirs.astype(np.int32) @ given.theirs[[at]].T.astype(np.int32)).toarray().ravel()
    counts[at] = 0
    return counts


def _judge(given: _Sides, B: gb.Matrix) -> None:
    """Check some rows against SciPy."""
    n = given.theirs.shape[0]
    for at in np.unique(np.random.default_rng(1).integers(0, n, JUDGED)).tolist():
        if not np.array_equal(B[at, :].new().to_dense(0), _row(given, at)):
            raise Wrong(f"vertex {at} has numbers of common neighbours that differ from SciPy's")


def _written(given: _Sides) -> int:
    return gb.applications.projection(given.A, "columns", out=given.folder / "pairs.tsv")


def _judge_written(given: _Sides, pairs: int) -> None:
    """Check that the written file has as many pairs, and some of its rows against SciPy."""
    B = gb.io.read(given.folder / "pairs.tsv", directed=False)
    if B.nvals != 2 * pairs:
        raise Wrong(f"the file has {B.nvals} entries in both directions; twice {pairs} pairs are needed")
    _judge(given, B)


def _networkx_graph(given: _Sides) -> Any:
    import networkx as nx

    return nx.bipartite.from_biadjacency_matrix(given.theirs), range(given.theirs.shape[0])


def _networkx(made: tuple[Any, Any]) -> Any:
    import networkx as nx

    return nx.bipartite.weighted_projected_graph(*made)


def _bytes(given: _Sides, _: Any) -> int:
    """Return the bytes of ids in both directions, each once: a bound out of reach, as rows are read repeatedly."""
    return int(8 * given.A.nvals)


def _pairs(given: _Sides, found: Any) -> dict[str, Any]:
    if isinstance(found, gb.Matrix):
        entry = int(found.bits_per_id) // 8 + found.dtype.np_type.itemsize
        return {"pairs": found.nvals // 2, "result bytes": entry * found.nvals}
    return {"pairs": found, "file bytes": (given.folder / "pairs.tsv").stat().st_size}


def _project(given: _Sides) -> gb.Matrix:
    return gb.applications.projection(given.A, "columns")


def _landed(given: _Sides) -> gb.Matrix:
    """Return the pairs in host memory: ids of 4 bytes, and counts of the least type for the most neighbours."""
    B = _project(given).dup(gb.dtypes.lookup_dtype(np.min_scalar_type(given.most)))
    return B.to(placement="zerocopy") if given.placement != HOST else B


SCIPY = Peer(
    "SciPy, both triangles", lambda S: S @ S.T, most=1 << 22, prepare=lambda given: given.theirs.astype(np.int32)
)
NETWORKX = Peer("NetworkX", _networkx, "networkx", most=1 << 13, prepare=_networkx_graph)


def _of(name: str, graph: str, make: Callable[[Input], _Sides], goals: dict[str, Goal], **more: Any) -> Row:
    given = {"run": _project, "what": "pairs with their counts"} | more
    return Row(name, graph, make, judge=_judge, goals=goals, nbytes=_bytes, notes=_pairs, **given)


ROWS = [
    _of("projection", "", _films, on_a_gpu(0.6), peers=(SCIPY, Peer("GraphBLAST, P100", published=5.0)),
        made="a generated table of MovieLens-20M's shape, a 40th on a CPU"),
    _of("projection of RMAT-18", "kron:18", _rmat, on_a_gpu(3.0), host_graph="kron:11",
        run=_landed, what="pairs with their counts, in host memory",
        peers=(SCIPY, Peer("GraphBLAST, P100", published=26.5))),
    _of("projection of NetworkX's graph", "", _women, {}, peers=(NETWORKX,)),
    Row(
        "projection in pieces", "", _films_in_pieces, _written, _judge_written,
        what="pairs to a text file", nbytes=_bytes, notes=_pairs,
        peers=(NETWORKX,), made=f"a generated table of {PIECES} parts less than MovieLens-20M, to a file",
    ),
]  # fmt: skip
