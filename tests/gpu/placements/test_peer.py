"""Placement ``peer``: arrays whose stripes are in the memory of several cards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.device.striped_memory import STRIPE, Range, owners
from sparsezc.exceptions import OutOfMemory
from sparsezc.memory import allocate, budget
from sparsezc.memory.placement import RECORDS


def test_stripes_are_taken_where_most_memory_is_left() -> None:
    assert owners(5 * STRIPE - 1, [2 * STRIPE, 4 * STRIPE, STRIPE - 1]) == [1, 1, 0, 1, 0]
    assert owners(0, [0]) == []
    with pytest.raises(
        OutOfMemory, match=r"134,217,729 bytes over 2 cards were requested; their free bytes are \[67108"
    ):
        owners(2 * STRIPE + 1, [STRIPE, STRIPE])


def test_products_read_it_and_results_go_to_the_card(gpu: Any) -> None:
    A = gb.io.read("kron:7", weights="hash:1-9", placement="peer")
    B = A.to("cpu")
    assert A._store.placement == "peer"
    assert gb.algorithms.bfs(A, 0).isequal(gb.algorithms.bfs(B, 0).to("gpu"))
    assert gb.algorithms.sssp(A, 0).isequal(gb.algorithms.sssp(B, 0).to("gpu"))
    C = A.ewise_mult(A, "plus").new()
    assert C.isequal(B.ewise_mult(B, "plus").new())
    assert C._store.placement == "device"


def test_the_budget_counts_a_share_of_each_card(gpu: Any) -> None:
    cards = len(cuda.current().cards())
    device, peer = (budget.needs(RECORDS[name], 10**6, 100, 10**5) for name in ("device", "peer"))
    assert device[0] - peer[0] == 10**6 - -(-(10**6) // cards)
    assert peer[1] == 0


def test_more_than_all_cards_have_is_refused(gpu: Any) -> None:
    space = sum(cuda.current().cards())
    with pytest.raises(OutOfMemory, match="their free bytes are"):
        allocate("peer", space + 1, np.uint8)


@pytest.mark.gpu
def test_stripes_of_a_card_are_one_array() -> None:
    """Several stripes have consecutive addresses; a kernel reads what another kernel wrote there."""
    gpu = cuda.current()
    free = gpu.memory()[0]
    buffer = allocate("peer", 3 * STRIPE // 8 + 5, np.uint64)
    buffer.array[...] = gpu.xp.arange(buffer.count, dtype=np.uint64)
    for start in (0, STRIPE // 8 - 3, 2 * STRIPE // 8 - 3, buffer.count - 5):
        np.testing.assert_array_equal(buffer.read(start, start + 5), np.arange(start, start + 5))
    assert int(buffer.array.sum()) == buffer.count * (buffer.count - 1) // 2
    del buffer
    gpu.synchronize()
    assert gpu.memory()[0] >= free - STRIPE


@pytest.mark.gpu
def test_a_range_of_no_card_is_refused() -> None:
    with pytest.raises(gb.exceptions.GraphblasException, match="cuMem"):
        Range([10**4], 0)
