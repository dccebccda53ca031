"""GAP files with the undirected flag are refused if one edge lacks its reverse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.exceptions import FileFormatError
from sparsezc.io._read import read_csr
from sparsezc.io.formats import symmetry_check
from sparsezc.memory.csr import Csr
from tests.io.graphs import load, same, scipy_of

_IDS = 17 + 8 * 129  # bytes before the ids: a head of 17 and 129 offsets


def changed(path: Path, entry: int, field: str, width: int) -> None:
    """Change the id or the weight of an entry to another valid one."""
    data = bytearray(path.read_bytes())
    at = _IDS + width * entry + (4 if field == "weight" else 0)
    old = int.from_bytes(data[at : at + 4], "little")
    data[at : at + 4] = ((old + 1) % 128).to_bytes(4, "little")
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("name", "field", "width"), [("a.sg", "id", 4), ("a.wsg", "id", 8), ("a.wsg", "weight", 8)]
)  # fmt: skip
def test_one_number_that_has_changed(tmp_path: Path, name: str, field: str, width: int) -> None:
    path = tmp_path / name
    gb.io.write(load("urand:7?weights=1-9"), path)
    good = path.read_bytes()
    csr = load(path)
    assert csr.symmetric
    for entry in np.random.default_rng(5).integers(csr.nvals, size=20).tolist():
        path.write_bytes(good)
        changed(path, entry, field, width)
        for how in ({}, {"symmetrize": True}, {"weights": False}):
            with pytest.raises(FileFormatError, match=rf"{name} is marked undirected, but an edge"):
                read_csr(path, placement="host", **how)
    with pytest.raises(FileFormatError, match="is marked undirected"):
        gb.io.convert(path, tmp_path / "a.h5", memory="8GB")
    assert sorted(file.name for file in tmp_path.iterdir()) == [name]


def test_undirected_graphs_are_read_and_directed_ones_are_not_looked_at(tmp_path: Path) -> None:
    for name in "a.sg", "a.wsg.gz":
        gb.io.write(load("kron:8?weights=1-200"), tmp_path / name)
        found = load(tmp_path / name)
        assert found.symmetric
        pattern = scipy_of(load("kron:8?weights=1-200"))
        same(found, pattern if "wsg" in name else pattern.astype(bool))
    one_way = Csr.from_arrays([0, 1, 1], [1], [True], 2)
    gb.io.write(one_way, tmp_path / "b.sg")
    assert not load(tmp_path / "b.sg").symmetric


def test_edges_of_a_graph_with_mostly_empty_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symmetry_check, "_STEP", 3)
    n = 100_000
    rows = np.array([5, 70_000, 70_000, 99_999])
    cols = np.array([70_000, 5, 99_999, 70_000], np.int32)
    indptr = np.searchsorted(rows, np.arange(n + 1))
    for ids, good in ((cols, True), (np.array([70_000, 5, 99_998, 70_000], np.int32), False)):
        with symmetry_check.SymmetryCheck(indptr) as found:
            for start in range(0, 4, 2):
                found.add(ids[start : start + 2], None)
            if good:
                found.check(Path("a.sg"))
                continue
            with pytest.raises(FileFormatError, match="undirected"):
                found.check(Path("a.sg"))


def test_a_file_that_was_made_for_certain_constants_of_the_hash(tmp_path: Path) -> None:
    """An edge that gave the sum 0 under fixed hash constants (its hashes have many factors of 2) is found."""
    source, target, weight, n = 3485, 10_950, 108_919_507, 10_951
    path = tmp_path / "a.wsg"
    offsets = (np.arange(n + 1) > source).astype(np.int64)
    sizes = np.array([1, n], np.int64)
    path.write_bytes(b"\0" + sizes.tobytes() + offsets.tobytes() + np.array([target, weight], np.int32).tobytes())
    with pytest.raises(FileFormatError, match=r"a\.wsg is marked undirected, but an edge"):
        load(path)


def test_each_matrix_has_a_hash_of_its_own() -> None:
    sums = []
    for _ in range(2):
        with symmetry_check.SymmetryCheck(np.array([0, 1, 1])) as found:
            found.add(np.array([1]), None)
            with pytest.raises(FileFormatError):
                found.check(Path("a.sg"))
            sums.append(found._sum % 2**64)
    assert sums[0] != sums[1]
