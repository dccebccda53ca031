"""The devices that the GPU engine itself is tested on: the emulated one here, a real one where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sparsezc import device


@pytest.fixture(params=["emulated", pytest.param("gpu", marks=pytest.mark.gpu)], ids=str)
def gpu(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The device in use while a test runs."""
    if request.param == "gpu":
        yield device.current()
        return
    emulated = request.getfixturevalue("emulated")
    before = device.use(emulated)
    try:
        yield emulated
    finally:
        device.use(before)
