"""benchmarks.hive: its frame, and every row on a small input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.harness import publish
from benchmarks.hive.__main__ import at_scale, main, rows, said
from benchmarks.hive.row import Goal


def test_goals_count_work_or_time() -> None:
    assert Goal(2.0).is_met(1.5)
    assert not Goal(2.0).is_met(2.5)
    assert Goal(2e6, "steps").reached(2.0, 6e6) == 3e6
    assert Goal(2e6, "steps").is_met(3e6)
    assert not Goal(2e6, "steps").is_met(1e6)
    assert said(1500.0, "steps") == "1.50 k steps/s"


def test_scales_of_made_graphs() -> None:
    assert at_scale("kron:24?weights=1-255", 10) == "kron:10?weights=1-255"
    assert at_scale("graph.mtx", 10) == "graph.mtx"


@pytest.mark.parametrize("name", rows())
def test_every_row_is_right_on_a_small_input(name: str, tmp_path: Path) -> None:
    path = tmp_path / "hive.json"
    command = [name, "--engine", "cpu", "--scale", "9", "--everywhere", "--trials", "1", "--copy-mib", "1"]
    assert main([*command, "--out", str(path)]) == 0
    found: list[dict[str, Any]] = publish.content(path)["cases"]
    case = next(case for case in found if case["name"] == name)
    assert case["verified"] == "yes"
    assert case["notes"]["figure"] > 0


def test_unknown_rows_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["nonsense", "--engine", "cpu"])
    assert "begins the name of no row" in capsys.readouterr().err
