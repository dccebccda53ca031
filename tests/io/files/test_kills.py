"""Tests of the campaign of kills: it finds writers with planted errors."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparsezc.io.files import atomic_write
from sparsezc.io.files.atomic_write import Output
from tests.campaigns import kills
from tests.campaigns.kills import Case

pytest.importorskip("h5py", reason="h5py is not installed")


class Backwards(np.random.Generator):
    """Generator that draws each number of a range once, the largest first, as a writer renames at its end."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(1))

    def integers(self, low: int, high: int, _count: int) -> Any:  # type: ignore[override]
        return np.arange(high - 1, low - 1, -1)


def test_renames_one_by_one_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def one_by_one(self: Output) -> None:
        for each in self._waiting:
            if not each.only_over_old or each.final.exists():
                each.temporary.replace(each.final)

    monkeypatch.setattr(Output, "_switch", one_by_one)
    case = Case("write .bel", tmp_path / "a.bel", 0, 1)
    with pytest.raises(AssertionError, match=r"write \.bel: the target is neither old nor new"):
        case.step(Backwards())


def test_a_writer_that_writes_in_place_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Output, "open", lambda self, path=None: (path or self.path).open("wb"))
    case = Case("write .txt", tmp_path / "a.txt", 0, 1)
    with pytest.raises(AssertionError, match="the target is neither old nor new"):
        case.short(np.random.default_rng(1))


def test_litter_and_failing_writes_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("write .txt", tmp_path / "a.txt", 0, 1)
    kills._undisturbed("write .txt", 1)
    real: Any = shutil.rmtree
    monkeypatch.setattr(atomic_write.ScratchFolder, "remove", lambda self: None)
    with pytest.raises(AssertionError, match="1 unfinished folders are left"):
        case.write_undisturbed()
    monkeypatch.undo()
    real(tmp_path, ignore_errors=True)
    with pytest.raises(AssertionError, match="the write after a kill ended with 3"):
        case.write_undisturbed()  # the target's folder does not exist
