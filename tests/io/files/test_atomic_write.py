"""Output files appear whole or not at all, also after errors, interrupts and kills."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from sparsezc.io._write import convert, write
from sparsezc.io.build import csr_chunks
from sparsezc.io.files import atomic_write, scratch_folder
from sparsezc.io.files.atomic_write import FileNotWritten, Output
from sparsezc.memory.csr import Csr
from tests.io.graphs import load

NAMES = ["a.txt", "a.txt.gz", "a.mtx", "a.gr", "a.graph", "a.sg", "a.npz", "a.bel"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("a.mtx", "a.graph")])
def test_an_error_half_way_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, error: type[BaseException]
) -> None:
    csr = load("kron:8?weights=1-9")
    old = tmp_path / name
    old.write_text("old")
    monkeypatch.setattr(csr_chunks, "CHUNK", 100)
    real = type(csr.indices).read
    calls = []

    def fails(self: object, *bounds: int) -> object:
        calls.append(bounds)
        if len(calls) > 3:
            raise error("in the middle")
        return real(self, *bounds)

    monkeypatch.setattr(type(csr.indices), "read", fails)
    with pytest.raises(error):
        write(csr, old)
    assert old.read_text() == "old"
    assert list(tmp_path.iterdir()) == [old]


def test_ctrl_c_and_kill_while_a_file_is_written(tmp_path: Path) -> None:
    """An interrupted write removes its scratch folder, the next run removes a killed one's; no file is partial."""
    program = (
        "import signal, sys; from sparsezc.io._read import read_csr; from sparsezc.io._write import write\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background processes ignore SIGINT
        "csr, _ = read_csr('urand:15', placement='host'); print('go', flush=True)\n"
        "while True: write(csr, sys.argv[1])"
    )
    root = Path(__file__).resolve().parents[3]
    for how in (signal.SIGINT, signal.SIGKILL):
        target = tmp_path / f"{how.name}.txt"
        run = subprocess.Popen(
            [sys.executable, "-c", program, str(target)], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": str(root)},
        )  # fmt: skip
        assert run.stdout is not None
        run.stdout.readline()
        deadline = time.monotonic() + 60
        while not target.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.1)
        run.send_signal(how)
        run.wait(60)
        run.stdout.close()
        assert load(target).nvals == load("urand:15").nvals
        if how == signal.SIGKILL:
            write(load("path:3"), target)
        assert [p.name for p in tmp_path.iterdir()] == [target.name]
        target.unlink()


def test_permissions_are_those_of_a_plain_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    convert("path:3", tmp_path / "a.mtx")
    assert (tmp_path / "a.mtx").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_file_that_takes_another_s_place_keeps_its_rights(tmp_path: Path) -> None:
    path = tmp_path / "a.mtx"
    convert("path:3", path)
    path.chmod(0o640)
    convert("path:4", path)
    assert path.stat().st_mode & 0o777 == 0o640
    assert load(path).nrows == 4


def test_places_that_do_not_exist(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist"):
        convert("path:3", tmp_path / "no" / "a.mtx")
    (tmp_path / "b.mtx").mkdir()
    with pytest.raises(IsADirectoryError, match=r"b\.mtx"):
        convert("path:3", tmp_path / "b.mtx")
    with pytest.raises(ValueError, match="not known"):
        convert("path:3", tmp_path / "a.unknown")
    assert [p.name for p in tmp_path.iterdir()] == ["b.mtx"]


def test_all_files_of_one_output_appear_together(tmp_path: Path) -> None:
    def write_two(fail: bool) -> None:
        with Output(tmp_path / "a") as out:
            for name in ("a.1", "a.2"):
                with out.open(tmp_path / name) as file:
                    file.write(b"x")
            if fail:
                raise RuntimeError

    with pytest.raises(RuntimeError):
        write_two(fail=True)
    assert list(tmp_path.iterdir()) == []
    write_two(fail=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.1", "a.2"]


def test_a_link_stays_a_link_and_its_file_changes(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "real.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    write(load("kron:4"), link)
    assert link.is_symlink()
    assert len(target.read_text().splitlines()) > 10
    assert list(target.parent.iterdir()) == [target]


def test_a_dangling_link_makes_the_file_that_it_names(tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to(tmp_path / "made.txt")
    with Output(link) as out, out.open() as file:
        file.write(b"whole")
    assert link.is_symlink()
    assert (tmp_path / "made.txt").read_bytes() == b"whole"


def test_a_link_that_leads_to_itself_is_told(tmp_path: Path) -> None:
    for name, target in ("a", "b"), ("b", "a"):
        (tmp_path / f"{name}.txt").symlink_to(tmp_path / f"{target}.txt")
    for suffix in "txt", "h5":
        link = tmp_path / f"a.{suffix}"
        if suffix == "h5":
            link.symlink_to(link)
        with pytest.raises(FileNotWritten, match=rf"a\.{suffix} cannot be written: it is a link that leads back to"):
            write(load("kron:4"), link)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.h5", "a.txt", "b.txt"]


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """A pipe gets all bytes after the last one is written, and none after an error."""
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        got = pool.submit(pipe.read_bytes)
        with Output(pipe) as out, out.open() as file:
            file.write(b"whole")
        assert got.result() == b"whole"

    def half() -> None:
        with Output(pipe) as out, out.open() as file:
            file.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_what_a_killed_run_left_is_removed_and_what_a_live_one_uses_is_not(tmp_path: Path) -> None:
    left = tmp_path / ".a.txt.0123dead.part"
    left.mkdir()
    (left / "half").write_text("half")
    with Output(tmp_path / "a.txt") as alive, alive.open() as file:
        file.write(b"first")
        assert not left.exists()
        with Output(tmp_path / "a.txt") as other, other.open() as second:
            second.write(b"second")
        assert (tmp_path / "a.txt").read_bytes() == b"second"
    assert (tmp_path / "a.txt").read_bytes() == b"first"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_folder_of_the_user_s_own_is_no_left_over(tmp_path: Path) -> None:
    own = tmp_path / ".a.txt.backup.part"
    own.mkdir()
    (own / "kept").write_text("kept")
    with Output(tmp_path / "a.txt") as out, out.open() as file:
        file.write(b"new")
    assert (own / "kept").read_text() == "kept"


@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}", "/proc/{pid}/fd/{}", "link"])
def test_an_open_descriptor_is_written_to_where_it_is(tmp_path: Path, name: str) -> None:
    """A regular file behind a descriptor is not replaced; its owner's later writes follow the output."""
    path = tmp_path / "log.txt"
    with path.open("wb", buffering=0) as log:
        log.write(b"before\n")
        target = Path(name.format(log.fileno(), pid=os.getpid()))
        if name == "link":
            target = tmp_path / "link"
            target.symlink_to(f"/dev/fd/{log.fileno()}")
        with Output(target) as out, out.open() as file:
            file.write(b"whole\n")
        log.write(b"after\n")
    assert path.read_bytes() == b"before\nwhole\nafter\n"
    assert sorted(found.name for found in tmp_path.iterdir()) in (["log.txt"], ["link", "log.txt"])


def test_another_process_s_descriptor_is_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("before\n")
    with path.open("ab") as log:
        other = subprocess.Popen(["sleep", "60"], stdout=log)
    try:
        with Output(f"/proc/{other.pid}/fd/1") as out, out.open() as file:
            file.write(b"whole\n")
    finally:
        other.kill()
        other.wait(60)
    assert path.read_text() == "before\nwhole\n"


def test_a_descriptor_that_is_closed_is_named() -> None:
    with pytest.raises(FileNotWritten, match="/dev/fd/987 cannot be written"), Output("/dev/fd/987") as out:
        out.open().close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the file's handle may stay open
def test_ctrl_c_may_come_at_any_line_of_opening(tmp_path: Path) -> None:
    files, before = (atomic_write.__file__, tempfile.__file__), sys.gettrace()
    target, begun = tmp_path / "a.txt", 0
    target.write_text("old")

    def interrupted_at(line: int) -> bool:
        """Interrupt the opening of an output at its given line, counted from 1; return False if it has fewer."""
        seen = 0

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal seen
            if frame.f_code.co_filename not in files:
                return None
            seen += event == "line"
            if seen == line:
                sys.settrace(before)
                raise KeyboardInterrupt
            return trace

        with suppress(KeyboardInterrupt), Output(target) as out:
            try:
                sys.settrace(trace)
                out.open().close()
            finally:
                sys.settrace(before)
            raise KeyboardInterrupt
        return seen == line

    while interrupted_at(begun + 1):
        begun += 1
        assert [path.name for path in tmp_path.iterdir()] == ["a.txt"], begun
    assert begun > 30
    assert target.read_text() == "old"


def test_the_process_s_mask_is_not_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writing does not change the umask, as it holds for all threads, whose new files would be open to all users."""
    before = os.umask(0o027)
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("the mask was changed"))
    try:
        for name in "a.mtx", "a.txt.gz", "a.bel":
            write(load("path:3"), tmp_path / name)
    finally:
        monkeypatch.undo()
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o640}


@pytest.mark.parametrize("what", ["removed", "locked"])
def test_a_new_folder_that_another_program_takes_for_abandoned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    real, taken = scratch_folder._held, []

    def held(folder: Path) -> int | None:
        if len(taken) < 3:
            taken.append(os.open(folder, os.O_RDONLY))
            fcntl.flock(taken[-1], fcntl.LOCK_EX)
            if what == "removed":
                folder.rmdir()
                os.close(taken[-1])
        found = real(folder)
        if what == "locked" and found is None:
            folder.rmdir()
        return found

    monkeypatch.setattr(scratch_folder, "_held", held)
    write(load("path:3"), tmp_path / "a.txt")
    assert len(taken) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_several_writers_and_a_reader_of_one_file(tmp_path: Path) -> None:
    graphs = [load(f"path:{n}") for n in (3, 4, 5, 6)]

    def writes(graph: Csr) -> None:
        for _ in range(25):
            write(graph, tmp_path / "a.txt")
            write(graph, tmp_path / "a.bel")

    def reads() -> None:
        for _ in range(100):
            assert load(tmp_path / "a.bel").nrows in (3, 4, 5, 6)

    write(graphs[0], tmp_path / "a.bel")
    with ThreadPoolExecutor(5) as pool:
        for done in [pool.submit(reads), *(pool.submit(writes, graph) for graph in graphs)]:
            done.result(120)
    for name in "a.txt", "a.bel":
        assert load(tmp_path / name).nrows in (3, 4, 5, 6)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.bel.col", "a.bel.dst", "a.txt"]


@pytest.mark.parametrize("name", ["a.txt", "a.sg.gz", "a.npz", "a.h5", "a.bel", "a.parquet"])
def test_the_disk_has_a_file_before_its_name_and_the_name_before_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name in ("a.h5", "a.parquet"):
        pytest.importorskip({"a.h5": "h5py", "a.parquet": "pyarrow"}[name])
    real, synced, named = os.fsync, [], []

    def fsync(handle: int) -> None:
        real(handle)
        synced.append(os.fstat(handle).st_ino)

    def rename(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "os.rename" and str(arguments[0]).startswith(str(tmp_path)) and counting:
            source = Path(arguments[0])
            if Path(arguments[1]).parent == tmp_path:
                named.append((source.stat().st_ino, list(synced)))

    counting = [True]
    sys.addaudithook(rename)
    monkeypatch.setattr(os, "fsync", fsync)
    write(load("kron:6?weights=1-9"), tmp_path / name)
    counting.clear()
    assert named
    for inode, before in named:
        assert inode in before
    assert synced[-1] == tmp_path.stat().st_ino
    assert synced.count(tmp_path.stat().st_ino) >= 1
