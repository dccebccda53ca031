"""Helpers that run a command in the tests of the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sparsezc.cli import main

ROOT = Path(__file__).resolve().parents[2]
# Edges 0 -> 1, 0 -> 2, 1 -> 3 and 7 -> 8; 4, 5 and 6 have none.
EDGES = "# a comment\n0 1\n0 2\n1 3\n7 8\n"


def failed(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    """Run a command that must fail, and return its one-line message."""
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert (code, out) == (1, "")
    assert err.startswith("sparsezc: ")
    assert err.count("\n") == 1
    return err


def run(capsys, *arguments):
    """Run a command; return its exit code, stdout and stderr."""
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def answer(capsys, *arguments):
    """Run a command that must succeed with --json, and return its JSON object."""
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    return json.loads(out)


def started(*arguments, **more):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "sparsezc", *map(str, arguments)], env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # else a background job ignores it
        **more,
    )  # fmt: skip
