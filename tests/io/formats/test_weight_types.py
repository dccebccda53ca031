"""The type given as ``weights=`` must hold every weight of the file."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import sparsezc as gb
from sparsezc.exceptions import InvalidValue
from sparsezc.io.build.weights import first_unfit
from sparsezc.semirings.types import datatypes
from tests.io.graphs import load

MM = "%%MatrixMarket matrix coordinate integer general\n"
TEXT = {
    # name: (text, the position of the weight 300)
    "a.txt": ("# c\n0 1 5\n\n1 2 300\n", "line 4, column 3 (character 5)"),
    "a.csv": ("weight,u,v\n5,0,1\n300,1,2\n", "line 3, column 1 (character 1)"),
    "a.mtx": (MM + "% c\n3 3 2\n1 2 5\n3 1 300\n", "line 5, column 3 (character 5)"),
    "a.gr": ("c x\np sp 3 2\na 1 2 5\na 1 3 300\n", "line 4, column 3 (character 7)"),
    "a.graph": ("%x\n3 2 001\n2 300\n% y\n1 300 3 4\n2 4\n", "line 3, column 2 (character 3)"),
}
BINARY = ("a.wsg", "a.bel", "a.npz", "a.parquet", "a.h5")


def taken(path: Path, bounded: bool, dtype: str) -> None:
    """Read the file with weights of a type, or convert it in bounded memory."""
    if bounded:
        pytest.importorskip("h5py", reason="h5py is not installed")
        gb.io.convert(path, path.with_name("target.h5"), memory="8GB", weights=dtype)
    else:
        load(path, weights=dtype)


@pytest.mark.parametrize("name", TEXT)
@pytest.mark.parametrize("bounded", [False, True])
def test_text_is_refused_by_place(tmp_path: Path, name: str, bounded: bool) -> None:
    path, (text, place) = tmp_path / name, TEXT[name]
    path.write_text(text)
    said = re.escape(f"{path}, {place}: found the weight 300; weights='INT8' needs whole numbers from -128 to 127")
    with pytest.raises(InvalidValue, match=said):
        taken(path, bounded, "INT8")
    assert not path.with_name("target.h5").exists()
    assert int(load(path, weights="INT16").values.read().max()) == 300


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("iso", [False, True])
def test_other_formats_are_refused_by_value(tmp_path: Path, name: str, bounded: bool, iso: bool) -> None:
    for package in ("pyarrow", "h5py"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    path = tmp_path / name
    gb.io.write(gb.Matrix.from_coo([0, 1], [1, 2], [300 if iso else 5, 300], "INT32", nrows=3, ncols=3), path)
    with pytest.raises(InvalidValue, match=rf"{name}.*: found the weight 300; weights='UINT8' needs .* 0 to 255"):
        taken(path, bounded, "UINT8")
    assert not path.with_name("target.h5").exists()


def test_a_mapped_file(tmp_path: Path) -> None:
    pytest.importorskip("h5py", reason="h5py is not installed")
    path = tmp_path / "a.h5"
    gb.io.write(gb.Matrix.from_coo([0, 1], [1, 2], [5.0, 0.5], nrows=3, ncols=3), path)
    with pytest.raises(InvalidValue, match=r"found the weight 0\.5; weights='INT64' needs whole numbers"):
        gb.io.read(path, weights="INT64", placement="mapped")


def test_sums_of_duplicates(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    sp.save_npz(path, sp.coo_array(([100, 100, 1], ([0, 0, 1], [1, 1, 0])), shape=(2, 2)))
    with pytest.raises(InvalidValue, match="found the weight 200; weights='INT8'"):
        load(path, weights="INT8")


@pytest.mark.parametrize(
    ("values", "dtype", "bad"),
    [
        ([0, 255], "UINT8", None), ([0, -1], "UINT8", 1), ([1.0, 2.5], "INT64", 1), ([1.0, float("nan")], "INT8", 1),
        ([3.0, float("inf")], "INT64", 1), ([2.0**63], "INT64", 0), ([2.0**63], "UINT64", None),
        ([-(2.0**63)], "INT64", None),
        (np.array([2**63], np.uint64), "INT64", 0), (np.array([2**64 - 1], np.uint64), "UINT64", None),
        ([1 + 1j], "INT8", 0),
        ([0.1, float("inf"), float("nan")], "FP32", None), ([1.0, 1e39], "FP32", 1), ([2**62], "FP32", None),
        ([7.5], "BOOL", None),
    ],
)  # fmt: skip
def test_what_a_type_holds(values: list, dtype: str, bad: int | None) -> None:
    assert first_unfit(np.array(values), datatypes.lookup(dtype)) == bad
