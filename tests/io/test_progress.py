"""A bar shows on a terminal or where it is asked for, and only on work that takes long."""

from __future__ import annotations

from pathlib import Path

import pytest

import sparsezc as gb
from sparsezc.io import progress
from sparsezc.io.writer import convert
from tests.io.graphs import load


def test_nothing_is_shown_by_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    convert("kron:8", tmp_path / "a.txt.gz")
    load(tmp_path / "a.txt.gz")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["a.txt", "a.npz", "a.sg"])
def test_a_bar_counts_the_bytes_of_slow_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    with gb.config.set(progress=True):
        convert("urand:13", tmp_path / name)
        written = capsys.readouterr().err
        load(tmp_path / name)
        read = capsys.readouterr().err
    assert "making urand" in written
    assert f"reading {name}" in read
    monkeypatch.setattr(progress, "_PATIENCE", 60.0)
    with gb.config.set(progress=True):
        load(tmp_path / name)
    assert capsys.readouterr().err == ""


def test_a_bar_can_be_forbidden(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with gb.config.set(progress=False):
        convert("urand:12", tmp_path / "a.txt")
    assert capsys.readouterr().err == ""
