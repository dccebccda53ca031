"""Each campaign runs for about a second without findings; a broken campaign fails here too."""

from __future__ import annotations

import pytest

from tests.campaigns import frame

SECONDS = 1.0


@pytest.mark.parametrize("name", frame.names())
def test_a_few_seconds_of_each(name: str) -> None:
    result = frame.run(name, 20, seconds=SECONDS)
    assert not result.failures, result.report()
    assert result.trials, "no trial was made"
    assert sum(result.tried.values())
