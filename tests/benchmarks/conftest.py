"""The emulated device, for benchmarks that ask for the current one."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

import sparsezc.device.cuda
from benchmarks.harness import copyrate
from tests.emulator.device import EmulatedDevice


@pytest.fixture(autouse=True)
def little_to_collect() -> None:
    """Freeze the objects of earlier tests: collecting them between a benchmark's trials takes 0.1 s."""
    gc.freeze()


@pytest.fixture(autouse=True)
def small_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure copies of 1 MiB where a benchmark has no option for their size."""
    monkeypatch.setattr(copyrate, "SIZE", 1 << 20)


@pytest.fixture
def device(request: pytest.FixtureRequest) -> Iterator[EmulatedDevice]:
    """Put the emulated device in the GPU's place: in lockstep, counting requests, if the parameter is "lockstep"."""
    order = getattr(request, "param", "forward")
    made = EmulatedDevice(order, counting=order == "lockstep", multiprocessors=1)
    before = sparsezc.device.cuda.use(made)
    yield made
    sparsezc.device.cuda.use(before)
