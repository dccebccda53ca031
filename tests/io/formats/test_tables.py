"""Tables of edges: columns by name, names of vertices, semicolons, quotes, Feather files, folders of Parquet parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.io.build.table_columns import Names

FRIENDS = "who,whom,since,strength\nzoe,Ann Lee,2020,2\nbob,zoe,2021,3\nbob,zoe,2022,1\n"
EDGES = {("bob", "zoe"): 1, ("zoe", "Ann Lee"): 2}
COLUMNS = {"source_col": "who", "target_col": "whom", "weight_col": "strength"}


def edges(A: gb.Matrix, ids: Any = None) -> dict[tuple[Any, Any], Any]:
    rows, cols, values = (part.tolist() for part in A.to_coo())
    named = (lambda k: k) if ids is None else (lambda k: ids[k])
    return {(named(i), named(j)): x for i, j, x in zip(rows, cols, values, strict=True)}


def write(path: Path, text: str) -> Path:
    """Write a CSV text as a table in the format of the path's suffix, and return the path."""
    if path.suffix in (".parquet", ".feather", ".arrow"):
        arrow, csv = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.csv")
        table = csv.read_csv(arrow.BufferReader(text.encode()))
        if path.suffix == ".parquet":
            pytest.importorskip("pyarrow.parquet").write_table(table, path)
        elif path.suffix == ".feather":
            pytest.importorskip("pyarrow.feather").write_feather(table, str(path))  # compressed, as by pandas
        else:
            with arrow.ipc.new_stream(str(path), table.schema) as stream:
                stream.write_table(table)
    else:
        mark = {".tsv": "\t"}.get(path.suffix, ",")
        path.write_text(text.replace(",", mark))
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.dat", "a.parquet", "a.feather", "a.arrow"])
def test_columns_and_vertices_have_names(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, FRIENDS)
    more = {"format": "snap"} if name == "a.dat" else {}
    A, ids = gb.io.read(path, relabel=True, **COLUMNS, **more)
    assert ids.tolist() == ["Ann Lee", "bob", "zoe"]
    assert edges(A, ids) == EDGES
    numbers = write(tmp_path / f"b{path.suffix}", "since,b,a\n9,1,0\n9,2,1\n")
    assert edges(gb.io.read(numbers, source_col="a", target_col="b", **more)) == {(0, 1): True, (1, 2): True}
    assert edges(gb.io.read(numbers, source_col="a", target_col="b", weight_col="since", **more)) == {
        (0, 1): 9,
        (1, 2): 9,
    }


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.feather"])
def test_names_in_bounded_memory(name: str, tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    path = write(tmp_path / name, FRIENDS)
    A, _ = gb.io.read(path, relabel=True, **COLUMNS)
    gb.io.convert(path, tmp_path / "a.h5", memory="8GB", relabel=True, **COLUMNS)
    assert gb.io.read(tmp_path / "a.h5").isequal(A)


def test_many_names_come_back(tmp_path: Path) -> None:
    """Names in 100,000 lines, more than an edge chunk, are numbered consistently."""
    rng = np.random.default_rng(1)
    pairs = rng.integers(0, 5000, (100_000, 2)).tolist()
    path = tmp_path / "a.txt"
    path.write_text("# c\n" + "".join(f"v{i} v{j}\n" for i, j in pairs))
    A, ids = gb.io.read(path, relabel=True)
    assert set(edges(A, ids)) == {(f"v{i}", f"v{j}") for i, j in pairs}
    assert ids.tolist() == sorted({f"v{k}" for pair in pairs for k in pair})


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("0;1;2,5\n1;2;3\n", {(0, 1): 2.5, (1, 2): 3.0}),  # a decimal comma
        ("Target;Source;Weight\n1;0;2\n2;1;3\n", {(0, 1): 2, (1, 2): 3}),
        ('"0","1"\n"1","2"\n', {(0, 1): True, (1, 2): True}),
        ("% c\n\n0;1\r\n1;2\r\n", {(0, 1): True, (1, 2): True}),
    ],
)
def test_semicolons_and_quotes(text: str, right: dict[Any, Any], tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    assert edges(gb.io.read(path)) == right


def test_quoted_names(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('source,target\n"Lee, Ann","say ""hi"""\nä b,"Lee, Ann"\n')
    A, ids = gb.io.read(path, relabel=True)
    assert set(edges(A, ids)) == {("Lee, Ann", 'say "hi"'), ("ä b", "Lee, Ann")}


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,b\nb,c\n", {}, "line 1: found the column names 'a,b'"),
        (
            "0,1\n1,x\n",
            {},
            r"line 2, column 2 \(character 3\): found 'x'; a whole number is needed as a vertex id; relabel=True",
        ),
        ("Person,Friend\n0,1\n", {"relabel": True}, "line 1: found the column names"),
        ("who,whom\n0,1\n", {"source_col": "wo", "target_col": "whom"}, "column 'wo' does not exist; did you mean"),
        ("who,whom,who\n0,1,2\n", {"source_col": "who", "target_col": "whom"}, "column 'who' occurs twice"),
        ("who,whom\n0,1\n", {"source_col": "who"}, r"one of target/.* is needed, or its name as target_col="),
        ("a;b\nb;c;d\n", {"relabel": True}, "line 2: found 3 columns; 2 are needed"),
        ("a;b\n;c\n", {"relabel": True}, "line 2, column 1: found an empty cell"),
        ('a,b\n"c,d\n', {"relabel": True}, "line 2: found '\"c,d'"),
        (
            "who,whom,w\na,b,x\n",
            {"source_col": "who", "target_col": "whom", "relabel": True},
            "line 2, column 3: found 'x'; a nu",
        ),
        ("a,b\n\udcff,c\n", {"relabel": True}, "line 2: found bytes that are not UTF-8"),
        (
            "wer;wen;in km\nann;bob;1,5\n",
            {"relabel": True},
            r"line 1, column 3: found 'in km'; .*--source-col wer --target-col wen --weight-col 'in km'$",
        ),
        ("0;1;1.200,5\n", {}, r"line 1, column 3: found '1.200,5'; a number is needed"),
        ('0,1,"1,200.5"\n', {}, r"line 1, column 3.*: found '1,200.5'; a number is needed"),
        ("a b x\nb c y\n", {"relabel": True}, "line 1, column 3: found 'x'; a number is needed as the weight$"),
    ],
)
def test_bad_tables(text: str, options: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(gb.exceptions.GraphblasException, match=message):
        gb.io.read(path, **options)


def test_columns_of_what_is_no_table(tmp_path: Path) -> None:
    for path in ("star:4", tmp_path / "a.mtx"):
        with pytest.raises(ValueError, match="is no table whose columns have names"):
            gb.io.read(path, source_col="a")
    with pytest.raises(ValueError, match="weight_col=3; the name of a column is needed"):
        gb.io.read(tmp_path / "a.csv", weight_col=3)


@pytest.mark.parametrize("unit", [1, 1000])
def test_times_are_asked_about(unit: int, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(f"0 1 {1082008561 * unit}\n1 2 {1082155839 * unit}\n")
    with pytest.raises(ValueError, match=r"line 1: the third column looks like times \(\d+ is 2004-04-15\)"):
        gb.io.read(path)
    assert gb.io.read(path, weights=False).nvals == 2
    assert gb.io.read(path, weights="INT64")[0, 1].new().value == 1082008561 * unit
    path.write_text("0 1 1082008561\n1 2 1082008561\n0 2 7\n")
    assert gb.io.read(path).nvals == 3  # no hint: one weight is no time


def test_a_folder_of_parts(tmp_path: Path) -> None:
    for k, (i, j) in enumerate([(0, 1), (4, 2)]):
        (tmp_path / f"year={k}").mkdir()
        write(tmp_path / f"year={k}" / "part-0.parquet", f"source,target,weight\n{i},{j},{k + 1}\n")
    (tmp_path / "_SUCCESS").touch()
    assert edges(gb.io.read(tmp_path)) == {(0, 1): 1, (4, 2): 2}
    write(tmp_path / "year=0" / "part-1.parquet", "source,target,weight\na,b,1\n")
    _, ids = gb.io.read(tmp_path, relabel=True)
    assert ids.tolist() == ["0", "1", "2", "4", "a", "b"]
    (tmp_path / "year=1" / "part-2.parquet").write_bytes(b"nothing")
    with pytest.raises(gb.exceptions.GraphblasException, match=r"part-2\.parquet is no Parquet file"):
        gb.io.read(tmp_path, relabel=True)


@pytest.mark.parametrize("name", ["kron:6?weights=1-9", "kron:6", "path:1"])
def test_feather_round_trip(name: str, tmp_path: Path) -> None:
    feather = pytest.importorskip("pyarrow.feather")
    A, path = gb.io.read(name), tmp_path / "a.feather"
    gb.io.write(A, path)
    assert gb.io.read(path).isequal(A, check_dtype=True)
    table = feather.read_table(path)
    rows, cols, _ = A.to_coo()
    assert table["source"].to_pylist() == rows.tolist()
    assert table["target"].to_pylist() == cols.tolist()


def test_damaged_feather(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.feather"
    gb.io.write(gb.io.read("kron:6"), path)
    data = path.read_bytes()
    for damaged in (data[:100], data[: len(data) // 2], b"ARROW1" + b"\0" * 99):
        path.write_bytes(damaged)
        with pytest.raises(gb.exceptions.GraphblasException, match=r"a\.feather"):
            gb.io.read(path)


def test_names_are_counted_against_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparsezc.io.build.table_columns._CHECKED", 10)
    names = Names()
    with gb.config.set(host_budget=1000), pytest.raises(MemoryError, match="the names of 20 vertices"):
        names.number(map(str, range(20)))


FACTS = "from,rel,to,w\nann,knows,bob,1\nbob,likes,tea,2\nbob,knows,zoe,3\nann,knows,bob,0\n"


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.feather"])
def test_a_matrix_a_type(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, FACTS)
    types, ids = gb.io.read_types(path, type_col="rel", relabel=True)
    assert {kind: edges(A, ids) for kind, A in types.items()} == {
        "knows": {("ann", "bob"): 0, ("bob", "zoe"): 3},
        "likes": {("bob", "tea"): 2},
    }
    assert {A.shape for A in types.values()} == {(4, 4)}
    A, ids = gb.io.read(path, relabel=True, type_col="rel", type="likes")
    assert edges(A, ids) == {("bob", "tea"): 2}
    numbers = write(tmp_path / f"n{path.suffix}", "source,target,k\n0,1,7\n5,2,8\n")
    types = gb.io.read_types(numbers, type_col="k", weights=False)
    assert {kind: edges(A) for kind, A in types.items()} == {"7": {(0, 1): True}, "8": {(5, 2): True}}
    types, ids = gb.io.read_types(numbers, type_col="k", relabel=True, symmetrize=True)
    assert ids.tolist() == [0, 1, 2, 5]
    assert edges(types["8"], ids) == {(5, 2): True, (2, 5): True}


def test_types_that_cannot_be(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", FACTS)
    for call, message in (
        (lambda: gb.io.read_types(path, type_col="rl", relabel=True), "column 'rl' does not exist; did you mean 'rel'"),
        (lambda: gb.io.read_types("star:4", type_col="rel"), "is no table with a column 'rel'"),
        (lambda: gb.io.read_types(path, type_col="rel", type="knows"), "read_types needs type_col="),
        (lambda: gb.io.read(path, type_col="rel"), "type_col= and type= are needed together"),
        (
            lambda: gb.io.read_types(path, type_col="rel"),
            "found 'ann'; a whole number is needed as a vertex id",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet", "a.feather"])
def test_a_type_that_no_edge_has(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, FACTS)
    wanted = {"relabel": True, "type_col": "rel", "type": "like"}
    refused = "no edge has the type 'like' in the column 'rel'; did you mean 'likes'.; the types are 'knows', 'likes'$"
    for call in (gb.io.read, lambda path, **how: gb.io.convert(path, tmp_path / "a.h5", memory="1GB", **how)):
        with pytest.raises(gb.exceptions.GraphblasException, match=f"{path}: {refused}"):
            call(path, **wanted)
