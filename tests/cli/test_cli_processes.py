"""The command as a process: Ctrl-C, closed and narrow streams, and the time from a cold start."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import sparsezc as gb
from tests.cli.commands import ROOT, run, started


def test_ctrl_c_while_computing(capsys, edges, monkeypatch, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(gb.algorithms, "bfs", interrupted)
    code, out, err = run(capsys, "bfs", edges, "--out", tmp_path / "a.txt")
    assert (code, out, err) == (130, "", "\nsparsezc: interrupted\n")
    assert not (tmp_path / "a.txt").exists()


def test_ctrl_c_while_the_commands_load(capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sparsezc.cli.parser", interrupted)
    assert run(capsys, "bfs", "star:3") == (130, "", "\nsparsezc: interrupted\n")


def test_ctrl_c_that_an_import_takes_for_its_own_failure(capsys, monkeypatch):
    """Ctrl-C ends the command with status 130, also if an import, such as NumPy's, turns it into ImportError."""

    def broken(*_):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("importing the C-extensions failed") from None

    monkeypatch.setattr("sparsezc.cli.graph.load", broken)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert run(capsys, "bfs", "star:3") == (130, "", "\nsparsezc: interrupted\n")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_while_writing_leaves_no_file(tmp_path):
    """Ctrl-C during a write removes the unfinished file, which has another name, and keeps the old file."""
    target = tmp_path / "big.txt.gz"
    target.write_bytes(b"old")
    process = started("convert", "kron:16", target, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    while len(list(tmp_path.iterdir())) == 1 and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert told.endswith(b"sparsezc: interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["big.txt.gz"]
    assert target.read_bytes() == b"old"


def test_a_reader_that_stops_early_is_no_error():
    process = started("info", "star:9", stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) in (0, 1)


@pytest.mark.parametrize("stream", [1, 2])
def test_a_closed_output_is_not_written_to(stream):
    command = [sys.executable, "-m", "sparsezc", "info", "star:9"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    closed = ["sh", "-c", f'exec "$@" {stream}>&-', "sh", *command]
    done = subprocess.run(closed, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert bool(done.stdout) == (stream == 2)


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_names_that_the_output_cannot_print(encoding, tmp_path):
    """File names with letters beyond ASCII, or bytes that are not UTF-8, are printed in any output encoding."""
    name = "gr\u00e4ph\udcff.txt"
    (tmp_path / name).write_text("0 1\n1 2\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding}
    commands = (
        ["info", name],
        ["bfs", name],
        ["bfs", name, "--json"],
        ["convert", name, "\u00e4.mtx"],
        ["doctor", "--quick"],
    )
    # One process runs all commands: starting five takes three seconds.
    program = "import sys; from sparsezc.cli import main; [print(main(x.split('|')), end='\\0') for x in sys.argv[1:]]"
    line = [sys.executable, "-c", program, *("|".join(command) for command in commands)]
    done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    *said, nothing = done.stdout.split(b"\0")
    assert (len(said), nothing) == (len(commands), b"")
    for command, text in zip(commands, said, strict=True):
        assert text.endswith(b"0")  # main() returned 0
        assert (rb"\udcff" in text) == (name in command)


def test_a_million_edges_from_a_cold_start_take_under_five_seconds(tmp_path):
    """Reading and searching take under 5 s of processor time, which depends less on other programs than wall time."""
    pairs = np.random.default_rng(1).integers(0, 200_000, (1_000_000, 2))
    path = tmp_path / "web.txt"
    path.write_text("# FromNodeId\tToNodeId\n" + "".join(f"{i}\t{j}\n" for i, j in pairs.tolist()))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = started("bfs", path, "--json", stdout=subprocess.PIPE)
    data = json.loads(process.communicate(timeout=60)[0])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 5
    assert data["graph"]["edges"] > 999_000


def test_help_needs_no_library():
    text = "import sys, sparsezc.cli as cli; cli.parser(); print({'numpy', 'graphblas', 'cupy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
