"""The engines that the operations are tested on: each test that takes `engine` runs once for each."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

from sparsezc.device import cuda
from sparsezc.errors import PerformanceWarning
from tests.ops.judge import ENGINES, Engine


def _marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.gpu] * name.startswith("gpu") + [pytest.mark.slow] * name.endswith("-full")


@pytest.fixture(params=[pytest.param(name, marks=_marks(name)) for name in ENGINES])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Where operands are put before a statement runs."""
    under_test = ENGINES[request.param]
    before = cuda.use(request.getfixturevalue("emulated")) if under_test.name.startswith("emulated") else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PerformanceWarning)  # what falls back is compared all the same
            yield under_test
    finally:
        if before is not None or under_test.name.startswith("emulated"):
            cuda.use(before)
