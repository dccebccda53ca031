"""Progress bars: shown on a terminal or if requested, and for long work only."""

from __future__ import annotations

import io
import json
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
from sparsezc.terminal.progress import steps, task, watching, working
from tests.io.graphs import load
from tests.io.read.test_placements import Card


class Clock:
    """A clock that advances when a test sets it, and by `step` seconds at each reading."""

    def __init__(self, step: float = 0.0) -> None:
        self.now, self.step = 100.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def pass_time(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    """Make the package and tqdm read this clock."""
    monkeypatch.setattr(progress, "_clock", clock)
    monkeypatch.setattr("tqdm.std.time", clock)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    pass_time(monkeypatch, made)
    return made


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Advance the clock by 3 s at each reading, and request bars."""
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
    """Another thread shows the bar during the call."""
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
    assert "converting rows to edges" in capsys.readouterr().err


def test_moving_to_another_placement(
    slow: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sparsezc.memory.zerocopy._TOLD", 0)
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


def test_a_watched_loop_tells_count_rate_and_time_left(clock: Clock) -> None:
    told = []
    with gb.config.set(progress=True), watching("ranks"):
        watch = progress._watch.get()
        assert watch is not None
        for _ in steps(range(200), "rounds", at_most=True):
            told.append(str(watch))
            clock.now += 4
            list(steps(range(5), "inner steps"))  # the outermost loop counts
        told.append(str(watch))
        for _ in steps(iter("abc"), "sources", size=lambda _: 64):
            clock.now += 1
            told.append(str(watch))
    assert progress._watch.get() is None
    assert told[0] == "ranks: 00:00, 0 of at most 200 rounds, ? left, ? rounds/s"
    assert told[10] == "ranks: 00:40, 10 of at most 200 rounds, 12:40 left,  4.00s/ rounds"
    assert told[200] == "ranks: 13:20"
    assert told[203] == "ranks: 13:23, 128 sources, 42.67 sources/s"


@pytest.mark.parametrize("counted", [False, True])
def test_a_watched_call_shows_between_its_steps_and_is_removed(clock: Clock, capsys: Any, counted: bool) -> None:
    """A tick between steps shows the line without changing the count or the rate; the line is removed at the end."""
    with gb.config.set(progress=True), watching("ranks"):
        watch = progress._watch.get()
        assert watch is not None
        for _ in steps(range(4), "rounds") if counted else range(4):
            clock.now += 0.75
            watch.tick()
        shown = capsys.readouterr().err
        assert "ranks: 00:02" in shown
        assert "ranks: 00:01" not in shown  # shorter than the two seconds before a line is shown
        if counted:
            assert "3 of 4 rounds, 00:00 left,  1.33 rounds/s" in shown
        else:
            assert shown.count("ranks") == 2
    assert capsys.readouterr().err.endswith("\r")


def test_short_loops_share_one_line(clock: Clock, capsys: Any) -> None:
    with gb.config.set(progress=True), watching("ranks"):
        clock.now += 3
        for _ in range(100):
            clock.now += 0.01
            assert sum(steps(range(3), "rounds")) == 3
    assert 0 < capsys.readouterr().err.count("ranks") <= 11  # a tenth of a second between two updates


def test_a_loop_that_is_not_watched_is_not_touched() -> None:
    items = range(3)
    assert steps(items, "rounds") is items
    with gb.config.set(progress=False), watching("ranks"):
        assert steps(items, "rounds") is items


COUNTED = {
    ("pagerank", "grid:9x9"): ("rounds", 100), ("katz-centrality", "path:3"): ("rounds", 1000),
    ("betweenness-centrality", "path:70"): ("sources", 70), ("closeness-centrality", "path:70"): ("sources", 70),
    ("voterank", "star:5"): ("vertices", 5), ("bfs", "path:3"): ("rounds", None), ("sssp", "path:3"): ("rounds", None),
    ("local-efficiency", "grid:3x3"): ("vertices", 9),
}  # fmt: skip


@pytest.mark.parametrize(("command", "counted"), COUNTED.items(), ids=str)
def test_algorithms_count(
    command: tuple[str, str], counted: tuple[str, int | None], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """Commands count rounds, by statements and by compiled loops, and remove the line at the end."""
    loops: list[Any] = []
    counts: list[float] = []
    bars = progress._bar_type()
    count, update = bars.counted, bars.update

    def counting(watch: Any, items: Any, loop: Any, size: Any) -> Any:
        loops.append(loop)
        return count(watch, items, loop, size)

    monkeypatch.setattr(bars, "counted", counting)
    monkeypatch.setattr(bars, "update", lambda bar, n=1: (counts.append(n), update(bar, n))[1])
    monkeypatch.setattr("sparsezc.core.engine_loops._READ", 0)  # one call of a loop a pass over the rows
    runs = []
    for compiled in (False, True):
        monkeypatch.setattr("sparsezc.engines.cpu.compiled_loops.pays", lambda _, compiled=compiled: compiled)
        with gb.config.set(progress=True):
            assert main(["run", *command, "--json"]) == 0
        runs.append(json.loads(capsys.readouterr().out))
        assert counted in [(loop.unit, loop.total) for loop in loops] or (compiled and counted[1] is None)
        assert not counted[1] or any(counts)
        loops.clear()
        counts.clear()
    assert runs[0].keys() == runs[1].keys()
    assert main(["run", *command, "--quiet"]) == 0
    assert (loops, capsys.readouterr()) == ([], ("", ""))


def test_a_watched_call_is_shown(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Another thread shows a watched call, cut to the terminal's width."""
    seen = threading.Event()
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_REFRESH", 0.01)
    monkeypatch.setattr(progress, "_width", lambda: 59)
    bars = progress._bar_type()
    show = bars.display

    def display(bar: Any, *args: Any, **more: Any) -> Any:
        done = show(bar, *args, **more)
        if threading.current_thread() is not threading.main_thread() and len(str(bar)) == 59:
            seen.set()
        return done

    monkeypatch.setattr(bars, "display", display)
    with gb.config.set(progress=True), watching("search" + "x" * 500):
        assert seen.wait(30)
    assert f"search{'x' * 53}" in capsys.readouterr().err
