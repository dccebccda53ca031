"""The files of an EMOGI graph change in one step for every reader, also if the writer is killed at any line."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from sparsezc.io._write import write
from sparsezc.io.build import stored_csr, weights
from sparsezc.io.files import multi_file_replace
from sparsezc.io.files.atomic_write import FileNotWritten
from sparsezc.io.formats import emogi
from sparsezc.memory.csr import Csr
from tests.io.graphs import load, same, scipy_of

WEIGHTED = Csr.from_arrays([0, 1, 2, 4], [1, 2, 0, 1], [3, 4, 5, 6], 3)
OTHER = Csr.from_arrays([0, 1, 2, 4], [2, 1, 0, 1], [3, 4, 5, 7], 3)
PLAIN = Csr.from_arrays([0, 2, 3], [0, 1, 0], [True], 2)
_FILES = (multi_file_replace.__file__,)  # only here: the campaign kills writers at any line


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("a.bel.*")}


def states_of(folder: Path, kept: Path, run: Callable[[], None]) -> list[Path]:
    """Return copies of the folder before each line of the writer, which a kill at that line would leave.

    Consecutive lines with equal folders share one copy, listed once for each line.
    """
    found: list[Path] = []
    last: dict[Path, bytes | None] = {}

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal last
        if frame.f_code.co_filename not in _FILES:
            return None
        if event == "line":
            now = {path: None if path.is_dir() else path.read_bytes() for path in folder.rglob("*")}
            if now == last and found:
                found.append(found[-1])
            else:
                last = now
                found.append(Path(shutil.copytree(folder, kept / str(len(found)))))
        return trace

    before = sys.gettrace()
    try:
        sys.settrace(trace)
        run()
    finally:
        sys.settrace(before)
    return found


@pytest.mark.parametrize(("old", "new"), [(WEIGHTED, PLAIN), (PLAIN, WEIGHTED), (WEIGHTED, OTHER), (None, WEIGHTED)])
def test_a_kill_at_any_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: Csr | None, new: Csr) -> None:
    """After a kill every reader finds the old or the new graph, and the next writer removes leftovers."""
    monkeypatch.setattr(os, "fsync", lambda _: None)  # only the process ends, so writes need not reach the disk
    states: list[dict[str, bytes]] = []
    for number, graph in enumerate((old, new)):
        (tmp_path / str(number)).mkdir()
        if graph is not None:
            write(graph, tmp_path / str(number) / "a.bel")
        states.append(bytes_of(tmp_path / str(number)))
    if old is WEIGHTED and new is PLAIN:
        states[1]["a.bel.val"] = np.zeros(2, "<u8").tobytes()
    folder, found = tmp_path / "here", []
    path = folder / "a.bel"
    shutil.copytree(tmp_path / "0", folder)
    left = states_of(folder, tmp_path / "left", lambda: write(new, path))
    for line, disk in enumerate(left, 1):
        if disk in left[: line - 1]:
            continue  # the same copy as at an earlier line
        shutil.rmtree(folder)
        shutil.copytree(disk, folder)
        foreign = bytes_of(folder)
        assert foreign in states or "a.bel.col" not in foreign, line
        if old is not None or "a.bel.col" in foreign or multi_file_replace.switched(path).exists():
            is_new = scipy_of(load(path)).toarray().tolist() == scipy_of(new).toarray().tolist()
            same(load(path), scipy_of(new if is_new else old))
            assert bytes_of(folder) == states[is_new]  # the reader completed the change
            found.append(is_new)
        write(PLAIN, path)
        assert not [file for file in folder.iterdir() if file.name.startswith(".")], line
        same(load(path), scipy_of(PLAIN))
    assert len(left) > 30
    assert sorted(set(found)) == ([False, True] if old is not None else [True])
    assert sorted(found) == found, "old, and from one moment on new"


def test_a_graph_that_is_replaced_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.bel"
    write(WEIGHTED, path)
    stored = emogi.stored(path, weights.FROM_FILE)
    write(PLAIN, path)
    for _ in range(2):
        found = stored_csr.load(stored, weights.FROM_FILE, "host", direct=True)
        assert isinstance(found, Csr)
        same(found, scipy_of(WEIGHTED))
    same(load(path), scipy_of(PLAIN))


def test_what_a_reader_may_not_finish_is_read_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.bel"
    write(WEIGHTED, tmp_path / "b.bel")
    write(PLAIN, path)
    multi_file_replace.switched(path).mkdir()
    for ending in "col", "dst", "val":
        (tmp_path / f"b.bel.{ending}").rename(multi_file_replace.switched(path) / f"a.bel.{ending}")
    (tmp_path / "a.bel.col").unlink()
    before = sorted(tmp_path.rglob("*"))

    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as closed:
        closed.setattr(multi_file_replace, "_move", refused)
        same(load(path), scipy_of(WEIGHTED))
        assert sorted(tmp_path.rglob("*")) == before
        with pytest.raises(FileNotWritten, match=r"a\.bel cannot be written: Permission denied"):
            write(PLAIN, path)
    same(load(path), scipy_of(WEIGHTED))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.bel.col", "a.bel.dst", "a.bel.val"]


def test_links_to_another_folder(tmp_path: Path) -> None:
    """Writing changes the files behind symbolic links; links into two folders are refused."""
    for name in "one", "two":
        (tmp_path / name).mkdir()
    here = tmp_path / "here"
    here.mkdir()
    for ending in "col", "dst", "val":
        (here / f"a.bel.{ending}").symlink_to(tmp_path / "one" / f"x.bel.{ending}")
    for graph in WEIGHTED, PLAIN:
        write(graph, here / "a.bel")
        same(load(here / "a.bel"), scipy_of(graph))
        same(load(tmp_path / "one" / "x.bel.dst"), scipy_of(graph))
    assert all(file.is_symlink() for file in here.iterdir())
    (here / "a.bel.dst").unlink()
    (here / "a.bel.dst").symlink_to(tmp_path / "two" / "x.bel.dst")
    with pytest.raises(FileNotWritten, match=r"its files are links into .*one and .*two; files that change together"):
        write(WEIGHTED, here / "a.bel")
    same(load(tmp_path / "one" / "x.bel"), scipy_of(PLAIN))
    assert not list((tmp_path / "two").iterdir())
