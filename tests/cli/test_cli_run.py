"""``sparsezc run``: the answers are those of the functions, for every algorithm and application."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.cli import main
from sparsezc.cli.table import ROWS, Row
from tests.cli.running import ACYCLIC, CALLS, NEEDED, answer, graph

pytestmark = pytest.mark.usefixtures("drawn_as_the_table_says")


def lines() -> list[str]:
    """Return the lines of the table in docs/cli.md."""
    found = ["| name | options | computes |", "| --- | --- | --- |"]
    for row in ROWS:
        name = f"`{row.name}`" + f", `{row.short}`" * (row.short not in ("", row.name))
        options = " ".join(f"`{option.flag}`" for option in row.options)
        found.append(f"| {name} | {options} | {row.summary} |".replace("|  |", "| |"))
    return found


def test_the_page_has_the_table():
    page = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text()
    assert "\n".join(lines()) in page


def test_the_table_has_every_algorithm_and_application():
    functions = [row.function for row in ROWS]
    assert sorted(functions) == sorted([*gb.algorithms.__all__, *gb.applications.__all__])


def called(row: Row, A: gb.Matrix) -> Any:
    """Return the answer of the row's Python function to the arguments of NEEDED."""
    given: dict[str, Any] = {"source": 0} if any(option.name == "source" for option in row.options) else {}
    y = gb.Vector.from_dense(np.load("y.npy"))
    more = {
        "k-truss": {"k": 2}, "maximal-independent-set": {"nodes": [0, 2], "seed": 1}, "maximal-matching": {"seed": 1},
        "greedy-color": {"seed": 1, "strategy": "largest_first"},
        "modularity": {"communities": gb.Vector.from_dense([0, 0, 1, 1, 0])},
        "multi-source-shortest-paths": {"sources": [0, 3], "weighted": True},
        "betweenness-centrality": {"normalized": False, "endpoints": True},
        "katz-centrality": {"alpha": 0.05, "nstart": y}, "pagerank": {"personalization": y, "tol": 1e-5},
        "cosine-similarity": {"pairs": gb.Matrix.from_coo([0, 1], [1, 0], True, nrows=5, ncols=5), "weighted": True},
        "k-hop": {"radius": 2, "center": False}, "all-pairs-shortest-paths": {"weighted": False},
        "double-edge-swap": {"swaps": 1, "seed": 1},
    }  # fmt: skip
    return row.call(A, **given, **more.get(row.name, {}))


def read_back(path: Path, row: Row) -> Any:
    """Return the content of an answer's file in the form of the function's answer."""
    if row.out == "numbers":
        return list(json.loads(path.read_text()).values())
    if row.out == "graph":
        return gb.io.read(path).to_coo()
    if row.out == "rows":
        return np.load(path)
    with np.load(path) as stored:
        return [stored[name] for name in stored.files]


@pytest.mark.parametrize("row", [row for row in ROWS if row.name not in CALLS], ids=lambda row: row.name)
def test_every_algorithm_answers_as_its_function(row, here, capsys):
    (here / "labels.csv").write_text("0\n0\n1\n1\n0\n")
    directed = row.name in ACYCLIC
    (here / "p.tsv").write_text("0\t1\n1\t0\n")
    name = {"numbers": "a.json", "graph": "a.mtx", "rows": "a.npy"}.get(row.out, "a.npz")
    arguments = [row.name, "g.tsv", *["--undirected"] * (not directed), *NEEDED.get(row.name, []), "--out", name]
    arguments += ["--source", "0"] if any(option.name == "source" for option in row.options) else []
    assert answer(capsys, *arguments)["command"] == row.name
    weights = row.read_weights({"weighted": True} if "--weighted" in arguments else {})
    right = called(row, gb.io.read("g.tsv", directed=directed, weights=weights))
    found = read_back(here / name, row)
    if row.out == "numbers":
        assert found == [right]
    elif row.out == "graph":
        for one, other in zip(found, right.to_coo(), strict=True):
            np.testing.assert_array_equal(one, other)
    elif row.out == "rows":
        places, values = right.to_coo()
        np.testing.assert_array_equal(found, values.reshape(-1, 1) if found.shape[1] == 1 else np.c_[places, values])
    elif row.name == "condensation":
        np.testing.assert_array_equal(found[1], right[1].to_coo()[1])
    else:
        parts = [part for part in (right if isinstance(right, tuple) else (right,)) if hasattr(part, "to_coo")]
        np.testing.assert_array_equal(found[0], parts[0].to_coo()[0])
        for one, other in zip(found[1:], parts, strict=True):
            np.testing.assert_array_equal(one, other.to_coo()[1])


def test_the_list_has_every_name(capsys):
    with pytest.raises(SystemExit) as left:
        main(["run", "--list"])
    assert left.value.code == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines()[1:]] == [row.short or row.name for row in ROWS]


@pytest.mark.parametrize("name", CALLS)
def test_every_application_answers_and_writes(name, here, capsys):
    data = answer(capsys, name, "g.tsv", "--undirected", *CALLS[name])
    assert data["command"] == name
    assert data["graph"]["vertices"] == 5
    assert (here / str(CALLS[name][-1])).stat().st_size
    assert main(["app", name.replace("-", "_"), "g.tsv", "--undirected", *map(str, CALLS[name])]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "5 vertices" in out


def test_answers_are_those_of_the_functions(here, capsys):
    A = graph()
    assert answer(capsys, "maximum-flow", "g.tsv", "--undirected", *CALLS["maximum-flow"])["value"] == 2
    flow = gb.io.read("flow.mtx")
    assert flow.dup("INT64").isequal(gb.algorithms.maximum_flow(A, 0, 3)[1])
    answer(capsys, "fused-lasso", "g.tsv", "--undirected", *CALLS["fused-lasso"])
    assert np.array_equal(np.load("x.npy"), gb.applications.fused_lasso(A, np.load("y.npy"), 0.3)[0].to_dense())
    answer(capsys, "geolocation", "g.tsv", "--undirected", *CALLS["geolocation"])
    found = np.loadtxt("found.csv", delimiter=",", skiprows=1)
    expected = gb.applications.geolocation(A, [[10, 20], [np.nan] * 2, [12, 22], [np.nan] * 2, [np.nan] * 2], 2)
    assert np.array_equal(found[:, 1:], expected.to_dense()[found[:, 0].astype(int)])
    assert answer(capsys, "projection", "g.tsv", "--undirected", "--out", "pairs.tsv")["pairs"] == 3
    B = gb.applications.projection(A)
    assert gb.io.read("pairs.tsv", directed=False).dup("INT64").isequal(B)


def test_walks_and_samples_are_those_of_the_functions(here, capsys):
    A = graph()
    data = answer(capsys, "random-walks", "g.tsv", "--undirected", *CALLS["random-walks"])
    walks = gb.algorithms.random_walks(A, [0, 3], 4, p=0.5, q=2, seed=1)
    assert np.array_equal(np.load("walks.npy"), walks.to_dense(-1))
    assert (data["walks"], data["steps"]) == (2, 8)
    answer(capsys, "graph-search", "g.tsv", "--undirected", *CALLS["graph-search"])
    walks = gb.algorithms.graph_search(A, [0, 4], gb.Vector.from_dense(np.load("y.npy")), 3, "greedy")
    assert np.array_equal(np.loadtxt("walks.csv", delimiter=","), walks.to_dense(-1))
    answer(capsys, "sample-neighbors", "g.tsv", "--undirected", *CALLS["sample-neighbors"])
    drawn = gb.algorithms.sample_neighbors(A, [0, 1, 0], 1, replace=True, weighted=True, seed=1)
    row, neighbor, times = drawn.to_coo()
    expected = np.column_stack([np.array([0, 1, 0])[row.astype(int)], neighbor, times])
    assert np.array_equal(np.loadtxt("drawn.csv", delimiter=","), expected)
    data = answer(capsys, "leiden-communities", "g.tsv", "--undirected", *CALLS["leiden-communities"])
    labels = gb.algorithms.leiden_communities(A, weighted=True, seed=1).to_dense()
    assert np.array_equal(np.load("labels.npy"), labels)
    assert data["communities"] == len(set(labels.tolist()))


def test_a_vertex_without_a_score_is_left_out(here, capsys):
    np.save("scores.npy", [1.0, np.nan, 5.0, 5.0, 0.5])
    answer(capsys, "graph-search", "g.tsv", "--undirected", "--sources", 0, "--scores", "scores.npy", "--length", 1,
           "--mode", "greedy", "--out", "walks.npy")  # fmt: skip
    assert np.load("walks.npy").tolist() == [[0, 4]]


def test_help_names_the_command_as_it_was_called(capsys):
    for name in ("app", "run"):
        with pytest.raises(SystemExit):
            main([name, "geolocation", "--help"])
        assert capsys.readouterr().out.startswith(f"usage: sparsezc {name} geolocation ")
