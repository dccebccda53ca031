"""``sparsezc mpirun`` where it cannot run: one line with the reason."""

from __future__ import annotations

import pytest

from sparsezc.cli import main, mpirun


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-n", "0", "a.py"], "sparsezc: mpirun: -n is 0; at least 1 is needed"),
        (["a.py"], "sparsezc: mpirun: mpi4py is not installed; pip install 'sparsezc[mpi]' brings it and an MPI"),
    ],
)
def test_what_cannot_run_is_one_line(
    arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mpirun, "find_spec", lambda _: None)
    assert main(["mpirun", *arguments]) == 1
    assert capsys.readouterr().err == f"{said}\n"


def test_a_program_that_is_missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(mpirun, "find_spec", lambda _: object())
    assert main(["mpirun", "nowhere.py"]) == 1
    assert capsys.readouterr().err == "sparsezc: mpirun: there is no file nowhere.py\n"
