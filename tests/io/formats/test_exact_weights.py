"""Weights of text files are exact in their type, or refused with their line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.exceptions import FileFormatError, InvalidValue
from tests.io.graphs import load

MM = "%%MatrixMarket matrix coordinate {} general\n2 2 {}\n"
LARGE = 2**53 + 1  # FP64 cannot represent it
MOST = 2**64 - 1


def put(folder: Path, name: str, words: list[str]) -> tuple[Path, int]:
    """Write edges with these weights; return the file and the line number of the first edge."""
    head, mark = "", ""
    if name.endswith(".mtx"):
        head, name = MM.format(name.removesuffix(".mtx"), len(words)), "a.mtx"
    elif name.endswith(".gr"):
        head, mark = f"p sp 2 {len(words)}\n", "a "
    path = folder / name
    path.write_text(head + "".join(f"{mark}{1 + k % 2} {1 + k // 2 % 2} {word}\n" for k, word in enumerate(words)))
    return path, head.count("\n") + 1


def values(path: Path, bounded: bool, **options: object) -> np.ndarray:
    """Return the weights of the file in ascending order, by `load` or by a conversion in bounded memory."""
    if bounded:
        pytest.importorskip("h5py", reason="h5py is not installed")
        gb.io.convert(path, path.with_name("target.h5"), memory="8GB", **options)
        path, options = path.with_name("target.h5"), {}
    csr = load(path, **options)
    return np.sort(np.repeat(csr.values.read(), csr.nvals if csr.iso else 1))


@pytest.mark.parametrize("name", ["a.txt", "a.gr", "real.mtx"])
@pytest.mark.parametrize("bounded", [False, True])
class TestAskedIntegers:
    @pytest.mark.parametrize("dtype", ["INT64", "UINT64"])
    @pytest.mark.parametrize(
        ("words", "wanted"),
        [
            ([f"{LARGE}", "1.0"], [1, LARGE]), ([f"{LARGE}.0"], [LARGE]), ([f"{2**63 - 1}.0", "2"], [2, 2**63 - 1]),
            (["1e18", "9007199254740993e0", "0.5e1"], [5, LARGE, 10**18]),
        ],
    )  # fmt: skip
    def test_are_exact(self, tmp_path, name, bounded, dtype, words, wanted) -> None:
        found = values(put(tmp_path, name, words)[0], bounded, weights=dtype)
        assert (found.dtype.name.upper(), found.tolist()) == (dtype, wanted)

    @pytest.mark.parametrize("word", [f"{LARGE}.5", "1e19", f"{2**63}.0", "-1e300"])
    def test_are_refused_by_line(self, tmp_path, name, bounded, word) -> None:
        path, line = put(tmp_path, name, ["7", word])
        with pytest.raises(
            InvalidValue, match=rf"a\.\w+, line {line + 1}, column 3 \(.*\): found the weight .*; weights='INT64' needs"
        ):
            values(path, bounded, weights="INT64")


def test_integers_before_a_chunk_of_fractions(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(f"0 1 {LARGE}\n" + "".join(f"{k} {k + 1} 3\n" for k in range(1, 200_000)) + "0 2 1.0\n")
    assert load(path, weights="INT64").values.read().max() == LARGE


@pytest.mark.parametrize("name", ["a.txt", "a.gr", "integer.mtx", "unsigned-integer.mtx"])
@pytest.mark.parametrize("bounded", [False, True])
class TestUnsigned:
    @pytest.mark.parametrize("words", [[f"{MOST}"], [f"{2**63}", "3"]])
    @pytest.mark.parametrize("weights", [None, "UINT64", "narrowest"])
    def test_are_read(self, tmp_path, name, bounded, words, weights) -> None:
        found = values(put(tmp_path, name, words)[0], bounded, weights=weights)
        assert found.dtype == np.uint64
        assert found.tolist() == sorted(map(int, words))

    def test_become_floats(self, tmp_path, name, bounded) -> None:
        assert values(put(tmp_path, name, [f"{MOST}"])[0], bounded, weights="FP64").tolist() == [2.0**64]

    def test_do_not_fit(self, tmp_path, name, bounded) -> None:
        path, line = put(tmp_path, name, [f"{MOST}"])
        with pytest.raises(
            InvalidValue, match=rf"line {line}, column 3 \(.*\): found the weight {MOST}; weights='INT64' needs"
        ):
            values(path, bounded, weights="INT64")


@pytest.mark.parametrize("bounded", [False, True])
def test_large_and_negative(tmp_path: Path, bounded: bool) -> None:
    for name in ("a.txt", "integer.mtx"):
        path, line = put(tmp_path, name, ["-1", f"{MOST}"])
        with pytest.raises(
            FileFormatError, match=rf"line {line + 1}, column 3 \(.*\): .*{MOST}; beside negative weights"
        ):
            values(path, bounded)
    assert load(put(tmp_path, "a.txt", ["-1", f"{MOST}"])[0], weights=False).nvals == 2


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("least", [-1, 1])
def test_large_in_a_later_chunk(tmp_path: Path, bounded: bool, least: int) -> None:
    path = tmp_path / "a.txt"
    lines = (f"{k} {k + 1} {1 if k else least}\n" for k in range(200_000))
    path.write_text("".join(lines) + f"0 2 {MOST}\n")
    if least < 0:
        with pytest.raises(FileFormatError, match=r"found the weight -1 and others of 2\^63 or more"):
            values(path, bounded)
        assert load(path, weights="7-7").nvals == 200_001
    else:
        assert values(path, bounded)[-2:].tolist() == [1, MOST]


def test_a_metis_weight_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    path.write_text(f"2 1 001\n2 {MOST}\n1 {MOST}\n")
    with pytest.raises(
        FileFormatError, match=rf"line 2, column 2 \(character 3\): found the weight '{MOST}'; it must be below"
    ):
        load(path)
    path.write_text(f"2 1 001\n2 {2**63 - 1}\n1 {2**63 - 1}\n")
    assert load(path).values.read().tolist() == [2**63 - 1]


@pytest.mark.parametrize("name", ["a.txt", "a.gr", "real.mtx"])
@pytest.mark.parametrize("bounded", [False, True])
class TestFloats:
    @pytest.mark.parametrize(
        ("word", "refused"),
        [
            ("1e400", [None, "FP64", "FP32"]), ("-1e400", [None, "FP32"]), ("1e39", ["FP32"]), ("5e-324", ["FP32"]),
            ("1e-400", [None, "FP64", "FP32"]), (f"0.{'0' * 400}1", [None, "FP32"]),
        ],
    )  # fmt: skip
    def test_are_refused_by_line(self, tmp_path, name, bounded, word, refused) -> None:
        path, line = put(tmp_path, name, ["0.5", word])
        for weights in refused:
            said = "FP64 holds 0 or" if weights is None else f"weights='{weights}' needs 0 or"
            with pytest.raises(
                (InvalidValue, FileFormatError), match=rf"line {line + 1}, column 3 \(.*\): found the .*; {said}"
            ):
                values(path, bounded, weights=weights)
        assert load(path, weights=False).nvals == 2

    @pytest.mark.parametrize("weights", [None, "FP64", "FP32"])
    @pytest.mark.parametrize("word", ["inf", "-inf", "Infinity", "0", "0.0", "0e-400", "-0.0", "1e-45"])
    def test_are_read(self, tmp_path, name, bounded, word, weights) -> None:
        found = values(put(tmp_path, name, ["0.5", word])[0], bounded, weights=weights)
        kind = np.float32 if weights == "FP32" else np.float64
        assert found.tolist() == sorted([0.5, float(kind(word))])


def test_a_stored_value_that_becomes_0(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    gb.io.write(gb.Matrix.from_coo([0, 0], [0, 1], [5e-324, 1.0], nrows=2, ncols=2), path)
    with pytest.raises(InvalidValue, match=re.escape("found the weight 5e-324; weights='FP32' needs 0 or numbers")):
        load(path, weights="FP32")
