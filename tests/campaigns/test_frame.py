"""The frame finds failures, crashes, hangs and memory growth, continues, and saves them as failing tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.campaigns import frame

DEADLINE, MEMORY = 2.0, 64_000_000


def trial(rng: np.random.Generator, folder: Path) -> frame.Trial:
    """Fail in a way that depends on the trial; this module acts as the campaign."""
    k = int(folder.name)
    if k == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    if k == 2:
        time.sleep(60)
    if k == 3:
        np.ones(20_000_000).sum()
    if k == 4:
        raise ValueError("odd")
    if k == 5:
        return frame.Trial({"five": 2}, frame.Failure("five", "def test() -> None:\n    assert False\n", {"x": b"5"}))
    return frame.Trial({"good": 1, f"draw {rng.integers(1 << 40)}": 1})


@pytest.fixture(scope="module")
def result() -> frame.Result:
    return frame.run("test_frame", 7, trials=7)


def test_every_kind_of_failure_is_found(result: frame.Result) -> None:
    found = {k: failure.message for k, failure in result.failures}
    assert sorted(found) == [1, 2, 3, 4, 5]
    assert found[1] == "the process ended with SIGSEGV"
    assert found[2] == "it took more than 2 s"
    assert "memory grew by" in found[3]
    assert found[4].startswith("ValueError: odd")
    assert result.trials == 7
    assert result.tried["good"] == 3  # trials 0, 3 and 6
    assert result.peak >= 64_000_000


def test_a_trial_repeats(result: frame.Result) -> None:
    again = frame.run("test_frame", 7, trials=1, first=6)
    assert set(again.tried) <= set(result.tried)
    assert not again.failures


def test_what_failed_is_saved_as_a_test(result: frame.Result, tmp_path: Path) -> None:
    failure = dict(result.failures)[5]
    path = frame.save("made", failure, tmp_path)
    assert next(tmp_path.glob("made_*/x")).read_bytes() == b"5"
    ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", path], capture_output=True)
    assert ran.returncode == 1
    crash = dict(result.failures)[1]
    scope: dict[str, Any] = {}
    exec(crash.test, scope)
    with pytest.raises(AssertionError, match="SIGSEGV"):
        scope["test"]()


def test_an_unknown_campaign_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from tests.campaigns.__main__ import main

    monkeypatch.setattr(sys, "argv", ["campaigns", "nothing"])
    with pytest.raises(SystemExit):
        main()
    assert "no campaign is called 'nothing'" in capsys.readouterr().err


def test_endings_have_names() -> None:
    child = SimpleNamespace(exitcode=-11)
    assert frame._ending(child.exitcode) == "SIGSEGV"
    assert frame._ending(3) == "exit status 3"
