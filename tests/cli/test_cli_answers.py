"""The files of ``--out``: another library reads each format back; unknown suffixes are refused before the work."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.cli import main
from tests.cli.commands import failed

EDGES = "0 1\n0 2\n1 3\n7 8\n"
LINES = ("a.txt", "a.tsv", "a.csv", "a.json")
ALL = (*LINES, *(f"{name}.gz" for name in LINES), "A.CSV", "a.TXT.GZ", "a.npz", "a.parquet", "a.pq", "a.h5", "a.hdf5")


@pytest.fixture
def edges(tmp_path: Path) -> str:
    path = tmp_path / "small.el"
    path.write_text(EDGES)
    return str(path)


def read_back(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices and values of an answer's file, by libraries that share no code with the command."""
    name = path.name.lower()
    data = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
    name = name.removesuffix(".gz")
    if name.endswith((".txt", ".tsv", ".csv")):
        between = {".txt": " ", ".tsv": "\t", ".csv": ","}[name[-4:]]
        rows = list(csv.reader(data.decode().splitlines(), delimiter=between))
        if name.endswith(".csv"):
            assert rows.pop(0) == ["vertex", "value"]
        numbers = [(int(i), json.loads(x.replace("inf", "Infinity"))) for i, x in rows]
        return np.array([i for i, _ in numbers], np.int64), np.array([x for _, x in numbers])
    if name.endswith(".json"):
        held = json.loads(data)
        assert list(held) == ["vertices", "values"]
        return np.array(held["vertices"], np.int64), np.array(held["values"])
    if name.endswith(".npz"):
        with np.load(path) as arrays:
            return arrays["vertices"], arrays["values"]
    if name.endswith((".parquet", ".pq")):
        table = pytest.importorskip("pyarrow.parquet").read_table(path)
        assert table.column_names == ["vertex", "value"]
        return table["vertex"].to_numpy(), table["value"].to_numpy()
    with pytest.importorskip("h5py").File(path) as file:
        return file["indices_0"][:], file["values"][:]


COMMANDS: dict[str, Callable[[], Any]] = {
    "bfs urand:6:2 --source 5": lambda: gb.algorithms.bfs(gb.io.read("urand:6:2"), 5),
    "run bfs-parents urand:6:2 --source 5": lambda: gb.algorithms.bfs_parents(gb.io.read("urand:6:2"), 5),
    "sssp urand:6:2?weights=1-9 --source 5": lambda: gb.algorithms.sssp(gb.io.read("urand:6:2?weights=1-9"), 5),
    "sssp urand:6:2 --source 5 --weights FP32": lambda: gb.algorithms.sssp(gb.io.read("urand:6:2", weights="FP32"), 5),
    "pagerank urand:6:2": lambda: gb.algorithms.pagerank(gb.io.read("urand:6:2")),
    "cc urand:6:2": lambda: gb.algorithms.connected_components(gb.io.read("urand:6:2")),
}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_read_back_is_the_answer(tmp_path: Path, name: str, command: str) -> None:
    path = tmp_path / name
    assert main([*command.split(), "--out", str(path)]) == 0
    vertices, values = read_back(path)
    right = COMMANDS[command]().to_coo()
    np.testing.assert_array_equal(vertices, right[0])
    np.testing.assert_array_equal(values, right[1])
    if path.suffix in (".npz", ".parquet", ".pq", ".h5", ".hdf5"):
        assert values.dtype == right[1].dtype
    assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", [name for name in ALL if not name.endswith("5")])
def test_ids_are_those_of_the_file(tmp_path: Path, edges: str, name: str) -> None:
    assert main(["cc", edges, "--relabel", "--out", str(tmp_path / name)]) == 0
    vertices, values = read_back(tmp_path / name)
    assert vertices.tolist() == [0, 1, 2, 3, 7, 8]
    assert values.tolist() == [0, 0, 0, 0, 7, 7]


@pytest.mark.parametrize("name", ["a.parquet", "a.pq"])
def test_any_flipped_bit_of_an_answer_in_parquet_is_refused(tmp_path: Path, edges: str, name: str) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / name
    assert main(["cc", edges, "--out", str(path)]) == 0
    checked = parquet.read_table(path, page_checksum_verification=True)
    assert checked["vertex"].to_pylist() == list(range(9))
    whole = path.read_bytes()
    assert gb.io.from_parquet(path, "vertex", "value").nvals == 9
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])
        with pytest.raises(gb.exceptions.FileFormatError, match=name):
            gb.io.from_parquet(path, "vertex", "value")


def test_an_answer_in_h5_is_a_vector(tmp_path: Path, edges: str) -> None:
    pytest.importorskip("h5py")
    path = tmp_path / "a.h5"
    for more, size in (([], 9), (["--relabel"], 9)):
        assert main(["bfs", edges, "--source", "7", "--out", str(path), *more]) == 0
        v = gb.io.read_binsparse(path)
        assert (v.size, v.to_dict()) == (size, {7: 0, 8: 1})


def test_json_has_no_infinity(tmp_path: Path) -> None:
    graph = tmp_path / "far.el"
    graph.write_text("0 1 -inf\n0 2 1.5\n")
    for name in ("a.csv", "a.json"):
        assert main(["sssp", str(graph), "--source", "0", "--out", str(tmp_path / name)]) == 0
    assert (tmp_path / "a.csv").read_text() == "vertex,value\n0,0.0\n1,-inf\n2,1.5\n"
    assert json.loads((tmp_path / "a.json").read_text()) == {"vertices": [0, 1, 2], "values": [0.0, None, 1.5]}


def test_no_vertex_reached_but_the_source(tmp_path: Path) -> None:
    assert main(["bfs", "star:1", "--out", str(tmp_path / "a.csv")]) == 0
    assert (tmp_path / "a.csv").read_text() == "vertex,value\n0,0\n"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("a.xyz", "the suffix '.xyz' selects no format; known are .txt, .tsv, .csv, .json, .npy, .npz, .parquet"),
        ("a", "the suffix '' selects no format"),
        ("a.mtx", "the suffix '.mtx' selects no format"),
        ("a.parquet.gz", ".parquet files are not gzipped; a name without .gz is needed"),
        ("none/a.csv", "none does not exist"),
        ("folder", "selects no format"),
        ("folder.csv", "folder.csv is a folder"),
    ],
)
def test_a_name_that_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, told: str
) -> None:
    monkeypatch.setattr("sparsezc.cli.graph.load", lambda *_: pytest.fail("the graph was read"))
    for folder in ("folder", "folder.csv"):
        (tmp_path / folder).mkdir()
    for command in ("bfs", "sssp", "pagerank", "cc"):
        assert told in failed(capsys, command, "star:4", "--out", tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "folder.csv"]


def test_a_closed_folder_is_refused_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sparsezc.cli.graph.load", lambda *_: pytest.fail("the graph was read"))
    monkeypatch.setattr("sparsezc.cli.answers.names.os.access", lambda *_: False)  # root may write to any folder
    assert f"the folder {tmp_path} is closed" in failed(capsys, "cc", "star:4", "--out", tmp_path / "a.csv")


@pytest.mark.parametrize(("name", "package"), [("a.parquet", "pyarrow"), ("a.h5", "h5py")])
def test_a_missing_package_is_named_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    monkeypatch.setattr("sparsezc.cli.graph.load", lambda *_: pytest.fail("the graph was read"))
    monkeypatch.setitem(__import__("sys").modules, package, None)
    assert f"{package} is needed for this" in failed(capsys, "bfs", "star:4", "--out", tmp_path / name)


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_an_answer_on_standard_output_has_it_to_itself(capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    assert main(["bfs", "star:3", "--out", "-", *options]) == 0
    out, err = capsys.readouterr()
    assert out == "0 0\n1 1\n2 1\n"
    assert ("standard output" in err) is not options
    assert not options or json.loads(err)["reached"] == 3


@pytest.mark.parametrize("name", ["g.txt", "g.mtx.gz", "g.graph", "g.sg", "g.npz", "g.parquet", "g.h5", "g.bel"])
def test_a_graph_is_written_over_itself_by_force_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = tmp_path / name
    gb.io.convert("grid:3x3", path)
    before = {each: each.read_bytes() for each in tmp_path.iterdir()}
    link = tmp_path / f"link{''.join(path.suffixes)}"
    link.symlink_to(path)
    for target in (path, link, path.parent / "." / name):
        assert "is the graph itself; give another name, or --force" in failed(capsys, "convert", path, target)
    link.unlink()
    assert {each: each.read_bytes() for each in tmp_path.iterdir()} == before
    assert main(["convert", str(path), str(path), "--force"]) == 0
    assert gb.io.read(path).isequal(gb.io.read("grid:3x3"))


def test_another_file_is_replaced_unasked(tmp_path: Path) -> None:
    target = tmp_path / "a.mtx"
    target.write_text("old")
    assert main(["convert", "path:3", str(target)]) == 0
    assert gb.io.read(target).nvals == 4
