"""Conversions to and from SciPy and NetworkX, against those libraries' own answers and python-graphblas."""

from __future__ import annotations

import inspect
import io
from pathlib import Path
from typing import Any

import graphblas
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import sparsezc as gb
from sparsezc.exceptions import DimensionMismatch, DomainMismatch, InvalidValue

MATRIX = np.array([[0, 2, 0], [3, 0, 5]])
FORMATS = ("bsr", "csr", "csc", "coo", "lil", "dia", "dok")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.float32, np.float64])
def test_scipy_there_and_back(form: str, dtype: type) -> None:
    A = gb.io.from_scipy_sparse(sp.csr_array(MATRIX.astype(dtype)).asformat(form))
    assert A.dtype == np.dtype(dtype)
    back = gb.io.to_scipy_sparse(A, form)
    assert back.format == form
    np.testing.assert_array_equal(back.toarray(), MATRIX.astype(dtype))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("make", [sp.random_array, sp.random], ids=["array", "matrix"])
def test_scipy_arrays_and_matrices_of_every_format(form: str, make: Any) -> None:
    theirs = (
        make((40, 24), density=0.1, rng=7) if make is sp.random_array else make(40, 24, density=0.1, random_state=7)
    )
    A = gb.io.from_scipy_sparse(theirs.asformat(form))
    np.testing.assert_array_equal(A.to_dense(0), theirs.toarray())
    np.testing.assert_array_equal(gb.io.to_scipy_sparse(A.T, form).toarray(), theirs.toarray().T)


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_scipy_rows_out_of_order_and_damaged_ones(form: str) -> None:
    make = getattr(sp, f"{form}_array")
    loose = make((np.array([1.0, 2, 3]), np.array([2, 0, 1]), np.array([0, 2, 2, 3])), shape=(3, 3))
    np.testing.assert_array_equal(gb.io.from_scipy_sparse(loose).to_dense(0), loose.toarray())
    twice = make((np.array([1.0, 2, 3]), np.array([2, 2, 1]), np.array([0, 2, 2, 3])), shape=(3, 3))
    with pytest.raises(gb.exceptions.GraphblasException):
        gb.io.from_scipy_sparse(twice)
    np.testing.assert_array_equal(gb.io.from_scipy_sparse(twice, dup_op="plus").to_dense(0), twice.toarray())
    wrong = make((np.array([1.0, 2]), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2))
    wrong.indices[1] = 77
    with pytest.raises(gb.exceptions.GraphblasException, match="77"):
        gb.io.from_scipy_sparse(wrong)


def test_scipy_arrays_of_one_dimension_are_vectors() -> None:
    theirs = sp.coo_array(([1.5, 2.5], ([4, 2],)), shape=(6,))
    for array in (theirs, theirs.tocsr(), theirs.todok()):
        v = gb.io.from_scipy_sparse(array)
        np.testing.assert_array_equal(v.to_dense(0), theirs.toarray())


def test_a_huge_matrix_goes_to_scipy_as_coordinates() -> None:
    A = gb.Matrix.from_coo([2**59], [5], [1.5], nrows=2**60, ncols=2**60)
    back = gb.io.to_scipy_sparse(A, "coo")
    assert back.shape == (2**60, 2**60)
    assert [part.tolist() for part in (*back.coords, back.data)] == [[2**59], [5], [1.5]]
    assert gb.io.from_scipy_sparse(back).isequal(A)


def test_scipy_arrays_agree_with_python_graphblas() -> None:
    matrix = sp.random_array((30, 20), density=0.2, rng=2, format="csr")
    mine = gb.io.from_scipy_sparse(matrix)
    judge = graphblas.io.from_scipy_sparse(matrix)
    for one, other in zip(mine.to_coo(), judge.to_coo(), strict=True):
        np.testing.assert_array_equal(one, other)
    for form in ("csr", "csc", "coo"):
        assert (gb.io.to_scipy_sparse(mine, form) != graphblas.io.to_scipy_sparse(judge, form)).nnz == 0


def test_a_matrix_does_not_change_with_the_array_it_came_from() -> None:
    source = sp.csr_array(np.eye(3))
    A = gb.io.from_scipy_sparse(source)
    source.data[:] = 7
    source.indices[:] = 0
    assert A.to_coo()[1].tolist() == [0, 1, 2]
    assert A.to_coo()[2].tolist() == [1, 1, 1]


def test_duplicates_need_an_operator() -> None:
    twice = sp.coo_array(([1, 2], ([0, 0], [1, 1])), shape=(2, 2))
    with pytest.raises(gb.exceptions.GraphblasException):
        gb.io.from_scipy_sparse(twice)
    assert gb.io.from_scipy_sparse(twice, dup_op=gb.binary.plus).to_coo()[2].tolist() == [3]


def test_vectors_become_rows_or_columns() -> None:
    v = gb.Vector.from_coo([1, 3], [5, 6], size=5)
    assert gb.io.to_scipy_sparse(v).toarray().tolist() == [[0, 5, 0, 6, 0]]
    assert gb.io.to_scipy_sparse(v, "csc").shape == (5, 1)


def test_what_is_no_sparse_matrix_is_refused() -> None:
    with pytest.raises(DomainMismatch, match="ndarray"):
        gb.io.from_scipy_sparse(np.eye(3))
    with pytest.raises(InvalidValue, match="format"):
        gb.io.to_scipy_sparse(gb.io.read("path:3"), "dense")


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_networkx_there_and_back(kind: type) -> None:
    graph = kind(nx.gnp_random_graph(20, 0.2, seed=3, directed=kind is nx.DiGraph))
    for k, (u, v) in enumerate(graph.edges):
        graph[u][v]["weight"] = k + 1
    A = gb.io.from_networkx(graph, dtype="INT32")
    assert A.dtype == "INT32"
    back = gb.io.to_networkx(A)
    assert nx.utils.graphs_equal(nx.DiGraph(graph), back)
    assert gb.io.to_networkx(A, None).number_of_edges() == A.nvals
    with pytest.raises(DimensionMismatch):
        gb.io.to_networkx(gb.Matrix(int, 2, 3))


def test_matrix_market_by_the_names_of_python_graphblas(tmp_path: Path) -> None:
    A = gb.Matrix.from_coo([0, 1, 1], [1, 0, 2], [0.1, 2.0, -1e-9], nrows=2, ncols=3)
    gb.io.mmwrite(tmp_path / "a.mtx", A, comment="hello")
    assert "%hello" in (tmp_path / "a.mtx").read_text()
    assert gb.io.mmread(tmp_path / "a.mtx").isequal(A, check_dtype=True)
    judge = graphblas.io.mmread(tmp_path / "a.mtx")
    np.testing.assert_array_equal(judge.to_coo()[2], A.to_coo()[2])
    text = io.BytesIO()
    gb.io.mmwrite(text, A, field="integer")
    assert b"integer" in text.getvalue()
    assert gb.io.mmread(io.BytesIO(text.getvalue())).dtype == "INT64"


@pytest.mark.parametrize("arguments", [{"engine": "slow"}, {"field": "blue"}, {"colour": 1}])
def test_matrix_market_arguments(tmp_path: Path, arguments: dict) -> None:
    with pytest.raises(InvalidValue, match=next(iter(arguments))):
        gb.io.mmwrite(tmp_path / "a.mtx", gb.Matrix(int, 2, 2), **arguments)
    assert list(tmp_path.iterdir()) == []


def test_read_and_write_a_matrix(tmp_path: Path) -> None:
    A = gb.io.read("kron:6?weights=1-9")
    gb.io.write(A, tmp_path / "a.npz")
    assert gb.io.read(tmp_path / "a.npz").isequal(A, check_dtype=True)
    B, ids = gb.io.read(tmp_path / "a.npz", relabel=True)
    assert B.nrows == ids.size == np.unique(A.to_coo()[0]).size
    with pytest.raises(DomainMismatch):
        gb.io.write([[1]], tmp_path / "b.npz")


@pytest.mark.parametrize("tail", ["10 1 219 ", "10 1 21\u00f6", "10 4 9E11  ", "10 4 \0\n", "10\0 4 5\n"])
def test_short_files_that_end_oddly_are_errors_and_no_crashes(tail: str) -> None:
    """Truncated files raise an error; fast_matrix_market by itself reads past its buffer."""
    text = "%%MatrixMarket matrix coordinate integer general\n16 16 23\n" + "2 1 144\n" * 9 + tail
    for source in (io.StringIO(text), io.BytesIO(text.encode())):
        with pytest.raises(ValueError, match=r"Truncated|Line|line"):
            gb.io.mmread(source)


@pytest.mark.parametrize("name", [name for name in dir(graphblas.io) if not name.startswith("_")])
def test_every_function_of_python_graphblas_s_io_is_there(name: str) -> None:
    theirs, mine = getattr(graphblas.io, name), getattr(gb.io, name)
    if not callable(theirs):
        return
    for parameter in inspect.signature(theirs).parameters.values():
        found = inspect.signature(mine).parameters[parameter.name]
        assert (found.kind, found.default) == (parameter.kind, parameter.default)


def test_a_graph_without_weights_takes_one_value() -> None:
    G = nx.DiGraph([(1, 2), (2, 0), (0, 2)])
    A = gb.io.from_networkx(G, nodelist=range(3))
    assert A.ss.is_iso
    assert A.to_dicts() == {0: {2: 1}, 1: {2: 1}, 2: {0: 1}}
    G.add_edge(2, 1, weight=5)
    assert not gb.io.from_networkx(G).ss.is_iso


def test_what_is_no_graph_of_networkx() -> None:
    with pytest.raises(DomainMismatch, match="from_networkx: G is a list; a NetworkX graph is needed"):
        gb.io.from_networkx([[0, 1]])
