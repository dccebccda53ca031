"""Tables as other programs write them: the right graph, or an error with the text found and a remedy."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.exceptions import FileFormatError

pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

TEXTS = {
    "ann,bob\nbob,zoe\n".encode("utf-16"): "is UTF-16 text; iconv",
    "source,target\nZoë,bob\n".encode("latin-1"): "line 2: found bytes that are not UTF-8; iconv",
    b'source,target\n"a\nb",c\n': "line 2: found '\"a'; a quoted cell must end on its line",
}


@pytest.mark.parametrize(("data", "message"), TEXTS.items(), ids=str)
def test_texts_that_are_refused(data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(data)
    with pytest.raises(FileFormatError) as error:
        gb.io.read(tmp_path / "a.csv", relabel=True)
    assert message in str(error.value)


def test_a_column_that_is_there_twice(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("source,target,target\n1,2,3\n")
    with pytest.raises(FileFormatError, match="the column 'target' occurs twice; the columns are"):
        gb.io.read(tmp_path / "a.csv", source_col="source", target_col="target")


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_a_column_of_a_binary_table_that_is_there_twice(suffix: str, tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array([0]), pa.array([1]), pa.array([2.0])], names=["a", "a", "w"])
    writer = pytest.importorskip(f"pyarrow.{suffix}")
    (writer.write_table if suffix == "parquet" else writer.write_feather)(table, tmp_path / f"a.{suffix}")
    with pytest.raises(FileFormatError, match="the column 'a' occurs twice; the columns are 'a', 'a', 'w'"):
        gb.io.read(tmp_path / f"a.{suffix}")


@pytest.mark.parametrize("word", ["99999999999999999999", "-1"])
def test_numbers_that_are_no_ids_are_names(word: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"0 {word}\n")
    with pytest.raises(FileFormatError, match=r"takes all ids as names"):
        gb.io.read(tmp_path / "a.txt")
    assert gb.io.read(tmp_path / "a.txt", relabel=True)[1].tolist() == sorted(["0", word])


def test_blanks_of_other_alphabets_belong_to_names(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\u00a0b c\u2003\nc\u2003 a\u00a0b\n")
    A, names = gb.io.read(tmp_path / "a.txt", relabel=True)
    assert (A.nvals, names.tolist()) == (2, ["a\u00a0b", "c\u2003"])


def write(path: Path, **columns: Any) -> Path:
    table = pa.table(columns)
    if path.suffix == ".parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path, row_group_size=1)
    else:
        pytest.importorskip("pyarrow.feather").write_feather(table, path, chunksize=1)
    return path


TEN = decimal.Decimal(10)
IDS = {
    "dictionary": (pa.array(["a", "b"]).dictionary_encode(), ["a", "b"]),
    "large texts": (pa.array(["a", "b"], pa.large_string()), ["a", "b"]),
    "bytes": (pa.array([b"a", "ü".encode()]), ["a", "ü"]),
    "beyond 2^63": (pa.array([1, 2**64 - 1], pa.uint64()), ["1", str(2**64 - 1)]),
    "decimals": (pa.array([TEN, TEN**30], pa.decimal128(38, 0)), ["10", str(10**30)]),
    "negative": (pa.array([-5, 1]), ["-5", "1"]),
    "lists": (pa.array([[1], [2]]), "holds list<"),
    "times": (pa.array([datetime.datetime(2020, 1, 1)] * 2), "holds timestamp"),
    "fractions": (pa.array([1.0, 2.5]), "holds (double|float64)"),
    "no UTF-8": (pa.array([b"a", b"\xff"]), "column 'source' holds bytes that are not UTF-8"),
    "a null": (pa.array(["a", None]), "column 'source' is null in row 1;"),
}
WEIGHTS = {
    "decimals": (pa.array([decimal.Decimal("1.5"), decimal.Decimal(2)]), [1.5, 2.0]),
    "halves": (pa.array(np.array([1.5, 2], np.float16)), [1.5, 2.0]),
    "times": (pa.array([datetime.datetime(2020, 1, 1)] * 2), "numbers are needed"),
    "texts": (pa.array(["1", "2"]), "numbers are needed"),
}


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize("kind", IDS)
def test_columns_of_ids(kind: str, suffix: str, tmp_path: Path) -> None:
    """Columns of ids are read or refused with their row, counted over batches of one row each."""
    ids, expected = IDS[kind]
    path = write(tmp_path / f"a{suffix}", source=ids, target=ids[::-1] if isinstance(expected, list) else ids)
    if isinstance(expected, list):
        A, names = gb.io.read(path, relabel=True)
        assert names.tolist() == expected
        assert A.to_dicts() == {0: {1: True}, 1: {0: True}}
    else:
        with pytest.raises(FileFormatError, match=expected):
            gb.io.read(path, relabel=True)


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_columns_of_weights(kind: str, suffix: str, tmp_path: Path) -> None:
    weights, expected = WEIGHTS[kind]
    path = write(tmp_path / f"a{suffix}", source=pa.array([0, 1]), target=pa.array([1, 0]), weight=weights)
    if isinstance(expected, list):
        assert gb.io.read(path).to_coo()[2].tolist() == expected
    else:
        with pytest.raises(FileFormatError, match=expected):
            gb.io.read(path)
