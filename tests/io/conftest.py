"""What readers' tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sparsezc import device
from tests.io.card import Card


@pytest.fixture
def card() -> Iterator[Card]:
    made = Card()
    before = device.use(made)
    try:
        yield made
    finally:
        device.use(before)
