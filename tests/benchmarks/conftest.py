"""The emulated device, for benchmarks that ask for the current one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import sparsezc.device.cuda
from tests.emulator.device import EmulatedDevice


@pytest.fixture
def device(request: pytest.FixtureRequest) -> Iterator[EmulatedDevice]:
    """The emulated device in the GPU's place; in lockstep and counting where a test asks for that."""
    order = getattr(request, "param", "forward")
    made = EmulatedDevice(order, counting=order == "lockstep", multiprocessors=1)
    before = sparsezc.device.cuda.use(made)
    yield made
    sparsezc.device.cuda.use(before)
