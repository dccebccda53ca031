"""Mappable files: mapped without reading on both engines, and refused with the reason if damaged or too new."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tracemalloc
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.cli import main
from sparsezc.device import cuda
from sparsezc.device.protocol import Pages
from sparsezc.exceptions import DeviceUnavailable, FileFormatError, InvalidValue, OutOfMemory, PerformanceWarning
from sparsezc.io._read import read_csr
from sparsezc.io.build import edge_list
from sparsezc.io.hdf5 import aligned_file
from sparsezc.memory import budget, mapped
from sparsezc.memory.csr import Csr
from tests.io.fake_gpu import Card
from tests.io.graphs import load

h5py: Any = pytest.importorskip("h5py", reason="h5py is not installed")

GRAPHS = ("kron:11", "kron:11?weights=1-255", "grid:50x60", "star:20000")


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Write a file with several pages of ids and of weights."""
    path = tmp_path / "large.h5"
    gb.io.convert("kron:13?weights=1-255", path)
    return path


@pytest.mark.parametrize("graph", GRAPHS)
def test_both_engines_read_what_was_written(tmp_path: Path, gpu: Any, graph: str) -> None:
    gb.io.convert(graph, tmp_path / "a.h5")
    expected = gb.io.read(graph, placement="host")
    for placement in ("host", "device", "zerocopy", "mapped"):
        A = gb.io.read(tmp_path / "a.h5", placement=placement)
        assert A._to_csr().symmetric
        assert A.to("cpu").isequal(expected, check_dtype=True)
        x = gb.Vector.from_dense(np.arange(A.ncols, dtype=np.int64))
        y = gb.Vector.from_dense(np.arange(A.ncols, dtype=np.int64))
        products = A.mxv(x, gb.semiring.plus_times["INT64"]), expected.mxv(y, gb.semiring.plus_times["INT64"])
        assert products[0].new().to("cpu").isequal(products[1].new())


def test_results_of_a_mapped_matrix_lie_in_zero_copy_memory(large: Path, gpu: Any) -> None:
    A = gb.io.read(large, placement="mapped")
    expected = gb.io.read(large, placement="host")
    assert A._store.placement == "mapped"
    assert A._store.rows.indices.pages == "file"
    for made, right in (
        (A.apply(gb.unary.ainv), expected.apply(gb.unary.ainv)),
        (A.select(gb.select.tril), expected.select(gb.select.tril)),
        (A.ewise_add(A, gb.binary.plus), expected.ewise_add(expected, gb.binary.plus)),
    ):
        result = made.new()
        assert result._store.rows.values.placement == "zerocopy"
        assert result.to("cpu").isequal(right.new())
    assert gb.algorithms.triangle_count(A) == gb.algorithms.triangle_count(expected)


def test_a_search_in_a_mapped_file(large: Path, gpu: Any) -> None:
    A = gb.io.read(large, placement="mapped", weights=False)
    assert A.dtype == bool
    assert gb.algorithms.bfs(A, 5).to("cpu").isequal(gb.algorithms.bfs(gb.io.read(large, placement="host"), 5))


def test_the_file_is_binsparse(large: Path) -> None:
    """h5py reads the arrays as binsparse defines them, and each begins at a page."""
    csr = load("kron:13?weights=1-255")
    with h5py.File(large) as file:
        head = json.loads(file.attrs["binsparse"])["binsparse"]
        assert head["format"] == "CSR"
        assert head["data_types"] == {"pointers_to_1": "int64", "indices_1": "uint32", "values": "uint8"}
        np.testing.assert_array_equal(file["pointers_to_1"], csr.indptr)
        np.testing.assert_array_equal(file["indices_1"], csr.indices.read())
        np.testing.assert_array_equal(file["values"], csr.values.read())
        for name in ("indices_1", "values"):
            assert file[name].chunks is None
            assert file[name].id.get_offset() % mapped.PAGE == 0


def test_auto_maps_what_is_large_and_reads_what_is_small(
    large: Path, card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_csr(large)[0].indices.placement == "device"
    card.free = 600_000
    assert read_csr(large)[0].indices.placement == "mapped"
    card.free = 1 << 30
    monkeypatch.setattr(budget, "_SOON_READ", 100_000)
    assert read_csr(large)[0].indices.placement == "mapped"
    assert read_csr(large, placement="zerocopy")[0].indices.placement == "zerocopy"
    with gb.config.set(placement="device"):
        assert read_csr(large)[0].indices.placement == "device"
    with gb.config.set(engine="cpu"):
        assert read_csr(large)[0].indices.placement == "host"
    card.free = 1000
    with pytest.raises(OutOfMemory, match="'mapped' needs"):
        read_csr(large)


def test_opening_reads_the_offsets_and_nothing_else(large: Path, card: Card, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    original = aligned_file.MappableFile._checked
    monkeypatch.setattr(
        aligned_file.MappableFile,
        "_checked",
        lambda self, name, *more: read.append(name) or original(self, name, *more),
    )
    monkeypatch.setattr(np, "fromfile", lambda *_, **__: pytest.fail("an array was read"))
    csr, _ = read_csr(large, placement="mapped")
    assert csr.nvals > 100_000
    assert read == ["pointers_to_1"]


def test_opening_takes_no_memory_for_the_offsets(tmp_path: Path, card: Card) -> None:
    """Offsets of a million rows, 8 MB, are checked in the system's page cache without a copy."""
    gb.io.write(gb.Matrix.from_coo([0, 999_999], [5, 7], [1, 2], nrows=1_000_000, ncols=9), tmp_path / "a.h5")
    csr, _ = read_csr(tmp_path / "a.h5", placement="mapped")
    del csr
    tracemalloc.start()
    try:
        csr, _ = read_csr(tmp_path / "a.h5", placement="mapped")
        taken, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert csr.nvals == 2
    assert taken < 200_000
    assert peak < 7_000_000  # each thread holds a checksum piece of 1 MiB, or a Boolean for each offset


def test_offsets_that_fall_are_refused_wherever_they_do(tmp_path: Path, card: Card) -> None:
    """Decreasing offsets are refused in any row, also at the bounds of the threads' blocks."""
    gb.io.write(gb.Matrix.from_coo([0, 2], [5, 7], [1, 2], nrows=3_000_000, ncols=9), tmp_path / "a.h5")
    for row in (5, edge_list.BLOCK, edge_list.BLOCK + 1, 2 * edge_list.BLOCK, 2_999_999):
        target = tmp_path / "b.h5"
        shutil.copy(tmp_path / "a.h5", target)
        write_wrongly(target, row, 3, "pointers_to_1")
        with pytest.raises(FileFormatError, match=r"b\.h5: the offsets are not those of 3,000,000 rows"):
            read_csr(target, placement="mapped")


def test_without_a_gpu_a_mapped_matrix_stays_in_its_file(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "reason", lambda: "no GPU: none was plugged in")
    A = gb.io.read(large, placement="mapped")
    assert A._engine.name == "file"
    assert A.isequal(gb.io.read("kron:13?weights=1-255"), check_dtype=True)
    B = gb.io.read(large, placement="mapped", weights="3-9")
    assert B.isequal(gb.io.read("kron:13?weights=3-9"), check_dtype=True)
    with gb.config.set(engine="gpu"), pytest.raises(DeviceUnavailable):
        gb.io.read(large, placement="mapped")


def test_other_weights_are_made_on_the_way(large: Path, card: Card) -> None:
    gb.io.convert("kron:13?weights=1-255", large.with_name("a.npz"))
    for weights in (False, "FP32", "3-9"):
        expected = load(large.with_name("a.npz"), weights=weights)
        found, _ = read_csr(large, weights=weights)
        assert (found.dtype, found.iso, found.symmetric) == (expected.dtype, expected.iso, True)
        np.testing.assert_array_equal(found.indices.read(), expected.indices.read())
        np.testing.assert_array_equal(found.values.read(), expected.values.read())
        left, _ = read_csr(large, weights=weights, placement="mapped")
        assert (left.indices.placement, left.dtype, left.iso) == ("mapped", found.dtype, found.iso)
        np.testing.assert_array_equal(left.values.read(), expected.values.read())
    relabelled, ids = read_csr(large, relabel=True)
    assert relabelled.nrows == ids.size < 1 << 13
    with pytest.raises(InvalidValue, match="read unchanged"):
        read_csr(large, relabel=True, placement="mapped")


def test_both_directions_of_a_symmetric_file_are_there(large: Path, card: Card) -> None:
    assert read_csr(large, placement="mapped", symmetrize=True)[0].indices.placement == "mapped"
    with pytest.raises(InvalidValue, match="undirected by its format"):
        read_csr(large, directed=True)


def test_pages_that_cannot_be_registered_are_copied_with_one_warning(
    large: Path, gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(array: Any) -> Pages:
        raise OutOfMemory("4,096 bytes of a file could not be registered: operation not supported")

    if gpu.name != "emulator":
        pytest.skip("a real device does not refuse")
    monkeypatch.setattr(gpu, "map", refuses, raising=False)
    A = gb.io.read(large, placement="mapped")
    with pytest.warns(PerformanceWarning, match=r"large\.h5 is read into host memory.*not supported") as told:
        found = gb.algorithms.bfs(A, 0)
    assert len(told) == 1
    assert A._store.rows.indices.pages in ("managed", "pinned")
    assert found.to("cpu").isequal(gb.algorithms.bfs(gb.io.read(large, placement="host"), 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gb.algorithms.bfs(gb.io.read(large, placement="mapped"), 0)


def test_a_mapped_file_cannot_be_written_to(large: Path) -> None:
    csr, _ = read_csr(large, placement="mapped")
    with pytest.raises(InvalidValue, match=r"large\.h5 is mapped for reading only"):
        csr.indices.write(0, [1])
    with pytest.raises(ValueError, match="read-only"):
        csr.indices.read()[0] = 1


def test_what_cannot_be_mapped(tmp_path: Path, card: Card) -> None:
    (tmp_path / "a.txt").write_text("0 1\n")
    for graph in (tmp_path / "a.txt", "kron:5"):
        with pytest.raises(InvalidValue, match=r"placement='mapped' is for \.h5 files"):
            read_csr(graph, placement="mapped")
        with pytest.raises(InvalidValue, match="has no checksums"):
            read_csr(graph, verify=True)
    gb.io.write_binsparse(gb.io.read("kron:5", placement="host"), tmp_path / "coo.h5", "COO")
    with pytest.raises(InvalidValue, match=r"placement='mapped' is for \.h5 files"):
        read_csr(tmp_path / "coo.h5", placement="mapped")
    assert read_csr(tmp_path / "coo.h5", verify=True)[0].nvals == load("kron:5").nvals


def flip(path: Path, at: int, bit: int = 0) -> None:
    """Change one bit of a file."""
    with path.open("r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ (1 << bit)]))


@pytest.mark.parametrize(("name", "entry"), [("indices_1", 70_000), ("values", 3)])
def test_a_damaged_array_is_found_with_its_place_where_it_is_read(
    large: Path, card: Card, name: str, entry: int
) -> None:
    """Damage in a mapped array, which opening does not read, is found on demand, with its position."""
    read_csr(large, verify=True)
    with h5py.File(large) as file:
        offset, width = file[name].id.get_offset(), file[name].dtype.itemsize
        count = file[name].size
    flip(large, offset + entry * width)
    read_csr(large, placement="mapped")
    if name == "values":
        read_csr(large, placement="device", weights=False)
    first = entry * width // aligned_file.PIECE * aligned_file.PIECE // width
    stop = min(first + aligned_file.PIECE // width, count)
    said = rf"large\.h5 is damaged: the checksum of {name}\[{first}:{stop}\], bytes"
    ways: list[dict[str, Any]] = [{"placement": each} for each in ("host", "device", "zerocopy", "hybrid")]
    ways += [{"placement": "mapped", "verify": True}, {"relabel": True}, {"weights": "FP64", "placement": "device"}]
    for how in ways:
        with pytest.raises(FileFormatError, match=said):
            read_csr(large, **how)


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("name", ["ids", "values"])
def test_a_damaged_array_that_is_mapped_is_found_when_it_is_first_used(
    tmp_path: Path, name: str, compress: bool, gpu: Any
) -> None:
    path = tmp_path / "a.h5"
    gb.io.convert("kron:12?weights=1-255", path, compress=compress)
    array = name if name == "values" else "blocks" if compress else "indices_1"
    with h5py.File(path) as file:
        at, size = file[array].id.get_offset(), file[array].nbytes
    flip(path, at + size // 2)
    A = gb.io.read(path, placement="mapped")
    u = gb.Vector.from_scalar(1.0, A.ncols).to("gpu")
    for _ in range(2):  # the second call fails like the first
        with pytest.raises(FileFormatError, match=rf"a\.h5 is damaged: the checksum of {array}\["):
            A.mxv(u, "plus_times").new().to_dense(0)
    with pytest.raises(FileFormatError, match=rf"a\.h5 is damaged: the checksum of {array}\["):
        A.to("cpu")
    gb.io.convert("kron:12?weights=1-255", path, compress=compress)
    B = gb.io.read(path, placement="mapped")
    path.rename(tmp_path / "kept.h5")
    path.write_bytes(b"another file of that name: what is compared is what is mapped")
    assert B.mxv(u, "plus_times").new().nvals > 0


def test_what_is_mapped_without_a_gpu_is_read_and_so_compared(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "reason", lambda: "no GPU: none was plugged in")
    with h5py.File(large) as file:
        flip(large, file["indices_1"].id.get_offset())
    for use in (lambda A: gb.algorithms.bfs(A, 0), lambda A: A.isequal(A)):
        with pytest.raises(FileFormatError, match=r"the checksum of indices_1"):
            use(gb.io.read(large, placement="mapped"))


def test_damaged_offsets_are_found_at_opening(large: Path) -> None:
    with h5py.File(large) as file:
        offset = file["pointers_to_1"].id.get_offset()
    flip(large, offset + 800)
    with pytest.raises(FileFormatError, match=r"large\.h5 is damaged: the checksum of pointers_to_1\[0:8193\]"):
        read_csr(large)


def opened(path: Path) -> Csr | str:
    """Return the matrix of a file, or the message of its error."""
    try:
        return read_csr(path)[0]
    except FileFormatError as error:
        return str(error)


def test_every_bit_of_the_head_counts_and_so_does_every_byte_of_the_size(large: Path) -> None:
    """A flipped bit outside the arrays, or another size, is refused at opening or does not change the answer."""
    whole = large.read_bytes()
    with h5py.File(large) as file:
        spans = [(file[name].id.get_offset(), file[name].nbytes) for name in ("indices_1", "values", "pointers_to_1")]
    expected, _ = read_csr(large)
    outside = np.ones(len(whole), bool)
    for offset, size in spans:
        outside[offset : offset + size] = False
    refused = 0
    for at in np.flatnonzero(outside & (np.frombuffer(whole, np.uint8) != 0))[::7]:
        flip(large, int(at), int(at) % 8)
        found = opened(large)
        if isinstance(found, Csr):
            assert (found.nrows, found.nvals, found.dtype) == (expected.nrows, expected.nvals, expected.dtype)
            np.testing.assert_array_equal(found.indices.read(), expected.indices.read())
            np.testing.assert_array_equal(found.values.read(), expected.values.read())
        else:
            assert "large.h5" in found
            refused += 1
        flip(large, int(at), int(at) % 8)
    assert refused > 100
    for size in (len(whole) - 1, len(whole) // 2, 100):
        os.truncate(large, size)
        with pytest.raises(FileFormatError, match=r"large\.h5"):
            read_csr(large)
        large.write_bytes(whole)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('"version": 1', '"version": 9'), "is of version 9 of sparsezc's layout; .* so a newer sparsezc is needed"),
        (('"version": 1', '"version": 0'), "is of version 0 of sparsezc's layout; .* so it is damaged"),
        (('"version": 1', '"version": true'), "is of version True of sparsezc's layout; .* so it is damaged"),
        (('"version": "0.1.0"', '"version": "0.9.0"'), r"is binsparse 0\.9\.0; 0\.1 is read"),
        (('"version": "0.1.0"', '"version": "0.10"'), r"is binsparse 0\.10; 0\.1 is read"),
    ],
)
def test_a_file_of_another_version_is_refused_by_it(large: Path, change: tuple[str, str], said: str) -> None:
    with h5py.File(large, "r+") as file:
        text = file.attrs["binsparse"].decode().replace(*change)
        file.attrs["binsparse"] = text
        file.attrs["sparsezc_crc32"] = np.uint32(zlib.crc32(text.encode()))
    with pytest.raises(FileFormatError, match=rf"large\.h5 {said}"):
        read_csr(large)


def test_the_command_line_checks_and_maps(large: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for more in ([], ["--undirected"], ["--relabel"], ["--weights", "FP32"]):
        assert main(["info", str(large), "--check", *more]) == 0
        assert "checksums  right" in capsys.readouterr().out
    with h5py.File(large) as file:
        flip(large, file["indices_1"].id.get_offset())
    assert main(["info", str(large), "--check"]) == 1
    assert "large.h5 is damaged: the checksum of indices_1[0:" in capsys.readouterr().err
    assert main(["info", "kron:3", "--check"]) == 1
    assert "has no checksums" in capsys.readouterr().err


def test_a_search_from_the_shell_leaves_the_edges_in_the_file(
    large: Path, gpu: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bfs", str(large), "--engine", "gpu", "--placement", "mapped", "--json"]) == 0
    mapped_answer = json.loads(capsys.readouterr().out)
    assert mapped_answer["placement"] == "mapped"
    assert main(["bfs", str(large), "--engine", "cpu", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["levels"] == mapped_answer["levels"]


def test_a_mapped_matrix_goes_elsewhere_when_it_is_told_to(large: Path, gpu: Any) -> None:
    A = gb.io.read(large, placement="mapped")
    assert A.to("gpu") is A
    assert A.to(placement="mapped") is A
    for placement in ("device", "zerocopy"):
        B = A.to(placement=placement)
        assert B._store.placement == placement
        assert B.to("cpu").isequal(gb.io.read(large, placement="host"))
    both = gb.io.read(large, placement="mapped", weights="3-9").to("gpu", with_transpose=True)
    rank = gb.algorithms.pagerank(both, weighted=True)
    expected = gb.algorithms.pagerank(gb.io.read(large, placement="host", weights="3-9"), weighted=True)
    np.testing.assert_allclose(rank.to_dense(0), expected.to_dense(0), rtol=1e-9)
    with pytest.raises(InvalidValue, match=r"placement='mapped' is for \.h5 files"):
        gb.io.read("kron:5", placement="device").to(placement="mapped")


def put(path: Path, name: str, entry: int, value: int) -> None:
    """Change an entry of an array, without its checksum."""
    with h5py.File(path) as file:
        offset, kind = file[name].id.get_offset(), file[name].dtype
    with path.open("r+b") as file:
        file.seek(offset + entry * kind.itemsize)
        file.write(np.array([value], kind).tobytes())


def write_wrongly(path: Path, entry: int, value: int, name: str = "indices_1") -> None:
    """Change an entry and its checksums, as a faulty writer would."""
    put(path, name, entry, value)
    with h5py.File(path, "r+") as file:
        content, head = file[name][()].tobytes(), json.loads(file.attrs["binsparse"])
        sums = [zlib.crc32(content[at : at + aligned_file.PIECE]) for at in range(0, len(content), aligned_file.PIECE)]
        file[f"sparsezc/crc32/{name}"][...] = sums
        head["sparsezc"]["crc32"][name] = zlib.crc32(np.array(sums, np.uint32).data)
        file.attrs["binsparse"] = text = json.dumps(head)
        file.attrs["sparsezc_crc32"] = np.uint32(zlib.crc32(text.encode()))


OPERATIONS: dict[str, Callable[[gb.Matrix], Any]] = {
    "search": lambda A: gb.algorithms.bfs(A, 5),
    "product": lambda A: A.mxv(gb.Vector.from_dense(np.ones(A.ncols)), gb.semiring.plus_times).new(),
    "selection": lambda A: A.select(gb.select.tril).new(),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_id_that_is_no_column_is_refused_before_kernels_follow_it(large: Path, gpu: Any, operation: str) -> None:
    """Opening reads no ids: every operation of any kind refuses an invalid one, not only the first."""
    write_wrongly(large, 70_000, 1 << 31)
    A = gb.io.read(large, placement="mapped")
    for _ in range(2):
        with pytest.raises(FileFormatError, match=r"large\.h5: entry 70000 has the column id 2147483648; 0 to 8191 "):
            OPERATIONS[operation](A)


def test_an_id_that_is_no_column_is_refused_wherever_the_host_reads_it(large: Path, card: Card) -> None:
    write_wrongly(large, 70_000, 1 << 31)
    said = r"large\.h5: entry 70000 has the column id 2147483648; 0 to 8191 are needed"
    for more in ({}, {"weights": False}, {"weights": "FP32"}, {"weights": "3-9"}, {"relabel": True}):
        with pytest.raises(FileFormatError, match=said):
            read_csr(large, placement="host", **more)
    found = read_csr(large, placement="mapped")[0]
    with pytest.raises(FileFormatError, match=said):
        found.place("host")


def test_ids_that_do_not_ascend_are_refused(large: Path) -> None:
    csr, _ = read_csr(large, placement="host")
    at = int(csr.indptr[np.flatnonzero(np.diff(csr.indptr) > 2)[5]]) + 1
    write_wrongly(large, at, int(csr.indices.read()[at - 1]))
    with pytest.raises(FileFormatError, match=rf"large\.h5: entry {at} has the column id .* in the same row"):
        read_csr(large, placement="host")


@pytest.mark.parametrize("more", [{}, {"memory": "8GB"}])
def test_a_conversion_compares_checksums(large: Path, more: Any) -> None:
    target = large.with_name("b.h5")
    gb.io.convert(large, target, **more)
    put(large, "values", 70_000, 0)
    with pytest.raises(FileFormatError, match=r"large\.h5 is damaged: the checksum of values"):
        gb.io.convert(large, target, **more)
    command = ["convert", str(large), str(target), *(["--memory", "8GB"] if more else [])]
    assert main(command) == 1
    assert gb.io.read(target, verify=True, placement="host").nvals == load("kron:13").nvals


@pytest.mark.parametrize(
    "kind", [h5py.string_dtype(), h5py.string_dtype("ascii"), None], ids=["UTF-8", "ASCII", "fixed"]
)
def test_descriptors_of_others_are_strings_of_any_kind(large: Path, kind: Any) -> None:
    """Descriptors of any string type are read; ours have a fixed size, so that HDF5 follows no damaged heap."""
    expected, _ = read_csr(large)
    with h5py.File(large, "r+") as file:
        text = file.attrs["binsparse"]
        assert isinstance(text, bytes)
        assert h5py.check_string_dtype(file.attrs.get_id("binsparse").dtype).length == len(text)
        file.attrs.create("binsparse", np.bytes_(text) if kind is None else text.decode(), dtype=kind)
    found, _ = read_csr(large)
    np.testing.assert_array_equal(found.indices.read(), expected.indices.read())


def test_a_descriptor_that_is_no_text_is_damage(large: Path) -> None:
    with h5py.File(large, "r+") as file:
        file.attrs["binsparse"] = np.bytes_(b'{"binsparse": "\xff"}')
    with pytest.raises(
        FileFormatError, match=r"large\.h5 is no binsparse file, or damaged: the descriptor of '/' is no"
    ):
        read_csr(large)


@pytest.mark.parametrize("change", [("[8192, 8192]", "[]"), ("shape", "shap"), ('"piece": 1048576', '"piece": 0')])
def test_a_descriptor_that_fits_nothing_is_damage(large: Path, change: tuple[str, str]) -> None:
    with h5py.File(large, "r+") as file:
        head = json.dumps(json.loads(file.attrs["binsparse"]))
        assert change[0] in head
        file.attrs["binsparse"] = text = head.replace(*change)
        file.attrs["sparsezc_crc32"] = np.uint32(zlib.crc32(text.encode()))
    with pytest.raises(FileFormatError, match=r"large\.h5 is (damaged|no binsparse file)"):
        read_csr(large)


def test_a_file_that_may_not_be_read(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match=r"large\.h5 cannot be read: permission denied"):
        read_csr(large)


def test_a_missing_package_is_said_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match="h5py is needed"):
        gb.io.convert("kron:60", tmp_path / "a.h5")
