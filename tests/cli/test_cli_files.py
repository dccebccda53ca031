"""The command line's errors about unreadable or unwritable files, and about matrices that are no graphs."""

from __future__ import annotations

import io
import json
from errno import ENOSPC
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparsezc.cli import main
from sparsezc.cli.answers.report import Report
from sparsezc.io import read
from sparsezc.io.files import atomic_write
from tests.cli.commands import failed

MM = "%%MatrixMarket matrix coordinate real general\n"


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("target", ["b.bel", "b.bel.dst", "b.mtx.gz", "b.sg.gz"])
def test_convert_counts_every_file_that_it_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    assert main(["convert", "star:9?weights=2-5", str(tmp_path / target), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bytes"] == sum(file.stat().st_size for file in tmp_path.iterdir())
    assert read(tmp_path / target).nvals == 16


@pytest.mark.parametrize(("given", "weight"), [((), 2), (("--dup-op", "plus"), 5), (("--dup-op", "max"), 3)])
def test_rows_of_one_edge_are_merged(
    given: tuple[str, ...], weight: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = put(tmp_path, "a.csv", "u,v,w\n0,1,2\n0,1,3\n")
    assert main(["convert", str(path), str(tmp_path / "b.mtx"), *given, "--json"]) == 0
    capsys.readouterr()
    assert read(tmp_path / "b.mtx").to_coo()[2].tolist() == [weight]


@pytest.mark.parametrize("name", ["a.npz.gz", "a.bel.gz"])
def test_formats_that_are_never_gzipped(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert "a name without .gz is needed" in failed(capsys, "convert", "star:9", tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    put(tmp_path, name, "0 1\n")
    assert name in failed(capsys, "info", tmp_path / name)


@pytest.mark.parametrize(
    ("name", "text", "arguments", "told"),
    [
        ("nan.txt", "0 1 nan\n1 2 3\n", ["sssp"], "hold NaN"),
        ("twice.txt", "0 1 nan\n0 1 3\n", ["info"], "one of its values is NaN"),
        ("flat.mtx", MM + "2 3 1\n1 3 9\n", ["cc"], "A is 2 x 3"),
        ("flat.mtx", MM + "2 3 1\n1 3 9\n", ["info", "--undirected"], "2 x 3"),
        ("far.graph", "99999999999999999999 1\n2\n", ["bfs"], "ids reach"),
        ("few.txt", "0 1\n", ["bfs", "--source", "7"], "source is 7"),
        (
            "word.mtx",
            MM + "2 2 1\n1 two 9\n",
            ["info"],
            "line 3, column 2 (character 3): Invalid integer value; found '1 two 9'",
        ),
    ],
)
def test_an_error_names_the_graph(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, arguments: list[str], told: str
) -> None:
    path = put(tmp_path, name, text)
    err = failed(capsys, arguments[0], path, *arguments[1:])
    assert err.count(name) == 1
    assert told in err


def test_an_empty_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "name of the graph is empty" in failed(capsys, "bfs", "")
    assert "name of the file to write is empty" in failed(capsys, "bfs", "star:3", "--out", "")


def test_a_matrix_that_is_not_square_has_an_info(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(put(tmp_path, "flat.mtx", MM + "2 4 2\n1 3 9\n1 4 1\n"))]) == 0
    assert "2 x 4 matrix, 2 entries" in capsys.readouterr().out


def test_json_has_no_infinity() -> None:
    report = Report({"a": np.array([1.5, np.inf]), "b": {"c": float("nan"), "d": np.int8(3)}, "e": True})
    assert report.text(io.StringIO(), as_json=True) == '{"a": [1.5, null], "b": {"c": null, "d": 3}, "e": true}\n'


class Full(io.RawIOBase):
    """A file on a disk that is full after `space` bytes."""

    def __init__(self, space: int) -> None:
        self.space = space

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.space -= memoryview(data).nbytes
        if self.space < 0:
            raise OSError(ENOSPC, "No space left on device")
        return memoryview(data).nbytes


@pytest.mark.parametrize("space", [0, 40_000])
@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.mtx", "a.gr", "a.graph", "a.wsg", "a.bel", "a.npz"])
def test_a_full_disk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, space: int
) -> None:
    """On a full disk, at once or after some bytes, the command fails in one line and keeps the old file."""
    old = tmp_path / name
    old.write_bytes(b"old")
    monkeypatch.setattr(atomic_write.os, "fdopen", lambda handle, mode: io.BufferedWriter(Full(space), 1000))
    err = failed(capsys, "convert", "urand:14?weights=1-99", old)
    assert err == f"sparsezc: {old} cannot be written: No space left on device\n"
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert old.read_bytes() == b"old"


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.txt"])
def test_a_full_disk_under_an_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(atomic_write.os, "fdopen", lambda handle, mode: io.BufferedWriter(Full(5000), 1000))
    err = failed(capsys, "bfs", "grid:100x100", "--out", tmp_path / name)
    assert err == f"sparsezc: {tmp_path / name} cannot be written: No space left on device\n"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(**_: Any) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path / ".a.mtx.part"))

    monkeypatch.setattr(atomic_write.tempfile, "mkstemp", refused)
    with pytest.raises(atomic_write.FileNotWritten, match=r"a\.mtx cannot be written: Permission denied"):
        atomic_write.Output(tmp_path / "a.mtx").open()


def test_an_answer_in_npy_is_what_numpy_loads(tmp_path: Path) -> None:
    assert main(["bfs", "path:5", "--source", "0", "--out", str(tmp_path / "a.npy")]) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), [0, 1, 2, 3, 4])
