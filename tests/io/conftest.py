"""Fixtures that the readers' tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sparsezc.device import cuda
from sparsezc.io.hdf5 import foreign
from tests.io.fake_gpu import Card
from tests.io.hdf5 import forked


@pytest.fixture
def card() -> Iterator[Card]:
    made = Card()
    before = cuda.use(made)
    try:
        yield made
    finally:
        cuda.use(before)


@pytest.fixture(scope="session")
def forks() -> Iterator[None]:
    with forked.forking():
        yield


@pytest.fixture(autouse=True)
def files_of_others_are_opened_by_forks(forks: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open other programs' files in forks of a process that has imported h5py."""
    monkeypatch.setattr(foreign, "_start", forked.starting(foreign))
