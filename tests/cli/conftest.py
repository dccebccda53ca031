"""Fixtures of the command line's tests."""

from __future__ import annotations

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.cli import run as cli_run
from sparsezc.cli.table import BY_NAME
from tests.cli.commands import EDGES


@pytest.fixture(autouse=True)
def _settings_end_with_the_test():
    with gb.config.set(engine="auto", placement="auto"):
        yield


@pytest.fixture
def edges(tmp_path):
    path = tmp_path / "small.txt"
    path.write_text(EDGES)
    return str(path)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Make a folder with tables and a graph of five vertices (0 - 1 - 2 - 3 and 0 - 4) the current one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.tsv").write_text("0\t1\t2\n1\t2\t3\n2\t3\t4\n0\t4\t1\n")
    (tmp_path / "places.csv").write_text("latitude,longitude\n10,20\n,\n12,22\n,\n,\n")
    np.save(tmp_path / "y.npy", np.array([1.0, 1.1, 5.0, 5.1, 0.9]))
    np.save(tmp_path / "x.features.npy", np.arange(10.0).reshape(5, 2))
    np.save(tmp_path / "w.npy", np.tile(np.eye(2), (2, 1)))
    np.save(tmp_path / "p.npy", np.array([1.0, 5.0]))
    (tmp_path / "p.tsv").write_text("0\t1\t3\n")
    (tmp_path / "pairs.csv").write_text("0,0\n3,3\n")
    return tmp_path


@pytest.fixture
def drawn_as_the_table_says(monkeypatch):
    """Check in each run that an answer has a picture for --plot if and only if the table of commands says so."""
    report = cli_run._report

    def reported(arguments, found, shown, *rest):
        assert (shown.picture is not None) == BY_NAME[arguments.name].pictured
        return report(arguments, found, shown, *rest)

    monkeypatch.setattr(cli_run, "_report", reported)
