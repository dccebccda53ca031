"""``sparsezc run``: everything from the shell gives what the function gives, and refuses what it cannot read."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.cli import features, main
from sparsezc.cli import run as cli_run
from sparsezc.cli.table import BY_NAME, ROWS, Row


@pytest.fixture(autouse=True)
def _settings_end_with_the_test():
    with gb.config.set(engine="auto", placement="auto"):
        yield


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a graph of five vertices in it, 0 - 1 - 2 - 3 and 0 - 4, and tables."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.tsv").write_text("0\t1\t2\n1\t2\t3\n2\t3\t4\n0\t4\t1\n")
    (tmp_path / "places.csv").write_text("latitude,longitude\n10,20\n,\n12,22\n,\n,\n")
    np.save(tmp_path / "y.npy", np.array([1.0, 1.1, 5.0, 5.1, 0.9]))
    np.save(tmp_path / "x.features.npy", np.arange(10.0).reshape(5, 2))
    np.save(tmp_path / "w.npy", np.tile(np.eye(2), (2, 1)))
    np.save(tmp_path / "p.npy", np.array([1.0, 5.0]))
    (tmp_path / "p.tsv").write_text("0\t1\t3\n")
    (tmp_path / "pairs.csv").write_text("0,0\n3,3\n")
    return tmp_path


def run(capsys, *arguments):
    code = main(["run", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def answer(capsys, *arguments):
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def graph():
    return gb.io.read("g.tsv", directed=False)


CALLS = {
    "louvain-communities": ["--seed", 1, "--resolution", 0.9, "--out", "labels.csv"],
    "leiden-communities": ["--seed", 1, "--weighted", "--out", "labels.npy"],
    "sample-neighbors": ["--sources", 0, 1, 0, "--k", 1, "--seed", 1, "--replace", "--weighted", "--out", "drawn.csv"],
    "random-walks": ["--sources", 0, 3, "--length", 4, "--p", 0.5, "--q", 2, "--seed", 1, "--out", "walks.npy"],
    "graph-search": ["--sources", 0, 4, "--scores", "y.npy", "--length", 3, "--mode", "greedy", "--out", "walks.csv"],
    "scan-statistics": ["--out", "psi.csv"],
    "maximum-flow": ["--s", 0, "--t", 3, "--out", "flow.mtx"],
    "minimum-cut": ["--s", 0, "--t", 3, "--out", "side.json"],
    "geolocation": ["--places", "places.csv", "--rounds", 2, "--out", "found.csv"],
    "vertex-nomination": ["--seeds", 0, 4, "--k", 2, "--content", "y.npy", "--out", "scores.parquet"],
    "projection": ["--weight", "jaccard", "--out", "pairs.parquet"],
    "local-clustering": ["--seeds", 0, 3, "--rho", 0.01, "--out", "p.csv"],
    "fused-lasso": ["--y", "y.npy", "--lambda1", 0.3, "--out", "x.npy"],
    "application-classification": [
        "p.tsv",
        "--features",
        "y.npy",
        "--pattern-features",
        "p.npy",
        "--rule",
        "published",
        "--out",
        "m.npy",
    ],
    "collaborative-filtering": ["--k", 2, "--solver", "als", "--seed", 1, "--out", "f.npz"],
    "graphsage": [
        *("--X", "x.features.npy", "--W1", "w.npy", "--W2", "w.npy"),
        *("--children", 2, "--seed", 1, "--out", "h.csv"),
    ],
    "linear-assignment": ["--absent", 9, "--out", "columns.txt"],
    "seeded-graph-matching": ["g.tsv", "--seeds", "pairs.csv", "--out", "match.tsv"],
}


@pytest.fixture(autouse=True)
def _drawn_as_the_table_says(monkeypatch):
    """Every answer has a picture for --plot, or its row is refused before the work."""
    report = cli_run._report

    def reported(arguments, found, shown, *rest):
        assert (shown.picture is not None) == BY_NAME[arguments.name].pictured
        return report(arguments, found, shown, *rest)

    monkeypatch.setattr(cli_run, "_report", reported)


def lines() -> list[str]:
    """The table as docs/cli.md shows it."""
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


#: Arguments of the other rows that need some.
NEEDED = {
    "double-edge-swap": ["--swaps", "1", "--seed", "1"],
    "k-truss": ["--k", "2"],
    "maximal-independent-set": ["--nodes", "0", "2", "--seed", "1"],
    "maximal-matching": ["--seed", "1"],
    "greedy-color": ["--seed", "1", "--strategy", "largest_first"],
    "modularity": ["--communities", "labels.csv"],
    "multi-source-shortest-paths": ["--sources", "0", "3", "--weighted"],
    "betweenness-centrality": ["--no-normalized", "--endpoints"],
    "katz-centrality": ["--alpha", "0.05", "--nstart", "y.npy"],
    "pagerank": ["--personalization", "y.npy", "--tol", "1e-5"],
    "cosine-similarity": ["--pairs", "p.tsv", "--weighted"],
    "k-hop": ["--radius", "2", "--no-center"],
    "all-pairs-shortest-paths": ["--no-weighted"],
}
ACYCLIC = (
    "topological-generations", "topological-sort", "transitive-reduction", "find-negative-cycle", "dag-longest-path",
)  # fmt: skip


def called(row: Row, A: gb.Matrix) -> Any:
    """The function's own answer to the arguments of NEEDED."""
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
    """An answer's file, by a library."""
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


def test_top_says_how_many_rows_a_table_has(here, capsys):
    assert len(answer(capsys, "pagerank", "kron:6", "--top", 3)["top"]) == 3
    assert answer(capsys, "cc", "kron:6", "--top", 0)["largest"] == []


def test_weights_that_are_not_there_are_told(capsys):
    assert run(capsys, "pagerank", "kron:6", "--weighted")[1].splitlines()[1] == "weights  1 each (no weights)"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pagerank", "kron:6", "--top", "-1"], "--top: found '-1'; a whole number of at least 0 is needed"),
        (["bench", "kron:6", "--trials", "x"], "--trials: found 'x'; a whole number of at least 1 is needed"),
        (["mpirun", "-n", "0", "a.py"], "-n: found '0'; a whole number of at least 1 is needed"),
        (["mpirun"], "the following arguments are required: program\n"),
    ],
)
def test_counts_and_arguments_that_are_wrong_usage(arguments, said, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert said in capsys.readouterr().err


def test_the_nearest_name_is_offered(capsys):
    for arguments, offered in (
        (["run", "core_numbr", "path:3"], "invalid choice: 'core-numbr'; did you mean 'core-number'?"),
        (["bsf", "path:3"], "invalid choice: 'bsf'; did you mean 'bfs'?"),
        (["bfs", "path:3", "--sorce", "1"], "unrecognized arguments: --sorce 1; did you mean '--source'?"),
        (["run", "xyz", "path:3"], "invalid choice: 'xyz'; sparsezc run --list prints all names"),
        (["run", "projection", "path:3", "--onto", "row"], "invalid choice: 'row'; did you mean 'rows'?"),
        (["bfs", "g.cvs", "--format", "snpa"], "--format: invalid choice: 'snpa'; did you mean 'snap'?"),
    ):
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert left.value.code == 2
        assert offered in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "offered"),
    [
        (["bfs", "g.cvs"], "g.cvs: the suffix '.cvs' is not known; did you mean '.csv'?"),
        (["bfs", "path:3", "--out", "a.josn"], "the suffix '.josn' says no format; did you mean '.json'?"),
        (["run", "bridges", "path:3", "--out", "a.mtz"], "suffix '.mtz' is not known; did you mean '.mtx'?"),
        (["run", "core-number", "path:3", "--plot", "a.pgn"], ".png, .svg, .pdf is needed; did you mean '.png'?"),
        (["convert", "path:3", "a.parqet"], "a.parqet: the suffix '.parqet' is not known; did you mean '.parquet'?"),
        (["convert", "path:3", "a.gpr.gz"], "a.gpr.gz: the suffix '.gpr' is not known; did you mean '.gr'?"),
        (["bfs", "g.cvs", "--format", "snap", "--relabel", "--source", "an"], "this id; did you mean 'ann'?"),
        (["bfs", "pth:16"], "pth:16 does not exist; did you mean 'path:16'?"),
        (["bfs", "https://a.org/g.csv"], "an address; a file is needed, such as curl --remote-name https://a.org/g.csv"),
        (["bfs", "s3://b/g.csv"], "an address; a file is needed, such as aws s3 cp s3://b/g.csv . makes"),
        (["bfs", "file:///b/g%20h.csv"], "an address; a file is needed, here /b/g h.csv"),
        (["bfs", "gs://b/g.csv"], "an address; a file is needed; copy it with the tools of gs:// first"),
        (["bfs", "g.csv"], "g.csv does not exist; did you mean 'g.cvs'?"),
        (["info", "a.tar.gz"], "a.tar.gz is an archive; unpack it, and give the file in it that holds the graph"),
        (["info", "b.csv"], "b.csv, line 1: found a NUL byte; a text is needed, or format= (--format) that says"),
        (["info", "."], ". is a folder without .parquet files; one with some, or a graph file, is needed"),
        (["bfs", "no/g.csv"], "no/g.csv does not exist\n"),
    ],
)  # fmt: skip
def test_the_nearest_suffix_file_graph_and_vertex_are_offered(arguments, offered, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {"g.cvs": b"ann bob\n", "a.tar.gz": b"\x1f\x8b", "b.csv": b"\x7fELF\0\0"}
    for name, data in names.items():
        (tmp_path / name).write_bytes(data)
    assert main(arguments) == 1
    assert offered in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == names.keys()


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


def test_answers_have_the_files_ids(here, capsys):
    (here / "far.tsv").write_text("100\t200\n200\t300\n100\t300\n")
    given = ("far.tsv", "--undirected", "--relabel")
    answer(capsys, "random-walks", *given, "--sources", 200, "--length", 3, "--seed", 1, "--out", "walks.npy")
    assert set(np.load("walks.npy").ravel().tolist()) <= {100, 200, 300}
    answer(capsys, "sample-neighbors", *given, "--sources", 200, "--out", "drawn.npy")
    assert np.load("drawn.npy")[:, :2].tolist() == [[200, 100], [200, 300]]
    data = answer(capsys, "louvain-communities", *given, "--seed", 1, "--out", "labels.txt")
    assert data["largest"] == [{"label": 100, "vertices": 3}]
    assert (here / "labels.txt").read_text() == "100 100\n200 100\n300 100\n"


def test_vertices_are_the_files_ids(here, capsys):
    (here / "far.tsv").write_text("100\t200\n200\t300\n100\t300\n")
    data = answer(capsys, "vertex-nomination", "far.tsv", "--undirected", "--relabel", "--seeds", 200)
    assert [each["vertex"] for each in data["top"]] == [100, 300]


@pytest.mark.parametrize(("names", "pair"), [("abcd", "c d"), (("100", "7", "300", "400"), "300,400")])
def test_pairs_to_score_have_the_files_ids(names, pair, here, capsys):
    """They have no columns of the graph's names, nor weights."""
    edges = "\n".join(f"{names[i]},{names[j]},2,x" for i, j in [(0, 2), (0, 3), (1, 2), (1, 3)])
    (here / "t.csv").write_text(f"who,whom,km,kind\n{edges}\n")
    (here / "some.txt").write_text(pair)
    columns = ("--source-col", "who", "--target-col", "whom", "--type-col", "kind", "--type", "x", "--weights", "FP32")
    given = ("t.csv", *columns, "--relabel", "--undirected", "--pairs", "some.txt")
    assert answer(capsys, "common-neighbors", *given)["pairs"] == 2


def test_two_graphs_have_ids_of_their_own(here, capsys):
    """A path whose ends differ in degree from its middle; the second one's vertices are called otherwise."""
    (here / "one.tsv").write_text("10\t20\n20\t30\n30\t40\n")
    (here / "two.tsv").write_text("7\t5\n5\t9\n9\t3\n")
    (here / "known.csv").write_text("a,b\n10,7\n40,3\n")
    given = ("one.tsv", "two.tsv", "--undirected", "--relabel", "--seeds", "known.csv", "--out", "match.txt")
    assert answer(capsys, "seeded-graph-matching", *given)["disagreements"] == 0
    assert (here / "match.txt").read_text() == "10 7\n20 5\n30 9\n40 3\n"
    np.save("ends.npy", [0, 1, 1, 0]), np.save("some.npy", [1, 0])
    given = ("one.tsv", "pattern.tsv", "--relabel", "--features", "ends.npy", "--pattern-features", "some.npy")
    (here / "pattern.tsv").write_text("4\t6\n")
    best = answer(capsys, "application-classification", *given, "--weights", "none")["best"]
    assert [(each["pattern"], each["vertex"]) for each in best] == [(4, 30), (6, 40)]


def test_clusters_are_written_with_their_seeds(here, capsys):
    (here / "far.tsv").write_text("100\t200\n200\t300\n300\t100\n300\t400\n400\t500\n500\t600\n600\t400\n")
    given = ("far.tsv", "--relabel", "--seeds", 500, 200, "--rho", 0.01, "--out", "p.csv")
    found = answer(capsys, "local-clustering", *given)["clusters"]
    assert [(each["seed"], each["vertices"]) for each in found] == [(500, 3), (200, 3)]
    rows = np.loadtxt("p.csv", delimiter=",")
    A = gb.io.read("far.tsv", relabel=True)[0]
    p, cluster, _ = gb.applications.local_clustering(A, [4, 1], rho=0.01)
    for k, seed in enumerate((500, 200)):
        mine = rows[rows[:, 0] == seed]
        vertex, value = p[k, :].new().to_coo()
        assert np.array_equal(mine[:, 1:3], np.c_[100.0 * (vertex + 1), value])
        assert np.array_equal(mine[mine[:, 3] == 1, 1], 100.0 * (cluster[k, :].new().to_coo()[0] + 1))


def test_graphs_that_are_written_have_the_files_ids(here, capsys):
    (here / "far.tsv").write_text("100\t200\t3\n200\t300\t2\n")
    given = ("far.tsv", "--relabel")
    answer(capsys, "maximum-flow", *given, "--weights", "INT64", "--s", 100, "--t", 300, "--out", "flow.tsv")
    assert gb.io.read("flow.tsv", directed=True).to_dicts() == {100: {200: 2}, 200: {300: 2}}
    gb.io.convert("far.tsv", "far.h5", relabel=True, symmetrize=True)
    for graph in (("far.tsv", "--relabel", "--undirected"), ("far.h5",)):
        answer(capsys, "projection", *graph, "--out", "pairs.tsv")
        assert gb.io.read("pairs.tsv", directed=True).to_dicts() == {100: {300: 1}, 300: {100: 1}}


@pytest.mark.parametrize("suffix", [".txt", ".csv", ".parquet", ".feather", ".h5"])
@pytest.mark.parametrize("ids", [["1000000000000", "2000000000000"], ["ann", "bob"]])
def test_edges_of_large_ids_and_of_names_can_be_read(suffix, ids, here, capsys):
    (here / "far.csv").write_text(",".join(ids))
    answer(capsys, "bridges", "far.csv", "--relabel", "--undirected", "--out", f"a{suffix}")
    A, found = gb.io.read(f"a{suffix}", relabel=True)
    assert (A.to_dicts(), [str(each) for each in found]) == ({0: {1: True}, 1: {0: True}}, ids)


def test_no_edges_between_ids_are_a_graphs_file(here, capsys):
    (here / "far.tsv").write_text("10\t20\n20\t30\n30\t10\n")
    answer(capsys, "bridges", "far.tsv", "--relabel", "--undirected", "--out", "a.txt")
    assert gb.io.read("a.txt").nvals == 0


def test_names_with_blanks_need_a_format_that_holds_them(here, capsys):
    (here / "named.csv").write_text('who,whom\nann\u00a0lee,bob\nbob,zoe x\n"t\tu",bob\n')
    columns = ("named.csv", "--relabel", "--undirected", "--source-col", "who", "--target-col", "whom", "--quiet")
    for out in ("a.txt", "-", "a.tsv"):
        code, text, err = run(capsys, "bridges", *columns, "--out", out)
        assert (code, text) == (1, "")
        assert "a tab has a meaning in such lines, and the name 't\\tu' has one; use .csv" in err
    answer(capsys, "bridges", *columns[:-1], "--out", "a.csv")
    assert gb.io.read("a.csv", relabel=True)[1].tolist() == ["ann\u00a0lee", "bob", "t\tu", "zoe x"]


@pytest.mark.parametrize("name", ["a,b", "a;b", "#a", "%a", 'a"b', '"a', "a b"])
def test_names_with_marks_are_read_as_they_were_written(name, here, capsys):
    gb.io.write(gb.io.read("path:3"), "p.csv")
    quoted = '"' + name.replace('"', '""') + '"'
    (here / "named.csv").write_text(f"{quoted},c\nc,d\n")
    for out in ("a.csv", "a.tsv", "a.txt"):
        code, _, err = run(capsys, "bridges", "named.csv", "--relabel", "--undirected", "--quiet", "--out", out)
        if code:
            assert (out, err.count("\n")) in (("a.txt", 1), ("a.tsv", 1))
            assert f"has a meaning in such lines, and the name {name!r} has one; use " in err
        else:
            assert gb.io.read(out, relabel=True)[1].tolist() == sorted([name, "c", "d"])


@pytest.mark.parametrize(
    ("name", "what"), [("", "an empty name"), (" a", "a blank"), ("a ", "a blank"), ("a\nb", "a line's end")]
)
def test_names_that_no_line_gives_back_need_parquet(name, what, here, capsys):
    pa = pytest.importorskip("pyarrow", reason="a Parquet file has such names")
    from pyarrow import parquet

    parquet.write_table(pa.table({"source": [name, "c"], "target": ["c", "d"]}), "odd.parquet")
    for out in ("a.csv", "a.tsv", "a.txt", "a.parquet"):
        code, _, err = run(capsys, "bridges", "odd.parquet", "--relabel", "--undirected", "--quiet", "--out", out)
        if out != "a.parquet":
            assert (code, err.count("\n"), Path(out).exists()) == (1, 1, False)
            assert what in err
            assert err.endswith("use .parquet\n")
    assert gb.io.read("a.parquet", relabel=True)[1].tolist() == sorted([name, "c", "d"])


def test_ids_that_a_format_cannot_number_are_refused_before_the_work(here, capsys, monkeypatch):
    (here / "far.txt").write_text("1000000000000 3\n3 5\n")
    forest = "minimum-spanning-forest", "far.txt", "--relabel", "--undirected", "--quiet", "--out"
    for out in ("a.csv", "a.txt", "a.parquet", "a.h5"):
        assert run(capsys, *forest, out) == (0, "", "")
        assert gb.io.read(out, relabel=True)[1].tolist() == [3, 5, 1000000000000]
    monkeypatch.setattr(Row, "call", None)
    for out in ("a.mtx", "a.npz", "a.el", "a.gr"):
        code, text, err = run(capsys, *forest, out)
        assert (code, text) == (1, "")
        assert f"--out {out}: the format numbers all vertices up to the largest id, 1,000,000,000,000, whose" in err
        assert "8,000,000,000,016 bytes of memory" in err


LISTED = [".txt", ".tsv.gz", ".csv", ".json", ".npz", ".parquet", ".feather", "-"]


def listed(path: str, out: str) -> list[list[Any]]:
    """Rows of an answer, by a library."""
    if path == "-":
        return [line.split() for line in out.splitlines()]
    if path.endswith((".parquet", ".feather")):
        arrow = pytest.importorskip("pyarrow.feather" if path.endswith("feather") else "pyarrow.parquet")
        return [list(row.values()) for row in arrow.read_table(path).to_pylist()]
    if path.endswith(".npz"):
        with np.load(path) as stored:
            return [list(row) for row in zip(*(stored[name].tolist() for name in stored.files), strict=True)]
    if path.endswith(".json"):
        return [list(row) for row in zip(*json.loads(Path(path).read_text()).values(), strict=True)]
    text = gzip.decompress(Path(path).read_bytes()).decode() if path.endswith(".gz") else Path(path).read_text()
    return list(csv.reader(io.StringIO(text), delimiter={".ts": "\t", ".cs": ","}.get(path[1:4], " ")))


@pytest.mark.parametrize("suffix", LISTED)
def test_rows_and_edges_have_names_in_every_format(suffix, here, capsys):
    """Drawn edges, and the edges of a graph, whose ends have names."""
    (here / "named.csv").write_text("source,target\nann,bob\nbob,zoe\n")
    path = suffix if suffix == "-" else f"a{suffix}"
    drawn = ("sample-neighbors", "named.csv", "--relabel", "--sources", "ann", "bob", "--quiet", "--out", path)
    bridges = ("bridges", "named.csv", "--relabel", "--undirected", "--quiet", "--out", path)
    for arguments, expected in (
        (drawn, [("ann", "bob"), ("bob", "zoe")]),
        (bridges, [("ann", "bob"), ("bob", "ann"), ("bob", "zoe"), ("zoe", "bob")]),
    ):
        code, out, err = run(capsys, *arguments)
        assert (code, err) == (0, "")
        assert [tuple(row[:2]) for row in listed(path, out)] == expected


def test_edges_without_names_are_a_graphs_file_or_lines(here, capsys):
    (here / "named.csv").write_text("source,target\nann,bob\n")
    assert run(capsys, "bridges", "named.csv", "--relabel", "--undirected", "--quiet", "--out", "a.h5")[0] == 0
    assert gb.io.read("a.h5", relabel=True)[1].tolist() == ["ann", "bob"]
    assert "have names; .csv or .parquet" in run(capsys, "bridges", "named.csv", "--relabel", "--out", "a.mtx")[2]
    assert run(capsys, "bridges", "g.tsv", "--undirected", "--quiet", "--out", "a.tsv")[0] == 0
    assert gb.io.read("a.tsv").nvals == 8
    assert run(capsys, "bridges", "path:2", "--quiet", "--out", "-")[1] == "0 1\n1 0\n"
    assert run(capsys, "bridges", "path:2", "--quiet", "--out", "a.json")[0] == 0
    assert json.loads(Path("a.json").read_text())["source"] == [0, 1]


def test_a_table_is_written_in_other_formats(here, capsys):
    given = ("geolocation", "g.tsv", "--undirected", *CALLS["geolocation"][:-1])
    answer(capsys, *given, "a.csv")
    answer(capsys, *given, "a.json")
    rows = zip(*json.loads(Path("a.json").read_text()).values(), strict=True)
    assert np.array_equal(np.array(list(rows)), np.loadtxt("a.csv", delimiter=",", skiprows=1))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_an_answer_for_vertices_is_read_back_by_their_ids(suffix, here, capsys):
    """Of some vertices, whatever their order in the file; others have none."""
    (here / "far.csv").write_text('ann,"b,ob"\n"b,ob",zoe\n"b,ob",lee\nx,y\n')
    (here / "two.csv").write_text("vertex,latitude,longitude\nlee,3,2\nann,1,2\n")
    given = ("geolocation", "far.csv", "--relabel", "--undirected", "--quiet", "--rounds")
    assert run(capsys, *given, 1, "--places", "two.csv", "--out", f"a{suffix}")[0] == 0
    assert run(capsys, *given, 1, "--places", f"a{suffix}", "--out", "b.json")[0] == 0
    assert run(capsys, *given, 2, "--places", "two.csv", "--out", "c.json")[0] == 0
    found, expected = (json.loads(Path(name).read_text()) for name in ("b.json", "c.json"))
    assert found["vertex"] == ["ann", "b,ob", "lee", "zoe"]
    assert all(found[name] == pytest.approx(expected[name]) for name in ("column0", "column1"))


def test_ids_of_a_table_that_are_wrong(here, capsys):
    for lines, said in (
        ("0,1\n7,2\n", "--y ids.csv has vertex 7; g.tsv has vertices 0 to 4"),
        ("0,1\n3,1\n0,2\n", "--y ids.csv has vertex 0 2 times; a line for each is needed"),
        ("0,1\nann,2\n", "--y ids.csv is 'ann'; a vertex is a whole number in g.tsv"),
        ("0,1\n1,x\n", "ids.csv, line 3, column 2: found 'x'; a number is needed"),
        ("0,1\n1,2,3\n", "ids.csv, line 3: found 3 columns; those before have 2"),
    ):
        (here / "ids.csv").write_text(f"vertex,value\n{lines}")
        code, _, err = run(capsys, "fused-lasso", "g.tsv", "--undirected", "--y", "ids.csv", "--lambda1", 1)
        assert code == 1
        assert said in err


def test_help_names_the_command_as_it_was_called(capsys):
    for name in ("app", "run"):
        with pytest.raises(SystemExit):
            main([name, "geolocation", "--help"])
        assert capsys.readouterr().out.startswith(f"usage: sparsezc {name} geolocation ")


@pytest.mark.parametrize("suffix", [".txt", ".tsv.gz", ".csv", ".parquet", ".npz", "-"])
def test_tables_have_the_files_ids_in_every_format_of_rows(suffix, here, capsys):
    (here / "far.csv").write_text("ann,bob\nbob,zoe\nbob,lee\n")
    (here / "three.csv").write_text("1,2\n,\n3,2\n,\n")
    path = suffix if suffix == "-" else f"a{suffix}"
    given = ("far.csv", "--relabel", "--undirected", "--places", "three.csv", "--rounds", 1, "--quiet", "--out", path)
    code, out, err = run(capsys, "geolocation", *given)
    assert (code, err) == (0, "")
    rows = listed(path, out)
    assert (rows.pop(0) if suffix == ".csv" else ["vertex", "column0", "column1"]) == ["vertex", "column0", "column1"]
    assert [row[0] for row in rows] == ["ann", "bob", "lee", "zoe"][: len(rows)]
    assert len(rows[0]) == 3


def test_json_of_one_number_has_no_nan(here, capsys):
    for name in ("a.json", "a.json.txt"):
        answer(capsys, "degree-assortativity", "path:2", "--out", name)
    assert json.loads(Path("a.json").read_text()) == {"assortativity": None}
    assert Path("a.json.txt").read_text() == "assortativity nan\n"


def test_an_answer_never_replaces_a_file_that_is_read(here, capsys):
    (here / "h.tsv").write_text("0\t1\n")
    matching = ("seeded-graph-matching", "g.tsv", "h.tsv", "--seeds", "pairs.csv")
    for arguments in ((*matching, "--out", "h.tsv"), (*matching, "--out", "pairs.csv")):
        code, _, err = run(capsys, *arguments)
        assert code == 1
        assert f"--out {arguments[-1]} is the file {arguments[-1]}, which is read; another name is needed" in err


@pytest.mark.parametrize("name", ["bridges", "triangle-count", "topological-sort", "core-number"])
def test_an_answer_never_replaces_its_graph(name, here, capsys):
    (here / "g.csv").write_text("0,1\n")
    (here / "g.txt").symlink_to("g.csv")
    for out in ("g.txt",) if name == "triangle-count" else ("g.csv", "g.txt"):
        code, _, err = run(capsys, name, "g.csv", "--out", out)
        assert (code, err) == (1, f"sparsezc: --out {out} is the graph itself; another name is needed\n")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("heading", ["", "y\n"])
def test_tables_with_headings_and_byte_order_marks(mark, heading, here):
    (here / "y.csv").write_text(f"{mark}{heading}1\r\n2\r\n", encoding="utf-8", newline="")
    assert features.read("y.csv", "--y").tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fused-lasso", "g.tsv", "--y", "none.npy", "--lambda1", 1], "--y none.npy: there is no such file"),
        (["fused-lasso", "g.tsv", "--y", "y.xlsx", "--lambda1", 1], "a name that ends in .npy, .csv"),
        (["fused-lasso", "g.tsv", "--y", "bad.csv", "--lambda1", 1], "bad.csv, line 2, column 1: found 'one'"),
        (["fused-lasso", "g.tsv", "--y", "ragged.csv", "--lambda1", 1], "ragged.csv, line 2: found 2 columns"),
        (["fused-lasso", "g.tsv", "--y", "empty.csv", "--lambda1", 1], "empty.csv has no numbers"),
        (["fused-lasso", "g.tsv", "--y", "bad.npy", "--lambda1", 1], "bad.npy is no .npy file"),
        (["fused-lasso", "g.tsv", "--y", "y.npy", "--lambda1", -1], "lambda1 is -1"),
        (["maximum-flow", "g.tsv", "--s", 1, "--t", 1], "s and t are both 1"),
        (["scan-statistics", "g.tsv", "--out", "a.xlsx"], "says no format"),
        (["maximum-flow", "absent.tsv", "--s", 0, "--t", 1, "--out", "a.xlsx"], "a.xlsx"),
        (["collaborative-filtering", "absent.tsv", "--out", "a.csv"], "--out a.csv: several arrays"),
        (
            ["random-walks", "absent.tsv", "--sources", 0, "--out", "a.mtx"],
            "--out a.mtx: rows are written; a name that",
        ),
        (["graph-search", "g.tsv", "--sources", 0, "--scores", "pairs.csv"], "pairs.csv has 2 columns; one number for"),
        (["geolocation", "absent.tsv", "--places", "places.csv", "--out", "no/a.csv"], "does not exist"),
        (["fused-lasso", "g.tsv", "--y", "p.npy", "--lambda1", 1], "p.npy: y has 2 numbers; one for each of 5"),
        (["geolocation", "g.tsv", "--places", "w.npy"], "w.npy: places has shape (4, 2); (5, 2) is needed"),
        (["seeded-graph-matching", "g.tsv", "p.tsv", "--seeds", "first.csv"], "p.tsv: B is 2 x 2 and A is 5 x 5"),
        (["seeded-graph-matching", "g.tsv", "g.tsv", "--seeds", "half.csv"], "has 3.5, 3 in row 1; whole numbers"),
        (["seeded-graph-matching", "g.tsv", "g.tsv", "--seeds", "y.npy"], "has shape (5,); a line of 2 vertices"),
        (["jaccard-coefficient", "path:3", "--pairs", "g.tsv"], "--pairs g.tsv is 5 x 5; path:3 has vertices 0 to 2"),
        (["jaccard-coefficient", "g.tsv", "--relabel", "--pairs", "far.tsv"], "--pairs far.tsv is 77; no edge of"),
        (["modularity", "g.tsv", "--communities", "i.csv"], "i.csv has inf; a whole number for each vertex is needed"),
        (["vertex-nomination", "g.tsv", "--relabel", "--seeds", 7], "--seeds is 7; no edge of g.tsv has this id"),
    ],
)
def test_bad_input(arguments, message, here, capsys):
    (here / "bad.csv").write_text("1\none\n")
    (here / "ragged.csv").write_text("1\n1,2\n")
    (here / "empty.csv").write_text("")
    (here / "bad.npy").write_text("nothing")
    (here / "half.csv").write_text("0,0\n3.5,3\n")
    (here / "far.tsv").write_text("0\t77\n")
    (here / "first.csv").write_text("0,0\n")
    (here / "i.csv").write_text("inf\n0\n0\n1\n1\n")
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert message in err


ODD = {"number": ("nan", "-nan"), "count": ("-9223372036854775809",)}


@pytest.mark.parametrize(
    "row", [row for row in ROWS if any(o.kind in ODD for o in row.options)], ids=lambda row: row.name
)
def test_numbers_out_of_every_range_are_refused(row, here, capsys):
    """At once, by one line that has the parameter's name."""
    (here / "labels.csv").write_text("0\n0\n1\n1\n0\n")
    needed = [str(word) for word in CALLS.get(row.name, NEEDED.get(row.name, []))]
    needed = needed[: needed.index("--out")] if "--out" in needed else needed
    given = [] if row.name in ACYCLIC else ["--undirected"]
    for option in row.options:
        for odd in ODD.get(option.kind, ()):
            others = [word for at, word in enumerate(needed) if option.flag not in needed[max(at - 1, 0) : at + 1]]
            graph, others = (["g.tsv", others[0]], others[1:]) if row.graphs else (["g.tsv"], others)
            code, _, err = run(capsys, row.name, *graph, *given, *others, f"{option.flag}={odd}")
            assert (code, err.count("\n")) == (1, 1), err
            assert option.name in err


def test_wrong_usage(here, capsys):
    for arguments in (["nothing"], ["maximum-flow", "g.tsv", "--s", "0"]):
        with pytest.raises(SystemExit) as left:
            main(["run", *arguments])
        assert left.value.code == 2
