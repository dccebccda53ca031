"""Damaged files of every format raise an error of ours or give a well-formed matrix; they never crash."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from sparsezc.exceptions import FileFormatError, OutOfMemory
from sparsezc.io._write import write
from tests.io.graphs import load, scipy_of

NAMES = ["a.txt", "a.csv", "a.txt.gz", "a.mtx", "a.gr", "a.graph", "a.sg", "a.wsg", "a.npz", "a.bel.col", "a.bel.dst",
         "a.bel.val"]  # fmt: skip
EDIT = st.tuples(
    st.integers(0, 10**6), st.integers(0, 255) | st.sampled_from(b" \n0-.%#,eE"), st.sampled_from(["set", "put", "cut"])
)
BYTES = st.binary(max_size=200)


def damaged(data: bytes, edits: list[tuple[int, int, str]]) -> bytes:
    """Return the data after edits, each of which sets a byte, inserts one, or truncates the rest."""
    for at, byte, how in edits:
        at %= len(data) + 1
        if how == "cut":
            data = data[: max(at, len(data) // 2)]
        else:
            data = data[:at] + bytes([byte]) + data[at + (how == "set") :]
    return data


@cache
def whole(name: str) -> dict[str, bytes]:
    """Return the content of each file, by name, of a graph in the format of `name`."""
    with tempfile.TemporaryDirectory() as folder:
        write(load("kron:4:2?weights=1-300"), Path(folder) / name)
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def survives(path: Path) -> None:
    try:
        csr = load(path)
    except (FileFormatError, OutOfMemory) as error:
        told = str(error)
    else:
        scipy_of(csr)
        return
    assert path.name.partition(".")[0] in told


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=150)
@given(edits=st.lists(EDIT, min_size=1, max_size=4))
def test_damaged_files(name: str, edits: list[tuple[int, int, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        for other, data in whole(name).items():
            path.with_name(other).write_bytes(data)
        path.write_bytes(damaged(path.read_bytes(), edits))
        survives(path)


@pytest.mark.parametrize("name", [name for name in NAMES if "bel" not in name])
@settings(max_examples=50)
@given(content=BYTES)
def test_files_of_noise(name: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        survives(path)
