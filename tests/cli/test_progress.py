"""A progress bar appears on a terminal or if requested, and only for long work."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sparsezc as gb
from sparsezc.cli import main
from sparsezc.device import cuda
from sparsezc.io._write import convert
from sparsezc.terminal import progress
from sparsezc.terminal.progress import bar as counted
from sparsezc.terminal.progress import task, working
from tests.io.graphs import load
from tests.io.read.test_placements import Card


class Clock:
    """Time that passes only when it is told to, and a little with every look."""

    def __init__(self, step: float = 0.0) -> None:
        self.now, self.step = 100.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def pass_time(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    """Let our clock and that of tqdm's bars be this one."""
    monkeypatch.setattr(progress, "_clock", clock)
    monkeypatch.setattr("tqdm.std.time", clock)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    pass_time(monkeypatch, made)
    return made


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every look at the clock takes three seconds, and bars are asked for."""
    pass_time(monkeypatch, Clock(3.0))
    with gb.config.set(progress=True):
        yield


def test_nothing_is_shown_by_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    convert("kron:8", tmp_path / "a.txt.gz")
    load(tmp_path / "a.txt.gz")
    assert capsys.readouterr() == ("", "")


def test_nothing_is_shown_where_there_is_no_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pass_time(monkeypatch, Clock(3.0))
    assert main(["convert", "kron:8", str(tmp_path / "a.graph")]) == 0
    assert capsys.readouterr().err == ""


def test_a_terminal_has_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    pass_time(monkeypatch, Clock(3.0))
    monkeypatch.setattr(sys, "stderr", terminal)
    load("urand:10")
    assert "sorting edges" in terminal.getvalue()
    with gb.config.set(progress=False):
        before = terminal.getvalue()
        load("urand:10")
    assert terminal.getvalue() == before


def test_counted_work_shows_after_two_seconds_if_some_is_left(clock: Clock, capsys: Any) -> None:
    with gb.config.set(progress=True):
        bar = counted(10, "reading")
        clock.now += 1.9
        bar.update(5)
        assert capsys.readouterr().err == ""
        clock.now += 0.2
        bar.update(1)
        assert "reading" in capsys.readouterr().err
        bar.close()
        capsys.readouterr()
        bar = counted(10, "writing")
        clock.now += 5
        bar.update(10)
        assert capsys.readouterr().err == ""


def test_the_seconds_of_a_task_count_together(clock: Clock, capsys: Any) -> None:
    with gb.config.set(progress=True), task():
        clock.now += 1.5
        with task(), working("sorting"):
            pass
        assert capsys.readouterr().err == ""
        clock.now += 1
        with working("merging"):
            assert "merging" in capsys.readouterr().err
        bar = counted(10, "placing")
        bar.update(1)
        assert "placing" in capsys.readouterr().err
        bar.close()
        capsys.readouterr()
    with gb.config.set(progress=True), working("another task"):
        assert capsys.readouterr().err == ""


def test_work_that_is_not_counted_shows_while_it_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bar comes from another thread, in the midst of the call."""
    shown = threading.Event()
    bars = progress._bar_type()
    show = bars.display

    def display(*args: Any, **more: Any) -> Any:
        done = show(*args, **more)
        if threading.current_thread() is not threading.main_thread():
            shown.set()
        return done

    monkeypatch.setattr(bars, "display", display)
    monkeypatch.setattr(progress, "_PATIENCE", 0.01)
    with gb.config.set(progress=True), working("sorting"):
        assert shown.wait(30)
    assert "sorting: 00:0" in capsys.readouterr().err
    assert "sparsezc-progress" not in [thread.name for thread in threading.enumerate()]


def test_an_error_takes_the_bar_away(slow: None, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt), task(), working("sorting"):
        raise KeyboardInterrupt
    assert capsys.readouterr().err.endswith("\r")
    assert progress._current.get() is None


STAGES = {
    "a.txt": {"reading a.txt", "sorting edges", "merging duplicates", "placing in host"},
    "a.mtx": {"reading a.mtx", "sorting edges", "merging duplicates", "placing in host"},
    "a.gr": {"reading a.gr", "sorting edges", "placing in host"},
    "a.graph": {"reading a.graph", "checking both ends", "sorting edges", "placing in host"},
    "a.npz": {"reading a.npz"},
    "a.sg": {"reading a.sg"},
    "a.bel": {"reading a.bel"},
}


@pytest.mark.parametrize("name", STAGES)
def test_every_stage_has_a_bar(
    tmp_path: Path, slow: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    for module in (
        "build.edge_list.BLOCK", "build.csr_chunks.CHUNK", "files.source.CHUNK", "build.stored_csr.CHUNK",
        "formats.npz.CHUNK", "formats.metis.STEP",
    ):  # fmt: skip
        monkeypatch.setattr(f"sparsezc.io.{module}", 1 << 12)
    convert("urand:13?weights=1-9", tmp_path / name)
    told = capsys.readouterr().err
    stages = ("making urand", "sorting edges", "placing in host", "writing")
    assert [label for label in stages if label not in told] == []
    load(tmp_path / name)
    told = capsys.readouterr().err
    assert [label for label in STAGES[name] if label not in told] == []


def test_whether_bars_are_wanted_is_asked_once_a_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gb.io.write(gb.io.read("kron:6"), tmp_path / "a.txt")
    asked: list[int] = []
    monkeypatch.setattr(progress, "_wanted", lambda: asked.append(1))
    load(tmp_path / "a.txt")
    assert len(asked) == 1


def test_other_work_of_reading(tmp_path: Path, slow: None, capsys: pytest.CaptureFixture[str]) -> None:
    convert("path:9", tmp_path / "a.npz")
    capsys.readouterr()
    load(tmp_path / "a.npz", relabel=True, symmetrize=True)
    told = capsys.readouterr().err
    assert "numbering the ids" in told
    assert "adding the other directions" in told
    load("urand:6", relabel=True)
    assert "taking the rows apart" in capsys.readouterr().err


def test_moving_to_another_placement(slow: None, capsys: pytest.CaptureFixture[str]) -> None:
    csr = load("urand:12")
    capsys.readouterr()
    before = cuda.use(Card())
    try:
        csr.place("zerocopy", chunk=1 << 12)
    finally:
        cuda.use(before)
    told = capsys.readouterr().err
    assert "touching host pages" in told
    assert "placing in zerocopy" in told


def test_answers(tmp_path: Path, slow: None, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr("sparsezc.cli.answers.files._BLOCK", 1 << 8)
    assert main(["bfs", "path:1000", "--out", str(tmp_path / "a.txt")]) == 0
    assert "writing" in capsys.readouterr().err
