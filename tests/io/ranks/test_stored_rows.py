"""Each rank opens its rows of a .h5 file, plain or compressed, and reads no other checksum pieces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.exceptions import FileFormatError, InvalidObject, InvalidValue, PerformanceWarning
from sparsezc.io.hdf5 import aligned_file, csr_file
from sparsezc.io.hdf5.ranges import Ranges
from sparsezc.io.ranks import row_bounds, stored_rows
from sparsezc.memory.mapped import PAGE
from tests.io.graphs import load
from tests.io.ranks.blocks import check, read
from tests.io.ranks.threads import ThreadComm, run

GRAPHS = ("kron:9?weights=1-255", "path:200", "star:300")


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make checksum pieces of 64 KiB, so that small files have many."""
    monkeypatch.setattr(aligned_file, "PIECE", PAGE)


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("graph", GRAPHS)
def test_rows_of_all_ranks_are_the_matrix(tmp_path: Path, graph: str, compress: bool) -> None:
    path = tmp_path / "a.h5"
    gb.io.convert(graph, path, compress=compress)
    for weights in (None, False, "FP32", "hash:1-9"):
        for size in (1, 2, 3, 9):
            check(read(path, size, weights=weights), load(path, weights=weights))


def test_a_directed_file_is_symmetrized_by_an_exchange(tmp_path: Path) -> None:
    path, rng = tmp_path / "a.h5", np.random.default_rng(2)
    gb.io.write(
        gb.Matrix.from_coo(*rng.integers(0, 200, (2, 900)), rng.random(900), nrows=200, ncols=200, dup_op="min"), path
    )
    check(read(path, 3, symmetrize=True), load(path, symmetrize=True))


def test_more_ranks_than_words_of_rows_leaves_some_empty(tmp_path: Path) -> None:
    gb.io.convert("path:70", tmp_path / "a.h5")
    found = read(tmp_path / "a.h5", 5)
    check(found, load(tmp_path / "a.h5"))
    assert sum(block.csr.nrows == 0 for block in found) == 3


@pytest.mark.parametrize("compress", [False, True])
def test_a_rank_compares_the_pieces_of_its_own_rows_only(tmp_path: Path, pieces: None, compress: bool) -> None:
    path, size = tmp_path / "a.h5", 8
    gb.io.convert(
        "urand:15?weights=1-255", path, compress=compress
    )  # 64 pieces of plain ids, 16 of values, 5 of offsets

    def one(comm: ThreadComm) -> tuple[int, int]:
        with stored_rows.opened(path, comm) as rows:
            cuts = stored_rows.bounds(rows, comm)
            stored_rows.load(rows, cuts, comm, csr_file.stored_csr.Weights(), "host")
            mappable = csr_file.find(path)
            assert mappable is not None
            return rows._ranges.compared, sum(mappable.sums(name).size for name in mappable.places)

    for compared, there in run(size, one):
        assert compared <= there / size + 15  # 15: both ends of four arrays, and the bisection's


@pytest.mark.parametrize("name", ["pointers_to_1", "indices_1", "values"])
def test_a_damaged_piece_stops_all_ranks(tmp_path: Path, pieces: None, name: str) -> None:
    path = tmp_path / "a.h5"
    gb.io.convert("urand:14?weights=1-255", path)
    mappable = csr_file.find(path)
    assert mappable is not None
    offset = mappable.places[name][0] + mappable.nbytes(name) - 5
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 1]))
    found = read(path, 3)
    assert {type(error) for error in found} == {FileFormatError}
    assert {str(error) for error in found} == {str(found[0])}
    assert f"the checksum of {name}[" in str(found[0])
    assert str(found[0]).startswith("rank ")


def test_ranks_that_open_different_files_are_told(tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / str(number)).mkdir()
        gb.io.convert(f"kron:6?seed={number}", tmp_path / str(number) / "a.h5")

    def one(comm: ThreadComm) -> None:
        with stored_rows.opened(tmp_path / str(comm.rank // 2) / "a.h5", comm):
            pass

    found = run(3, one)
    assert {type(error) for error in found} == {InvalidObject}
    assert "not the same file for all ranks: rank 0 has" in str(found[0])
    assert "rank 2 has" in str(found[1])


def test_files_of_other_programs_and_wrong_options_are_refused(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["x"] = [1]
    gb.io.convert("path:200", tmp_path / "a.h5")
    for path, options, error in (
        (tmp_path / "b.h5", {}, FileFormatError),
        (tmp_path / "a.h5", {"relabel": True}, InvalidValue),
        (tmp_path / "a.h5", {"directed": True}, InvalidValue),
        (tmp_path / "none.h5", {}, FileNotFoundError),
    ):
        assert all(isinstance(found, error) for found in read(path, 2, **options))


def test_cuts_are_at_blocks_of_ids_where_the_graph_allows() -> None:
    rng = np.random.default_rng(3)
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 40, 1 << 21))])
    aligned = [row_bounds.first_row(lambda i, j: indptr[i:j], 1 << 21, int(indptr[-1]), rank, 8) for rank in range(9)]
    assert all(indptr[row] % 32 == 0 for row in aligned[:-1])
    work = np.diff(indptr[aligned] + 4 * np.array(aligned))
    assert work.max() / work.mean() < 1.07


@pytest.mark.parametrize("compress", [False, True])
def test_mapped_rows_are_read_by_kernels_in_the_file(tmp_path: Path, gpu: Any, pieces: None, compress: bool) -> None:
    path = tmp_path / "a.h5"
    n, rng = 1 << 13, np.random.default_rng(4)
    i = np.repeat(np.arange(n), 16)  # rows of 16 ids: all cuts are between id blocks of 32
    A = gb.Matrix.from_coo(
        i, (i * 7 + np.tile(np.arange(16) ** 2, n)) % n, rng.integers(1, 255, i.size, np.uint8), nrows=n, ncols=n
    )
    gb.io.write(A, path, compress=compress)
    whole = gb.io.read(path, placement="host")
    x = gb.Vector.from_dense(np.arange(whole.ncols, dtype=np.int64))
    expected = whole.mxv(x, gb.semiring.plus_times["INT64"]).new().to_dense()
    blocks = read(path, 3, placement="mapped")
    for rank, block in enumerate(blocks):
        assert (block.csr.indices.placement, block.csr.indices.pages) == ("mapped", "file")
        first, last = block.bounds[rank], block.bounds[rank + 1]
        found = gb.Matrix._from_csr(block.csr).mxv(x.to("gpu"), gb.semiring.plus_times["INT64"]).new()
        np.testing.assert_array_equal(found.to_dense(), expected[first:last])


def test_blocks_that_a_cut_divides_are_decoded_with_a_warning(tmp_path: Path, gpu: Any) -> None:
    path = tmp_path / "a.h5"
    gb.io.write(gb.io.read("grid:10x130"), path, compress=True)
    mappable = csr_file.find(path)
    assert mappable is not None
    with Ranges(mappable) as ranges:
        rows = stored_rows.FileRows(mappable, ranges)
        divided = next(at for at in range(64, 1300, 64) if rows.offsets(at, at + 1)[0] % 32)
        cuts = np.array([0, divided, 1300])
        with pytest.warns(PerformanceWarning, match="begin within a block"):
            csr = stored_rows.load_rows(rows, cuts, 1, csr_file.stored_csr.Weights(), "mapped")
    want = load(path)
    np.testing.assert_array_equal(csr.indices.read(), want.indices.read(int(want.indptr[divided])))
