"""`benchmarks.out_of_memory` and `benchmarks.triangles` run from end to end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import out_of_memory, triangles
from sparsezc.engines.gpu import stores
from tests.benchmarks.runs import cases, emulated

SMALL = ("--trials", "1", "--sources", "1", "--iterations", "2", "--copy-mib", "1")


@emulated
def test_placements_at_a_budget(device: Any, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "LONG", 64)  # so that two buffers fit half of so small a graph
    path = tmp_path / "small.json"
    assert (
        out_of_memory.main(["kron:9", "--budgets", "50", "--kernels", "bfs,pagerank", "--out", str(path), *SMALL]) == 0
    )
    found = {(case["name"], case["setting"]["placement"]): case for case in cases(path)}
    assert {placement for _, placement in found} == set(out_of_memory.PLACEMENTS)
    for (_, placement), case in found.items():
        assert case["verified"] == "yes"
        assert case["notes"].get("copied", 0) > 0 or placement not in ("stream", "gather")
    copied = found["pagerank", "gather"]["notes"]["copied"]
    assert copied == pytest.approx(4 / 5)  # of ids and weights the ids, each once
    assert "x hybrid" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--budgets", "0"], "above 0"), (["--placements", "cloud"], "'cloud'"), (["--kernels", "sort"], "'sort'")],
)
def test_bad_arguments_are_named(arguments: list[str], said: str, capsys: Any) -> None:
    with pytest.raises(SystemExit):
        out_of_memory.parse(["kron:5", *arguments])
    assert said in capsys.readouterr().err


def test_triangles_agree_with_the_peer(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "triangles.json"
    assert triangles.main(["kron:9", "--engine", "cpu", "--trials", "1", "--out", str(path)]) == 0
    ours = next(case for case in cases(path) if case["name"] == "triangle_count")
    assert ours["verified"] == "yes"
    assert ours["reference"] > 0
    assert "x faster" in capsys.readouterr().out
