"""docs/coverage.md equals the output of `python -m tests.coverage`, and each absent name has a reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sparsezc.device import cuda
from tests.coverage import page
from tests.emulator.rehearsal import rehearsing

STALE = "docs/coverage.md is stale: run python -m tests.coverage --update"


@pytest.fixture(params=["emulated", pytest.param("gpu", marks=pytest.mark.gpu)], ids=str)
def gpu(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Put in use the device on which statements run."""
    before = cuda.use(request.getfixturevalue("emulated")) if request.param == "emulated" else None
    yield cuda.current()
    if request.param == "emulated":
        cuda.use(before)


def test_the_classes(gpu: Any) -> None:
    """Each public name's statement gives the same on python-graphblas and on both engines."""
    found = page.classes()
    if not rehearsing():
        assert found in page.PAGE.read_text(), STALE


@pytest.mark.slow
def test_the_operators() -> None:
    assert page.algebra() in page.PAGE.read_text(), STALE


def test_the_other_namespaces() -> None:
    assert page.others_missing() == set(page.OTHERS_ABSENT)
    assert page.others() in page.PAGE.read_text(), STALE


def test_the_page_has_nothing_else() -> None:
    text = page.PAGE.read_text()
    assert text.startswith(page.HEAD)
    assert text.endswith(page.others() + page.SUITE)
