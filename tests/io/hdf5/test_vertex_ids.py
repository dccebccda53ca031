"""A .h5 file keeps its source's vertex ids or names, and every reader returns them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.cli import main
from sparsezc.exceptions import FileFormatError, InvalidValue
from sparsezc.io._read import read_csr
from sparsezc.io.ranks import reading
from tests.io.ranks import blocks
from tests.io.ranks.threads import run

h5py: Any = pytest.importorskip("h5py", reason="h5py is not installed")

TEXTS = {
    "numbers": "".join(f"{7 * i} {7 * (i * i % 300)}\n" for i in range(300)),
    "names": "".join(f"né\u00a0{i} n{i * i % 300}\n" for i in range(300)),
}
WAYS: dict[str, dict[str, Any]] = {
    "plain": {}, "compressed": {"compress": True}, "on disk": {"memory": "900MB"},
    "on disk, compressed": {"memory": "900MB", "compress": True},
}  # fmt: skip


@pytest.fixture(params=TEXTS)
def text(request: Any, tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_text(TEXTS[request.param])
    return path


def same(found: tuple[Any, Any], expected: tuple[Any, Any]) -> bool:
    return found[0].isequal(expected[0], check_dtype=True) and found[1].tolist() == expected[1].tolist()


@pytest.mark.parametrize("way", WAYS)
def test_ids_come_back(text: Path, way: str, tmp_path: Path) -> None:
    """Ids or names are returned, also by a file that was converted again without ``relabel``."""
    expected = gb.io.read(text, relabel=True)
    gb.io.convert(text, tmp_path / "a.h5", relabel=True, **WAYS[way])
    gb.io.convert(tmp_path / "a.h5", tmp_path / "b.h5", **WAYS[way])
    for name in ("a.h5", "b.h5"):
        assert same(gb.io.read(tmp_path / name, relabel=True), expected)
        assert gb.io.read(tmp_path / name, verify=True).isequal(expected[0])


def test_a_file_without_ids_numbers_the_rows_that_occur(tmp_path: Path) -> None:
    gb.io.convert("star:4", tmp_path / "a.h5")
    assert gb.io.read(tmp_path / "a.h5", relabel=True)[1].tolist() == [0, 1, 2, 3]


def test_answers_have_the_names(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("source,target\nAnna,Zoë\nZoë,Bob\n")
    assert main(["convert", "a.csv", "a.mtx", "--relabel"]) == 0
    assert "numbered anew; a .h5" in capsys.readouterr().out
    for more in ([], ["--compress"], ["--memory", "900MB"]):
        assert main(["convert", "a.csv", "a.h5", "--relabel", "--quiet", *more]) == 0
        assert main(["bfs", "a.h5", "--source", "Anna", "--out", "-", "--quiet"]) == 0
        assert capsys.readouterr().out == "Anna 0\nBob 2\nZoë 1\n"


def test_ranks_have_the_ids(text: Path, tmp_path: Path) -> None:
    gb.io.convert(text, tmp_path / "a.h5", relabel=True)
    whole, ids = read_csr(text, relabel=True)

    def one(comm: Any) -> Any:
        source, found = reading.numbered(blocks.source(tmp_path / "a.h5", relabel=True), comm)
        assert found is not None
        assert found.tolist() == ids.tolist()  # type: ignore[union-attr]
        return reading.read_rank_rows(source, lambda: whole, comm)

    blocks.check(run(3, one), whole)


@pytest.mark.parametrize("options", [{"relabel": True}, {"source_col": "a", "target_col": "b"}])
def test_ranks_refuse_what_needs_the_whole_graph(options: dict[str, Any], tmp_path: Path) -> None:
    """All ranks refuse options that need the whole graph, before reading, and name the remedy."""
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n")

    def one(comm: Any) -> Any:
        return reading.read_rank_rows(reading.numbered(blocks.source(path, **options), comm)[0], pytest.fail, comm)

    for error in run(3, one):
        assert isinstance(error, InvalidValue)
        assert "without comm=, run gb.io.convert(" in str(error)


def test_a_file_that_another_program_changed_has_its_ids(text: Path, tmp_path: Path) -> None:
    expected = gb.io.read(text, relabel=True)
    gb.io.convert(text, tmp_path / "a.h5", relabel=True)
    with h5py.File(tmp_path / "a.h5", "a") as file:
        file.attrs["note"] = 1
    assert same(gb.io.read(tmp_path / "a.h5", relabel=True), expected)


def test_damaged_names_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXTS["names"])
    gb.io.convert(tmp_path / "a.txt", tmp_path / "a.h5", relabel=True)
    data = bytearray((tmp_path / "a.h5").read_bytes())
    data[data.index(b"n100n10") + 2] ^= 1
    (tmp_path / "a.h5").write_bytes(data)
    for wrong in ({"relabel": True}, {"verify": True}):
        with pytest.raises(FileFormatError, match="the checksum of vertex_names"):
            gb.io.read(tmp_path / "a.h5", **wrong)


def test_names_that_are_no_text_are_refused(tmp_path: Path) -> None:
    from sparsezc.io._write import write_files

    with pytest.raises(InvalidValue, match="cannot be encoded as UTF-8"):
        write_files(gb.io.read("path:1"), tmp_path / "a.h5", vertices=np.array(["\ud800"], object))
    assert list(tmp_path.iterdir()) == []


def test_write_takes_no_ids(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="vertices= is no option of write"):
        gb.io.write(gb.io.read("path:2"), tmp_path / "a.h5", vertices=[5, 1])
    assert list(tmp_path.iterdir()) == []
