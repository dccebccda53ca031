"""Conversions in bounded memory: helpers that make and judge them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsezc as gb
from sparsezc.io._read import read_csr
from sparsezc.io.hdf5 import aligned_file
from sparsezc.memory.csr import Csr

ROOT = Path(__file__).resolve().parents[3]
FORMATS = ("a.txt", "a.csv", "a.txt.gz", "a.mtx", "a.gr", "a.graph", "a.sg", "a.wsg", "a.bel", "a.npz", "a.h5")
MM = "%%MatrixMarket matrix coordinate integer general\n"
SPACES = (5_000, 40_000, 1 << 30)  # bytes: many sorted runs, some, and one


def same(source: Any, folder: Path, **options: Any) -> Csr:
    """Return the matrix that a conversion in bounded memory wrote, after checking that it equals the source's."""
    target = folder / "target.h5"
    gb.io.convert(source, target, memory="8GB", **options)
    found, _ = read_csr(target, placement="host", verify=True)
    expected, _ = read_csr(source, placement="host", **options)
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.indices.read(), expected.indices.read())
    np.testing.assert_array_equal(found.values.read(), expected.values.read()[: found.values.count])
    assert (found.nrows, found.ncols, found.dtype) == (expected.nrows, expected.ncols, expected.dtype)
    assert found.symmetric == expected.symmetric
    assert found.iso == expected.iso or not found.nvals
    assert not list(folder.glob(".*"))
    return found


def foreign(path: Path, A: sp.csr_array, form: str, *, iso: bool = False, **how: Any) -> None:
    """Write a binsparse file as another program would; `how` are h5py's options of storage."""
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    if form.startswith("DMAT"):
        flat = (A.toarray().T if form == "DMATC" else A.toarray()).ravel()
        arrays, count = {"values": flat}, flat.size
    else:
        B = A.T.tocsr() if form.endswith("C") else A
        lengths = np.diff(B.indptr)
        some = np.flatnonzero(lengths)
        arrays, count = {"indices_1": B.indices.astype(np.uint32), "values": B.data}, B.nnz
        if form.startswith("COO"):
            arrays["indices_0"] = np.repeat(np.arange(B.shape[0]), lengths)
        elif form.startswith("D"):
            arrays |= {"indices_0": some, "pointers_to_1": np.append(B.indptr[some], count).astype(np.uint64)}
        else:
            arrays["pointers_to_1"] = B.indptr
    kinds = {name: array.dtype.name for name, array in arrays.items()}
    kind = {"bool": "bint8", "complex64": "complex[float32]"}.get(kinds["values"], kinds["values"])
    kinds["values"] = f"iso[{kind}]" if iso else kind
    arrays["values"] = aligned_file.plain(np.ascontiguousarray(arrays["values"][: 1 if iso else None]))
    head = {"version": "0.1", "format": form, "shape": A.shape, "number_of_stored_values": count, "data_types": kinds}
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=array, **how)
        file.attrs["binsparse"] = json.dumps({"binsparse": head})


def child(program: str, *arguments: Any) -> subprocess.Popen[str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip
