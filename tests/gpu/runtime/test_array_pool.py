"""Arrays freed by a recorded round's vectors are reused by a later round's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.device import cuda
from sparsezc.engines.gpu.runtime.array_pool import ArrayPool, DeviceScalar
from sparsezc.engines.gpu.runtime.engine_state import ENGINE_STATE
from sparsezc.engines.gpu.storage.vector_store import Out, VectorStore
from sparsezc.semirings.types.datatypes import FP64, INT64
from tests.emulator.rehearsal import Rehearsal

LEAST, MOST = gb.monoid.min["FP64"], gb.monoid.max["FP64"]


@pytest.fixture(autouse=True)
def device() -> Iterator[Any]:
    """Put a rehearsal in use: its kernels do nothing, and Python alone decides which vector has which array."""
    before = cuda.use(Rehearsal())
    yield
    cuda.use(before)


def number() -> DeviceScalar:
    return DeviceScalar(np.zeros(1, np.int64), INT64)


def test_an_array_is_taken_after_the_round_that_it_was_given_in() -> None:
    pool, store = ArrayPool(), VectorStore(FP64, 40)
    with ENGINE_STATE.served_by(pool):
        store.make()
        values, bits = store.values, store.bits
        store.make()
        assert store.values is not values  # this round's launches may still read the array
        pool.next_round(number())
        store.make()
        assert store.values is values
        assert store.bits is bits
    assert ENGINE_STATE.pool is None


def test_nothing_is_kept_where_no_recording_is() -> None:
    pool, store = ArrayPool(), VectorStore(FP64, 40)
    store.make()
    values = store.values
    store.make()
    with ENGINE_STATE.served_by(pool):
        pool.next_round(number())
        assert pool.take(40, FP64, None) is None
    assert store.values is not values


def test_arrays_that_hold_the_neutral_value_are_preferred_and_others_filled() -> None:
    pool, found = ArrayPool(), {}
    with ENGINE_STATE.served_by(pool):
        for neutral in (None, LEAST, MOST):
            store = VectorStore(FP64, 40)
            store.make(neutral)
            found[neutral] = store.values
            store.make(neutral)
        pool.next_round(number())
        assert pool.take(40, FP64, MOST)[0] is found[MOST]
        assert pool.take(40, INT64, MOST) is None
        assert pool.take(41, FP64, MOST) is None
        found[None].fill(7)
        assert pool.take(40, FP64, MOST)[0] is found[None]
        assert np.isnan(found[None]).all()  # a maximum starts from NaN


def test_a_vector_that_is_written_in_place_holds_no_neutral_value_any_more() -> None:
    pool = ArrayPool()
    with ENGINE_STATE.served_by(pool):
        store, other = VectorStore(FP64, 40), VectorStore(FP64, 40)
        store.make(LEAST)
        other.adopt(store)
        assert other.neutral is LEAST
        Out(other, apart=False)
        assert other.neutral is None


def test_a_recording_that_fails_serves_no_more() -> None:
    def fail() -> None:
        with ENGINE_STATE.served_by(ArrayPool()):
            raise KeyError

    pool = ArrayPool()
    with ENGINE_STATE.served_by(pool):
        with pytest.raises(KeyError):
            fail()
        assert ENGINE_STATE.pool is pool
    assert ENGINE_STATE.pool is None
