"""Matrices of few rows or few columns: products read the other matrix once, and statements between them keep panels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.engines.gpu.elementwise import panel
from sparsezc.engines.gpu.layouts.head_cache import HeadCache
from sparsezc.engines.gpu.products import multi_source_bfs, spmm
from sparsezc.engines.gpu.several_processes import upper_triangle
from sparsezc.engines.gpu.storage.vector_store import MaskBits
from sparsezc.expr import engines
from sparsezc.memory import budget
from sparsezc.semirings.types import datatypes

N = 140
SEMIRINGS = [("plus_times", "FP64"), ("min_plus", "INT16"), ("any_pair", "BOOL"), ("plus_first", "INT64")]
SEMIRINGS += [
    ("max_second", "FP32"),
    ("plus_secondi", "INT64"),
    ("min_firstj", "INT64"),
    ("lor_land", "BOOL"),
    ("plus_times", "FC64"),
]


@contextmanager
def small() -> Iterator[None]:
    """Let small matrices be panels, and small rows count as long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(panel, "_LONG", 1)
        patch.setattr(budget, "LONG", 40)
        yield


def sparse(dtype: str, nrows: int = N, ncols: int = N, seed: int = 1) -> gb.Matrix:
    """Return a matrix with rows of 0 to 9 entries, and some of a hundred."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 10, nrows)
    lengths[::37] = min(100, ncols)
    rows = np.repeat(np.arange(nrows), lengths)
    columns = np.concatenate([np.sort(rng.permutation(ncols)[:k]) for k in lengths])
    return gb.Matrix.from_coo(rows, columns, rng.integers(0, 4, rows.size), dtype, nrows=nrows, ncols=ncols)


def dense(dtype: str, nrows: int, ncols: int, share: float, seed: int = 2) -> gb.Matrix:
    rng = np.random.default_rng(seed)
    rows, columns = np.nonzero(rng.random((nrows, ncols)) < share)
    return gb.Matrix.from_coo(rows, columns, rng.integers(0, 4, rows.size), dtype, nrows=nrows, ncols=ncols)


#: Products of a sparse matrix A with a panel X of `width` columns, or Y of `width` rows.
PRODUCTS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "A X": lambda A, X, Y, s: A.mxm(X, s),
    "A' X": lambda A, X, Y, s: A.T.mxm(X, s),
    "A Y'": lambda A, X, Y, s: A.mxm(Y.T, s),
    "Y A": lambda A, X, Y, s: Y.mxm(A, s),
    "Y A'": lambda A, X, Y, s: Y.mxm(A.T, s),
    "X' A": lambda A, X, Y, s: X.T.mxm(A, s),
}


@pytest.mark.parametrize("placement", ["device", "zerocopy"])
@pytest.mark.parametrize("width", [1, 2, 7, 32, 40])
def test_every_semiring(width: int, placement: str, gpu: Any) -> None:
    for k, (text, dtype) in enumerate(SEMIRINGS):
        for share in (1.0, 0.7):
            A, X, Y = sparse(dtype), dense(dtype, N, width, share), dense(dtype, width, N, share)
            semiring = getattr(gb.semiring, text)
            for name, product in list(PRODUCTS.items())[k % 2 :: 2]:
                with small():
                    got = product(*(x.to("gpu", placement=placement) for x in (A, X, Y)), semiring).new()
                    assert got._store.is_panel, (text, name)
                assert got.isequal(product(A, X, Y, semiring).new(), check_dtype=True), (text, name, share)


@pytest.mark.parametrize(
    ("text", "dtype", "width", "placement"),
    [
        ("plus_times", "FP64", 5, "device"),
        ("max_second", "INT16", 40, "zerocopy"),
        ("plus_times", "FC64", 2, "zerocopy"),
        ("min_secondi", "INT64", 3, "device"),
    ],
)
def test_a_thin_panel_is_pushed(
    text: str, dtype: str, width: int, placement: str, gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A push reads only rows that have entries in the panel: rows of the transpose, if the matrix has one."""
    pushed: list[int] = []
    push = spmm.push
    monkeypatch.setattr(spmm, "push", lambda *given, **more: pushed.append(1) or push(*given, **more))
    A, X, Y = sparse(dtype), gb.Matrix(dtype, N, width), gb.Matrix(dtype, width, N)
    for v in (0, 37, N - 1):  # a short row, a long one, and the last
        X[v, v % width], Y[v % width, v] = 2, 3
    X[37, 0] = Y[0, 37] = 1
    M = {name: dense("BOOL", *shape, 0.5) for name, shape in (("X", X.shape), ("Y", Y.shape))}
    semiring = gb.semiring.from_string(text)
    for name, product in list(PRODUCTS.items())[width % 2 :: 2]:
        mask, made = M["Y" if name[0] in "YX" else "X"], []
        for place in (lambda x: x, lambda x: x.to("gpu", placement=placement)):
            a, x, y, m = map(place, (A, X, Y, mask))
            engines.capability(a._engine, "keep_transpose")(a._store)
            with small():
                for z, across in ((x, False), (y, True)) if a is not A else ():
                    z._store.hold(panel.get_or_build(z._store, width, across))
                c = place(gb.Matrix(dtype, *mask.shape))
                c(~m.S) << product(a, x, y, semiring)
                c(~m.S, accum=gb.binary.plus) << product(a, x, y, semiring)
            made.append(c)
        assert made[0].isclose(made[1], check_dtype=True), name
    assert pushed


def test_a_pushed_panel_asks_for_few_rows(counting: Any) -> None:
    A = gb.io.read("kron:9", placement="zerocopy", weights=False)
    X = gb.Matrix.from_coo([3, 3, 5], [0, 1, 2], 1.0, nrows=A.nrows, ncols=4).to("gpu")
    X._store.hold(panel.get_or_build(X._store, 4, False))
    rows = A._to_csr().indptr[[3, 4, 5, 6]]
    read = int(rows[1] - rows[0] + rows[3] - rows[2])
    with small(), gb.stats.collect() as moved:
        Y = A.mxm(X, "plus_second").new(mask=~X.S)
    assert Y._store.is_panel
    assert 0 < moved.requests <= read // 32 + 4
    assert Y.isclose(A.to("cpu").mxm(X.to("cpu"), "plus_second").new(mask=~X.to("cpu").S))


@pytest.mark.parametrize("across", [False, True])
def test_masks_accumulators_and_replace(across: bool, gpu: Any) -> None:
    A = sparse("INT64")
    shape = (9, N) if across else (N, 9)
    X, C = dense("INT64", *shape, 0.8), dense("INT64", *shape, 0.4, seed=3)
    M = dense("INT8", *shape, 0.5, seed=4)
    for semiring in ("plus_times", "any_pair"):
        for out_type in ("INT64", "FP32"):
            for given in ({}, {"replace": True}, {"accum": "plus"}, {"accum": "min", "replace": True}):
                for mask in (lambda m: m.S, lambda m: ~m.S, lambda m: m.V, lambda m: ~m.V):
                    made = []
                    for place in (lambda x: x, lambda x: x.to("gpu")):
                        a, x, m = place(A), place(X), place(M)
                        c = place(C).dup(out_type)
                        with small():
                            c(mask(m), **given) << (x.mxm(a, semiring) if across else a.mxm(x, semiring))
                        made.append(c)
                    assert made[1]._store.is_panel
                    assert made[0].isequal(made[1], check_dtype=True), (semiring, out_type, given)


#: Statements on a panel P, panels Q and R of its shape, and a matrix A; each returns the object that it wrote.
STATEMENTS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "ewise_add": lambda P, Q, R, A: P.ewise_add(Q, "plus").new(),
    "ewise_mult": lambda P, Q, R, A: P.ewise_mult(Q, "minus").new(),
    "ewise_union": lambda P, Q, R, A: P.ewise_union(Q, "minus", 1, 2).new(),
    "a number where there are entries": lambda P, Q, R, A: written(Q, P.S, None, 7),
    "a number everywhere": lambda P, Q, R, A: written(P, None, None, 7),
    "a number elsewhere": lambda P, Q, R, A: written(P, ~Q.S, "plus", 7),
    "entries deleted": lambda P, Q, R, A: written(P, Q.V, None, gb.Scalar("INT64")),
    "accumulated": lambda P, Q, R, A: written(Q, None, "plus", P),
    "another": lambda P, Q, R, A: written(Q, R.S, None, P),
    "apply": lambda P, Q, R, A: P.apply("ainv").new("FP32"),
    "apply right": lambda P, Q, R, A: P.apply("minus", right=3).new(),
    "apply left": lambda P, Q, R, A: P.apply("minus", left=3).new(mask=Q.S),
    "apply positions": lambda P, Q, R, A: P.apply("colindex", right=0).new(),
    "select": lambda P, Q, R, A: P.select("valuegt", 2).new(),
    "select by position": lambda P, Q, R, A: P.select("colle", 4).new(),
    "dup": lambda P, Q, R, A: P.dup("FP64"),
    "transpose": lambda P, Q, R, A: P.T.new(),
    "a part": lambda P, Q, R, A: P[:3, :5].new(),
    "an element": lambda P, Q, R, A: P[2, 3].new(),
    "into a part": lambda P, Q, R, A: assigned(P, (slice(0, 3), slice(0, 4)), 5),
    "rows": lambda P, Q, R, A: P.reduce_rowwise("plus").new(),
    "columns": lambda P, Q, R, A: P.reduce_columnwise("plus").new(),
    "all": lambda P, Q, R, A: P.reduce_scalar("plus").new(),
    "cleared": lambda P, Q, R, A: cleared(P),
    "resized": lambda P, Q, R, A: resized(P),
    "times a transpose": lambda P, Q, R, A: (P.mxm(Q.T) if P.nrows < P.ncols else P.T.mxm(Q)).new(),
}


def written(C: Any, mask: Any, accum: Any, value: Any) -> Any:
    C(mask=mask, accum=accum) << value
    return C


def assigned(C: Any, keys: Any, value: Any) -> Any:
    C[keys] = value
    return C


def cleared(C: Any) -> Any:
    C.clear()
    return C


def resized(C: Any) -> Any:
    C.resize(C.nrows - 1, C.ncols - 2)
    return C


def test_a_number_everywhere_is_a_panel(gpu: Any) -> None:
    A = sparse("FP32")
    X, Y = gb.Matrix("FP32", N, 8), gb.Matrix("FP32", N, 8).to("gpu")
    with small():
        for C in (X, Y):
            C << 2
        assert Y._store.is_panel
        assert A.to("gpu").mxm(Y, "plus_times").new().isequal(A.mxm(X, "plus_times").new())


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("semiring", ["plus_times", "any_pair"])
def test_statements_between_panels(semiring: str, across: bool, gpu: Any) -> None:
    """Statements that support panels keep them; all others read an ordinary matrix."""
    shape = (6, N) if across else (N, 6)
    A, X = sparse("INT64"), dense("INT64", *shape, 0.9)
    Q, R = dense("INT64", *shape, 0.5, seed=3), dense("INT64", *shape, 0.5, seed=4)
    for name, statement in STATEMENTS.items():
        found = []
        for place in (lambda x: x, lambda x: x.to("gpu")):
            a, x, q, r = (place(m.dup()) for m in (A, X, Q, R))
            with small(), gb.config.set(fallback="error"):
                P = (x.mxm(a, semiring) if across else a.mxm(x, semiring)).new(mask=~q.S)
                found.append(statement(P, q, r, a))
        assert found[1].isequal(found[0], check_dtype=True), name


def test_a_search_from_many_vertices(gpu: Any) -> None:
    """Levels of a breadth-first search from each of k vertices, as a user's program computes them, run on panels."""

    def levels(A: Any, k: int) -> Any:
        level, frontier = gb.Matrix("INT32", k, N), gb.Matrix("BOOL", k, N)
        for r in range(k):
            frontier[r, 5 * r] = True
        depth = 0
        while frontier.nvals:
            level(frontier.S) << depth
            frontier(~level.S, replace=True) << frontier.mxm(A, gb.semiring.any_pair["BOOL"])
            depth += 1
        return level

    A = sparse("BOOL")
    for k in (3, 20):
        with small():
            found = levels(A.to("gpu"), k)
        assert found.isequal(levels(A, k), check_dtype=True)


@pytest.mark.parametrize("placement", ["device", "zerocopy"])
@pytest.mark.parametrize("directed", [False, True])
def test_algorithms_from_many_vertices(directed: bool, placement: str, gpu: Any) -> None:
    """Searches and betweenness use panels, with the results that they have without them."""
    if directed:
        A = sparse("BOOL")
    else:
        A = gb.io.read("kron:8", placement="host")
    sources = [1, 7, 20, 33, 34]
    B = A.to("gpu", placement=placement)
    with small():
        for algorithm in (
            lambda G: gb.algorithms.bfs(G, sources),
            lambda G: gb.algorithms.betweenness_centrality(G, sources=sources),
            lambda G: gb.algorithms.betweenness_centrality(G, k=4, seed=1, endpoints=True),
        ):
            assert algorithm(B).isclose(algorithm(A))


@pytest.mark.parametrize("count", [64, 70])
@pytest.mark.parametrize("directed", [False, True])
def test_many_searches_look_at_heads_first(directed: bool, count: int, gpu: Any) -> None:
    """With heads, a pull reads only rows that the heads do not settle for all searches, with the same results."""
    A = sparse("BOOL") if directed else gb.io.read("kron:9", placement="host")
    sources = np.random.default_rng(2).integers(0, A.nrows, count)
    with small(), gb.config.set(head_cache="on"):
        B = A.to("gpu", placement="zerocopy", with_transpose=directed)
        assert gb.algorithms.bfs(B, sources).isequal(gb.algorithms.bfs(A, sources))
    pulled = B._store.columns if directed else B._store.rows
    assert pulled.layouts[HeadCache].built.k == budget.HEAD_BYTES // 4


@pytest.mark.parametrize("width", [64, 70])
@pytest.mark.parametrize("share", [0.001, 0.3])
def test_reads_of_a_step_are_counted_by_search(width: int, share: float, gpu: Any) -> None:
    """Counts are right for frontiers of many vertices, and of few, which are counted vertex by vertex."""
    A, rng = sparse("BOOL").to("gpu"), np.random.default_rng(5)
    frontier, wanted = rng.random((N, width)) < share, rng.random((N, width)) < 0.01
    frontier[37, 1] = True  # a long row
    packed = [np.packbits(np.append(x.ravel(), np.zeros(64, np.bool_)), bitorder="little") for x in (frontier, wanted)]
    bits = [gpu.xp.asarray(x[: x.size // 8 * 8].view(np.uint32)[: -(-N * width // 32)]) for x in packed]
    x = panel.Panel(width, True, panel.SameVector(datatypes.BOOL, N * width, bits[0], True))
    rows = A._store.rows
    found = multi_source_bfs.Case(x, MaskBits(bits[1]), None).totals(rows, rows)
    lengths = np.diff(A._to_csr().indptr)
    into = lengths[wanted.any(1)]
    least = [lengths[frontier.any(1)].sum(), into.size, np.minimum(into, 32).sum(), into.sum()]
    np.testing.assert_array_equal(found, [*least, *(lengths @ frontier)])


@pytest.mark.parametrize(
    ("graph", "count", "compressed", "rows_per_warp"),
    [
        ("urand:8", 64, False, 32),
        ("urand:8", 64, True, 32),
        ("kron:8", 60, False, 32),
        ("kron:8", 60, False, 1),
        ("path:40", 3, False, 32),
    ],
)
def test_a_step_that_reads_nearly_all_reads_each_edge_once(
    graph: str, count: int, compressed: bool, rows_per_warp: int, gpu: Any
) -> None:
    """Cases have more levels than are written together, rows in chunks, and vertices that share a word."""
    A = gb.io.read(graph, placement="host")
    sources = np.random.default_rng(3).integers(0, A.nrows, count)
    with small(), gb.config.set(head_cache="on", rows_per_warp=rows_per_warp):
        B = A.to("gpu", placement="zerocopy")
        B = B.compress() if compressed else B
        assert gb.algorithms.bfs(B, sources).isequal(gb.algorithms.bfs(A, sources), check_dtype=True)
        rows = B._store.held()[0]
        assert rows.uncut == (rows_per_warp == 1)
        built = rows.layouts[upper_triangle.EdgesOnce].built
    assert (built is not None) == (graph != "path:40")
    if built is not None:
        assert built.rows.nvals == A.nvals // 2
        assert gb.algorithms.bfs(B, sources[:0]).nvals == 0


def test_building_the_upper_triangle_waits_until_it_pays(counting: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upper_triangle, "_COST", 1)
    A, built = gb.io.read("urand:8", placement="zerocopy", weights=False), []
    triangle = A._store.held()[0].layouts[upper_triangle.EdgesOnce]

    def read() -> int:
        counting.reset()
        with small():
            gb.algorithms.bfs(A, range(64))
        return int(counting.total(0).bytes)

    for _ in range(3):
        read()
        built.append(triangle.built is not None)
    assert built == [False, False, True]  # by then the triangle would have saved twice half of all entries
    with_it = read()
    monkeypatch.setattr(upper_triangle, "_SAVES", 1)
    assert with_it < read() - 0.45 * 4 * A.nvals


def test_the_upper_triangle_is_dropped_for_memory_and_with_the_entries(gpu: Any) -> None:
    A = gb.io.read("urand:8", placement="host", weights=False)
    B, sources, layout = A.to("gpu", placement="zerocopy"), np.arange(64), upper_triangle.EdgesOnce
    with small(), gb.config.set(head_cache="on"):
        for _ in range(2):
            gb.algorithms.bfs(B, sources)
            rows = B._store.rows
            assert rows.layouts[layout].nbytes == rows.indptr.nbytes
            budget.reclaim()
            assert rows.layouts[layout].built is None
        gb.algorithms.bfs(B, sources)
        edge = [int(x[0]) for x in A.to_coo(values=False)[:2]]
        for M in (A, B):
            del M[edge[0], edge[1]]
            del M[edge[1], edge[0]]
        assert gb.algorithms.bfs(B, sources).isequal(gb.algorithms.bfs(A, sources))
    assert layout not in B._store.rows.layouts
