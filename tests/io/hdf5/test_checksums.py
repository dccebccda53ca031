"""Checksums of the HDF5 and Parquet files that sparsezc writes: one wrong bit never gives another graph."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.exceptions import DomainMismatch, FileFormatError, InvalidValue, OutOfMemory
from sparsezc.io.formats import parquet_checksums
from sparsezc.io.hdf5 import csr_file, foreign, seal
from tests.io.interop.test_tables import absent

h5py: Any = pytest.importorskip("h5py", reason="h5py is not installed")
parquet: Any = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")

Way = tuple[str, Callable[[Any, Path], Any], Callable[[Path], Any]]
WAYS: dict[str, Way] = {
    **{
        form: ("a.h5", lambda A, path, form=form: gb.io.write_binsparse(A, path, form), gb.io.read_binsparse)
        for form in ("CSR", "CSC", "COOR", "COOC", "DCSR", "DCSC")
    },
    "group": (
        "a.h5", lambda A, path: gb.io.write_binsparse(A, path, "COO", group="one/two"),
        lambda path: gb.io.read_binsparse(path, "one/two"),
    ),
    "COOR by read": ("a.h5", lambda A, path: gb.io.write_binsparse(A, path, "COO"), gb.io.read),
    "compressed": ("a.h5", lambda A, path: gb.io.write(A, path, compress=True), gb.io.read),
    "CVEC": ("a.h5", lambda A, path: gb.io.write_binsparse(A[3, :].new(), path), gb.io.read_binsparse),
    "DVEC": (
        "a.h5", lambda A, path: gb.io.write_binsparse(gb.Vector.from_dense(np.arange(9.0)), path, "DVEC"),
        gb.io.read_binsparse,
    ),
    "parquet": ("a.parquet", gb.io.write, gb.io.read),
    "to_parquet": ("a.parquet", gb.io.to_parquet, gb.io.from_parquet),
}  # fmt: skip


@pytest.fixture
def graph() -> Any:
    return gb.io.read("kron:5?weights=1-255", placement="host")


def damaged(whole: bytes, at: int, bit: int) -> bytes:
    """Return the bytes with one bit flipped."""
    return whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :]


@pytest.mark.parametrize("way", WAYS)
def test_one_wrong_bit_is_refused(tmp_path: Path, graph: Any, way: str) -> None:
    name, write, read = WAYS[way]
    path = tmp_path / name
    write(graph, path)
    whole, right = path.read_bytes(), read(path)
    used = np.flatnonzero(np.frombuffer(whole, np.uint8))
    rng = np.random.default_rng(5)
    tail = (len(whole) - 16, len(whole) - 7, len(whole) - 1)  # in the ends of seal and footer
    for at in [*rng.choice(used, 60).tolist(), *rng.integers(0, len(whole), 20).tolist(), *tail]:
        path.write_bytes(damaged(whole, at, int(rng.integers(8))))
        with pytest.raises(FileFormatError, match=name) as told:
            read(path)
        assert "\n" not in str(told.value)
    for size in (len(whole) - 1, len(whole) // 2):
        path.write_bytes(whole[:size])
        with pytest.raises(FileFormatError, match=name):
            read(path)
    path.write_bytes(whole)
    assert read(path).isequal(right, check_dtype=True)


def test_all_formats_can_be_verified(tmp_path: Path, graph: Any) -> None:
    gb.io.write_binsparse(graph, tmp_path / "a.h5", "COO")
    assert gb.io.read(tmp_path / "a.h5", verify=True, placement="host").isequal(graph, check_dtype=True)
    gb.io.convert(tmp_path / "a.h5", tmp_path / "b.h5", memory="8GB")
    assert gb.io.read(tmp_path / "b.h5", placement="host").isequal(graph, check_dtype=True)


def test_what_is_sealed_is_read_without_hdf5(tmp_path: Path, graph: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for form in ("CSR", "COO"):
        gb.io.write_binsparse(graph, tmp_path / form, form)
    monkeypatch.setattr(foreign, "_start", lambda *_: pytest.fail("a process was started"))
    absent(monkeypatch, "h5py")
    for form in ("CSR", "COO"):
        assert gb.io.read_binsparse(tmp_path / form).isequal(graph, check_dtype=True)
        assert gb.io.read(tmp_path / form, format="binsparse", placement="host").isequal(graph, check_dtype=True)


@pytest.mark.parametrize("form", ["CSR", "COO"])
def test_a_file_that_another_program_has_added_to_is_read_by_its_checksums(
    tmp_path: Path, graph: Any, form: str
) -> None:
    """A file whose seal HDF5 removed is read by the checksums of its arrays."""
    path = tmp_path / "a.h5"
    gb.io.write_binsparse(graph, path, form)
    with h5py.File(path, "r+") as file:
        file.attrs["origin"] = "a survey"
        offset = file["values"].id.get_offset()
    assert seal.find(path, None) is None
    assert csr_file.find(path) is not None
    assert gb.io.read(path, placement="host").isequal(graph, check_dtype=True)
    path.write_bytes(damaged(path.read_bytes(), offset, 2))
    with pytest.raises(FileFormatError, match=r"a\.h5 is damaged: the checksum of values\["):
        gb.io.read(path, placement="host")


def resealed(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Replace a file's seal by a changed one with a right checksum."""
    whole = path.read_bytes()
    name, length, _ = struct.unpack("<8sII", whole[-16:])
    head = json.loads(whole[-16 - length : -16])
    change(head)
    body = json.dumps(head).encode()
    path.write_bytes(whole[: -16 - length] + body + struct.pack("<8sII", name, len(body), zlib.crc32(body)))


@pytest.mark.parametrize(
    "change",
    [
        lambda head: head["places"].update(values=[head["size"] - 8, 100, "<f8"]),
        lambda head: head["places"].update(values=[-8, 1, "<f8"]),
        lambda head: head["places"].update(values=[0, 2**62, "<f8"]),
        lambda head: head["places"].update(values=[0, 1, "|O8"]),
        lambda head: head["places"].update(values=[0.5, 1, "<f8"]),
        lambda head: head["places"].update(values=head["places"]["indices_1"]),
        lambda head: head.update(places=[]),
        lambda head: head.update(rest=0),
        lambda head: head.update(size=0),
    ],
)
def test_a_seal_that_is_made_up_is_not_believed(tmp_path: Path, graph: Any, change: Any) -> None:
    path = tmp_path / "a.h5"
    gb.io.write(graph, path)
    resealed(path, lambda head: None)
    assert gb.io.read(path, placement="host").isequal(graph)
    resealed(path, change)
    with pytest.raises(FileFormatError, match=r"a\.h5 is damaged: its bytes differ from those that were sealed"):
        gb.io.read(path)


def test_parquet_files_stay_parquet(tmp_path: Path, graph: Any) -> None:
    """Other programs read our Parquet files, and we read their copies, which have no table of checksums."""
    gb.io.write(graph, tmp_path / "a.parquet")
    table = parquet.read_table(tmp_path / "a.parquet", page_checksum_verification=True)
    assert table.num_rows == graph.nvals
    parquet.write_table(table, tmp_path / "b.parquet")
    assert gb.io.read(tmp_path / "b.parquet", placement="host").isequal(graph, check_dtype=True)


@pytest.mark.parametrize("added", [1, 64, 1000])
def test_bytes_between_the_table_and_the_footer_hide_no_change(added: int, tmp_path: Path, graph: Any) -> None:
    path = tmp_path / "a.parquet"
    gb.io.write(graph, path)
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    path.write_bytes(whole[:footer] + bytes(added) + whole[footer:])
    with pytest.raises(FileFormatError, match=rf"a.parquet is damaged: {added:,} bytes are between its checksums"):
        gb.io.read(path)


def test_a_table_of_many_pieces_names_the_one_that_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_checksums, "PIECE", 1 << 10)
    path = tmp_path / "a.parquet"
    gb.io.convert("kron:9?weights=1-255", path)
    whole = path.read_bytes()
    path.write_bytes(damaged(whole, 5000, 0))
    with pytest.raises(FileFormatError, match=r"the checksum of bytes 4,096 to 5,119 of the file is [0-9a-f]{8}; "):
        gb.io.read(path)


@pytest.mark.parametrize("error", [KeyError("a\nb"), UnicodeError("x"), RuntimeError("\x1b[2J"), IndexError()])
def test_whatever_pyarrow_raises_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    parquet.write_table(parquet.read_table(_plain(tmp_path)), tmp_path / "b.parquet")

    def fails(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", fails)
    monkeypatch.setattr(parquet.ParquetFile, "read", fails)
    for read in (gb.io.read, gb.io.from_parquet):
        with pytest.raises(FileFormatError, match=r"b\.parquet is no Parquet file of edges, or damaged") as told:
            read(tmp_path / "b.parquet")
        assert str(told.value).isprintable()
    error = MemoryError("malloc of size 9 failed")
    with pytest.raises(OutOfMemory, match=r"b\.parquet needs more memory than there is, or is damaged: malloc"):
        gb.io.read(tmp_path / "b.parquet")


def _plain(folder: Path) -> Path:
    """Return a small Parquet file."""
    gb.io.write(gb.io.read("path:4"), folder / "a.parquet")
    return folder / "a.parquet"


def test_what_parquet_cannot_mean_is_said_with_the_file(tmp_path: Path) -> None:
    path, table = tmp_path / "b.parquet", parquet.read_table(_plain(tmp_path))
    parquet.write_table(table.replace_schema_metadata({"sparsezc.nrows": "9" * 5000, "sparsezc.ncols": "4"}), path)
    with pytest.raises(
        FileFormatError, match=r"b\.parquet: the schema's sparsezc\.nrows and ncols have 5000 and 1 digits"
    ):
        gb.io.read(path)
    with pytest.raises(
        InvalidValue, match=r"b\.parquet: the schema's sparsezc\.nrows and ncols have 5000 and 1 digits"
    ):
        gb.io.from_parquet(path)
    half = table.append_column("weight", [np.ones(table.num_rows, np.float16)])
    parquet.write_table(half, path)
    assert gb.io.read(path).dtype == "FP32"
    with pytest.raises(DomainMismatch, match=r"b\.parquet: from_arrow: the source column holds float16"):
        gb.io.from_parquet(path, source="weight")
    parquet.write_table(table.append_column("weight", [np.ones(table.num_rows, "M8[s]")]), path)
    with pytest.raises(FileFormatError, match=r"b\.parquet: column 'weight' holds datetime64.*numbers are needed"):
        gb.io.read(path)
