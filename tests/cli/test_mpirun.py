"""``sparsezc mpirun`` without MPI or without the program's file: one line with the reason."""

from __future__ import annotations

import pytest

from sparsezc.cli import main, mpirun


def test_an_mpi_that_is_missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(mpirun, "find_spec", lambda _: None)
    assert main(["mpirun", "a.py"]) == 1
    said = "mpirun: mpi4py is not installed; pip install 'sparsezc[mpi]' brings it and an MPI"
    assert capsys.readouterr().err == f"sparsezc: {said}\n"


def test_a_program_that_is_missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(mpirun, "find_spec", lambda _: object())
    assert main(["mpirun", "nowhere.py"]) == 1
    assert capsys.readouterr().err == "sparsezc: mpirun: there is no file nowhere.py\n"
