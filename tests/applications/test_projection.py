"""gb.applications.projection, against SciPy's products and NetworkX's bipartite projections."""

import subprocess
import sys
import warnings
from functools import partial

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx.algorithms import bipartite
from scipy.sparse import csr_array, random_array

import sparsezc as gb
from sparsezc.exceptions import DomainMismatch, FileFormatError, InvalidValue, OutOfMemory

projection = gb.applications.projection
MODULE = sys.modules["sparsezc.applications.projection"]
THEIRS = {
    "count": bipartite.weighted_projected_graph,
    "ratio": partial(bipartite.weighted_projected_graph, ratio=True),
    "jaccard": bipartite.overlap_weighted_projected_graph,
    "overlap": partial(bipartite.overlap_weighted_projected_graph, jaccard=False),
    "collaboration": bipartite.collaboration_weighted_projected_graph,
    "none": bipartite.projected_graph,
}


def table(m, n, density, seed):
    return csr_array(random_array((m, n), density=density, rng=seed, data_sampler=lambda size: np.ones(size)))


def networkx_answer(graph, onto, weight):
    m, n = graph.shape
    G = nx.Graph()
    G.add_nodes_from(range(m + n))
    i, j = graph.nonzero()
    G.add_edges_from(zip(i.tolist(), (j + m).tolist(), strict=True))
    nodes = range(m) if onto == "rows" else range(m, m + n)
    answer = THEIRS[weight](G, nodes)
    return nx.to_numpy_array(answer, nodes, weight="weight")


@st.composite
def tables(draw):
    m, n = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    return table(m, n, draw(st.sampled_from([0.0, 0.2, 0.6, 1.0])), draw(st.integers(0, 99)))


@given(tables(), st.sampled_from(["rows", "columns"]), st.sampled_from(list(THEIRS)))
def test_any_graph(graph, onto, weight):
    B = projection(gb.io.from_scipy_sparse(graph), onto, weight)
    assert np.allclose(B.dup("FP64").to_dense(0), networkx_answer(graph, onto, weight))
    assert B.dtype == {"count": "INT64", "none": "BOOL"}.get(weight, "FP64")


@pytest.mark.parametrize("block", [1, 50, 1 << 22])
def test_blocks_of_any_size(block, monkeypatch):
    monkeypatch.setattr(MODULE, "_BLOCK", block)
    monkeypatch.setattr(MODULE, "_BLOCKS", 1000)
    graph = table(60, 40, 0.1, 3)
    B = projection(gb.io.from_scipy_sparse(graph))
    expected = (graph @ graph.T).toarray()
    np.fill_diagonal(expected, 0)
    assert np.array_equal(B.to_dense(0), expected)


@pytest.mark.parametrize("suffix", [".tsv", ".txt", ".csv", ".csv.gz", ".txt.gz", ".parquet"])
@pytest.mark.parametrize("weight", ["jaccard", "none"])
def test_files_in_pieces(suffix, weight, tmp_path, monkeypatch):
    monkeypatch.setattr(MODULE, "_BLOCK", 20)
    A = gb.io.from_scipy_sparse(table(30, 20, 0.2, 5))
    B = projection(A, weight=weight)
    path = tmp_path / f"pairs{suffix}"
    assert projection(A, weight=weight, out=path) == B.nvals // 2
    back = gb.io.read(path, directed=False)
    assert back.shape == B.shape
    assert back.dup("FP64").isclose(B.dup("FP64"))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", [".txt", ".tsv", ".tsv.gz", ".parquet"])
@pytest.mark.parametrize("ends", [[], [(0, 0), (2, 0)]])
def test_files_keep_vertices_without_pairs(suffix, ends, tmp_path):
    A = gb.Matrix.from_edgelist(ends, 1, nrows=5, ncols=2, dtype="INT64")
    path = tmp_path / f"pairs{suffix}"
    assert projection(A, out=path) == len(ends) // 2
    back = gb.io.read(path, directed=False)
    assert back.shape == (5, 5)
    assert {(int(i), int(j)) for i, j, _ in zip(*back.to_coo(), strict=True)} == ({(0, 2), (2, 0)} if ends else set())


def test_a_csv_of_no_pairs_is_refused(tmp_path):
    with pytest.raises(InvalidValue, match=r"pairs\.csv would be an empty file"):
        projection(gb.Matrix(bool, 3, 3), out=tmp_path / "pairs.csv")
    assert list(tmp_path.iterdir()) == []


def test_pairs_into_a_pipe(tmp_path):
    program = (
        "import os, sparsezc as gb; os.symlink('/dev/stdout', 'p.tsv');"
        "gb.applications.projection(gb.Matrix.from_dense([[1], [1]]), out='p.tsv')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.stdout == b"# 2 x 2, 1 entries\n0\t1\t1\n"


def test_a_result_beyond_memory_says_its_size(tmp_path):
    graph = csr_array(np.ones((2000, 1)))
    A = gb.io.from_scipy_sparse(graph)
    pairs = 2000 * 1999 // 2
    with gb.config.set(host_budget="64MB"):
        with pytest.raises(OutOfMemory, match=rf"a projection of {pairs:,} pairs \(out= writes it in pieces\)"):
            projection(A)
        assert projection(A, out=tmp_path / "pairs.parquet") == pairs


@pytest.mark.parametrize("weight", list(THEIRS))
def test_engines_agree(weight, gpu):
    A = gb.io.from_scipy_sparse(table(20, 12, 0.2, 7))
    expected = projection(A, weight=weight)
    with gb.config.set(placement="zerocopy"), warnings.catch_warnings():
        warnings.simplefilter("error", gb.exceptions.PerformanceWarning)
        assert projection(A.to("gpu"), weight=weight).isclose(expected)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"onto": "top"}, InvalidValue, "onto is 'top'; one of rows, columns"),
        ({"weight": "cosine"}, InvalidValue, "weight is 'cosine'; one of count"),
        ({"out": "pairs.xlsx"}, FileFormatError, "out is 'pairs.xlsx'"),
        ({"out": "pairs.parquet.gz"}, FileFormatError, "out is 'pairs.parquet.gz'"),
    ],
)
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        projection(gb.Matrix(bool, 2, 3), **options)


def test_what_is_no_matrix():
    with pytest.raises(DomainMismatch, match="A is a list"):
        projection([[1]])
    assert projection(gb.Matrix(bool, 0, 3)).shape == (0, 0)
