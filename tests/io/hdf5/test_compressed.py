"""Files with compressed ids: the same matrix in fewer bytes, mapped on a GPU, and refused if damaged."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.cli import main
from sparsezc.exceptions import FileFormatError
from sparsezc.io._read import read_csr
from sparsezc.io.hdf5 import aligned_file
from sparsezc.memory import mapped
from tests.io.fake_gpu import Card

h5py: Any = pytest.importorskip("h5py", reason="h5py is not installed")

GRAPHS = ("kron:11?weights=1-255", "grid:50x60", "star:20000", "path:3")


@pytest.mark.parametrize("graph", GRAPHS)
def test_both_engines_read_what_was_written(tmp_path: Path, gpu: Any, graph: str) -> None:
    path = tmp_path / "a.h5"
    gb.io.convert(graph, path, compress=True)
    expected = gb.io.read(graph, placement="host")
    for placement in ("host", "device", "zerocopy", "mapped"):
        A = gb.io.read(path, placement=placement, verify=True)
        assert A._symmetric
        assert A.to("cpu").isequal(expected, check_dtype=True)
        if placement != "host":
            assert A._store.in_stored_order()[0].compressed
            assert A._store.placement == placement
        x = gb.Vector.from_dense(np.arange(A.ncols, dtype=np.int64))
        got, want = (M.mxv(x.dup(), gb.semiring.plus_times["INT64"]).new() for M in (A, expected))
        assert got.to("cpu").isequal(want)


def test_a_mapped_matrix_may_move(tmp_path: Path, gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped, "PAGE", 4096)
    gb.io.convert("kron:11", tmp_path / "a.h5", compress=True)
    A = gb.io.read(tmp_path / "a.h5", placement="mapped")
    bits = A.bits_per_id
    for placement in ("device", "zerocopy"):
        B = A.to(placement=placement)
        assert B._store.placement == placement
        assert B.bits_per_id == bits
        assert B.to("cpu").isequal(gb.io.read("kron:11", placement="host"))
    assert A.compress("degree").to("cpu").isequal(gb.io.read("kron:11", placement="host"))


def test_a_budget_has_room_for_compressed_ids_where_plain_ones_do_not_fit(tmp_path: Path, gpu: Any) -> None:
    gb.io.convert("kron:10", tmp_path / "a.h5", compress=True)
    with gb.config.set(budget="100kB"):  # the ids need 147 KiB, compressed 85
        with pytest.raises(gb.exceptions.OutOfMemory, match="device memory"):
            gb.io.read("kron:10", placement="device")
        for placement in ("auto", "device"):
            assert gb.io.read(tmp_path / "a.h5", placement=placement)._store.placement == "device"
        assert gb.io.read(tmp_path / "a.h5", placement="mapped").to(placement="device")._store.placement == "device"


def test_files_are_read_in_other_ways_too(tmp_path: Path) -> None:
    gb.io.write(
        gb.Matrix.from_coo([0, 1, 4], [1, 3, 0], [1.0, 2, 3], nrows=5, ncols=5), tmp_path / "a.h5", compress=True
    )
    both = gb.io.read(tmp_path / "a.h5", symmetrize=True, placement="host")
    assert both.nvals == 6
    found, ids = gb.io.read(tmp_path / "a.h5", relabel=True, placement="host")
    assert found.nvals == 3
    assert ids.tolist() == [0, 1, 3, 4]
    assert gb.io.read(tmp_path / "a.h5", weights="INT8", placement="host").dtype == "INT8"
    empty = gb.Matrix(int, 5, 5)
    gb.io.write(empty, tmp_path / "b.h5", compress=True)
    assert gb.io.read(tmp_path / "b.h5", placement="host").nvals == 0


def test_the_command_line_says_what_an_id_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.h5"
    assert main(["convert", "kron:11", str(path), "--compress", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["bits_per_id"]
    with h5py.File(path) as file:
        used = sum(file[name].nbytes for name in ("blocks", "block_headers", "block_starts"))
    assert told == 8 * used / gb.io.read("kron:11").nvals < 10
    assert main(["convert", "kron:11", str(path), "--compress"]) == 0
    assert f"ids      {told:.2f} bits each" in capsys.readouterr().out
    assert main(["convert", "kron:4", str(tmp_path / "a.mtx"), "--compress"]) == 1
    assert "has no compressed ids; .h5 files can have them" in capsys.readouterr().err
    assert main(["info", str(path), "--check"]) == 0


@pytest.mark.parametrize("name", ["blocks", "block_headers", "block_starts"])
def test_damage_is_found(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.h5"
    gb.io.convert("kron:9", path, compress=True)
    with h5py.File(path) as file:
        offset = file[name].id.get_offset()
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 4]))
    with pytest.raises(FileFormatError, match=rf"a\.h5 is damaged: the checksum of {name}\[0:"):
        read_csr(path, verify=True)
    if name != "blocks":
        with pytest.raises(FileFormatError, match=rf"the checksum of {name}"):
            read_csr(path)


def test_more_columns_than_blocks_can_count_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    gb.io.convert("kron:6", path, compress=True)
    with h5py.File(path, "r+") as file:
        head = json.loads(file.attrs["binsparse"])
        head["binsparse"]["shape"][1] = 2**33
        text = json.dumps(head)
        aligned_file.describe(file, text)
        file.attrs["sparsezc_crc32"] = np.uint32(zlib.crc32(text.encode()))
    with pytest.raises(FileFormatError, match=r"a\.h5 has 8,589,934,592 columns; compressed ids count 2\^32 at most"):
        read_csr(path)


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn off the comparison of checksums, as if a damaged file's checksums were right."""
    monkeypatch.setattr(aligned_file.MappableFile, "compare", lambda *_: None)


def damaged(path: Path) -> Iterator[None]:
    """Write a file of three compressed ids, and yield after flipping each of their bits in turn."""
    gb.io.write(gb.Matrix.from_coo([0, 0, 1], [3, 8, 4], 1, nrows=2, ncols=9), path, compress=True)
    text = path.read_bytes()
    with h5py.File(path) as file:
        first = file["blocks"].id.get_offset()
    for bit in range(96):
        at = first + bit // 8
        path.write_bytes(text[:at] + bytes([text[at] ^ 1 << bit % 8]) + text[at + 1 :])
        yield


@pytest.mark.usefixtures("unchecked")
def test_an_id_that_is_no_column_is_refused_where_the_host_reads_it(tmp_path: Path, card: Card) -> None:
    path, said = tmp_path / "a.h5", []
    for _ in damaged(path):
        try:
            assert read_csr(path, placement="mapped")[0].indices.read().max() < 9
        except FileFormatError as error:
            said.append(str(error))
    assert said
    assert all("a.h5: entry" in text for text in said)


@pytest.mark.usefixtures("unchecked")
def test_an_id_that_is_no_column_is_refused_before_kernels_follow_it(tmp_path: Path, gpu: Any) -> None:
    path, said = tmp_path / "a.h5", []
    for _ in damaged(path):
        A = gb.io.read(path, placement="mapped")
        x = gb.Vector.from_dense(np.ones(9, np.int64))
        try:
            assert A.mxv(x, gb.semiring.plus_times).new().nvals == 2
        except FileFormatError as error:
            said.append(str(error))
    assert said
    assert all("a.h5: entry" in text for text in said)
    with pytest.raises(FileFormatError, match=r"a\.h5 is damaged"):
        gb.io.convert(path, tmp_path / "b.h5")
