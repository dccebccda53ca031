"""The engines that the operations are tested on: each test that takes `engine` runs once for each."""

from __future__ import annotations

import pytest

from tests.ops.judge import ENGINES, Engine


@pytest.fixture(params=list(ENGINES), ids=str)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Where operands are put before a statement runs."""
    return ENGINES[request.param]
