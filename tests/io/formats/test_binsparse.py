"""Binsparse files, against the format's reference implementation where it is installed, and against h5py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsezc as gb
from sparsezc.exceptions import DomainMismatch, FileFormatError, InvalidValue
from tests.io.interop.test_tables import absent

MATRIX = sp.random_array((12, 9), density=0.3, rng=4, format="csr")
FORMATS = ("CSR", "CSC", "COOR", "COOC", "DCSR", "DCSC")
TYPES = ("bool", "int8", "uint16", "int64", "uint64", "float32", "float64", "complex64", "complex128")


@pytest.fixture
def h5py() -> Any:
    return pytest.importorskip("h5py", reason="h5py is not installed")


@pytest.fixture
def reference(h5py: Any) -> Any:
    return pytest.importorskip("binsparse", reason="the reference implementation, binsparse, is not installed")


def dense(shape: Any, tensor: Any) -> Any:
    """Return a tensor of the reference implementation as a dense array, by the format's definition."""
    made = np.zeros(shape, np.asarray(tensor.values).dtype)
    form = tensor.format
    first, second = getattr(tensor, "indices_0", None), getattr(tensor, "indices_1", None)
    if form in ("DCSR", "DCSC", "CSR", "CSC"):
        rows = np.arange(len(tensor.pointers_to_1) - 1) if form.startswith("C") else first
        first = np.repeat(rows, np.diff(tensor.pointers_to_1).astype(np.int64))
    if form.endswith("C"):
        first, second = second, first
    made[first, second] = tensor.values
    return made


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("dtype", TYPES)
def test_the_reference_reads_what_is_written(reference: Any, tmp_path: Path, form: str, dtype: str) -> None:
    theirs = (MATRIX * 50).astype(dtype)
    gb.io.write_binsparse(gb.io.from_scipy_sparse(theirs), tmp_path / "a.h5", form)
    found = reference.load_binsparse(tmp_path / "a.h5")
    assert (found.format, tuple(found.shape), found.number_of_stored_values) == (form, (12, 9), theirs.nnz)
    np.testing.assert_array_equal(dense(found.shape, found), theirs.toarray())


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", ["bool", "int32", "float64", "complex64"])
def test_what_the_reference_writes_is_read(reference: Any, tmp_path: Path, form: str, dtype: str) -> None:
    from binsparse.conversions import from_scipy

    theirs = (MATRIX * 50).astype(dtype).asformat(form)
    reference.save_binsparse(from_scipy(theirs), tmp_path / "b.h5")
    A = gb.io.read_binsparse(tmp_path / "b.h5")
    assert A.dtype == dtype
    np.testing.assert_array_equal(gb.io.to_scipy_sparse(A).toarray(), theirs.toarray())


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("dtype", TYPES)
def test_matrices_there_and_back(h5py: Any, tmp_path: Path, form: str, dtype: str) -> None:
    A = gb.io.from_scipy_sparse((MATRIX * 50).astype(dtype))
    gb.io.write_binsparse(A, tmp_path / "a.h5", form, group="one/two")
    assert gb.io.read_binsparse(tmp_path / "a.h5", "one/two").isequal(A, check_dtype=True)


@pytest.mark.parametrize("form", FORMATS)
def test_one_value_is_written_once(h5py: Any, tmp_path: Path, form: str) -> None:
    for name, A in (("some", gb.io.read("kron:5")), ("none", gb.Matrix(bool, 4, 5))):
        gb.io.write_binsparse(A, tmp_path / name, form)
        with h5py.File(tmp_path / name) as file:
            assert file["values"].size == (name == "some")
        assert gb.io.read_binsparse(tmp_path / name).isequal(A, check_dtype=True)


def test_vectors(h5py: Any, tmp_path: Path) -> None:
    v = gb.Vector.from_coo([1, 3], [2.5, 3.5], size=6)
    gb.io.write_binsparse(v, tmp_path / "v.h5")
    assert gb.io.read_binsparse(tmp_path / "v.h5").isequal(v, check_dtype=True)
    with pytest.raises(InvalidValue, match="4 entries"):
        gb.io.write_binsparse(v, tmp_path / "w.h5", "DVEC")
    full = gb.Vector.from_dense([1, 2, 3])
    gb.io.write_binsparse(full, tmp_path / "w.h5", "DVEC")
    assert gb.io.read_binsparse(tmp_path / "w.h5").isequal(full, check_dtype=True)
    with pytest.raises(FileFormatError, match="vector"):
        gb.io.read(tmp_path / "w.h5")


@pytest.mark.parametrize("form", ["DMATR", "DMATC", "DMAT"])
def test_dense_matrices_are_read(h5py: Any, tmp_path: Path, form: str) -> None:
    array = np.arange(6.0).reshape(2, 3)
    stored = array.T if form == "DMATC" else array
    save(h5py, tmp_path / "d.h5", form, (2, 3), {"values": stored.reshape(-1)})
    np.testing.assert_array_equal(gb.io.read_binsparse(tmp_path / "d.h5").to_dense(), array)


def save(h5py: Any, path: Path, form: str, size: Any, arrays: dict[str, Any], **more: Any) -> None:
    """Write a file as the specification defines it."""
    kinds = {name: part.dtype.name for name, part in arrays.items()}
    head = {"version": "0.1.0", "format": form, "shape": list(size), "number_of_stored_values": arrays["values"].size}
    with h5py.File(path, "w") as file:
        for name, part in arrays.items():
            file.create_dataset(name, data=part)
        file.attrs["binsparse"] = json.dumps({"binsparse": head | {"data_types": kinds} | more})


def test_a_format_of_read_and_write(h5py: Any, tmp_path: Path) -> None:
    for graph in ("kron:6", "kron:6?weights=1-9"):
        A = gb.io.read(graph)
        gb.io.write(A, tmp_path / "a.bsp.h5")
        assert gb.io.read(tmp_path / "a.bsp.h5").isequal(A, check_dtype=True)
    assert [path.name for path in tmp_path.iterdir()] == ["a.bsp.h5"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": "1.0"}, "binsparse 1.0"),
        ({"format": "custom"}, "'custom'"),
        ({"structure": "symmetric_lower"}, "symmetric_lower"),
        ({"number_of_stored_values": 3}, "3 are stored"),
        ({"number_of_stored_values": 2.0}, r"number_of_stored_values has 2\.0; a whole number"),
        ({"shape": [2, 1]}, r"indices_1\[0\] is 1; ids from 0 to 0 are needed"),
        ({"shape": [2, 2.7]}, r"shape has 2\.7; a whole number"),
        ({"shape": [2, -1]}, "shape has -1; a whole number"),
        ({"shape": [2]}, r"the shape \[2\] is none of the format CSR"),
        ({"shape": [3, 2]}, "pointers_to_1 has 3 entries; 4 are needed"),
        ({"data_types": {}}, "there is no pointers_to_1 in data_types"),
    ],
)
def test_damage_is_told_with_the_file(h5py: Any, tmp_path: Path, change: Any, message: str) -> None:
    arrays = {"pointers_to_1": np.array([0, 1, 2]), "indices_1": np.array([1, 0]), "values": np.array([1.5, 2.5])}
    save(h5py, tmp_path / "d.h5", "CSR", (2, 2), arrays)
    assert gb.io.read_binsparse(tmp_path / "d.h5").to_dicts() == {0: {1: 1.5}, 1: {0: 2.5}}
    save(h5py, tmp_path / "d.h5", "CSR", (2, 2), arrays, **change)
    with pytest.raises(FileFormatError, match=message) as told:
        gb.io.read_binsparse(tmp_path / "d.h5")
    assert "d.h5" in str(told.value)


def test_what_is_refused(h5py: Any, tmp_path: Path) -> None:
    path = tmp_path / "e.h5"
    with pytest.raises(FileNotFoundError):
        gb.io.read_binsparse(path)
    path.write_bytes(b"no HDF5")
    with pytest.raises(FileFormatError, match=r"e\.h5"):
        gb.io.read_binsparse(path)
    with h5py.File(path, "w"):
        pass
    with pytest.raises(FileFormatError, match="no attribute 'binsparse'"):
        gb.io.read_binsparse(path)
    with pytest.raises(DomainMismatch, match="list"):
        gb.io.write_binsparse([1], path)
    with pytest.raises(InvalidValue, match="CSR, CSC"):
        gb.io.write_binsparse(gb.Matrix(int, 2, 2), path, "CVEC")


def test_without_h5py(monkeypatch: pytest.MonkeyPatch) -> None:
    absent(monkeypatch, "h5py")
    with pytest.raises(ImportError, match=r"sparsezc\[hdf5\]"):
        gb.io.write_binsparse(gb.Matrix(int, 2, 2), "x.h5")
