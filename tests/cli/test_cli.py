"""The command line: the answer of each command, from arguments to exit code, output and files."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import sparsezc as gb
from sparsezc.cli import doctor, parser
from sparsezc.device import cuda
from sparsezc.memory.placement import RECORDS
from tests.cli.commands import answer, run, started


def test_bfs_says_what_it_found(capsys, edges):
    code, out, err = run(capsys, "bfs", edges, "--source", 0)
    assert (code, err) == (0, "")
    assert "9 vertices, 4 edges, directed" in out
    assert "4 of 9 vertices (44.4%), 2 levels deep" in out
    assert [line.split() for line in out.splitlines() if line.strip()[:1].isdigit()] == [
        ["0", "1", "25.0%"],
        ["1", "2", "50.0%"],
        ["2", "1", "25.0%"],
    ]
    for word in ("load", "run", "edges/s", "engine   cpu, host memory"):
        assert word in out


def test_bfs_in_json(capsys, edges):
    data = answer(capsys, "bfs", edges)
    assert data["source"] == 0  # the vertex of most out-edges
    assert (data["reached"], data["depth"], data["levels"]) == (4, 2, [1, 2, 1])
    assert data["graph"]["vertices"] == 9
    assert data["edges_run"] == 3
    assert data["time"]["run"] > 0
    assert (data["command"], data["engine"], data["placement"]) == ("bfs", "cpu", "host")


def test_parents_give_the_same_levels(capsys):
    levels, tree = (answer(capsys, "run", name, "grid:5x7", "--source", 3) for name in ("bfs", "bfs_parents"))
    assert tree["levels"] == levels["levels"]


def test_undirected_and_symmetrize_are_the_same(capsys, edges):
    for flag in ("--undirected", "--symmetrize"):
        data = answer(capsys, "bfs", edges, "--source", 3, flag)
        assert (data["reached"], data["graph"]["edges"], data["graph"]["symmetric"]) == (4, 8, True)


def test_a_relabelled_graph_keeps_the_users_ids(capsys, edges, tmp_path):
    out = tmp_path / "answer.txt"
    data = answer(capsys, "bfs", edges, "--relabel", "--source", 7, "--out", out)
    assert (data["graph"]["vertices"], data["source"]) == (6, 7)
    assert out.read_text() == "7 0\n8 1\n"
    answer(capsys, "run", "bfs-parents", edges, "--relabel", "--source", 7, "--out", out)
    assert out.read_text() == "7 7\n8 7\n"
    answer(capsys, "cc", edges, "--relabel", "--out", out)
    assert out.read_text() == "0 0\n1 0\n2 0\n3 0\n7 7\n8 7\n"
    code, _, err = run(capsys, "bfs", edges, "--relabel", "--source", 5)
    assert (code, err) == (1, f"sparsezc: --source is 5; no edge of {edges} has this id\n")


def test_relabel_is_advised_where_it_leaves_something(capsys, tmp_path):
    path = tmp_path / "a.mtx"
    for edges, advised in ([(0, 20)], True), ([(0, 1)], True), ([], False):
        i, j = np.array(edges, int).reshape(-1, 2).T
        gb.io.write(gb.Matrix.from_coo(i, j, 1, nrows=30, ncols=30), path)
        assert ("--relabel leaves these out" in run(capsys, "info", path)[1]) is advised
    assert "--relabel" not in run(capsys, "info", "path:1")[1]


def test_one_is_told_as_one(capsys, tmp_path):
    path = tmp_path / "a.mtx"
    gb.io.write(gb.Matrix.from_coo([0], [0], 1, nrows=1, ncols=1), path)
    out = run(capsys, "bfs", path)[1]
    assert "1 vertex, 1 edge, " in out
    assert "1 of 1 vertex (100.0%), 0 levels deep" in out
    assert "1 level deep" in run(capsys, "bfs", "path:2")[1]
    assert "isolated  1 vertex; " in run(capsys, "info", "path:1")[1]
    gb.io.write(gb.Matrix.from_coo([0], [1], 1, nrows=1, ncols=2), path)
    assert "1 x 2 matrix, 1 entry\n" in run(capsys, "info", path)[1]


def test_a_level_table_of_a_deep_graph_is_put_together(capsys):
    _, out, _ = run(capsys, "bfs", "path:1000", "--source", 0)
    rows = [line.split() for line in out.splitlines() if line[:6].strip()[:1].isdigit()]
    assert rows[0] == ["0-49", "50", "5.0%"]
    assert len(rows) == 20


def test_sssp(capsys, tmp_path):
    path = tmp_path / "weighted.txt"
    path.write_text("0 1 2.5\n1 2 4\n0 2 7\n")
    data = answer(capsys, "sssp", path, "--source", 0)
    assert (data["reached"], data["longest"], data["graph"]["dtype"]) == (3, 6.5, "FP64")
    assert answer(capsys, "sssp", path, "--source", 0, "--weights", "none")["longest"] == 1
    made = answer(capsys, "sssp", path, "--source", 0, "--weights", "7-7")
    assert made["longest"] == 7
    assert answer(capsys, "sssp", path, "--source", 0, "--delta", 3)["longest"] == 6.5
    path.write_text("0 1 2.5\n1 2 -4\n")
    assert answer(capsys, "sssp", path, "--source", 0)["longest"] == 2.5
    code, _, err = run(capsys, "sssp", path, "--source", 0, "--delta", 3)
    assert (code, err.count("\n")) == (1, 1)
    assert "a value of -4.0, and delta=3.0 is for lengths >= 0" in err
    assert "bellman_ford" in err


def test_sssp_says_what_boolean_lengths_are(capsys, tmp_path):
    path = tmp_path / "a.h5"
    for values, said, longest in (
        ([True, True], "1 each (no weights)", 2),
        ([True, False], "1 and 0 (BOOL values)", 1),
        ([False, False], "1 and 0 (BOOL values)", 0),
    ):
        gb.io.write(gb.Matrix.from_coo([0, 1], [1, 2], values, nrows=3, ncols=3), path)
        assert f"lengths  {said}\n" in run(capsys, "sssp", path, "--source", 0)[1]
        assert answer(capsys, "sssp", path, "--source", 0)["longest"] == longest
    assert "lengths  1 each (no weights)\n" in run(capsys, "sssp", "path:3")[1]


def test_pagerank(capsys):
    data = answer(capsys, "pagerank", "star:11")
    assert data["sum"] == pytest.approx(1)
    assert data["top"][0]["vertex"] == 0
    assert data["top"][0]["out_edges"] == 10
    assert [each["vertex"] for each in data["top"][1:]] == list(range(1, 10))  # equal scores: the smallest vertices
    code, _, err = run(capsys, "pagerank", "star:11", "--max-iter", 1)
    assert (code, err.count("\n")) == (1, 1)
    assert "after max_iter = 1 iterations" in err


def test_components(capsys, edges):
    data = answer(capsys, "cc", edges)
    assert (data["components"], data["alone"]) == (5, 3)
    assert data["largest"][:2] == [{"label": 0, "vertices": 4}, {"label": 7, "vertices": 2}]


def test_answers_in_files(capsys, edges, tmp_path):
    text, array, both, packed = (tmp_path / f"answer{end}" for end in (".txt", ".npy", ".npz", ".txt.gz"))
    for path in (text, array, both, packed):
        _, out, _ = run(capsys, "bfs", edges, "--out", path)
        assert f"written  {path}" in out
    assert text.read_text() == "0 0\n1 1\n2 1\n3 2\n"
    assert np.load(array).tolist() == [0, 1, 1, 2, -1, -1, -1, -1, -1]
    with np.load(both) as stored:
        assert stored["vertices"].tolist() == [0, 1, 2, 3]
        assert stored["values"].tolist() == [0, 1, 1, 2]
    assert np.loadtxt(packed).shape == (4, 2)
    run(capsys, "sssp", edges, "--out", array)
    assert np.load(array)[4] == np.iinfo(np.int64).max
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "answer.npy", "answer.npz", "answer.txt", "answer.txt.gz", "small.txt",
    ]  # fmt: skip


@pytest.mark.parametrize("mode", ["ab", "wb"])
def test_an_answer_on_stdout_keeps_what_is_in_the_file_behind_it(tmp_path, mode):
    log = tmp_path / "log.txt"
    log.write_text("log\n")
    with log.open(mode) as stdout:
        process = started("bfs", "path:3", "--source", "0", "--json", "--out", "/dev/stdout", stdout=stdout)
        assert process.wait(timeout=60) == 0
    lines = log.read_text().splitlines()
    assert lines[:-1] == ["log"] * (mode == "ab") + ["0 0", "1 1", "2 2"]
    assert json.loads(lines[-1])["reached"] == 3


def test_ranks_survive_a_text_file(capsys, tmp_path):
    out = tmp_path / "ranks.txt"
    run(capsys, "pagerank", "star:9", "--out", out)
    expected = gb.algorithms.pagerank(gb.io.read("star:9", weights=False)).to_dense()
    assert np.loadtxt(out)[:, 1].tolist() == expected.tolist()


def test_info(capsys, edges):
    data = answer(capsys, "info", edges)
    assert data["graph"]["edges"] == 4
    assert data["degree"] == {
        "mean": 4 / 9, "largest_out": 2, "largest_in": 1, "without_out_edges": 6, "without_edges": 3,
    }  # fmt: skip
    assert data["degrees"] == [
        {"from": 0, "to": 0, "vertices_out": 6, "vertices_in": 5, "edges_out": 0},
        {"from": 1, "to": 1, "vertices_out": 2, "vertices_in": 4, "edges_out": 2},
        {"from": 2, "to": 3, "vertices_out": 1, "vertices_in": 0, "edges_out": 2},
    ]
    others = {"zerocopy with row heads", "device, compressed", "zerocopy, compressed"}
    assert set(data["memory"]) == {*RECORDS, *others}
    assert data["memory"]["zerocopy with row heads"]["device"] - data["memory"]["zerocopy"]["device"] == 32 * 32
    assert (
        data["memory"]["zerocopy"]["host"] + data["memory"]["zerocopy"]["device"] == data["memory"]["device"]["device"]
    )
    _, out, _ = run(capsys, "info", edges)
    assert ("zerocopy" in out) is (cuda.reason() is None)
    assert "mean 0.4444, largest 2 (vertex 0) of out-edges, 1 of in-edges\n" in out
    assert "largest 2 (vertex 1)\n" in run(capsys, "info", "path:4")[1]
    for name in data["memory"]:
        assert f"\n{name} " in run(capsys, "info", edges, "--placements")[1]


def test_info_says_what_compressed_ids_take(capsys, tmp_path):
    """The reported bits equal the encoder's except for headers; a sample of a larger graph is close."""
    from sparsezc.cli import info

    said = answer(capsys, "info", "kron:12")["bits_per_id"]
    made = answer(capsys, "convert", "kron:12", tmp_path / "a.h5", "--compress")["bits_per_id"]
    assert said["plain"] == 32
    assert said["compressed"] == pytest.approx(made, rel=0.02)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(info, "_SAMPLED", 4)
        patch.setattr("sparsezc.memory.id_blocks.PART", 1 << 10)
        assert answer(capsys, "info", "kron:12")["bits_per_id"]["compressed"] == pytest.approx(made, rel=0.3)
        assert "about" in run(capsys, "info", "kron:12")[1]


@pytest.mark.parametrize("command", ["sssp", "info", "convert"])
@pytest.mark.parametrize("weights", ["foo", "5-1", "1.5-2", "FP99"])
def test_weights_that_are_none_are_told_in_the_command_lines_words(capsys, tmp_path, command, weights):
    target = [tmp_path / "a.mtx"] if command == "convert" else []
    code, _, err = run(capsys, command, "kron:4", *target, "--weights", weights)
    assert code == 1
    assert f"--weights {weights} is not understood; give none, narrowest, a type such as FP32, or a range" in err
    assert "None" not in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("asked", [("--engine", "gpu"), ("--placement", "device"), ("--with-transpose",)])
def test_what_asked_for_a_gpu_is_named(capsys, monkeypatch, asked):
    monkeypatch.setattr(cuda, "reason", lambda: "no GPU: none was plugged in")
    code, _, err = run(capsys, "bfs", "kron:4", *asked)
    assert (code, err) == (1, f"sparsezc: {' '.join(asked)} needs a GPU, and there is no GPU: none was plugged in\n")


@pytest.mark.parametrize("more", [(), ("--relabel",), ("--weights", "1-9")])
def test_the_memory_that_is_said_to_be_enough_is(tmp_path, more):
    """The memory that a refused conversion names suffices; each run is a process, as memory in use counts."""
    source = tmp_path / "a.txt"
    gb.io.write(gb.io.read("kron:14", directed=None), tmp_path / "a.mtx")
    gb.io.convert(tmp_path / "a.mtx", source)

    def convert(memory):
        command = [sys.executable, "-m", "sparsezc", "convert", str(source), str(tmp_path / "a.h5"), *more]
        return subprocess.run([*command, "--memory", memory], capture_output=True, text=True, check=False)

    refused = convert("1MB")
    assert refused.returncode == 1
    enough = refused.stderr.split(" are enough")[0].split("; ")[-1].replace(",", "")
    done = convert(enough)
    assert (done.returncode, done.stderr) == (0, "")


def test_convert_there_and_back(capsys, edges, tmp_path):
    mtx, back = tmp_path / "small.mtx", tmp_path / "back.txt"
    data = answer(capsys, "convert", edges, mtx)
    assert (data["target"], data["bytes"]) == (str(mtx), mtx.stat().st_size)
    code, out, _ = run(capsys, "convert", mtx, back)
    assert code == 0
    assert str(back) in out
    assert gb.io.read(back).isequal(gb.io.read(edges))


@pytest.mark.parametrize("memory", [[], ["--memory", "8GB"]])
def test_convert_tells_what_it_merged(capsys, tmp_path, memory):
    """Repeated edges are counted alike in memory and on disk, reversed ones if both directions are read."""
    (tmp_path / "a.txt").write_text("0 1 2\n0 1 3\n1 0 9\n1 2 4\n1 1 5\n1 1 5\n")
    sparse.save_npz(tmp_path / "a.npz", sparse.coo_array(([1, 2, 3], ([0, 0, 1], [1, 1, 0])), (2, 2)))
    for graph, options, merged, told in (
        ("a.txt", [], 2, "2 repeated edges (--dup-op min)"),
        ("a.txt", ["--weights", "none"], 2, "2 repeated edges\n"),
        ("a.txt", ["--undirected", "--dup-op", "plus"], 5, "5 repeated edges, both directions counted (--dup-op plus)"),
        ("a.npz", ["--relabel"], 1, "1 repeated edge (--dup-op plus)"),
        ("a.npz", ["--undirected"], 3, "3 repeated edges, both directions counted (--dup-op plus)"),
    ):
        command = ["convert", str(tmp_path / graph), str(tmp_path / "a.h5"), *options, *memory]
        assert answer(capsys, *command)["merged"] == merged, (graph, options)
        assert told in run(capsys, *command)[1]
    assert "merged" not in answer(capsys, "convert", "kron:5", tmp_path / "a.h5", *memory)
    assert answer(capsys, "convert", tmp_path / "a.h5", tmp_path / "b.h5", "--undirected", *memory)["merged"] == 0
    assert "merged" not in run(capsys, "convert", tmp_path / "a.h5", tmp_path / "b.h5", *memory)[1]


def test_reports_say_what_they_leave_out(capsys):
    """Reports name omissions: values beyond --top, names of algorithms, and the card that is missing."""
    _, out, _ = run(capsys, "run", "core-number", "kron:6", "--top", 2)
    assert re.search(r"largest +\d+ \(the table has 2 of \d+ values; --top\)\n", out)
    assert "--top)" not in run(capsys, "run", "core-number", "path:4")[1]
    assert "; sparsezc run --list prints all names" in " ".join(parser().format_help().split())
    known = "no GPU (sparsezc plan --card 80GB supposes one)" in run(capsys, "plan", "kron:6")[1]
    assert known is (cuda.reason() is not None)


def test_doctor(capsys):
    data = answer(capsys, "doctor", "--quick")
    assert data["cpu"]["available"] is True
    assert data["packages"]["numpy"] == np.__version__
    assert data["memory"]["total"] > 2**28
    assert data["gpu"]["available"] or data["gpu"]["reason"]
    assert data["engine"] == ("gpu" if data["gpu"]["available"] else "cpu")
    _, out, _ = run(capsys, "doctor", "--quick")
    assert "CPU engine  works" in out


def test_doctor_reads_the_driver(tmp_path):
    (tmp_path / "gpus/0000:01:00.0").mkdir(parents=True)
    (tmp_path / "version").write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.03  Tue\nGCC version\n")
    (tmp_path / "gpus/0000:01:00.0/information").write_text("Model: \t NVIDIA H200\nIRQ: 17\n")
    assert doctor._driver(tmp_path) == {"driver": "580.159.03", "cards": ["NVIDIA H200"]}
    assert doctor._driver(tmp_path / "nowhere") == {"driver": None, "cards": []}


def test_doctor_with_a_card(capsys, monkeypatch):
    from sparsezc.engines import gpu

    facts = {"available": True, "name": "a card", "memory_total": 2**37, "link": {"copy": 55.3e9, "pinned": 51.3e9}}
    monkeypatch.setattr(gpu, "diagnose", lambda measure: facts)
    _, out, _ = run(capsys, "doctor")
    for line in ("GPU engine      works", "memory total  128 GiB", "link          copy 55.3 GB/s, pinned 51.3 GB/s"):
        assert line in out
    monkeypatch.setattr(gpu, "diagnose", lambda measure: 1 / 0)
    assert answer(capsys, "doctor")["gpu"]["reason"] == "ZeroDivisionError: division by zero"


def test_more_columns_than_can_be_counted_are_refused_and_named(capsys, tmp_path):
    (tmp_path / "wide.txt").write_text("# 3 x 8589934592, 2 entries\n0 5\n2 8000000000\n")
    code, _, err = run(capsys, "info", tmp_path / "wide.txt", "--host-budget", "1GB")
    assert code == 1
    assert "counting the entries of each of 8,589,934,592 columns needs 206,158,430,208 bytes of host memory" in err
    (tmp_path / "wide.txt").write_text("# 3 x 4611686018427387904, 1 entries\n0 5\n")
    code, _, err = run(capsys, "info", tmp_path / "wide.txt")
    assert (code, "the largest possible id is 2^60 - 1, and with relabel=True" in err) == (1, True)


def test_compressing_says_where_it_does_not_pay(capsys, tmp_path):
    pytest.importorskip("h5py", reason="h5py is not installed")
    for graph, told in ("path:2", "800.00 bits each, 25.00 times larger"), ("grid:300x300", " times smaller than 4"):
        code, out, err = run(capsys, "convert", graph, tmp_path / "a.h5", "--compress")
        assert (code, err, told in out) == (0, "", True)


@pytest.mark.parametrize("memory", [(), ("--memory", "8GB")])  # the tests' process uses more than 1 GB
def test_ids_that_do_not_occur_are_told(capsys, tmp_path, memory):
    pytest.importorskip("h5py", reason="h5py is not installed")
    (tmp_path / "a.txt").write_text("0 1\n1 9000\n")
    for more, told in ((), True), (("--relabel",), False):
        code, out, err = run(capsys, "convert", tmp_path / "a.txt", tmp_path / "a.h5", *memory, *more)
        assert (code, err) == (0, "")
        assert ("most ids do not occur: --relabel leaves these out" in out) is told


def test_sssp_says_the_type_of_its_distances(capsys, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("0 1 200\n1 2 200\n")
    assert "lengths  UINT8 values, distances INT64\n" in run(capsys, "sssp", path, "--source", 0)[1]
    path.write_text("0 1 0.5\n1 2 200\n")
    assert "lengths  FP64 values\n" in run(capsys, "sssp", path, "--source", 0)[1]


def test_info_offers_compression_where_it_saves(capsys):
    assert "ids       32 bits each\n" in run(capsys, "info", "path:3")[1]
    assert " bits each when compressed" in run(capsys, "info", "grid:100x100")[1]


def test_a_dash_is_standard_input(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("0 1\n1 2\n")
    command = [sys.executable, "-m", "sparsezc", "info", "-", "--json"]
    bare = subprocess.run(command, input=b"0 1\n1 2\n", capture_output=True, check=True)
    with path.open() as file:
        redirected = subprocess.run([*command, "--format", "snap"], stdin=file, capture_output=True, check=True)
    named = subprocess.run(
        [*command, "--format", "snap"], input=b"dst,src\n0,1\n0,2\n", capture_output=True, check=True
    )
    for done in (bare, redirected, named):
        assert json.loads(done.stdout)["graph"]["edges"] == 2
