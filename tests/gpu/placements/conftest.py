"""Fixtures that the placements' tests share."""

from __future__ import annotations

import pytest

from sparsezc.engines.gpu.placements import double_buffer, gather_rows, segment_cache, segments
from sparsezc.memory import budget


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make buffers and segments so small that a test's matrix takes many."""
    monkeypatch.setattr(budget, "LONG", 64)
    monkeypatch.setattr(segments, "BITS", 6)
    monkeypatch.setattr(double_buffer, "MOST", 1 << 12)
    monkeypatch.setattr(gather_rows, "_ROW_BYTES", 100)  # so that a buffer turn has few rows
    monkeypatch.setattr(segment_cache, "_LARGE", 0)
