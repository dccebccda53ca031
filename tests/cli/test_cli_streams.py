"""Closed, full and narrow streams: a one-line message and an exit status, never a traceback."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sparsezc.cli import main
from sparsezc.exceptions import PerformanceWarning
from sparsezc.terminal import progress
from sparsezc.terminal.printable import MESSAGE_LIMIT, one_line, printable

ROOT = Path(__file__).resolve().parents[2]
ESCAPES = "\x1b[31mred\x1b]0;title\x07\x9b1m\u202etxt\r\n\x7f"
full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")


def started(arguments: list[str], redirected: str, *, interpreter: tuple[str, ...] = ()) -> tuple[int, str, str]:
    """Run a command whose streams the shell redirects; return its exit status, stdout and stderr."""
    command = ["sh", "-c", f'exec "$@" {redirected}', "sh", sys.executable, *interpreter, "-m", "sparsezc", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


@full
@pytest.mark.parametrize(
    ("arguments", "interpreter"),
    [
        (["--version"], ()),
        (["bfs", "--help"], ("-u",)),
        (["info", "star:3"], ()),
        (["cc", "star:3", "--out", "-"], ("-u",)),
    ],
)
def test_a_full_output_is_one_line(arguments: list[str], interpreter: tuple[str, ...]) -> None:
    expected = 1, "", "sparsezc: standard output cannot be written: No space left on device\n"
    assert started(arguments, ">/dev/full", interpreter=interpreter) == expected


@full
@pytest.mark.parametrize(
    ("arguments", "redirected", "code"),
    [
        (["--version"], "2>/dev/full", 0),
        (["fly"], "2>/dev/full", 2),
        (["bfs", "missing.txt"], "2>/dev/full", 1),
        (["fly"], "2>&-", 2),
        (["bfs", "missing.txt"], "<&- >&- 2>&-", 1),
    ],
)
def test_the_exit_status_holds_where_nothing_can_be_said(arguments: list[str], redirected: str, code: int) -> None:
    found = started(arguments, redirected)
    assert found[0] == code
    assert found[2] == ""


def test_an_answer_needs_an_output_that_is_open() -> None:
    closed = 1, "", "sparsezc: standard output is closed; --out - needs one that is open\n"
    assert started(["bfs", "star:3", "--out", "-"], ">&-") == closed
    assert started(["--version"], ">&-") == (0, "", "")


def test_a_graph_from_standard_input_needs_one_that_is_open() -> None:
    closed = 1, "", "sparsezc: standard input is closed; - needs one that is open\n"
    assert started(["cc", "-"], "<&-") == closed


def test_no_file_becomes_a_standard_stream(tmp_path: Path) -> None:
    """With standard streams closed no file gets a stream's descriptor, to which libraries may print."""
    target = tmp_path / "a.mtx"
    assert started(["convert", "path:3", str(target)], "<&- >&- 2>&-")[0] == 0
    assert target.read_text().startswith("%%MatrixMarket")


def test_an_output_of_the_caller_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    closed = (tmp_path / "closed").open("w")
    closed.close()
    with contextlib.redirect_stdout(closed):
        assert main(["info", "star:3"]) == 1
    assert capsys.readouterr().err == "sparsezc: standard output cannot be written: I/O operation on closed file\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["bfs", "{name}"],
        ["info", "{folder}/{name}.gr"],
        ["info", "{folder}/{name}.txt"],
        ["bfs", "star:3", "--out", "{folder}/{name}"],
        ["bfs", "star:3", "--weights", "{name}"],
        ["convert", "star:3", "{folder}/{name}"],
        ["convert", "star:3", "{folder}/{name}/a.mtx"],
    ],
)
def test_errors_have_no_escapes(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    for suffix in (".gr", ".txt"):
        (tmp_path / f"{ESCAPES}{suffix}").write_text(f"0 {ESCAPES}\n")
    assert main([argument.format(name=ESCAPES, folder=tmp_path) for argument in arguments]) == 1
    err = capsys.readouterr().err
    assert err.startswith("sparsezc: ")
    assert err.endswith("\n")
    assert err[:-1].isprintable()
    assert r"\x1b[31mred" in err


def test_wrong_usage_has_no_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["bfs", "star:3", f"--{ESCAPES}"])
    assert stop.value.code == 2
    err = capsys.readouterr().err
    assert err.replace("\n", "").isprintable()
    assert err.splitlines()[-1].endswith(printable(ESCAPES.rstrip()))


def test_reports_have_no_escapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"{ESCAPES}.txt"
    path.write_text("0 1\n")
    for arguments in (["info"], ["bfs"], ["bfs", "--json"], ["bfs", "--out", str(tmp_path / f"{ESCAPES}.csv")]):
        assert main([arguments[0], str(path), *arguments[1:]]) == 0
        out, err = capsys.readouterr()
        assert all(line.isprintable() for line in out.split("\n"))
        assert err == ""


def test_bars_have_no_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    bar = progress._bar(f"reading {ESCAPES}", total=3)
    bar.close()
    assert ESCAPES not in capsys.readouterr().err
    assert bar.desc.startswith(r"reading \x1b[31m")


def test_warnings_have_no_escapes(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import warnings

    monkeypatch.setattr("sparsezc.cli.doctor.processors", lambda: warnings.warn(ESCAPES, PerformanceWarning, 1) or 2)
    assert main(["doctor", "--quick"]) == 0
    assert capsys.readouterr().err[:-1].isprintable()


@pytest.mark.parametrize("arguments", [["bfs", "x" * 16_000], ["bfs", "star:3", "--weights", "f8,(" * 4_000]])
def test_messages_are_bounded(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert main(arguments) == 1
    err = capsys.readouterr().err
    assert len(err) <= MESSAGE_LIMIT + 50
    assert "characters left out" in err
    with pytest.raises(SystemExit):
        main(["bfs", "star:3", "--engine", "y" * 16_000])
    assert len(capsys.readouterr().err.splitlines()[-1]) <= MESSAGE_LIMIT + 50


def test_a_message_keeps_its_beginning_and_end() -> None:
    text = f"begin {'x' * 5000} end"
    assert one_line(text).startswith("begin x")
    assert one_line(text).endswith("x end")
    assert one_line("two\nlines\n") == r"two\nlines"
