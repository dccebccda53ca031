"""Local clusters by one launch (local_pagerank.cu), against those by arrays; and seeds that the host solves."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.core import engine_loops
from sparsezc.device import cuda
from sparsezc.engines.gpu.graphs import local_pagerank
from sparsezc.exceptions import ConvergenceFailure
from tests.algorithms.graphs import SMALL, both_ways, csr, kronecker, matrix
from tests.applications.test_local_clustering import check, solved_by
from tests.emulator.device import EmulatedDevice, why_unavailable


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the device solve small problems, too."""
    monkeypatch.setattr(local_pagerank, "_FEWEST", 1)


def launched(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return a list to which each later call appends True if the device solved it."""
    seen: list[bool] = []
    real = engine_loops.local_pagerank

    def call(*args: Any) -> Any:
        found = real(*args)
        seen.append(found is not None)
        return found

    monkeypatch.setattr(engine_loops, "local_pagerank", call)
    return seen


@pytest.mark.parametrize("together", [1, 5], ids=["at once", "one by one"])
@pytest.mark.parametrize("placement", ["device", "zerocopy"])
def test_it_finds_what_arrays_find(gpu: Any, placement: str, together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_pagerank, "_MANY", together)
    A, seeds = matrix(both_ways(kronecker(8, 2))), [1, 5, 40, 201]
    with solved_by("arrays"):  # separately: arrays step all seeds until the last has converged
        alone = [gb.applications.local_clustering(A, seed, 0.2, 2e-4, tol=1e-6) for seed in seeds]
    seen = launched(monkeypatch)
    found = gb.applications.local_clustering(A.to("gpu", placement=placement), seeds, 0.2, 2e-4, tol=1e-6)
    assert seen == [True] * (1 if together == 1 else 4)
    for row, (p, cluster, conductance) in enumerate(alone):
        assert p.nvals > 50
        assert found[0][row, :].new().to("cpu").isclose(p[0, :].new(), rel_tol=1e-9)
        assert found[1][row, :].new().to("cpu").isequal(cluster[0, :].new())
        assert found[2][row].get() == pytest.approx(conductance[0].get(), rel=1e-12)


def test_as_many_seeds_as_have_room_are_solved_at_once(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    A, seeds = matrix(both_ways(kronecker(6))).to("gpu"), np.array([0, 9, 3, 9, 17, 9, 20, 9, 33])[::2]
    host = gb.applications.local_clustering(A.to("cpu"), seeds, 0.2, 1e-3, tol=1e-6)
    monkeypatch.setattr(local_pagerank, "_MANY", 2)
    free = iter([2, 1, 1, 0])
    nbytes = local_pagerank._Capacity.within(A._store.in_stored_order()[0], 1e-3).nbytes(False)
    monkeypatch.setattr(local_pagerank.budget, "make_available", lambda _: next(free) * nbytes)
    seen = launched(monkeypatch)
    found = gb.applications.local_clustering(A, seeds, 0.2, 1e-3, tol=1e-6)
    assert seen == [True, True, True, False]  # two at once, one, one; for the last the space is too small
    for ours, theirs in zip(found, host, strict=True):
        assert ours.to("cpu").isclose(theirs, rel_tol=1e-9)


@pytest.mark.skipif(why_unavailable() is not None, reason=f"no emulator: {why_unavailable()}")
@pytest.mark.parametrize("many", [1, 9], ids=["by a block", "by all blocks"])
def test_no_more_than_the_solutions_rows_cross_the_link(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels read at most 1.5 times the ids of the solution's rows, in sectors of 32 bytes."""
    monkeypatch.setattr(local_pagerank, "_MANY", many)
    device = EmulatedDevice("lockstep", counting=True)
    before = cuda.use(device)
    try:
        A = gb.io.read("kron:11", placement="zerocopy")
        degree, seen = np.diff(A._to_csr().indptr), launched(monkeypatch)
        gb.applications.local_clustering(A, 3, rho=1e-4)
        device.reset()
        found = gb.applications.local_clustering(A, 3, rho=1e-4)[0].to_coo()[1].astype(np.int64)
        read = device.total(0)
    finally:
        cuda.use(before)
    assert seen == [True] * 2
    assert read.useful_bytes == 4 * int(degree[found].sum()) > 0
    assert 32 * read.sectors <= 1.5 * read.useful_bytes


def test_optimality(gpu: Any) -> None:
    with gb.config.set(engine="gpu"):
        check(both_ways(kronecker(6)), [0, 3, 17], 0.1, 1e-3)


def test_what_does_not_settle_says_how_far_it_came(gpu: Any) -> None:
    A = matrix(SMALL["two cliques"]).to("gpu")
    for most, far in ((2, "1.42e"), (20, "142")):
        with pytest.raises(
            ConvergenceFailure, match=rf"max_iter = {most} iterations the gradient is still {re.escape(far)}"
        ):
            gb.applications.local_clustering(A, 0, tol=1e-9, max_iter=most)


def test_of_several_seeds_the_farthest_is_told(gpu: Any) -> None:
    A, found = matrix(both_ways(kronecker(6))).to("gpu"), []
    for seeds in ([0], [17], [0, 17], [17, 0]):
        with pytest.raises(ConvergenceFailure) as failed:
            gb.applications.local_clustering(A, seeds, 0.1, 1e-3, tol=1e-9, max_iter=4)
        found.append(float(str(failed.value).split("still ")[1].split()[0]))
    assert found[0] != found[1]
    assert found[2] == found[3] == max(found[:2])


def test_a_vertex_without_edges_has_no_cluster(gpu: Any) -> None:
    A = matrix(both_ways(csr(4, [(0, 1), (0, 2)]))).to("gpu")
    assert [x.nvals for x in gb.applications.local_clustering(A, [3, 0], rho=0.6)] == [0, 0, 0]


def test_the_host_solves_for_what_is_small_or_finer(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    A, seen = matrix(both_ways(kronecker(6))).to("gpu"), launched(monkeypatch)
    p = gb.applications.local_clustering(A, 3, 0.2, 1e-3, tol=1e-8)[0]
    fine = gb.applications.local_clustering(A, 3, 0.2, 1e-3, tol=1e-13)[0]
    monkeypatch.setattr(local_pagerank, "_FEWEST", 1 << 17)
    host = gb.applications.local_clustering(A, 3, 0.2, 1e-3, tol=1e-8)[0]
    assert seen == [True, False, False]
    assert p.isclose(host, rel_tol=1e-9)
    assert p.isclose(fine, rel_tol=1e-5)
