"""Messages of commands that fail: wrong usage, bad graphs, missing devices."""

from __future__ import annotations

import pytest

import sparsezc as gb
from sparsezc.cli import doctor, main
from sparsezc.device import cuda
from tests.cli.commands import answer, run

BAD = [
    (["bfs", "missing.txt"], "missing.txt"),
    (["bfs", "{edges}", "--source", "9"], "source is 9; the graph has vertices 0 to 8"),
    (["bfs", "{edges}", "--source", "-1"], "source is -1"),
    (["bfs", "kron:x"], "kron:SCALE"),
    (["sssp", "{edges}", "--weights", "colour"], "--weights colour is not understood"),
    (["sssp", "{edges}", "--delta", "-1"], "delta=-1.0: a number above 0 is needed"),
    (["pagerank", "{edges}", "--damping", "2"], "damping is 2.0"),
    (["convert", "{edges}", "{folder}/out.xyz"], "out.xyz: the suffix '.xyz' is not known; known are .arrow, .bel, "),
    (["convert", "path:1", "{folder}/out.csv"], "out.csv: a .csv of no edges would be an empty file; write .txt"),
    (["convert", "{edges}", "{folder}/none/out.mtx"], "none"),
    (["convert", "{edges}", "{folder}"], " is a folder; a file in it, whose suffix chooses the format, is needed\n"),
    (["bfs", "{edges}", "--out", "{folder}/none/out.txt"], "none"),
    (["bfs", "{edges}", "--out", "{folder}/./small.txt"], "small.txt is the graph itself; another name is"),
    (["bfs", "{folder}"], "folder"),
    (["bfs", "grid:3x3", "--directed"], "directed"),
    (["bfs", "path:5", "--format", "snap"], "format='snap' is for files; path:5 is a generated graph"),
    (["info", "path:5", "--format", "snap"], "format='snap' is for files; path:5 is a generated graph"),
    (["convert", "path:5", "{folder}/out.h5", "--format", "snap", "--memory", "1GB"], "format='snap' is for files"),
]


@pytest.mark.parametrize(("arguments", "told"), BAD, ids=lambda value: " ".join(value) if type(value) is list else "")
def test_what_fails_says_why_in_one_line(capsys, edges, tmp_path, arguments, told):
    filled = [argument.format(edges=edges, folder=tmp_path) for argument in arguments]
    code, out, err = run(capsys, *filled)
    assert (code, out) == (1, "")
    assert err.startswith("sparsezc: ")
    assert err.count("\n") == 1
    assert told in err
    assert [path.name for path in tmp_path.iterdir()] == ["small.txt"]


def test_a_gpu_that_is_not_there_is_an_error_that_says_why(capsys):
    why = cuda.reason()
    if why is None:
        pytest.skip("there is a GPU")
    for asked in (["--engine", "gpu"], *(["--placement", each] for each in ("zerocopy", "device"))):
        assert run(capsys, "bfs", "star:3", *asked) == (
            1,
            "",
            f"sparsezc: {' '.join(asked)} needs a GPU, and there is {why}\n",
        )


def test_a_placement_of_another_engine(capsys):
    code, _, err = run(capsys, "bfs", "star:3", "--engine", "cpu", "--placement", "device")
    assert (code, err) == (1, "sparsezc: --placement device is none of --engine cpu; leave one of them out\n")
    of_gpu = ("--with-transpose",), ("--budget", "1GB"), ("--head-budget", "0.1"), ("--head-cache", "on")
    for option, *value in of_gpu:
        code, _, err = run(capsys, "cc", "star:3", "--engine", "cpu", option, *value)
        named = " ".join([option, *value])
        assert (code, err) == (1, f"sparsezc: {named} is none of --engine cpu; leave one of them out\n")


def test_a_directed_graph_in_both_directions(edges, gpu, monkeypatch):
    """With the option the algorithm can push and pull; an undirected graph's one orientation serves both."""
    held = []
    search = gb.algorithms.bfs
    monkeypatch.setattr(gb.algorithms, "bfs", lambda A, source: (held.append(A._store.held()), search(A, source))[1])
    for options in ([], ["--with-transpose"], ["--with-transpose", "--undirected"]):
        assert main(["bfs", str(edges), *options]) == 0
    (_, none), (rows, columns), (both, same) = held
    assert none is None
    assert rows.nvals == columns.nvals == 4
    assert columns is not rows
    assert same is both


def test_a_damaged_file_is_named_with_its_line(capsys, tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text("0 1\n1 x\n")
    code, _, err = run(capsys, "bfs", path)
    assert code == 1
    assert str(path) in err
    assert "2" in err


def test_a_matrix_market_file_of_another_name_is_read_when_it_is_said_to_be_one(capsys, tmp_path):
    path = tmp_path / "market.txt"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n% a comment\n3 3 2\n1 2\n2 3\n")
    code, _, err = run(capsys, "info", path)
    assert (code, err.count("\n")) == (1, 1)
    assert "--format mtx" in err
    assert answer(capsys, "info", path, "--format", "mtx")["graph"]["edges"] == 2


def test_debug_shows_the_traceback(edges):
    with pytest.raises(gb.exceptions.IndexOutOfBound):
        main(["bfs", edges, "--source", "99", "--debug"])


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["bfs"],
        ["sssp", "x", "--delta", "one"],
        ["bfs", "x", "--engine", "tpu"],
        ["bfs", "x", "--directed", "--undirected"],
        ["cc", "x", "--source", "1"],
        ["info", "x", "--out", "y"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_2(capsys, arguments):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage: sparsezc" in capsys.readouterr().err


@pytest.mark.parametrize("command", [[], ["bfs"], ["sssp"], ["pagerank"], ["cc"], ["info"], ["convert"], ["doctor"]])
def test_help(capsys, command):
    with pytest.raises(SystemExit) as stop:
        main([*command, "--help"])
    assert stop.value.code == 0
    assert capsys.readouterr().out.startswith("usage: sparsezc")


def test_an_unexpected_error(capsys, monkeypatch):
    monkeypatch.setattr("sparsezc.io._read.read_csr", lambda *args, **kwargs: {}["key"])
    assert run(capsys, "info", "star:3")[::2] == (1, "sparsezc: unexpected KeyError: key (--debug shows where)\n")


def test_warnings_are_one_line(capsys, monkeypatch):
    import warnings

    monkeypatch.setattr(doctor, "processors", lambda: warnings.warn("slow", gb.exceptions.PerformanceWarning, 1) or 2)
    assert run(capsys, "doctor", "--quick")[2] == "sparsezc: warning: slow\n"
