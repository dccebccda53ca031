"""Graphalytics' graphs are read, run and validated by the suite's rules, and so are its own examples if present."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import graphalytics
from benchmarks.harness.frame import load
from benchmarks.suites import graphalytics_rules
from benchmarks.suites.graphalytics_files import BadGraph, Graph, described, properties
from benchmarks.suites.graphalytics_rules import UNREACHED, epsilon, equivalence, exact
from benchmarks.verify.answers import Undecided, Wrong
from tests.algorithms.graphs import DATA
from tests.benchmarks.runs import emulated
from tests.emulator.device import EmulatedDevice

SHARED = DATA / "graphalytics"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=f"no graphs of the suite at {SHARED}")
QUICK = ("--trials", "2", "--copy-mib", "1")
NAMES = list(graphalytics.ALGORITHMS)

PROPERTIES = """\
# A comment
! another
graph.tiny.vertex-file = tiny.v
graph.tiny.edge-file = tiny.e
graph.tiny.meta.vertices = 4
graph.tiny.meta.edges : 4
graph.tiny.directed = {directed}
graph.tiny.algorithms = bfs, pr, wcc, cdlp, lcc, sssp
graph.tiny.bfs.source-vertex = 10
graph.tiny.pr.damping-factor = 0.85
graph.tiny.pr.num-iterations = 1
graph.tiny.cdlp.max-iterations = 2
graph.tiny.sssp.weight-property = weight
graph.tiny.sssp.source-vertex = 10
"""
VERTICES = "1000000000000\n20\n10\n35\n"  # unsorted; the first vertex has no edges
EDGES = "10 20 1.5\n20 35 2\n10 35 9\n35 10 1\n"
#: Worked out by hand, for the directed graph.
ANSWERS = {
    "BFS": {10: 0, 20: 1, 35: 1, 10**12: UNREACHED},
    "SSSP": {10: 0, 20: 1.5, 35: 3.5, 10**12: "infinity"},
    "WCC": {10: 7, 20: 7, 35: 7, 10**12: 8},  # any labels that divide the vertices so
    "CDLP": {10: 10, 20: 10, 35: 35, 10**12: 10**12},
    "LCC": {10: 0.5, 20: 1.0, 35: 0.5, 10**12: 0.0},
    "PR": {10: 0.303125, 20: 0.196875, 35: 0.409375, 10**12: 0.090625},
}


def tiny(folder: Path, directed: bool = True, answers: dict[str, dict[int, Any]] | None = None) -> Path:
    """Write the four files of the tiny graph, and expected outputs; return their folder."""
    (folder / "tiny.properties").write_text(PROPERTIES.format(directed=str(directed).lower()))
    (folder / "tiny.v").write_text(VERTICES)
    (folder / "tiny.e").write_text(EDGES)
    for name, values in (answers or {}).items():
        (folder / f"tiny-{name}").write_text("".join(f"{v} {x}\n" for v, x in values.items()))
    return folder


def ran(folder: Path, tmp_path: Path, *options: str, code: int = 0) -> dict[str, dict[str, Any]]:
    """Run the benchmark on a folder and return its cases by algorithm."""
    path = tmp_path / "run.json"
    assert graphalytics.main([str(folder), *options, *QUICK, "--out", str(path)]) == code
    found = json.loads(path.read_text())
    assert bool(found["failures"]) <= (code == 1)
    return {case["name"]: case for case in found["cases"]}


def test_answers_by_hand_are_matched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = ran(tiny(tmp_path, answers=ANSWERS), tmp_path, "--engine", "cpu")
    assert list(found) == NAMES
    assert all(case["verified"] == "yes" for case in found.values())
    rules = {name: case["notes"]["validated_by"].rpartition(", ")[2] for name, case in found.items()}
    assert rules == {
        "BFS": "exact match", "PR": "epsilon match", "WCC": "equivalence match", "CDLP": "exact match",
        "LCC": "epsilon match", "SSSP": "epsilon match",
    }  # fmt: skip
    assert "EVPS" in capsys.readouterr().out


def test_the_suite_s_metrics(tmp_path: Path) -> None:
    case = ran(tiny(tmp_path), tmp_path, "--engine", "cpu", "--algorithms", "sssp")["SSSP"]
    notes, setting = case["notes"], case["setting"]
    assert (setting["vertices"], setting["edges"], setting["scale"]) == (4, 4, 0.9)
    processing = notes["processing_seconds"]
    assert processing == case["derived"]["median"]
    assert notes["eps"] == pytest.approx(4 / processing)
    assert notes["evps"] == pytest.approx(8 / processing)
    assert notes["makespan_seconds"] >= setting["load_seconds"] + case["first_seconds"]
    assert case["derived"]["nbytes"] == 4 * (8 + 8)  # every edge is reached: an id and a weight each
    assert load(tmp_path / "run.json").cases[0].notes == notes


@pytest.mark.parametrize("directed", [True, False])
def test_without_reference_outputs_answers_are_judged_all_the_same(tmp_path: Path, directed: bool) -> None:
    found = ran(tiny(tmp_path, directed), tmp_path, "--engine", "cpu")
    assert list(found) == NAMES
    assert all(case["verified"] == "yes" for case in found.values())
    assert all("no reference" in case["notes"]["validated_by"] for case in found.values())


@pytest.mark.parametrize("name", NAMES)
def test_another_reference_is_not_matched(tmp_path: Path, name: str) -> None:
    planted = {"WCC": 7, "CDLP": 11}.get(name, 5)
    wrong = {name: ANSWERS[name] | {10**12: planted}}
    found = ran(tiny(tmp_path, answers=wrong), tmp_path, "--engine", "cpu", "--algorithms", name, code=1)
    assert found[name]["verified"].startswith("WRONG: ")
    assert "vertices do not match" in found[name]["verified"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("directed", [True, False])
def test_checks_without_a_reference_refuse_any_other_value(tmp_path: Path, name: str, directed: bool) -> None:
    graph = Graph(properties(tiny(tmp_path, directed) / "tiny.properties"), "host")
    algorithm = graphalytics.ALGORITHMS[name]
    right = algorithm.output(graph, algorithm.prepare(graph)())
    graphalytics_rules.validate(graph, name, right)
    for vertex in range(4):
        wrong = right.copy()
        wrong[vertex] = 20 if right[vertex] != 20 else 35
        with pytest.raises(Wrong):
            graphalytics_rules.validate(graph, name, wrong)


@pytest.mark.parametrize("name", ["CDLP", "LCC"])
def test_a_large_graph_without_a_reference_is_undecided(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphalytics_rules, "PLAIN", 1)
    graph = Graph(properties(tiny(tmp_path) / "tiny.properties"), "host")
    with pytest.raises(Undecided, match="too large"):
        graphalytics_rules.validate(graph, name, np.zeros(4))


IDS = np.array([3, 5, 9])


def test_exact_match() -> None:
    exact(np.array([0, 1, UNREACHED]), np.array([0, 1, UNREACHED]), IDS)
    with pytest.raises(Wrong, match="1 vertices do not match; vertex 9 has 2, not 1"):
        exact(np.array([0, 1, 2]), np.array([0, 1, 1]), IDS)


def test_epsilon_match_is_relative() -> None:
    reference = np.array([1.0, 1e-9, np.inf])
    epsilon(reference * (1 + 0.9e-4), reference, IDS)
    epsilon(np.zeros(3), np.zeros(3), IDS)
    for wrong in (
        reference * (1 + 1.1e-4),
        [1, 1e-9, 1e300],
        [np.inf, 1e-9, np.inf],
        [np.nan, 1e-9, np.inf],
        [1, 0, np.inf],
    ):
        with pytest.raises(Wrong):
            epsilon(np.asarray(wrong), reference, IDS)


def test_equivalence_of_labels() -> None:
    equivalence(np.array([4, 4, 1]), np.array([0, 0, 7]), IDS)
    for wrong in ([4, 1, 1], [4, 4, 4], [1, 2, 3]):
        with pytest.raises(Wrong):
            equivalence(np.array(wrong), np.array([0, 0, 7]), IDS)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("tiny.properties", PROPERTIES.format(directed="perhaps"), "'perhaps'; true or false"),
        ("tiny.properties", PROPERTIES.replace("vertices = 4", "vertices = 5").format(directed="true"), "file holds 4"),
        ("tiny.properties", PROPERTIES.replace("= 10", "= 11").format(directed="true"), "11, which is no vertex"),
        ("tiny.properties", PROPERTIES.replace("= 10", "= x").format(directed="true"), "a number is needed"),
        ("tiny.properties", "graph.tiny.directed = true\n", "describes 0 graphs"),
        ("tiny.properties", PROPERTIES.replace("graph.tiny.directed", "x").format(directed=""), "directed is missing"),
        ("tiny.v", "10\n20\n35\n35\n", "more than once"),
        ("tiny.v", "10\n20\n36\n40\n", "35 is the end of an edge and no vertex"),
        ("tiny.e", "10 20\n20 35\n10 35\n35 10\n", "the edges have none"),
        ("tiny-SSSP", "10 0\n20 1\n", "one line for each vertex of tiny is needed"),
    ],
)
def test_files_that_are_wrong_are_named(tmp_path: Path, file: str, text: str, message: str) -> None:
    tiny(tmp_path)
    (tmp_path / file).write_text(text)

    def all_of_it() -> None:
        graph = Graph(properties(tmp_path / "tiny.properties"), "host")
        graphalytics.ALGORITHMS["SSSP"].prepare(graph)
        graph.reference("SSSP")

    with pytest.raises(BadGraph, match=message):
        all_of_it()


def test_one_graph_that_fails_leaves_the_others(tmp_path: Path) -> None:
    tiny(tmp_path)
    (tmp_path / "another.properties").write_text("graph.another.vertex-file = none.v\n")
    found = ran(tmp_path, tmp_path, "--engine", "cpu", "--algorithms", "bfs,wcc", code=1)
    assert list(found) == ["BFS", "WCC"]
    with pytest.raises(BadGraph, match=r"no \.properties file"):
        described(SHARED.parent / "refs" if SHARED.is_dir() else Path(__file__).parent)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--algorithms", "bfz"], "'BFZ' is none of"),
        (["--placement", "host"], "'host' is none of"),
        (["--trials", "0"], "at least 1"),
    ],
)
def test_bad_options_are_refused(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        graphalytics.main(["folder", *arguments])
    assert message in capsys.readouterr().err


def test_a_gpu_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(graphalytics.cuda, "reason", lambda: "no GPU: none was built in")
    assert graphalytics.main(["folder", "--engine", "gpu"]) == 2
    assert "none was built in" in capsys.readouterr().out


@emulated
@pytest.mark.parametrize("directed", [True, False])
def test_on_the_emulated_device(tmp_path: Path, device: EmulatedDevice, directed: bool) -> None:
    folder = tiny(tmp_path, directed, ANSWERS if directed else None)
    found = ran(folder, tmp_path, "--engine", "gpu", "--placement", "zerocopy")
    assert [(name, case["verified"]) for name, case in found.items()] == [(name, "yes") for name in NAMES]
    assert device.launches


@needs_shared
def test_the_suite_s_examples(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    assert graphalytics.main([str(SHARED), "--engine", "cpu", *QUICK, "--out", str(path)]) == 0
    found = json.loads(path.read_text())["cases"]
    graphs = [case["setting"]["graph"] for case in found]
    assert graphs == ["example-directed"] * 6 + ["example-undirected"] * 6
    assert all(case["verified"] == "yes" for case in found)
    published = [case["name"] for case in found if "match" in case["notes"]["validated_by"]]
    assert published == 2 * ["BFS", "PR", "WCC"]


@needs_shared
def test_a_graph_of_sixty_thousand_vertices(tmp_path: Path) -> None:
    """p2p-31, undirected and gzipped, agrees with published outputs of three algorithms; others are checked here."""
    for file in SHARED.glob("p2p-31*"):
        if "directed" not in file.name:
            shutil.copyfile(file, tmp_path / file.name)
    text = PROPERTIES.format(directed="false").replace("tiny", "p2p-31").replace("= 10", "= 6")
    text = text.replace("num-iterations = 1", "num-iterations = 10").replace(
        "max-iterations = 2", "max-iterations = 10"
    )
    text = "\n".join(line for line in text.splitlines() if ".meta." not in line)
    (tmp_path / "p2p-31.properties").write_text(text)
    found = ran(tmp_path, tmp_path, "--engine", "cpu")
    assert [(name, case["verified"]) for name, case in found.items()] == [(name, "yes") for name in NAMES]
    published = [name for name, case in found.items() if "match" in case["notes"]["validated_by"]]
    assert published == ["BFS", "PR", "WCC"]
