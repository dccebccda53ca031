"""ops.sample_hops: its structure against a walk through dicts, its chances against exact ones; engines agree."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

import sparsezc as gb
from sparsezc import ops
from sparsezc.config import config
from sparsezc.memory.placement import choices
from tests.emulator.device import EmulatedDevice

SURE = 1e-6  # the share of correct programs that fail a test
WAYS = ({}, {"replace": True}, {"weighted": True}, {"replace": True, "weighted": True})


def a_graph(n: int = 60, m: int = 500, seed: int = 0) -> gb.Matrix:
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, m))
    return gb.Matrix.from_coo(i, j, rng.random(m) + 0.1, nrows=n, ncols=n, dup_op="first")


def walked(A: gb.Matrix, seeds: list[int], edge: list[int], lengths: list[int]) -> tuple[Any, ...]:
    """Return the vertices, ends and sizes that these sampled entries must have, by dicts and lists."""
    i, j, _ = (part.tolist() for part in A.to_coo())
    node, place = list(seeds), {}
    for k, v in enumerate(seeds):
        place.setdefault(v, k)
    row, sizes, frontier, at = [], [len(seeds)], list(enumerate(seeds)), iter(edge)
    col = []
    for count in lengths:
        before = len(node)
        taken = [next(at) for _ in range(count)]
        for e in taken:
            if j[e] not in place:
                place[j[e]] = len(node)
                node.append(j[e])
            row.append(place[j[e]])
        # rows are in the order of their numbers, and the entries of each ascend
        rest = list(taken)
        for k, v in frontier:
            last = -1
            while rest and i[rest[0]] == v and rest[0] >= last:
                last = rest.pop(0)
                col.append(k)
        assert rest == []
        sizes.append(len(node) - before)
        frontier = list(enumerate(node))[before:]
    return node, row, col, sizes


@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("fanouts", [(4, 3, 2), (-1, 2), (300,), (3, 0, 2), (0,), ()], ids=str)
def test_structure(fanouts: tuple[int, ...], how: dict[str, bool]) -> None:
    A, seeds = a_graph(), [7, 3, 59, 0]
    found = ops.sample_hops(A, seeds, fanouts, seed=1, values=True, **how)
    node, row, col, sizes = walked(A, seeds, found.edge.tolist(), found.num_sampled_edges)
    assert (found.node.tolist(), found.row.tolist(), found.col.tolist()) == (node, row, col)
    assert found.num_sampled_nodes == sizes
    assert all(part.dtype == np.int64 for part in found[:4])
    assert found.values.tolist() == A.to_coo()[2][found.edge].tolist()
    degree = np.bincount(A.to_coo()[0].astype(int), minlength=A.nrows)
    ends = np.cumsum([0, *sizes])
    starts = np.cumsum([0, *found.num_sampled_edges])
    for hop, k in enumerate(fanouts):
        vertices = found.node[ends[hop] : ends[hop + 1]]
        drawn = found.col[starts[hop] : starts[hop + 1]] - ends[hop]
        full = degree[vertices] if k < 0 else np.where(degree[vertices] > 0, k, 0)
        if not (how.get("replace") and k >= 0):
            full = np.minimum(degree[vertices], full)
            assert np.unique(found.edge[starts[hop] : starts[hop + 1]]).size == drawn.size
        assert np.bincount(drawn, minlength=vertices.size).tolist() == full.tolist()


def test_seeds_that_repeat_are_sampled_for_each() -> None:
    A = a_graph()
    found = ops.sample_hops(A, [5, 5], [2, 2], seed=0)
    assert found.node[:2].tolist() == [5, 5]
    assert found.col[:4].tolist() == [0, 0, 1, 1]
    loop = gb.Matrix.from_coo([0, 1], [1, 0], 1)
    again = ops.sample_hops(loop, [0, 0], [1, 1], seed=0)  # the entry of 1 ends at the first of the two seeds
    assert (again.node.tolist(), again.row.tolist(), again.col.tolist()) == ([0, 0, 1], [2, 2, 0], [0, 1, 2])


def test_hops_are_selectk_s_samples() -> None:
    A = a_graph()
    found = ops.sample_hops(A, [9, 1], [3, 2], seed=2**64 - 1)
    for hop, (k, seed) in enumerate(((3, 2**64 - 1), (2, 0))):
        ends, starts = (np.cumsum([0, *x]) for x in (found.num_sampled_nodes, found.num_sampled_edges))
        listed = found.node[ends[hop] : ends[hop + 1]]
        S = ops.selectk(A, "random", k, listed, seed=seed).new()
        assert found.node[found.row[starts[hop] : starts[hop + 1]]].tolist() == S.to_coo()[1].tolist()


def test_chances_of_two_hops() -> None:
    """Each tree's root has three vertices and draws two, each of which has four leaves and draws one."""
    count = 3000
    parents, leaves = np.array([1, 2, 3]), np.arange(4, 16)
    i, j = [0, 0, 0, *np.repeat(parents, 4)], [*parents, *leaves]
    root = 16 * np.arange(count)
    i, j = (np.add.outer(root, part).ravel() for part in (i, j))
    A = gb.Matrix.from_coo(i, j, 1, nrows=16 * count, ncols=16 * count)
    met = np.bincount(ops.sample_hops(A, root, [2, 1], seed=1).node % 16, minlength=16)
    assert chisquare(met[1:4]).pvalue > SURE
    assert chisquare(met[4:]).pvalue > SURE
    assert met[4:].sum() == 2 * count


def test_chances_where_hops_meet_again() -> None:
    """In copies of a graph with a loop and cycles, only newly met vertices draw again; chances were found by hand."""
    count = 6000
    i, j = np.array([0, 0, 0, 1, 1, 2, 2]), np.array([0, 1, 2, 0, 2, 1, 3])
    root = 4 * np.arange(count)
    A = gb.Matrix.from_coo(*(np.add.outer(root, part).ravel() for part in (i, j)), 1, nrows=4 * count, ncols=4 * count)
    found = ops.sample_hops(A, root, [1, 1], seed=1)
    drawn: dict[int, list[int]] = {}
    for e in found.edge.tolist():
        drawn.setdefault(e // 7, []).append(e % 7)
    outcomes, counts = np.unique([str(x) for x in drawn.values()], return_counts=True)
    chances = {"[0]": 1 / 3} | {f"[{a}, {b}]": 1 / 6 for a, b in ((1, 3), (1, 4), (2, 5), (2, 6))}
    assert set(outcomes) == set(chances)
    assert chisquare(counts, [count * chances[x] for x in outcomes]).pvalue > SURE


@pytest.mark.parametrize("replace", [False, True])
def test_chances_of_whole_samples(replace: bool) -> None:
    """Two hops in the graph of the comparison with PyG: all possible draws are listed, all equally likely."""
    count, rows = 5000, {0: (1, 2, 3), 1: (0, 4), 2: (1, 5), 3: (3,)}
    ends = [(i, j) for i, columns in rows.items() for j in columns]
    firsts = list(product(rows[0], repeat=2) if replace else combinations(rows[0], 2))
    chances: Counter[tuple[tuple[int, int], ...]] = Counter()
    for first in firsts:
        met = sorted(set(first))
        seconds = list(product(*(rows[v] for v in met)))
        for second in seconds:
            drawn = [(0, j) for j in first] + list(zip(met, second, strict=True))
            chances[tuple(sorted(drawn))] += 1 / (len(firsts) * len(seconds))
    assert len(chances) == (13 if replace else 8)
    i, j = (np.add.outer(6 * np.arange(count), part).ravel() for part in np.transpose(ends))
    A = gb.Matrix.from_coo(i, j, 1, nrows=6 * count, ncols=6 * count)
    found = ops.sample_hops(A, 6 * np.arange(count), [2, 1], replace=replace, seed=5)
    samples: dict[int, list[tuple[int, int]]] = {}
    for e in found.edge.tolist():
        samples.setdefault(e // len(ends), []).append(ends[e % len(ends)])
    counts = Counter(tuple(sorted(drawn)) for drawn in samples.values())
    assert set(counts) == set(chances)
    assert chisquare([counts[x] for x in chances], [count * chance for chance in chances.values()]).pvalue > SURE


def test_chances_by_weight_with_replacement() -> None:
    A = gb.Matrix.from_coo([0] * 4, [0, 1, 2, 3], [1.0, 2.0, 0.0, 5.0], nrows=4, ncols=4)
    drawn = ops.sample_hops(A, [0] * 2000, [5], replace=True, weighted=True, seed=3)
    counts = np.bincount(drawn.edge, minlength=4)
    assert counts[2] == 0
    assert chisquare(counts[[0, 1, 3]], 10_000 * np.array([1, 2, 5]) / 8).pvalue > SURE


def test_without_entries_rows_or_seeds() -> None:
    for A in (gb.Matrix("BOOL", 3, 3), gb.Matrix.from_coo([0], [1], [True], nrows=3, ncols=3)):
        found = ops.sample_hops(A, [2, 1], [2, 2], values=True)
        assert found.node.tolist() == [2, 1]
        assert (found.edge.size, found.values.size, found.num_sampled_edges) == (0, 0, [0, 0])
        assert ops.sample_hops(A, [], [2]).num_sampled_nodes == [0, 0]


def same(one: Any, other: Any) -> None:
    for a, b, name in zip(one, other, one._fields, strict=True):
        assert np.array_equal(np.asarray(a), gb.device.cuda.current().asnumpy(b) if hasattr(b, "shape") else b), name


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_engines_agree(gpu: Any, how: dict[str, bool]) -> None:
    A = a_graph(n=300, m=4000)
    B = A.to("gpu", "zerocopy")
    assert A.T.new().isequal(B.T.new().to("cpu"))
    for fanouts in ((4, 3, 2), (2, -1, 2), (300, 0, 1), ()):
        for one, other in ((A, B), (A.T, B.T)):
            given = {"seeds": [7, 3, 7, 299], "fanouts": fanouts, "seed": 5, "values": True, **how}
            same(ops.sample_hops(one, **given), ops.sample_hops(other, **given))
    empty = gb.Matrix("FP64", 3, 3)
    same(ops.sample_hops(empty, [1], [2]), ops.sample_hops(empty.to("gpu"), [1], [2]))


@pytest.mark.parametrize("placement", choices()[1:])
def test_placements_agree(gpu: Any, placement: str) -> None:
    A = a_graph()
    B = A.to("gpu", placement)
    same(ops.sample_hops(A, [1, 2], [3, 2], seed=1), ops.sample_hops(B, [1, 2], [3, 2], seed=1))


def test_compressed_reordered_and_of_one_value(gpu: Any) -> None:
    A = a_graph().apply("one").new("INT8")
    expected = ops.sample_hops(A, [1, 2], [3, 2], seed=1, values=True)
    B = A.to("gpu")
    with config.set(fallback="error"):
        for form in (B, B.compress(), B.compress("degree")):
            same(expected, ops.sample_hops(form, [1, 2], [3, 2], seed=1, values=True))


def test_what_crosses_the_link(counting: EmulatedDevice) -> None:
    """Only ids that are drawn are read over the link, each in at most one sector."""
    A = a_graph(n=2000, m=60_000).to("gpu", "zerocopy")
    counting.reset()
    found = ops.sample_hops(A, range(50), [5, 3], seed=1)
    moved = counting.total(0)
    assert moved.useful_bytes == 4 * sum(found.num_sampled_edges)
    assert moved.sectors < sum(found.num_sampled_edges)  # ids of a row share some sectors
    assert counting.total(1).sectors == 0


def test_too_little_memory(gpu: Any) -> None:
    A = a_graph().to("gpu")
    with config.set(budget=10_000), pytest.raises(gb.exceptions.OutOfMemory, match="up to 300 edges need"):
        ops.sample_hops(A, range(60), [5])


def test_bad_input() -> None:
    A = a_graph()
    for bad, error, said in (
        ({"fanouts": [2, -2]}, gb.exceptions.InvalidValue, "fanouts has -2"),
        ({"fanouts": 3}, gb.exceptions.InvalidValue, "an integer for each hop"),
        ({"fanouts": [1.5]}, gb.exceptions.InvalidValue, "an integer for each hop"),
        ({"seeds": [60]}, gb.exceptions.IndexOutOfBound, r"seeds\[0\] is 60"),
        ({"seeds": "ab"}, gb.exceptions.InvalidValue, "seeds"),
        ({"seed": -1}, gb.exceptions.InvalidValue, "seed is -1"),
        ({"A": A[:, :3].new()}, gb.exceptions.DimensionMismatch, "is not square"),
        ({"A": A.dup("FC64"), "weighted": True}, gb.exceptions.DomainMismatch, "weighted needs weights"),
        ({"A": A.apply("ainv").new(), "weighted": True}, gb.exceptions.InvalidValue, "a weight is negative"),
    ):
        given = {"A": A, "seeds": [0], "fanouts": [2], **bad}
        with pytest.raises(error, match=said):
            ops.sample_hops(given.pop("A"), **given)
