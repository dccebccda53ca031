"""Tables of reports, and parsing of memory sizes."""

from __future__ import annotations

import pytest

import sparsezc as gb
from sparsezc.cli import main
from sparsezc.cli.answers.report import Table, cut, rate, seconds, size
from sparsezc.config import parse_bytes
from sparsezc.exceptions import InvalidValue
from tests.cli.commands import run


def test_tables_fit_the_terminal():
    table = Table(("name", "count"), [("a" * 50, 1), ("b", 23456)], title="a title that is much too long for this")
    assert [len(line) <= 30 for line in table.text(30).splitlines()] == [True] * 4
    assert cut("abcdefgh", 6) == "abc..."
    assert table.text(80).splitlines()[3].endswith("23,456")


def test_units():
    assert [seconds(t) for t in (0, 1e-6, 0.25, 59.96, 4321)] == ["0 ms", "0.001 ms", "250 ms", "60 s", "4321 s"]
    assert [size(b) for b in (0, 1023, 2**20, 3 * 2**30)] == ["0 B", "1023 B", "1 MiB", "3 GiB"]
    assert [rate(e, 1) for e in (5, 2e3, 999_600, 3e10)] == ["5 edges/s", "2 k edges/s", "1 M edges/s", "30 G edges/s"]


@pytest.mark.parametrize("text", ["0.5", "0", "1.5", "-1", "abc", "0.2 B", "nan", "inf", ""])
def test_no_bytes(text):
    with pytest.raises(InvalidValue, match="no number of bytes"):
        parse_bytes(text)


@pytest.mark.parametrize("key", ["budget", "host_budget", "head_budget"])
def test_shares_may_be_text(key):
    with gb.config.set(**{key: "0.5"}):
        assert gb.config.get(key) == 0.5
    with gb.config.set(**{key: "16GB"}):
        assert gb.config.get(key) == "16GB"
    for wrong in ("1.5", "0", "-0.5"):
        with pytest.raises(InvalidValue, match=f"config: {key}='{wrong}' is not allowed"):
            gb.config.set(**{key: wrong})


def test_a_memory_that_is_no_number_of_bytes_is_wrong_usage(capsys, tmp_path):
    with pytest.raises(SystemExit) as stop:
        main(["convert", "path:5", str(tmp_path / "a.h5"), "--memory", "much"])
    assert stop.value.code == 2
    assert "error: argument --memory: 'much' is no number of bytes" in capsys.readouterr().err


def test_budgets_are_sizes_or_shares(capsys):
    for name in ("--host-budget", "--budget"):
        code, _, err = run(capsys, "bfs", "kron:8", name, "0.5")
        assert (code, err) == (0, "")
        for wrong in ("1.5", "-1", "0", "many"):
            with pytest.raises(SystemExit) as stop:
                main(["bfs", "kron:8", f"{name}={wrong}"])
            assert stop.value.code == 2
            said = (
                f"error: argument {name}: {wrong!r} is no number of bytes; write for example '16GB' or '512MiB', or a"
            )
            assert said in capsys.readouterr().err
