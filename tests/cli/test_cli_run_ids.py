"""Answers of ``sparsezc run`` in files: vertices' ids and names in every format, and as later input."""

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
from sparsezc.cli.table import Row
from tests.cli.running import CALLS, answer, run

pytestmark = pytest.mark.usefixtures("drawn_as_the_table_says")


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
    """A file of pairs has the graph's vertex names, but neither its column names nor weights."""
    edges = "\n".join(f"{names[i]},{names[j]},2,x" for i, j in [(0, 2), (0, 3), (1, 2), (1, 3)])
    (here / "t.csv").write_text(f"who,whom,km,kind\n{edges}\n")
    (here / "some.txt").write_text(pair)
    columns = ("--source-col", "who", "--target-col", "whom", "--type-col", "kind", "--type", "x", "--weights", "FP32")
    given = ("t.csv", *columns, "--relabel", "--undirected", "--pairs", "some.txt")
    assert answer(capsys, "common-neighbors", *given)["pairs"] == 2


def test_two_graphs_have_ids_of_their_own(here, capsys):
    """Two graphs keep their own ids: seeds and match name a vertex of each."""
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
        assert "the name 't\\tu' contains a tab, which has a meaning in such lines; use .csv" in err
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
            assert f"the name {name!r} contains " in err
            assert "has a meaning in such lines; use " in err
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
    """Return the rows of an answer's file, or of stdout for "-"."""
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
    """Sampled edges, and a graph's edges, have the names of their ends in every format."""
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
    """Values of some vertices are read by the vertices' ids, in any order; other vertices have none."""
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
