"""Edge lists of pandas, Polars and Arrow, and Parquet files, against these libraries and NetworkX."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import sparsezc as gb
from sparsezc.exceptions import DimensionMismatch, DomainMismatch, FileFormatError, InvalidValue
from sparsezc.io.build import optional

KINDS = ("pandas", "arrow", "polars")
PACKAGES = {"pandas": "pandas", "arrow": "pyarrow", "polars": "polars"}
FROM = {"pandas": gb.io.from_pandas_edgelist, "arrow": gb.io.from_arrow, "polars": gb.io.from_polars}
TO = {"pandas": gb.io.to_pandas_edgelist, "arrow": gb.io.to_arrow, "polars": gb.io.to_polars}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    name = PACKAGES[request.param]
    pytest.importorskip(name, reason=f"{name} is not installed")
    return str(request.param)


def table(kind: str, **columns: Any) -> Any:
    if kind == "pandas":
        import pandas as pd

        return pd.DataFrame(columns)
    if kind == "polars":
        import polars as pl

        return pl.DataFrame(columns)
    import pyarrow as pa

    return pa.table({name: pa.array(part) for name, part in columns.items()})


@pytest.fixture
def graph() -> nx.DiGraph:
    made = nx.gnp_random_graph(30, 0.15, seed=5, directed=True)
    for k, (u, v) in enumerate(made.edges):
        made[u][v]["weight"] = 1.5 * k
    return made


def test_tables_that_are_refused(kind: str) -> None:
    some = table(kind, source=[0], target=[1], weight=["x"])
    with pytest.raises(DomainMismatch, match=r"the weight column holds .+; numbers are needed, or weight=None"):
        FROM[kind](some)
    with pytest.raises(InvalidValue, match="source and target are both 'source'; two columns are needed"):
        FROM[kind](some, "source", "source")
    with pytest.raises(InvalidValue, match="Give nrows="):
        FROM[kind](table(kind, source=[], target=[]))
    assert FROM[kind](table(kind, source=[], target=[]), nrows=2, ncols=2).nvals == 0


def test_pandas_agrees_with_networkx(graph: nx.DiGraph) -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = nx.to_pandas_edgelist(graph)
    A = gb.io.from_pandas_edgelist(frame, nrows=30, ncols=30)
    judge = nx.to_scipy_sparse_array(graph, nodelist=range(30))
    assert (gb.io.to_scipy_sparse(A) != judge).nnz == 0
    back = gb.io.to_pandas_edgelist(A)
    pd.testing.assert_frame_equal(back, frame.sort_values(["source", "target"], ignore_index=True))
    again = nx.from_pandas_edgelist(back, edge_attr="weight", create_using=nx.DiGraph)
    assert nx.utils.edges_equal(graph.edges(data=True), again.edges(data=True), directed=True)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "uint64", "float32", "float64"])
def test_there_and_back_keeps_types(kind: str, dtype: str) -> None:
    values = np.array([0, 1, 1], dtype)
    A = FROM[kind](table(kind, source=[2, 0, 0], target=[1, 0, 2], weight=values))
    assert A.dtype == dtype
    assert A.to_coo()[2].tolist() == [1, 1, 0]
    out = TO[kind](A)
    assert np.asarray(out["weight"]).dtype == dtype
    assert FROM[kind](out).isequal(A, check_dtype=True)


def test_columns_by_other_names_and_no_values(kind: str) -> None:
    edges = table(kind, a=[0, 0, 1], b=[1, 1, 0], cost=[1, 2, 3])
    plain = FROM[kind](edges, "a", "b")
    assert (plain.dtype, plain.to_dicts()) == ("BOOL", {0: {1: True}, 1: {0: True}})
    merged = FROM[kind](edges, "a", "b", "cost", dup_op="+", dtype="FP32")
    assert (merged.dtype, merged.to_dicts()) == ("FP32", {0: {1: 3}, 1: {0: 3}})
    out = TO[kind](merged, "x", "y", None)
    assert [str(name) for name in (out.column_names if kind == "arrow" else out.columns)] == ["x", "y"]
    with pytest.raises(gb.exceptions.GraphblasException, match="twice"):
        FROM[kind](edges, "a", "b", "cost")
    with pytest.raises(InvalidValue, match=r"'z'; the columns are 'a', 'b', 'cost'"):
        FROM[kind](edges, "a", "z")
    with pytest.raises(InvalidValue, match="'price'"):
        FROM[kind](edges, "a", "b", "price")


def test_undirected_edges_count_twice_and_loops_once(kind: str) -> None:
    edges = table(kind, source=[0, 2, 1], target=[1, 2, 3], weight=[5, 6, 7])
    A = FROM[kind](edges, directed=False)
    judge = sp.csr_array(([5, 5, 6, 7, 7], ([0, 1, 2, 1, 3], [1, 0, 2, 3, 1])), shape=(4, 4))
    assert (gb.io.to_scipy_sparse(A) != judge).nnz == 0
    assert FROM[kind](edges, directed=False, nrows=9).shape == (9, 9)
    assert FROM[kind](edges).shape == A.shape  # square, though the columns' largest ids differ
    assert FROM[kind](edges, ncols=9).shape[1] == 9
    with pytest.raises(DimensionMismatch, match="5 x 6"):
        FROM[kind](edges, directed=False, nrows=5, ncols=6)


@pytest.mark.parametrize("labels", [["d", "a", "b"], [2**62, 5, -7], [0.5, 2.5, 1.5]], ids=["text", "ids", "floats"])
def test_labels_are_numbered_in_order_and_come_back(kind: str, labels: list[Any]) -> None:
    x, y, z = labels
    edges = table(kind, source=[x, x, y], target=[y, z, z], weight=[1, 2, 3])
    A, found = FROM[kind](edges, relabel=True)
    assert found.tolist() == sorted(labels)
    back = TO[kind](A, labels=found)
    rows = zip(*(np.asarray(back[name]).tolist() for name in ("source", "target", "weight")), strict=True)
    assert set(rows) == {(x, y, 1), (x, z, 2), (y, z, 3)}
    if labels[1] == "a":
        with pytest.raises(DomainMismatch, match="relabel=True"):
            FROM[kind](edges)
    with pytest.raises(DimensionMismatch, match="labels"):
        TO[kind](A, labels=found[:2])


@pytest.mark.parametrize("column", ["source", "target", "weight"])
def test_missing_values_are_refused_by_row(kind: str, column: str) -> None:
    columns: dict[str, Any] = {"source": [0, 1, 2], "target": [1, 2, 0], "weight": [1, 2, 3]}
    columns[column] = [4, None, 6]
    edges = table(kind, **columns)
    if kind == "pandas":
        edges = edges.astype({column: "Int64"})
    with pytest.raises(InvalidValue, match=rf"'{column}'.*row 1"):
        FROM[kind](edges)


def test_nullable_and_arrow_columns_of_pandas_keep_their_types() -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    types = {"source": "Int32", "target": "UInt64", "weight": "Float32"}
    frame = pd.DataFrame({"source": [0, 1], "target": [1, 0], "weight": [2, 3]}).astype(types)
    A = gb.io.from_pandas_edgelist(frame)
    assert (A.dtype, A.to_dicts()) == ("FP32", {0: {1: 2}, 1: {0: 3}})
    nan = pd.DataFrame({"source": [0], "target": [1], "weight": [np.nan]})
    assert np.isnan(gb.io.from_pandas_edgelist(nan).to_coo()[2]).all()  # NaN in a NumPy column is a value


def test_empty_tables(kind: str) -> None:
    none = np.empty(0, np.int64)
    edges = table(kind, source=none, target=none, weight=none)
    A = FROM[kind](edges, nrows=3, ncols=4)
    assert (A.shape, A.nvals, A.dtype) == ((3, 4), 0, "INT64")
    assert TO[kind](A)["source"].to_numpy().size == 0


def test_what_is_no_table_or_matrix_is_refused(kind: str) -> None:
    with pytest.raises(DomainMismatch, match="list"):
        FROM[kind]([[0, 1]])
    with pytest.raises(DomainMismatch, match="Vector"):
        TO[kind](gb.Vector(int, 3))


def test_arrow_columns_are_read_where_they_lie_and_sizes_stay() -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from sparsezc.io.interop.arrow import column

    ids = np.arange(5, dtype=np.int64)
    edges = pa.table({"source": pa.array(ids), "target": pa.array(ids)})
    assert np.shares_memory(column(edges, "source", ""), ids)
    both = pa.concat_tables([edges, edges])
    np.testing.assert_array_equal(column(both, "source", ""), np.concatenate([ids, ids]))
    assert gb.io.from_arrow(edges.to_batches()[0]).nvals == 5
    A = gb.Matrix.from_coo([0], [1], [2], nrows=7, ncols=9)
    assert gb.io.from_arrow(gb.io.to_arrow(A)).shape == (7, 9)
    assert gb.io.from_arrow(gb.io.to_arrow(A), nrows=3).shape == (3, 2)

    class Streamed:  # a table with Arrow's C stream interface only
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return edges.__arrow_c_stream__(requested_schema)

    assert gb.io.from_arrow(Streamed()).isequal(gb.io.from_arrow(edges))
    with pytest.raises(DomainMismatch, match="FC64"):
        gb.io.to_arrow(gb.Matrix.from_coo([0], [0], [1j]))


@pytest.fixture
def parquet() -> Any:
    return pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")


@pytest.mark.parametrize("weights", [None, False, "FP32", "hash:1-9"])
def test_parquet_files_are_read_and_written(parquet: Any, tmp_path: Path, weights: Any) -> None:
    A = gb.io.read("kron:7?seed=3", weights=weights)
    gb.io.write(A, tmp_path / "a.parquet")
    assert gb.io.read(tmp_path / "a.parquet").isequal(A, check_dtype=True)
    frame = parquet.read_table(tmp_path / "a.parquet").to_pydict()
    judge = sp.coo_array((np.ones(A.nvals), (frame["source"], frame["target"])), shape=A.shape)
    assert (judge.tocsr() != gb.io.to_scipy_sparse(A).astype(bool)).nnz == 0
    assert gb.io.from_parquet(tmp_path / "a.parquet").isequal(A)


def test_parquet_by_column_names(parquet: Any, tmp_path: Path) -> None:
    A = gb.Matrix.from_coo([0, 1], [1, 2], [2.5, 3.5], nrows=3, ncols=3)
    gb.io.to_parquet(A, tmp_path / "b.pq", "from", "to", "km", labels=["x", "y", "z"])
    B, labels = gb.io.from_parquet(tmp_path / "b.pq", "from", "to", "km", relabel=True)
    assert B.isequal(A, check_dtype=True)
    assert labels.tolist() == ["x", "y", "z"]
    with pytest.raises(InvalidValue, match=r"'source'; the columns are 'from', 'to', 'km'"):
        gb.io.from_parquet(tmp_path / "b.pq")
    with pytest.raises(FileFormatError, match="'from' holds object"):
        gb.io.read(tmp_path / "b.pq")


def test_parquet_of_others_has_no_sizes_and_other_names(parquet: Any, tmp_path: Path) -> None:
    import pyarrow as pa

    parquet.write_table(pa.table({"u": [3, 1], "v": [0, 2], "w": [0.5, 1.5], "more": ["a", "b"]}), tmp_path / "c.pq")
    assert gb.io.read(tmp_path / "c.pq").to_dicts() == {1: {2: 1.5}, 3: {0: 0.5}}
    assert gb.io.read(tmp_path / "c.pq", symmetrize=True).nvals == 4


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"u": [1]}, "has 1 columns"),
        ({"u": [-1], "v": [0]}, "the id -1"),
        ({"u": [1, None], "v": [0, 0]}, "null in row 1"),
        ({"u": [1.5], "v": [0]}, "float64"),
    ],
)
def test_damaged_parquet_names_the_file(parquet: Any, tmp_path: Path, columns: Any, message: str) -> None:
    import pyarrow as pa

    path = tmp_path / "d.parquet"
    parquet.write_table(pa.table(columns), path)
    with pytest.raises(FileFormatError, match=message) as told:
        gb.io.read(path)
    assert "d.parquet" in str(told.value)


def test_files_that_are_no_parquet(parquet: Any, tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    gb.io.write(gb.io.read("path:300"), path)
    whole = path.read_bytes()
    for data in (b"PAR1", whole[:-9], whole[: len(whole) // 2], b"0 1\n1 2\n"):
        path.write_bytes(data)
        for reader in (gb.io.read, gb.io.from_parquet):
            with pytest.raises(FileFormatError, match=r"e\.parquet"):
                reader(path)
    with pytest.raises(FileNotFoundError):
        gb.io.from_parquet(tmp_path / "none.parquet")


@pytest.mark.parametrize(
    ("call", "extra"),
    [
        (lambda: gb.io.from_pandas_edgelist(None), "pandas"),
        (lambda: gb.io.to_pandas_edgelist(gb.Matrix(int, 1, 1)), "pandas"),
        (lambda: gb.io.from_arrow(None), "arrow"),
        (lambda: gb.io.to_arrow(gb.Matrix(int, 1, 1)), "arrow"),
        (lambda: gb.io.to_parquet(gb.Matrix(int, 1, 1), "x.parquet"), "arrow"),
    ],
)
def test_missing_packages_are_named_with_their_extra(monkeypatch: pytest.MonkeyPatch, call: Any, extra: str) -> None:
    absent(monkeypatch, PACKAGES[extra])
    with pytest.raises(ImportError, match=rf"sparsezc\[{extra}\]") as told:
        call()
    assert isinstance(told.value, gb.exceptions.GraphblasException)


def absent(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """Make imports of a package fail as if it were not installed."""

    def missing(name: str) -> Any:
        if name.partition(".")[0] == package:
            raise ModuleNotFoundError(f"No module named {package!r}")
        return builtins.__import__(name)

    monkeypatch.setattr(optional, "import_module", missing)


def test_columns_of_uint64_and_int64_keep_every_digit(kind: str) -> None:
    """Labels stay exact, though NumPy's common type of UINT64 and INT64 is FP64, in which large labels coincide."""
    large = 2**60
    edges = table(kind, source=np.array([large, large + 1], np.uint64), target=np.array([large + 2, large], np.int64))
    A, labels = FROM[kind](edges, relabel=True)
    assert labels.tolist() == [large, large + 1, large + 2]
    assert sorted(zip(*(ids.tolist() for ids in A.to_coo(values=False)[:2]), strict=True)) == [(0, 2), (1, 0)]
    edges = table(kind, source=np.array([2**63, 5], np.uint64), target=np.array([-1, 5], np.int64))
    assert FROM[kind](edges, relabel=True)[1].tolist() == [-1, 5, 2**63]
    edges = table(kind, source=np.array([0, 1], np.uint64), target=np.array([1, 2], np.int64))
    assert FROM[kind](edges, directed=False).to_coo()[0].tolist() == [0, 1, 1, 2]


def test_parquet_files_of_uint64_and_int64_keep_every_digit(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    large = 2**60
    source, target = np.array([large, large + 1], np.uint64), np.array([large + 2, large], np.int64)
    parquet.write_table(pyarrow.table({"source": source, "target": target}), tmp_path / "a.parquet")
    A, ids = gb.io.read(tmp_path / "a.parquet", relabel=True)
    assert ids.tolist() == [large, large + 1, large + 2]
    assert A.nvals == 2
    parquet.write_table(pyarrow.table({"source": source + 2**63, "target": target}), tmp_path / "b.parquet")
    with pytest.raises(FileFormatError, match=r"b\.parquet: column 'source' has the id 10376293541461622785; .*below"):
        gb.io.read(tmp_path / "b.parquet")
    _, names = gb.io.read(tmp_path / "b.parquet", relabel=True)
    assert names.tolist() == [str(2**63 + large), str(2**63 + large + 1), str(large), str(large + 2)]
