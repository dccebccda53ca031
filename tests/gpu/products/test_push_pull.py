"""Push or pull: the direction that reads fewer bytes is chosen, and both have equal results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.engines.gpu.products import multi_source_bfs
from sparsezc.engines.gpu.products.push_pull import Work, prefers_pull
from sparsezc.engines.gpu.runtime import codegen
from sparsezc.engines.gpu.several_processes import peer_searches

N, NVALS = 1 << 20, 16 << 20

#: Levels of a search of a million vertices with 16 neighbours on average: frontier, its entries, vertices not yet
#: reached, the entries of their first slices, all their entries. Then the choices where the monoid needs all products,
#: and where it has a terminal value.
LEVELS = {
    "first: one vertex, all others unseen": (Work(1, 16, N - 1, NVALS // 3, NVALS - 16, NVALS), "push", "push"),
    "second": (Work(16, 400, N - 17, NVALS // 3, NVALS - 416, NVALS), "push", "push"),
    "before the middle": (Work(N // 8, NVALS // 2, 7 * N // 8, NVALS // 4, 6 * NVALS // 8, NVALS), "push", "pull"),
    "middle: most edges end in the frontier": (
        Work(N // 4, NVALS // 2, N // 2, NVALS // 8, NVALS // 4, NVALS),
        "pull",
        "pull",
    ),
    "after the middle: few are left": (
        Work(N // 2, NVALS // 2, N // 50, NVALS // 100, NVALS // 100, NVALS),
        "pull",
        "pull",
    ),
    "last: a few vertices, few are left": (Work(3, 5, 1000, 2000, 2000, NVALS), "push", "push"),
    "nothing is left": (Work(N // 2, NVALS // 4, 0, 0, 0, NVALS), "pull", "pull"),
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("entry_bytes", [4, 8, 12])
def test_the_model_chooses_what_reads_less(level: str, entry_bytes: int) -> None:
    work, folding, stopping = LEVELS[level]
    for stops, wanted in ((False, folding), (True, stopping)):
        pull = prefers_pull(work, stops=stops, entry_bytes=entry_bytes, offset_bytes=0.25)
        assert pull == (wanted == "pull"), (level, stops)


def graph() -> tuple[Any, int]:
    """Return an undirected ring with chords, and its number of vertices."""
    n = 400
    at = np.arange(n)
    rows = np.concatenate([at, at, at])
    columns = np.concatenate([(at + 1) % n, (at + 7) % n, (at * 3 + 1) % n])
    both = {(i, j) for i, j in zip(rows.tolist(), columns.tolist(), strict=True) if i != j}
    both |= {(j, i) for i, j in both}
    return gb.Matrix.from_edgelist(sorted(both), [1 + i * j % 5 for i, j in sorted(both)], nrows=n, ncols=n), n


def kernels(emulated: Any, run: Any) -> list[str]:
    emulated.reset()
    run()
    return [name for name in emulated.launches if name in ("mxv", "vxm")]


def test_a_search_pushes_first_and_pulls_in_the_middle(emulated: Any) -> None:
    A, n = graph()
    before = cuda.use(emulated)
    try:
        B = A.to("gpu", with_transpose=True)
        one = gb.Vector.from_coo([3], True, size=n)
        seen = gb.Vector.from_coo(range(n - 5), True, size=n)
        many = gb.Vector.from_coo(range(n - 5), True, size=n)
        few_left, others = ~seen.S, ~one.S
        any_pair = gb.semiring.any_pair
        assert kernels(emulated, lambda: one.vxm(B, any_pair).new(mask=others)) == ["vxm"]
        assert kernels(emulated, lambda: many.vxm(B, any_pair).new(mask=few_left)) == ["mxv"]
        assert kernels(emulated, lambda: one.vxm(A.to("gpu"), any_pair).new(mask=few_left)) == ["vxm"]  # no columns
        assert kernels(emulated, lambda: A.to("gpu").mxv(one, any_pair).new(mask=others)) == ["mxv"]
    finally:
        cuda.use(before)


@pytest.mark.parametrize("semiring", ["any_pair", "lor_land", "min_plus", "max_times", "plus_times", "min_secondi"])
def test_both_give_the_same_answer(semiring: str, gpu: Any) -> None:
    """Push, pull and the chosen direction agree, for monoids with and without a terminal value."""
    A, n = graph()
    dtype = "BOOL" if semiring == "lor_land" else "INT64"
    both, rows = (A.dup(dtype).to("gpu", with_transpose=way) for way in (True, False))
    rng = np.random.default_rng(4)
    for share in (0.01, 0.3, 1.0):
        at = np.flatnonzero(rng.random(n) < share)
        v = gb.Vector.from_coo(at, rng.integers(0, 3, at.size), dtype, size=n)
        m = gb.Vector.from_coo(range(0, n, 3), 1, size=n)
        for mask in (None, m.S, ~m.S):
            by_frontier = v.vxm(rows, semiring).new(mask=mask)
            by_rows = rows.T.mxv(v, semiring).new(mask=mask)
            chosen = v.vxm(both, semiring).new(mask=mask)
            want = v.to("cpu").vxm(A.dup(dtype), semiring).new(mask=None if mask is None else _on_cpu(m, mask))
            for got in (by_frontier, by_rows, chosen):
                assert got.isequal(want.to("gpu"), check_dtype=True)


RANKS = {
    "pagerank": lambda A: gb.algorithms.pagerank(A, tol=None, max_iter=5),
    "pagerank by weights": lambda A: gb.algorithms.pagerank(A, tol=None, max_iter=5, weighted=True),
    "katz_centrality": lambda A: gb.algorithms.katz_centrality(A, alpha=0.01),
    "eigenvector_centrality": lambda A: gb.algorithms.eigenvector_centrality(A, tol=1e-3),
    "hits": lambda A: gb.algorithms.hits(A, tol=1e-3)[0],
}


@pytest.mark.parametrize("name", RANKS)
def test_ranks_of_a_directed_graph_are_pulled_on_the_card(name: str, emulated: Any) -> None:
    """Pulls use no atomics, so every run adds in the same order; where memory is short the ranks are pushed."""
    A, n = graph()
    A = A.select("triu").new()
    A[n - 1, 0] = 1
    expected = RANKS[name](A)
    before = cuda.use(emulated)
    try:
        for placement, space, wanted in (
            ("device", 10**9, "mxv"),
            ("zerocopy", 10**9, "vxm"),
            ("device", 10**4, "vxm"),
        ):
            B = A.to("gpu", placement)
            with gb.config.set(budget=space):
                emulated.reset()
                ranks = RANKS[name](B)
                products = [kernel for kernel in emulated.launches if kernel in ("mxv", "vxm")]
            assert products.count(wanted) >= 5
            assert (wanted == "vxm") == ("vxm" in products)
            np.testing.assert_allclose(ranks.to_dense(), expected.to_dense(), rtol=1e-12, atol=1e-15)
    finally:
        cuda.use(before)


def test_a_matrix_stays_where_it_lies_when_it_gets_its_transpose(gpu: Any) -> None:
    """The matrix also stays if the budget has no space for a second copy."""
    A, n = graph()
    directed = A.select("triu").new().to("gpu", "device")
    with gb.config.set(budget=60 * n):
        both = directed.to("gpu", with_transpose=True)
    rows, columns = both._store.held()
    assert (rows.indices.placement, columns.indices.placement) == ("device", "device")
    assert both.T.new().isequal(directed.T.new())


def _on_cpu(m: Any, mask: Any) -> Any:
    copy = m.to("cpu")
    return ~copy.S if mask.complement else copy.S


@pytest.mark.parametrize("masked", [False, True])
def test_accumulating_into_a_full_vector_leaves_it_full(masked: bool, gpu: Any) -> None:
    """The next product with it counts no entries, which would wait for the device."""
    A = gb.Matrix.from_coo([0, 1, 2, 2], [1, 2, 0, 1], [1.0, 2.0, 3.0, 4.0], nrows=4, ncols=4)
    w, v = gb.Vector.from_dense(np.arange(4.0)), gb.Vector.from_dense(np.arange(4.0))
    expected = w.dup()
    given, u = w.to("gpu"), v.to("gpu")
    given(mask=u.V if masked else None, accum="plus") << A.to("gpu").mxv(u, "plus_times")
    expected(mask=v.V if masked else None, accum="plus") << A.mxv(v, "plus_times")
    assert given._store.is_full
    assert given.to("cpu").isequal(expected)
    given(u.V, accum="plus", replace=True) << A.to("gpu").mxv(u, "plus_times")
    assert given.nvals == 3


@pytest.mark.parametrize("full", ["left", "right", "neither"])
def test_a_union_with_a_full_vector_is_known_to_be_full(full: str, gpu: Any) -> None:
    """A statement after it then counts no entries, for which the host would wait."""
    whole, some = gb.Vector.from_dense(np.arange(40.0)), gb.Vector.from_coo([3, 7], [1.0, 2.0], size=40)
    u, v = (x.to("gpu") for x in {"left": (whole, some), "right": (some, whole), "neither": (some, some)}[full])
    for union in (u.ewise_add(v, "plus"), u.ewise_union(v, "minus", 0, 0)):
        w = union.new()
        assert w._store.is_full == (full != "neither")
        assert w.nvals == (2 if full == "neither" else 40)
    assert not u.ewise_mult(v, "plus").new()._store.is_full


def test_cards_divide_searches_as_hosts_do(gpu: Any) -> None:
    """The plan of two cards, one with an empty frontier, equals the host's; all ways of division occur."""
    random, ways, xp = np.random.default_rng(5), set(), gpu.xp
    kernel = codegen.kernel(gpu, "peer_searches.cu", peer_searches.constants(), "plan_step")
    for step in range(1, 150):
        nvals, share = 1 << 20, 10.0 ** random.uniform(-6, 0, 64) * (random.random(64) < random.choice([0.1, 1]))
        share[random.random(64) < random.choice([0, 0.9])] = 0.5
        reads = (nvals * share).astype(np.int64)
        first, wanted = np.sort(random.integers(1, nvals, 2) // random.choice([1, 1000])).tolist()
        work = multi_source_bfs.Work(
            int(random.integers(reads.max(), reads.sum() + 1)), 100, first, wanted, reads, nvals
        )
        slots, cost = step % 3, step % 2 + 1.5
        mine = np.r_[3, work.frontier, 100, first, wanted, reads, 7, 2]
        of_all, flags, plan, told = (
            xp.asarray(x.astype(np.uint64))
            for x in (np.r_[np.zeros(71), 0, np.zeros(68), 9, 0], np.full(2, step), np.ones(8), np.zeros(72))
        )
        kernel.launch(
            1, numbers=xp.asarray(mine.astype(np.uint64)), theirs=of_all, flags=flags, own=0, cards=2, number=step,
            theirs_of=xp.asarray(np.full(2, gpu.pointer(of_all), np.uint64)), nvals=float(nvals), push_cost=cost,
            flags_of=xp.asarray(np.full(2, gpu.pointer(flags), np.uint64)), slots=slots, pulls=True, plan=plan,
            told=told, step=step,
        )  # fmt: skip
        push, pull = (
            int(np.packbits(x, bitorder="little").view(np.uint64)[0])
            for x in multi_source_bfs.divide(work, cost, slots)
        )
        ways.add((push > 0, pull > 0))
        assert gpu.asnumpy(plan)[:4].tolist() == [push, pull, 3, push]
        assert gpu.asnumpy(told).tolist() == [step, 3, 2 + 9, push, pull, 100, first, wanted, *reads.tolist()]
    assert len(ways) == 3
