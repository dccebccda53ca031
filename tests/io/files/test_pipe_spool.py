"""Graphs read from a pipe, whose bytes can be read only once."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import IO

import pytest

import sparsezc as gb
from sparsezc.exceptions import FileFormatError, GraphblasException
from sparsezc.io.files import pipe_spool
from sparsezc.io.files.atomic_write import FileNotWritten
from tests.io.graphs import load, same, scipy_of

ROOT = Path(__file__).resolve().parents[3]


@contextmanager
def pipe(path: Path, data: bytes) -> Iterator[Path]:
    """Make a named pipe from which these bytes can be read once."""
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(path.write_bytes, data)
        yield path
        written.result(60)
    path.unlink()


@pytest.mark.parametrize("name", ["a.txt", "a.tsv", "a.csv", "a.txt.gz", "a.mtx", "a.mtx.gz", "a.gr", "a.graph"])
def test_text_is_read_from_a_pipe(tmp_path: Path, name: str) -> None:
    expected = load("kron:6?weights=1-9")
    gb.io.write(expected, tmp_path / f"whole-{name}")
    data = (tmp_path / f"whole-{name}").read_bytes()
    with pipe(tmp_path / name, data) as path:
        same(load(path), scipy_of(load(tmp_path / f"whole-{name}")))
    pytest.importorskip("h5py", reason="h5py is not installed")
    with pipe(tmp_path / name, data) as path:
        gb.io.convert(path, tmp_path / "a.h5", memory="8GB", relabel=True)
    assert load(tmp_path / "a.h5").nvals == expected.nvals
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.h5", f"whole-{name}"]


def test_matrix_market_is_read_from_a_pipe(tmp_path: Path) -> None:
    gb.io.write(load("star:9"), tmp_path / "whole.mtx")
    with pipe(tmp_path / "a.mtx", (tmp_path / "whole.mtx").read_bytes()) as path:
        assert gb.io.mmread(path).nvals == 16


def test_errors_name_the_pipe(tmp_path: Path) -> None:
    with (
        pipe(tmp_path / "a.txt", b"0 1\n0 two\n") as path,
        pytest.raises(FileFormatError, match=rf"^{path}, line 2, column 2 \(character 3\): found 'two'"),
    ):
        load(path)
    with pipe(tmp_path / "a.txt", b"") as path, pytest.raises(FileFormatError, match=rf"^{path} is empty"):
        load(path)


@pytest.mark.parametrize("name", ["a.npz", "a.h5", "a.sg", "a.bel", "a.parquet"])
def test_other_formats_must_be_regular_files(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(FileFormatError, match=rf"{name} is a pipe or a device; .* files must be regular"):
        load(tmp_path / name)
    with pytest.raises(FileFormatError, match=rf"{name} is a pipe or a device; .* files must be regular"):
        gb.io.convert(tmp_path / name, tmp_path / "target.h5", memory="8GB")


def test_no_room_for_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: IO[bytes], *_: object) -> None:
        source.read()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pipe_spool.shutil, "copyfileobj", full)
    with (
        pipe(tmp_path / "a.txt", b"0 1\n") as path,
        pytest.raises(FileNotWritten, match=rf"^{path} cannot be copied to .*: No space left"),
    ):
        load(path)


def test_the_command_line_reads_its_input() -> None:
    def info(*arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "sparsezc", "info", "/dev/stdin", *arguments],
            cwd=ROOT, input="0 1\n1 2\n", capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    for given in ((), ("--format", "snap")):  # an edge list is the default of --format
        code, told = info(*given)
        assert code == 0
        assert "/dev/stdin: 3 vertices, 2 edges, directed" in told
    code, told = info("--format", "mtx")
    assert code == 1
    assert "/dev/stdin" in told


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/full"])
def test_a_device_without_an_end_is_refused(tmp_path: Path, device: str) -> None:
    with pytest.raises(FileFormatError, match=rf"^{device} is a device that may have no end; a file, a pipe"):
        gb.io.read(device, format="snap")
    with pytest.raises(FileFormatError, match="may have no end"):
        gb.io.convert(device, tmp_path / "a.h5", memory="8GB", format="mtx")
    with pytest.raises(FileFormatError, match=r"/dev/null is empty"):
        gb.io.read("/dev/null", format="snap")
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Endless zeros are refused at the first byte, endless text once it fills nine tenths of the free disk space."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def endless(command: str) -> str:
        with subprocess.Popen(["sh", "-c", f"exec {command}"], stdout=subprocess.PIPE) as run:
            assert run.stdout is not None
            try:
                with pytest.raises(GraphblasException) as told:
                    gb.io.read(f"/dev/fd/{run.stdout.fileno()}", format="snap")
            finally:
                run.kill()
        return str(told.value)

    assert "starts with a NUL byte; text, gzipped or not, is needed" in endless("cat /dev/zero")
    free = iter([1000, 500, 99])
    monkeypatch.setattr(pipe_spool, "_LOOK", 1 << 20)
    monkeypatch.setattr(pipe_spool.shutil, "disk_usage", lambda _: SimpleNamespace(free=next(free)))
    assert "ended, and 99 bytes are free there; 100, a tenth of those at first, stay free" in endless("yes 0 1")
    assert list(tmp_path.iterdir()) == []


def test_what_a_kill_leaves_of_a_copy_takes_no_room_and_the_next_run_removes_it(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\nimport sparsezc as gb\nfrom sparsezc.io.formats import snap\n"
        "snap.read = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
        "gb.io.read('/dev/stdin', format='snap')"
    )
    text = "0 1\n" * 100_000
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, env=os.environ | {"TMPDIR": str(tmp_path)}, input=text, text=True
        )
        assert done.returncode == -signal.SIGKILL
        assert len(list(tmp_path.iterdir())) == 1
        assert sum(file.lstat().st_size for file in tmp_path.rglob("*") if not file.is_dir()) < 1000
    ended = (
        "import sparsezc as gb; print(gb.io.read('/dev/stdin', format='snap').nvals)\n"
        "gb.io.write(gb.io.read('path:3'), '/dev/stdout', format='snap')"
    )
    done = subprocess.run(
        [sys.executable, "-c", ended], cwd=ROOT, env=os.environ | {"TMPDIR": str(tmp_path)}, input=text, text=True,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert done.stdout.startswith("1\n# 3 x 3")
    assert list(tmp_path.iterdir()) == []
