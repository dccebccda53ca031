"""New bounds from measured times make costs even, and rows move only where the move pays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsezc.engines.distributed.model import rebalance
from sparsezc.engines.distributed.model.rebalance import Balance, imbalance, moved, new_bounds, predicted
from sparsezc.engines.distributed.parts.partition import cut_rows

N = 1 << 14
AT = np.arange(0, N + 1, 64)


def machine(seed: int, ranks: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the work before each position, bounds that divide it evenly, and each rank's seconds a unit of work."""
    rng = np.random.default_rng(seed)
    indptr = np.concatenate([[0], np.cumsum(rng.zipf(1.8, N).clip(max=3000))])
    work = (indptr + 4 * np.arange(N + 1)).astype(float)
    return work[AT], cut_rows(indptr, ranks), rng.uniform(0.5, 3.0, ranks) * 1e-6


def measured(work: np.ndarray, bounds: np.ndarray, speed: np.ndarray) -> np.ndarray:
    return np.diff(np.interp(bounds, AT, work)) * speed


@pytest.mark.parametrize("ranks", [2, 3, 8])
@pytest.mark.parametrize("seed", range(4))
def test_ranks_of_unequal_speed_become_even(seed: int, ranks: int) -> None:
    work, bounds, speed = machine(seed, ranks)
    balance, times = Balance(work, AT, bounds), []
    for _ in range(40):
        times.append(measured(work, balance.bounds, speed))
        balance.after(times[-1], 100)
    widest = np.diff(work).max() * speed.max()  # one step of 64 rows is never divided
    assert times[-1].max() <= max(rebalance.LIMIT * times[-1].mean(), times[-1].mean() + widest)
    assert times[-1].max() <= times[0].max()


def test_a_part_of_the_graph_that_costs_more_is_divided() -> None:
    work = AT * 10.0
    bounds, hot = np.array([0, 4096, 8192, 12288, N]), (AT[:-1] < 2048) * 4 + 1

    def seconds(cuts: np.ndarray) -> np.ndarray:
        return np.diff(np.interp(cuts, AT, np.concatenate([[0], np.cumsum(np.diff(work) * hot)])))

    balance = Balance(work, AT, bounds)
    for _ in range(60):
        balance.after(seconds(balance.bounds), 1000)
    assert imbalance(seconds(bounds)) > 1.9
    assert imbalance(seconds(balance.bounds)) <= rebalance.LIMIT


def test_one_slow_iteration_moves_nothing() -> None:
    balance = Balance(AT * 1.0, AT, np.array([0, 8192, N]))
    even, slow = np.array([1.0, 1.0]), np.array([1.0, 2.0])
    assert all(balance.after(times, 10**6) is None for times in (slow, slow, even, slow, even, slow, slow, even))


def test_moves_that_cost_more_than_they_gain_are_not_made() -> None:
    for cost, left, pays in ((0.0, 1, True), (1e-3, 1, False), (1e-3, 100, True)):
        balance = Balance(AT * 1.0, AT, np.array([0, 8192, N]), row_seconds=cost)
        found = [balance.after(np.array([1.0, 2.0]), left) for _ in range(3)][-1]
        assert (found is not None) == pays


def test_bounds_of_equal_ranks_stay() -> None:
    bounds = np.array([0, 4096, 8192, 12288, N])
    np.testing.assert_array_equal(new_bounds(AT * 3.0, AT, bounds, np.ones(4)), bounds)


def test_positions_must_cover_the_rows() -> None:
    with pytest.raises(ValueError, match="0 to 16384 are needed"):
        new_bounds(AT[:-1] * 1.0, AT[:-1], np.array([0, N]), np.ones(1))


@given(
    st.lists(st.integers(0, N // 64), min_size=1, max_size=7),
    st.lists(st.floats(0, 1e3), min_size=8, max_size=8),
    st.integers(0, 2**32 - 1),
)
def test_new_bounds_are_bounds(cuts: list[int], times: list[float], seed: int) -> None:
    bounds = np.array([0, *sorted(cut * 64 for cut in cuts), N])
    given_times = np.array(times[: bounds.size - 1])
    work = np.concatenate([[0], np.cumsum(np.random.default_rng(seed).integers(0, 99, AT.size - 1))]).astype(float)
    new = new_bounds(work, AT, bounds, given_times)
    assert new[0] == 0
    assert new[-1] == N
    assert new.size == bounds.size
    assert (np.diff(new) >= 0).all()
    assert (new % 64 == 0).all()
    assert (moved(bounds, new) >= 0).all()
    total = given_times[np.diff(np.interp(bounds, AT, work)) > 0].sum()
    assert predicted(work, AT, bounds, given_times, new).sum() == pytest.approx(total, abs=1e-6)
