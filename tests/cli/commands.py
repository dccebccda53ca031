"""Commands as the tests of the command line run them."""

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
# 0 -> 1, 2 -> 3 and 7 alone with 8; 5, 6 do not occur.
EDGES = "# a comment\n0 1\n0 2\n1 3\n7 8\n"


def failed(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    """Return the one line of a command that must fail."""
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert (code, out) == (1, "")
    assert err.startswith("sparsezc: ")
    assert err.count("\n") == 1
    return err


def run(capsys, *arguments):
    """Exit code, stdout, stderr."""
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def answer(capsys, *arguments):
    """Return the JSON object of a command that must succeed."""
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    return json.loads(out)


def started(*arguments, **more):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "sparsezc", *map(str, arguments)], env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored below a shell's background job
        **more,
    )  # fmt: skip
