"""Real graphs against published facts, and small Matrix Market files against SciPy."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from sparsezc.exceptions import FileFormatError
from tests.io.graphs import DATA, is_symmetric, load, needs_data, same, scipy_of

pytestmark = needs_data
GRAPHS = json.loads((DATA / "graphs.json").read_text()) if DATA.is_dir() else []
#: Files whose values do not fit the type in their GraphBLAS comment, which SciPy ignores.
LIARS = [f"mangled_{kind}.mtx" for kind in ("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "skew")]
SMALL = json.loads((DATA / "mtx-small" / "expected.json").read_text()) if DATA.is_dir() else {}


def reference_weights(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the edges' weights of the reference answers, computed in Python's integers."""
    out = []
    for a, b in zip(np.minimum(u, v).tolist(), np.maximum(u, v).tolist(), strict=True):
        x = (a * 2654435761 + b * 2246822519) % 2**32
        x ^= x >> 15
        x = x * 3266489917 % 2**32
        out.append(1 + (x >> 8) % 255)
    return np.array(out)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph["name"])
def test_sizes_degrees_loops_and_weights(graph: dict) -> None:
    expected = json.loads((DATA / "refs" / "summary.json").read_text())[graph["name"]]
    undirected_format = graph["format"] in ("mtx", "metis") and not graph["directed"]
    csr = load(
        DATA / graph["file"],
        directed=None if graph["directed"] or undirected_format else False,
        relabel=graph["format"] == "snap",
        weights=None if graph["format"] == "gr" else "hash:1-255",
    )
    A = scipy_of(csr)
    assert (csr.nrows, csr.nvals) == (expected["n"], expected["adj_nnz"])
    assert int((A.diagonal() != 0).sum()) == expected["self_loops"]
    assert int(np.diff(csr.indptr).max()) == expected["max_out_degree"]
    assert csr.symmetric == (not graph["directed"])
    if csr.symmetric:
        assert is_symmetric(csr)
    if graph["format"] != "gr":
        some = np.random.default_rng(5).integers(0, csr.nvals, 500)
        rows = np.searchsorted(csr.indptr, some, side="right") - 1
        np.testing.assert_array_equal(A.data[some], reference_weights(rows, A.indices[some].astype(np.int64)))


@pytest.mark.parametrize("graph", [g for g in GRAPHS if g["name"] in ("road-7cities", "copter2", "wiki-Vote")],
                         ids=lambda graph: graph["name"])  # fmt: skip
def test_shortest_paths_agree_with_the_published_ones(graph: dict) -> None:
    answers = np.load(DATA / "refs" / f"{graph['name']}.npz")
    csr = load(
        DATA / graph["file"], directed=False if graph["format"] == "gr" else None, relabel=graph["format"] == "snap",
        weights=None if graph["format"] == "gr" else "hash:1-255",
    )  # fmt: skip
    found = sp.csgraph.dijkstra(scipy_of(csr).astype(float), indices=int(answers["sources"][0]))
    np.testing.assert_array_equal(np.where(np.isinf(found), -1, found), answers["sssp_dist"][0])


def test_relabel_returns_the_ids_of_the_file() -> None:
    from sparsezc.io._read import read_csr

    csr, ids = read_csr(DATA / "wiki-Vote.txt.gz", relabel=True, placement="host")
    np.testing.assert_array_equal(ids, np.load(DATA / "refs" / "wiki-Vote.npz")["ids"])
    plain = load(DATA / "wiki-Vote.txt.gz")
    assert plain.nrows == ids[-1] + 1
    assert (scipy_of(plain)[ids][:, ids] != scipy_of(csr)).nnz == 0


def test_a_snap_file_against_networkx() -> None:
    import networkx as nx

    with gzip.open(DATA / "wiki-Vote.txt.gz") as file:
        graph = nx.Graph(np.loadtxt(file, dtype=np.int64).tolist())
    expected = nx.to_scipy_sparse_array(graph, nodelist=sorted(graph))
    csr = load(DATA / "wiki-Vote.txt.gz", directed=False, relabel=True)
    assert (expected.astype(bool) != scipy_of(csr)).nnz == 0


@pytest.mark.parametrize("name", SMALL)
def test_small_matrix_market_files(name: str) -> None:
    """Each file is read as SciPy reads it, or refused with its name in the message."""
    path = DATA / "mtx-small" / name
    expected = SMALL[name]
    if "scipy_error" in expected:
        with pytest.raises(FileFormatError, match=name):
            load(path)
        return
    if expected["field"] == "complex":
        with pytest.raises(FileFormatError, match="complex"):
            load(path)
        return
    if name in LIARS:
        with pytest.raises(FileFormatError, match=f"{name} states the type"):
            load(path)
        return
    csr = load(path, dup_op="plus")
    wanted = scipy.io.mmread(path, spmatrix=False)
    wanted = sp.coo_array(np.ones_like(wanted)) * wanted if isinstance(wanted, np.ndarray) else wanted
    found = scipy_of(csr)
    assert found.shape == (expected["rows"], expected["cols"])
    if expected["format"] == "array":
        assert csr.nvals == expected["nnz_expanded"]
    if expected["field"] == "pattern":
        assert csr.iso
        assert csr.nvals == expected["nnz_expanded"]
    else:
        np.testing.assert_array_equal(found.toarray(), wanted.toarray())


def test_the_type_that_a_matrix_market_file_states_is_kept() -> None:
    assert load(DATA / "mtx-small" / "matrix_int16.mtx").dtype == "INT16"
    assert load(DATA / "mtx-small" / "matrix_uint32.mtx").dtype == "UINT32"
    assert load(DATA / "mtx-small" / "matrix_bool.mtx").dtype == "BOOL"
    assert load(DATA / "mtx-small" / "ldbc-directed-example.mtx").dtype == "FP64"


def test_a_symmetric_matrix_market_file_is_known_to_be_symmetric() -> None:
    csr = load(DATA / "mtx-small" / "karate.mtx")
    assert csr.symmetric
    assert is_symmetric(csr)
    skew = load(DATA / "mtx-small" / "skew_int8.mtx")
    assert not skew.symmetric
    same(skew, -scipy_of(skew).T)
