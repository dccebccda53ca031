"""Fixtures of the tests of conversions."""

from __future__ import annotations

import pytest

from sparsezc.io import _convert
from sparsezc.io.build import external_sort
from tests.io.convert.conversions import SPACES


@pytest.fixture(params=SPACES, ids=["many runs", "some runs", "one run"])
def space(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Limit the bytes for sorting: the smallest limit gives many sorted runs, merged in several rounds."""
    found = int(request.param)
    monkeypatch.setattr(_convert._Space, "left", lambda _: found)
    monkeypatch.setattr(external_sort, "_BLOCK", 4)
    return found
