"""Conversion in bounded memory: files and arguments that are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsezc as gb
from sparsezc.exceptions import FileFormatError, InvalidValue, OutOfMemory
from sparsezc.io import _convert
from tests.io.convert.conversions import MM, foreign

h5py: Any = pytest.importorskip("h5py", reason="h5py is not installed")


@pytest.mark.parametrize("options", [{}, {"symmetrize": True}, {"dup_op": "plus"}])
def test_duplicates_in_binsparse_are_refused(tmp_path: Path, space: int, options: dict[str, Any]) -> None:
    foreign(tmp_path / "a.h5", sp.csr_array((np.arange(5), [0, 1, 2, 1, 2], [0, 2, 5, 5, 5]), (4, 4)), "COOR")
    with pytest.raises(FileFormatError, match=r"a\.h5: the position \(1, 2\) occurs more than once"):
        gb.io.convert(tmp_path / "a.h5", tmp_path / "b.h5", memory="8GB", **options)
    with pytest.raises(FileFormatError, match=r"a\.h5"):
        gb.io.read(tmp_path / "a.h5", placement="host", **options)


DAMAGE: dict[str, tuple[Callable[[Any], Any], str]] = {
    "id": (lambda file: file["indices_1"].__setitem__(7, 40), r"indices_1\[7\] is 40; ids from 0 to 39 are needed"),
    "count": (
        lambda file: file.__delitem__("indices_0"),
        "a.h5 has the format COOR, and there is no indices_0 in the file",
    ),
    "values": (lambda file: file["values"].resize((9,)), r"values has 9 entries; \d+ are needed"),
    "lengths": (lambda file: file["indices_0"].resize((9,)), r"indices_0 has 9 entries; \d+ are needed"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_binsparse_by_other_programs(tmp_path: Path, damage: str) -> None:
    A = sp.random_array((40, 40), density=0.3, rng=1, format="csr")
    foreign(tmp_path / "a.h5", A, "COOR", chunks=(64,), maxshape=(None,))
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        DAMAGE[damage][0](file)
    with pytest.raises(FileFormatError, match=DAMAGE[damage][1]):
        gb.io.convert(tmp_path / "a.h5", tmp_path / "b.h5", memory="8GB")
    assert not (tmp_path / "b.h5").exists()


BAD = {
    "a.txt": ("0 1\n0 two\n", r"a\.txt, line 2, column 2 \(character 3\): found 'two'"),
    "outside.mtx": (f"{MM}3 3 2\n1 1 5\n4 1 5\n", r"line 4, column 1 \(character 1\): found the row 4"),
    "cut.mtx": (f"{MM}3 3 2\n1 1 5\n", "truncated: it has 1 entries"),
    "surplus.mtx": (f"{MM}3 3 1\n1 1 5\n2 2 5\n", "more than the 1 entries"),
    "half.mtx": (f"{MM}3 3 1\n1 1 5.5\n", "the header says integer"),
    "arcs.gr": ("p sp 3 2\na 1 2 3\n", "has 1 arcs; its 'p' line says 2"),
    "onesided.graph": ("3 1\n2 3\n\n\n", "one of its ends only"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_by_name_and_leaves_the_old_file(tmp_path: Path, name: str) -> None:
    content, message = BAD[name]
    (tmp_path / name).write_text(content)
    (tmp_path / "b.h5").write_text("old")
    with pytest.raises(FileFormatError, match=message):
        gb.io.convert(tmp_path / name, tmp_path / "b.h5", memory="8GB")
    assert (tmp_path / "b.h5").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "b.h5"])


def test_arguments_that_make_no_sense(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match=r"for \.h5 targets, not for .*a\.npz"):
        gb.io.convert("kron:4", tmp_path / "a.npz", memory="8GB")
    with pytest.raises(InvalidValue, match=r"memory=.much. is not allowed; a number of bytes"):
        gb.io.convert("kron:4", tmp_path / "a.h5", memory="much")
    with pytest.raises(InvalidValue, match="undirected by its format"):
        gb.io.convert("kron:4", tmp_path / "a.h5", memory="8GB", directed=True)
    with pytest.raises(OutOfMemory, match=r"memory=1,000,000 is too little: .* bytes are in use .* at least"):
        gb.io.convert("kron:4", tmp_path / "a.h5", memory="1MB")
    assert not list(tmp_path.iterdir())


def test_ids_that_are_too_many_to_number_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_convert._Space, "left", lambda _: 1000)
    monkeypatch.setattr(_convert.edge_list, "BLOCK", 10)
    with pytest.raises(OutOfMemory, match=r"relabel=True holds [\d,]+ ids in memory"):
        gb.io.convert("kron:9", tmp_path / "b.h5", memory="8GB", relabel=True)


@pytest.mark.parametrize("memory", [True, -1, 0, 0.5, "abc", "0.5", "1.5"])
def test_memory_is_a_number_of_bytes(tmp_path: Path, memory: Any) -> None:
    with pytest.raises(InvalidValue, match=rf"memory={memory!r} is not allowed; a number of bytes"):
        gb.io.convert("path:3", tmp_path / "a.h5", memory=memory)


def test_an_empty_name_is_refused_in_either_way(tmp_path: Path) -> None:
    for memory in (None, "8GB"):
        with pytest.raises(InvalidValue, match="the name of the graph is empty"):
            gb.io.convert("", tmp_path / "a.h5", memory=memory)


def test_what_is_no_name_is_refused_by_its_argument(tmp_path: Path) -> None:
    A: Any = gb.Matrix.from_coo([0], [1], [2])
    for call in (lambda: gb.io.read(A), lambda: gb.io.convert(A, tmp_path / "a.h5")):
        with pytest.raises(TypeError, match="the name of the graph is a Matrix; a str or a path is needed"):
            call()
    target = "the name of the file to write is a Matrix; a str or a path is needed"
    for memory in (None, "8GB"):
        with pytest.raises(TypeError, match=target):
            gb.io.convert("path:3", A, memory=memory)
    with pytest.raises(TypeError, match=target):
        gb.io.write("a.mtx", A)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["compress", "verify"])
def test_flags_are_true_or_false(tmp_path: Path, name: str) -> None:
    for value in ("foo", "yes", 1, None):
        with pytest.raises(InvalidValue, match=rf"{name}={value!r} is not allowed; True or False is needed"):
            gb.io.convert("path:3", tmp_path / "a.h5", **{name: value})
    with pytest.raises(InvalidValue, match=r"'yes' is not allowed"):
        gb.io.write(gb.io.read("path:3"), tmp_path / "a.h5", compress="yes")
    gb.io.convert("path:3", tmp_path / "a.h5")
    for flag in ("verify", "symmetrize", "relabel", "directed"):
        with pytest.raises(InvalidValue, match=rf"{flag}='no' is not allowed"):
            gb.io.read(tmp_path / "a.h5", **{flag: "no"})
        for memory in (None, "8GB"):
            with pytest.raises(InvalidValue, match=rf"{flag}='no' is not allowed"):
                gb.io.convert("path:3", tmp_path / "b.h5", memory=memory, **{flag: "no"})
