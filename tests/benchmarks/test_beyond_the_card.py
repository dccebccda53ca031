"""Edges larger than device memory: generated graphs follow their formula, host checks find errors, whole runs pass."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order, connected_components, shortest_path

import sparsezc as gb
from benchmarks import beyond_the_card
from benchmarks.micro.random_circulant import Shifted
from benchmarks.verify import rows as verify_rows
from benchmarks.verify.answers import Undecided, Wrong
from sparsezc.memory import machine
from sparsezc.memory.csr import Csr
from tests.benchmarks.runs import cases, emulated
from tests.emulator.device import EmulatedDevice, why_unavailable

SMALL = {"mean": 12.0, "shifts": 40}


@pytest.fixture(scope="module")
def graph() -> Shifted:
    return Shifted.of(12_000, **SMALL)


@pytest.fixture(scope="module")
def csr(graph: Shifted) -> Csr:
    """Return the graph, row by row in NumPy."""
    rows = [graph.row(v) for v in range(graph.n)]
    indptr = np.concatenate([[0], np.cumsum([row.size for row in rows])])
    return Csr.from_arrays(indptr, np.concatenate(rows), np.ones(1, bool), graph.n, symmetric=True)


@pytest.fixture(scope="module")
def plain(csr: Csr) -> Any:
    return csr_matrix((np.ones(csr.nvals), csr.indices.read().astype(np.int64), csr.indptr), (csr.nrows, csr.nrows))


def test_the_graph_is_symmetric_without_loops_and_has_a_heavy_tail(graph: Shifted, csr: Csr, plain: Any) -> None:
    assert (plain != plain.T).nnz == 0
    assert plain.diagonal().sum() == 0
    degree = np.diff(csr.indptr)
    assert 0.8 * SMALL["mean"] < degree.mean() < 1.2 * SMALL["mean"]
    assert degree.max() > 4 * degree.mean()
    outliers = graph.weight(np.arange(graph.n)) == 0
    assert 0 < outliers.sum() < graph.n / 32
    assert plain[outliers][:, ~outliers].nnz == 0
    assert connected_components(plain, False)[0] > 3


def test_neighbours_may_be_kept_near() -> None:
    near = Shifted.of(60_000, mean=6, shifts=10, reach=50)
    away = (near.row(5000).astype(int) - 5000) % near.n
    assert away.size
    assert np.all(np.minimum(away, near.n - away) <= 50)


@pytest.mark.parametrize("given", [{"mean": 60.0, "shifts": 50}, {"mean": 4.0, "shifts": 2000}])
def test_what_cannot_be_made_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="entries"):
        Shifted.of(12_000, **given)


@emulated
@pytest.mark.parametrize("device", ["forward", "random"], indirect=True)
@pytest.mark.parametrize("block", [1, 1 << 28])
def test_the_kernels_make_the_same_rows(graph: Shifted, csr: Csr, device: EmulatedDevice, block: int) -> None:
    made = graph.csr("zerocopy", block)
    np.testing.assert_array_equal(made.indptr, csr.indptr)
    np.testing.assert_array_equal(made.indices.read(), csr.indices.read())
    assert made.iso
    assert made.symmetric
    assert made.indices.dtype == np.uint32


# The host's checks


@pytest.fixture(scope="module")
def level(plain: Any) -> Any:
    source = int(np.diff(plain.indptr).argmax())
    hops = shortest_path(plain, indices=source, unweighted=True)
    return source, np.where(np.isfinite(hops), hops, -1).astype(np.int32)


@pytest.fixture(scope="module")
def label(plain: Any) -> Any:
    _, found = connected_components(plain, False)
    return np.unique(found, return_index=True)[1][found].astype(np.int64)


@pytest.fixture(scope="module")
def rank(csr: Csr, plain: Any) -> Any:
    """Return PageRank's vector after one iteration, by SciPy."""
    carried = 0.85 * (plain.T @ (1 / csr.nrows / np.maximum(np.diff(csr.indptr), 1)))
    return carried + (1 - carried.sum()) / csr.nrows


@pytest.mark.parametrize("deep", [False, True])
def test_right_answers_pass(csr: Csr, plain: Any, level: Any, label: Any, rank: Any, deep: bool) -> None:
    assert verify_rows.structure(csr) == 1
    source, levels = level
    if deep:  # a path of 30 vertices beside a triangle: levels too high for half a byte
        path = np.minimum(np.abs(np.arange(30)[:, None] - np.arange(30)), 2) == 1
        joined = csr_matrix(np.block([[path, np.zeros((30, 3))], [np.zeros((3, 30)), 1 - np.eye(3)]]))
        csr = Csr.from_arrays(joined.indptr, joined.indices, np.ones(1, bool), 33)
        source, levels = 0, np.append(np.arange(30), [-1] * 3).astype(np.int32)
        label = np.array([0] * 30 + [30] * 3)
    assert verify_rows.traversals(csr, levels, source, label) == 1
    assert verify_rows.traversals(csr, levels, source) == 1
    if not deep:
        x = np.random.default_rng(1).random(csr.nrows)
        assert verify_rows.product(csr, x, plain @ x) == 1
        assert verify_rows.pagerank(csr, rank, 0.85) == 1


@pytest.mark.parametrize("change", [-1, 1])
def test_no_level_may_be_off(csr: Csr, plain: Any, level: Any, change: int) -> None:
    source, levels = level
    order = breadth_first_order(plain, source, return_predecessors=False)
    for v in order[[1, order.size // 2, -1]]:
        wrong = levels.copy()
        wrong[v] += change
        with pytest.raises(Wrong, match="level"):
            verify_rows.traversals(csr, wrong, source)


def test_a_search_may_not_forget_nor_invent(csr: Csr, level: Any, label: Any) -> None:
    source, levels = level
    for v, value in (
        (int(levels.argmax()), -1),
        (int(np.flatnonzero((levels < 0) & (np.diff(csr.indptr) == 0))[0]), 2),
        (int(np.flatnonzero((levels < 0) & (np.diff(csr.indptr) > 0))[0]), 2),
    ):
        wrong = levels.copy()
        wrong[v] = value
        for given in (None, label):
            with pytest.raises(Wrong, match=r"reached|nearer|deeper|label"):
                verify_rows.traversals(csr, wrong, source, given)
    with pytest.raises(Undecided, match="can be judged"):
        verify_rows.traversals(csr, np.where(levels == 2, 300, levels), source)


def test_components_may_be_neither_split_nor_joined(csr: Csr, level: Any, label: Any) -> None:
    source, levels = level
    reached = levels >= 0
    outlier = int(np.flatnonzero(~reached)[-1])
    other = int(np.flatnonzero(reached)[1])
    for at, value in ((int(levels.argmax()), outlier), (outlier, int(reached.argmax())), (reached, other)):
        wrong = label.copy()
        wrong[at] = value
        with pytest.raises(Wrong, match="label"):
            verify_rows.traversals(csr, levels, source, wrong)


def test_an_edge_that_joins_two_labels_is_seen_by_itself(csr: Csr, level: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    source, levels = level
    monkeypatch.setattr(verify_rows, "_labelled", lambda *_: None)
    label = np.zeros(csr.nrows, np.int64)
    label[int(levels.argmax())] = 5
    with pytest.raises(Wrong, match="joins two labels"):
        verify_rows.traversals(csr, levels, source, label)


def test_no_number_may_be_off(csr: Csr, plain: Any, rank: Any) -> None:
    x = np.ones(csr.nrows)
    full, empty = csr.nrows // 2, int((np.diff(csr.indptr) == 0).argmax())
    for at in (full, empty):
        wrong = plain @ x
        wrong[at] += 1e-3
        with pytest.raises(Wrong, match=f"vertex {at}"):
            verify_rows.product(csr, x, wrong)
        wrong = rank.copy()
        wrong[at] *= 1 + 1e-7
        with pytest.raises(Wrong, match=f"vertex {at}"):
            verify_rows.pagerank(csr, wrong, 0.85)


def test_damaged_edges_are_seen(csr: Csr) -> None:
    ids = csr.indices.read().copy()
    row = int(np.diff(csr.indptr).argmax())
    at = int(csr.indptr[row])
    for change, why in ((slice(at, at + 2), "ascend"), (int(csr.indptr[row + 1]) - 1, "no vertex")):
        wrong = ids.copy()
        wrong[change] = wrong[change][::-1] if isinstance(change, slice) else csr.nrows
        damaged = Csr.from_arrays(csr.indptr, wrong, np.ones(1, bool), csr.nrows)
        with pytest.raises(Wrong, match=why):
            verify_rows.structure(damaged)


def test_every_row_is_looked_at_once(csr: Csr) -> None:
    for block, threads in ((1, 1), (50, 3), (1 << 17, 2)):
        seen, ids = np.zeros(csr.nrows, int), []

        def look(rows: Any, seen: Any = seen, ids: Any = ids) -> None:
            seen[rows.first + rows.there] += np.diff(np.append(rows.starts, rows.ids.size))
            rows.look_up(np.zeros(csr.nrows, np.intp))  # a table of the ids' own type leaves them unchanged
            ids.append(rows.look_up(np.arange(csr.nrows)).sum())

        assert verify_rows.over_rows(csr, look, block=block, threads=threads) == 1
        np.testing.assert_array_equal(seen, np.diff(csr.indptr))
        assert sum(ids) == csr.indices.read().sum(dtype=np.int64)


def test_a_check_that_is_stopped_says_how_much_it_saw(csr: Csr) -> None:
    assert verify_rows.over_rows(csr, lambda _: None, block=50, seconds=-1) == 0
    assert 0 < verify_rows.over_rows(csr, lambda _: time.sleep(0.02), block=50, threads=1, seconds=0.05) < 0.5


# Whole runs


@emulated
def test_a_run_on_the_emulated_device(tmp_path: Path, device: EmulatedDevice, capsys: Any) -> None:
    path = tmp_path / "r.json"
    options = ["--structure", "--gib", "0.00001", "--mean", "8", "--shifts", "20", "--sources", "2", "--copy-mib", "1"]
    assert beyond_the_card.main([*options, "--out", str(path)]) == 0, capsys.readouterr().out
    found = cases(path)
    assert all(case["verified"] == "yes" for case in found)
    run = {(case["setting"]["placement"], case["name"], case["setting"]["heads"]) for case in found}
    assert run == {
        *(("zerocopy", name, heads) for name in ("bfs", "cc") for heads in ("off", "on")),
        *(("zerocopy", name, "off") for name in ("pagerank", "spmv")),
        *(("hybrid", name, "off") for name in ("bfs", "cc", "pagerank")),
    }
    assert json.loads(path.read_text())["failures"] == []
    assert "bfs and cc: yes" in capsys.readouterr().out


def test_no_more_is_taken_than_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "available", lambda: 100 << 30)
    assert beyond_the_card.fitting(8, 150) == 8
    assert 70 < beyond_the_card.fitting(150, 150) < 90
    monkeypatch.setattr(machine, "available", lambda: None)
    assert beyond_the_card.fitting(150, 150) == 150


@emulated
def test_an_answer_that_changes_is_wrong(
    csr: Csr, level: Any, device: EmulatedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    bench = beyond_the_card.Bench(SimpleNamespace(save=lambda: None), SimpleNamespace(), said.append)
    kernel = SimpleNamespace(missing=-1)
    answers = [gb.Vector.from_dense(level[1] + more, missing_value=more - 1) for more in (0, 0, 1)]
    bench.compare("bfs", kernel, level[0], answers[0])
    bench.cases["bfs"] = beyond_the_card.Case("bfs", verified="not yet")
    with pytest.raises(Undecided, match="not yet"):
        bench.compare("bfs", kernel, level[0], answers[1])
    bench.judge(("bfs", "cc"), lambda *_: 1 / 0)  # components were not run: this must not be called
    bench.judge(("bfs",), lambda found: verify_rows.traversals(csr, found, level[0]))
    assert bench.cases["bfs"].verified == "yes"
    bench.compare("bfs", kernel, level[0], answers[1])
    with pytest.raises(Wrong, match="differs"):
        bench.compare("bfs", kernel, level[0], answers[2])
    bench.judge(("bfs",), lambda _: 0.62)
    assert bench.cases["bfs"].verified == "yes, as far as looked: 62% of the rows"
    bench.judge(("bfs",), lambda found: verify_rows.traversals(csr, found + 1, level[0]))
    assert bench.cases["bfs"].verified.startswith("WRONG: level 0")
    assert [text.split(":")[0] for text in said] == ["bfs"] * 3


@pytest.mark.parametrize("wrong", [["--gib", "0"], ["--kernels", "tc"], ["--placements", "disk"], ["--sources", "0"]])
def test_wrong_options_are_refused(wrong: list[str], capsys: Any) -> None:
    with pytest.raises(SystemExit) as left:
        beyond_the_card.parse(wrong)
    assert left.value.code == 2
    assert wrong[0] in capsys.readouterr().err


def test_without_a_gpu_it_says_why(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    if why_unavailable() is not None:
        pytest.skip("nothing to compare with")
    monkeypatch.setattr(beyond_the_card.cuda, "reason", lambda: "no GPU: none was built in")
    assert beyond_the_card.main([]) == 2
    assert "none was built in" in capsys.readouterr().out
