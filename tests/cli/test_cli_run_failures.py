"""Messages of ``sparsezc run`` for wrong usage and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparsezc.cli import features, main
from sparsezc.cli.table import ROWS
from tests.cli.running import ACYCLIC, CALLS, NEEDED, answer, run

pytestmark = pytest.mark.usefixtures("drawn_as_the_table_says")


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
        (["bfs", "g.csv", "--dup-op", "sum"], "--dup-op: invalid choice: 'sum'; did you mean 'plus'?"),
    ):
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert left.value.code == 2
        assert offered in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "offered"),
    [
        (["bfs", "g.cvs"], "g.cvs: the suffix '.cvs' is not known; did you mean '.csv'?"),
        (["bfs", "path:3", "--out", "a.josn"], "the suffix '.josn' selects no format; did you mean '.json'?"),
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
        (["info", "b.csv"], "b.csv, line 1: found a NUL byte; a text is needed, or format= (--format) with"),
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
        (["scan-statistics", "g.tsv", "--out", "a.xlsx"], "selects no format"),
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
    """A number out of a parameter's range is refused by one line with the parameter's name."""
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
