"""HDF5 files of other programs: opened in a reader process, checked against their descriptors, without links."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.exceptions import FileFormatError, OutOfMemory, Panic
from sparsezc.io.files.source import FileTimeout
from sparsezc.io.formats.binsparse_arrays import exact
from sparsezc.io.hdf5 import foreign

h5py: Any = pytest.importorskip("h5py", reason="h5py is not installed")

ROWS, COLS, VALUES = np.array([0, 0, 1, 3]), np.array([1, 2, 3, 0]), np.array([1.5, 2.5, 3.5, 4.5])


def save(path: Path, *, group: str = "/", types: dict[str, str] | None = None, **arrays: Any) -> Path:
    """Write a COO of four entries as the specification defines it, with other arrays or types; return the path."""
    parts = {"indices_0": ROWS, "indices_1": COLS, "values": VALUES} | arrays
    kinds = {name: np.asarray(part).dtype.name for name, part in parts.items()} | (types or {})
    head = {
        "version": "0.1.0", "format": "COOR", "shape": [5, 5], "number_of_stored_values": 4, "data_types": kinds,
    }  # fmt: skip
    with h5py.File(path, "w") as file:
        root = file.require_group(group)
        for name, part in parts.items():
            if part is not None:
                root.create_dataset(name, data=part)
        root.attrs["binsparse"] = json.dumps({"binsparse": head})
    return path


def readers(path: Path) -> list[Callable[[], Any]]:
    """Return calls that read the file, one for each function that can."""
    target = path.with_name("b.h5")
    return [
        lambda: gb.io.read_binsparse(path),
        lambda: gb.io.read(path),
        lambda: gb.io.convert(path, target),
        lambda: gb.io.convert(path, target, memory="8GB"),
    ]


def refused(path: Path, said: str, ways: int = 4) -> None:
    """Check that the first `ways` readers refuse the file with one line that matches `said`."""
    for read in readers(path)[:ways]:
        with pytest.raises(FileFormatError, match=said) as told:
            read()
        assert path.name in str(told.value)
        assert "\n" not in str(told.value)


def test_what_is_right_is_read(tmp_path: Path) -> None:
    path = save(tmp_path / "a.h5")
    expected = gb.Matrix.from_coo(ROWS, COLS, VALUES, nrows=5, ncols=5)
    assert gb.io.read(path).isequal(expected, check_dtype=True)
    assert gb.io.read_binsparse(path).isequal(expected, check_dtype=True)


@pytest.mark.parametrize(
    ("name", "found", "kind", "said"),
    [
        ("indices_1", np.arange(4) + 2**32, "uint32", r"indices_1\[0\] is 4294967296 of int64; .* uint32, .*67295"),
        ("indices_1", np.array([1, 2, 258, 0]), "int8", r"indices_1\[2\] is 258 of int64; .* int8, .*-128 to 127"),
        ("indices_0", np.arange(4) + 0.7, "int64", r"indices_0\[0\] is 0\.7 of float64; the descriptor says int64"),
        ("indices_0", np.array([0, 0, -1, 3]), "int64", r"indices_0\[2\] is -1; ids from 0 to 4 are needed"),
        ("indices_0", np.array([0, 0, -1, 3]), "uint64", r"indices_0\[2\] is -1 of int64; the descriptor says uint64"),
        ("indices_1", np.array([1, 2, 5, 0]), "int64", r"indices_1\[2\] is 5; ids from 0 to 4 are needed"),
        ("indices_1", COLS, "float64", r"indices_1 is declared as 'float64'; a type of whole numbers"),
        ("values", np.array([1.5, np.nan, 2, 0]), "int32", r"values\[0\] is 1\.5 of float64; .* int32"),
        ("values", np.array([1.0, 1e300, 2, 0]), "float32", r"values\[1\] is 1e\+300 of float64; .* float32"),
        ("values", np.array([0.5, 0.1, 2, 0]), "float32", r"values\[1\] is 0\.1 of float64; .* float32"),
        ("values", np.array([0, 1, 2, 0]), "bint8", r"values\[2\] is 2 of int64; .* bint8, which has 0 and 1"),
        ("values", np.array([1, 2j, 0, 0]), "float64", r"values\[0\] is \(1\+0j\) of complex128; .* float64"),
        ("values", np.array([1, 2, 2**53 + 1, 0]), "float64", r"values\[2\] is 9007199254740993 of int64; .* float64"),
        ("values", VALUES, "str", r"values is declared as 'str'; a type of binsparse"),
        ("values", np.array([b"a"] * 4), "int8", r"values holds \|S1; whole, real or complex numbers"),
    ],
)  # fmt: skip
def test_a_number_that_is_none_of_its_type_is_refused(
    tmp_path: Path, name: str, found: Any, kind: str, said: str
) -> None:
    refused(save(tmp_path / "a.h5", types={name: kind}, **{name: found}), said, 4 if kind == "int8" else 1)


@pytest.mark.parametrize("inner", ["int8", "uint8", "int64", "uint64", "float32", "float64", "complex[float32]"])
@pytest.mark.parametrize("stored", ["i1", "u1", "i8", "u8", "f4", "f8", "c8"])
def test_conversions_are_exact_or_refused(stored: str, inner: str) -> None:
    """Values convert exactly, by the judgement of Python's unbounded integers and floats, or are refused."""
    wanted = np.dtype({"complex[float32]": "c8"}.get(inner, inner))
    numbers = [0, 1, -1, 127, 128, 255, 256, 2**24 + 1, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 0.5, 0.1, 1e30]
    kind = np.dtype(stored)
    for number in numbers:
        if kind.kind in "iu" and not (isinstance(number, int) and np.iinfo(kind).min <= number <= np.iinfo(kind).max):
            continue
        one = np.array([number], kind)
        python = one[0].item()
        real = python.real if isinstance(python, complex) else python
        with np.errstate(all="ignore"):
            if wanted.kind in "iu":
                fits = not isinstance(python, complex) and int(real) == real
                fits = fits and np.iinfo(wanted).min <= int(real) <= np.iinfo(wanted).max
            elif isinstance(python, complex) and wanted.kind != "c":
                fits = False
            else:
                back = np.array([real]).astype({"c8": "f4"}.get(wanted.str[1:], wanted))[0].item()
                fits = back == real if isinstance(real, float) else back < 2.0**70 and int(back) == real
        if fits:
            assert exact(Path("a.h5"), "values", one, inner)[0].item() == python
        else:
            with pytest.raises(FileFormatError, match=r"a\.h5: values\[0\] is"):
                exact(Path("a.h5"), "values", one, inner)


def test_values_that_are_no_numbers_of_a_narrower_type_keep_their_meaning() -> None:
    special = np.array([np.nan, np.inf, -np.inf])
    np.testing.assert_array_equal(exact(Path("a.h5"), "values", special, "float32"), special)


def outside(path: Path, kind: str) -> str:
    """Write a file whose values are in another file; return the expected message."""
    other = save(path.with_name("other.h5"), group="one")
    secret = path.with_name("secret")
    secret.write_bytes(np.array([1.0, 2, 3, 4]).tobytes())
    with h5py.File(save(path), "r+") as file:
        del file["values"]
        if kind == "external link":
            file["values"] = h5py.ExternalLink(str(other), "/one/values")
            return r"values is an external link to '.*other\.h5 /one/values'; links are not followed"
        if kind == "link":
            file["more"], file["values"] = VALUES, h5py.SoftLink("/more")
            return "values is a link to '/more'; links are not followed"
        if kind == "external storage":
            file.create_dataset("values", (4,), "f8", external=[(str(secret), 0, 32)])
            return "values has external storage in .*secret.*; other files are not read"
        layout = h5py.VirtualLayout((4,), "f8")
        layout[:] = h5py.VirtualSource(str(other), "one/values", (4,))
        file.create_virtual_dataset("values", layout)
        return "values is a virtual dataset; data in other files is not read"


@pytest.mark.parametrize("kind", ["external link", "link", "external storage", "virtual dataset"])
def test_nothing_leads_out_of_a_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.h5"
    refused(path, outside(path, kind))


def test_a_group_that_is_a_link_is_refused(tmp_path: Path) -> None:
    save(tmp_path / "other.h5", group="one")
    with h5py.File(save(tmp_path / "a.h5"), "r+") as file:
        file["one"] = h5py.ExternalLink("other.h5", "/one")
    with pytest.raises(FileFormatError, match=r"a\.h5 .*one is an external link to 'other\.h5 /one'"):
        gb.io.read_binsparse(tmp_path / "a.h5", "one")
    with pytest.raises(FileFormatError, match=r"a\.h5 .*there is no group 'two'"):
        gb.io.read_binsparse(tmp_path / "a.h5", "two")


@pytest.mark.parametrize(("what", "said"), [("shape", "values has 80,000,000,000 bytes"), ("iso", "OutOfMemory")])
def test_a_small_file_does_not_unfold_without_end(tmp_path: Path, what: str, said: str) -> None:
    """Small files of huge arrays (chunks never written, which HDF5 fills with zeros; iso values) are refused."""
    path = save(tmp_path / "a.h5", values=np.ones(1), types={"values": "iso[float64]"})
    with h5py.File(path, "r+") as file:
        head = json.loads(file.attrs["binsparse"])
        if what == "shape":
            del file["values"]
            file.create_dataset("values", (10**10,), "f8", chunks=(1024,))
        else:
            head["binsparse"] |= {"format": "DMATR", "shape": [10**7, 10**7], "number_of_stored_values": 10**14}
        file.attrs["binsparse"] = json.dumps(head)
    with pytest.raises((FileFormatError, OutOfMemory)) as told:
        gb.io.read_binsparse(path)
    assert said in str(told.value) or type(told.value).__name__ == said


def child(monkeypatch: pytest.MonkeyPatch, folder: Path, what: str) -> None:
    """Make the reader process run the statement `what` before it describes a file and before it reads an array."""
    program = folder / "reader_process.py"
    here = str(Path(foreign.__file__).parent)
    program.write_text(
        f"import os, sys, time\nsys.path.insert(0, {here!r})\nimport reader_process\n\n"
        f"def after(call):\n    def both(*given):\n        {what}\n        return call(*given)\n    return both\n\n"
        "reader_process.Opened.facts = after(reader_process.Opened.facts)\n"
        "reader_process.Opened.read = after(reader_process.Opened.read)\n"
        "reader_process.main(int(sys.argv[1]))\n"
    )
    monkeypatch.setattr(foreign, "_PROGRAM", program)
    monkeypatch.setattr(foreign, "_CPU_SECONDS", 1.0)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("os.abort()", r"HDF5 crashed on it \(SIGABRT\)"),
        ("os._exit(3)", r"HDF5 crashed on it \(exit status 3\)"),
        ("while True: pass", r"HDF5 did not finish within 1\.0 s of processor time"),
        ("while True: os.stat('.')", r"HDF5 did not finish within 1\.0 s of processor time"),
        ("bytearray(1 << 30)", r"HDF5 needs more than 192 MiB of memory"),
        ("raise OSError('one\\n  \\x1b[31mtwo')", r"a\.h5 is no binsparse file, or damaged: one \?\[31mtwo$"),
        ("raise OSError('long ' * 1000)", r"long long .*\.\.\.$"),
    ],
)
def test_an_accident_of_the_process_is_an_error_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, said: str
) -> None:
    child(monkeypatch, tmp_path, what)
    start = time.monotonic()
    with pytest.raises(FileFormatError, match=said) as told:
        gb.io.read_binsparse(save(tmp_path / "a.h5"))
    assert time.monotonic() - start < 8
    assert len(str(told.value)) < 600


def test_a_slow_disk_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wait of 2 s in all for the disk, simulated by sleep, does not count as processor time."""
    child(monkeypatch, tmp_path, "time.sleep(0.5)")
    assert gb.io.read_binsparse(save(tmp_path / "a.h5")).nvals == 4


def test_a_disk_that_gives_nothing_is_not_the_files_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child(monkeypatch, tmp_path, "time.sleep(60)")
    monkeypatch.setattr(foreign, "_WAIT", 1.0)
    said = r"a\.h5 was not read: HDF5 waited for its disk, without an answer within 1\.0 s"
    with pytest.raises(FileTimeout, match=said) as told:
        gb.io.read_binsparse(save(tmp_path / "a.h5"))
    assert isinstance(told.value, OSError)


def test_requests_share_the_processor_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of processor time holds for all requests together: four of 0.3 s exceed 1 s."""
    child(monkeypatch, tmp_path, "start = time.process_time()\n        while time.process_time() < start + 0.3: pass")
    with pytest.raises(FileFormatError, match=r"did not finish within 1\.0 s of processor time"):
        gb.io.read_binsparse(save(tmp_path / "a.h5"))


def test_a_byte_in_a_chunk_that_crashes_hdf5(tmp_path: Path) -> None:
    """A damaged LZF chunk, which may crash HDF5's decompression, gives an error or an answer."""
    path = tmp_path / "a.h5"
    head = {"version": "0.1.0", "format": "DVEC", "shape": [4000], "number_of_stored_values": 4000}
    with h5py.File(path, "w") as file:
        made = file.create_dataset("values", data=np.arange(4000) // 8, chunks=(4000,), compression="lzf")
        file.attrs["binsparse"] = json.dumps({"binsparse": head | {"data_types": {"values": "int64"}}})
        start, size = made.id.get_chunk_info(0).byte_offset, made.id.get_chunk_info(0).size
    whole = path.read_bytes()
    rng = np.random.default_rng(7)
    for at in rng.integers(start, start + size, 8):
        damaged = bytearray(whole)
        damaged[int(at)] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        with suppress(FileFormatError):
            assert gb.io.read_binsparse(path).size == 4000


def test_a_process_that_cannot_start_is_not_the_files_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(tmp_path / "a.h5")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "missing"))
    with pytest.raises(Panic, match=r"a\.h5 is another program.s file; the process that opens those cannot start"):
        gb.io.read_binsparse(path)


def test_arrays_of_many_dimensions_byte_orders_and_chunks(tmp_path: Path) -> None:
    with h5py.File(save(tmp_path / "a.h5"), "r+") as file:
        for name, kind, shape in (("indices_0", ">u2", (4,)), ("indices_1", "<i4", (2, 2)), ("values", ">f4", (1, 4))):
            data = file[name][()].astype(kind).reshape(shape)
            del file[name]
            file.create_dataset(name, data=data, chunks=tuple(max(1, n - 1) for n in shape), compression="gzip")
    assert gb.io.read(tmp_path / "a.h5").isequal(gb.Matrix.from_coo(ROWS, COLS, VALUES, nrows=5, ncols=5))


def test_files_larger_than_a_request(tmp_path: Path) -> None:
    count = 3_000_000  # 24 MB: several requests and chunks
    path, ids = tmp_path / "a.h5", np.arange(count)
    head = {"version": "0.1.0", "format": "CVEC", "shape": [count], "number_of_stored_values": count}
    with h5py.File(path, "w") as file:
        file.create_dataset("indices_0", data=ids, chunks=(700_001,), compression="lzf")
        file.create_dataset("values", data=ids * 3)
        kinds = {"indices_0": "int64", "values": "int64"}
        file.attrs["binsparse"] = json.dumps({"binsparse": head | {"data_types": kinds}})
    found = gb.io.read_binsparse(path)
    np.testing.assert_array_equal(found.to_coo()[1], ids * 3)


@pytest.mark.parametrize("change", [{"format": "x" * 99_999}, {"structure": ["y\n"] * 9999}, {"shape": [10**4000, 2]}])
def test_a_descriptor_does_not_fill_the_screen(tmp_path: Path, change: dict[str, Any]) -> None:
    path = save(tmp_path / "a.h5")
    with h5py.File(path, "r+") as file:
        head = json.loads(file.attrs["binsparse"])
        del file.attrs["binsparse"]
        text = json.dumps({"binsparse": head["binsparse"] | change})
        file.attrs.create("binsparse", text, dtype=h5py.string_dtype())
    with pytest.raises(FileFormatError, match=r"a\.h5") as told:
        gb.io.read_binsparse(path)
    assert len(str(told.value)) < 500
    assert str(told.value).isprintable()


@pytest.mark.parametrize("read", [gb.io.read_binsparse, gb.io.from_parquet])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, read: Any) -> None:
    os.mkfifo(tmp_path / "a.h5")
    with pytest.raises(FileFormatError, match=r"a\.h5 is a pipe or a device; files of this format must be regular"):
        read(tmp_path / "a.h5")
