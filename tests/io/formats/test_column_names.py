"""Column names in the first line of a .csv or .tsv file determine the columns' order."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import sparsezc as gb

WANTED = {(0, 1): 2.5, (1, 2): 3.0}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "src,dst,weight\n0,1,2.5\n1,2,3\n"),
        ("a.csv", "dst,src,weight\n1,0,2.5\n2,1,3\n"),
        ("a.csv", "# c\n\n\"Weight\", \"Target\", \"Source\"\r\n2.5,1,0\r\n3,2,1\r\n"),
        ("a.tsv", "to\tw\tfrom\n1\t2.5\t0\n2\t3\t1\n"),
        ("A.CSV", "col,row,value\n1,0,2.5\n2,1,3\n"),
        ("a.csv", "0,1,2.5\n1,2,3\n"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("bounded", [False, True])
def test_order(tmp_path: Path, name: str, text: str, bounded: bool) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode())
    if bounded:
        pytest.importorskip("h5py", reason="h5py is not installed")
        gb.io.convert(path, tmp_path / "a.h5", memory="8GB")
        path = tmp_path / "a.h5"
    rows, cols, values = gb.io.read(path).to_coo()
    assert dict(zip(zip(rows.tolist(), cols.tolist(), strict=True), values.tolist(), strict=True)) == WANTED


@pytest.mark.parametrize("name", ["graph", "graph.dat"])
def test_names_in_a_file_of_any_other_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"dst,src\n1,0\n2,1\n")
    assert gb.io.read(path, format="snap").to_coo()[0].tolist() == [0, 1]


def test_no_names_in_a_list(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("dst src\n1 0\n")
    with pytest.raises(
        gb.exceptions.GraphblasException,
        match=r"line 1, column 1 \(character 1\): found 'dst'; a whole number is needed",
    ):
        gb.io.read(path)


@pytest.mark.parametrize(
    ("lines", "doubtful"),
    [
        (["chef,minion", "ann,bob", "bob,zoe"], True),
        (["ann,bob", "bob,zoe"], False),
        (["ann,bob"], False),
        (["ann,ann", "bob,zoe"], False),  # equal names cannot be a header
        (["ann,bob,3", "zoe,eve,4"], False),  # a number cannot be a column's name
        (["ann,bob,0.5", "zoe,eve,4"], False),
        (["chef,minion", "ann,bob"] + ["bob,zoe"] * 200_000 + ["zoe,chef"], False),  # more than an edge chunk
    ],
)
def test_a_first_line_of_names_that_may_be_those_of_columns(tmp_path: Path, lines: list[str], doubtful: bool) -> None:
    path = tmp_path / "a.csv"
    path.write_text("\n".join(lines) + "\n")
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        A, _ = gb.io.read(path, relabel=True)
    assert A.nvals == len(set(lines))
    assert ["--source-col chef --target-col minion" in str(each.message) for each in met] == [True] * doubtful


def test_whole_numbers_in_another_order(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("v,u\n" + "".join(f"{k + 1},{k}\n" for k in range(200_000)))  # more than an edge chunk
    rows, cols, _ = gb.io.read(path).to_coo()
    assert (cols == rows + 1).all()


def test_one_column_for_both_ends(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n0,1\n")
    with pytest.raises(gb.exceptions.InvalidValue, match="source_col and target_col are both 'a'; two columns"):
        gb.io.read(tmp_path / "a.csv", source_col="a", target_col="a")


def test_columns_that_may_be_weights(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("from;to;day;amount\nann;bob;mon;3\nbob;zoe;tue;4\n")
    with pytest.warns(UserWarning, match="edges have no weights, .* not read: 'day', 'amount'; --weight-col amount"):
        A, _ = gb.io.read(path, relabel=True)
    assert A.dtype == "BOOL"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gb.io.read(path, relabel=True, weights=False)[0].isequal(A)
        assert gb.io.read(path, relabel=True, weight_col="amount")[0].to_coo()[2].tolist() == [3, 4]
