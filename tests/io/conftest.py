"""Fixtures that the readers' tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sparsezc.device import cuda
from tests.io.card import Card


@pytest.fixture
def card() -> Iterator[Card]:
    made = Card()
    before = cuda.use(made)
    try:
        yield made
    finally:
        cuda.use(before)
