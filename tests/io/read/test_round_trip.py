"""Round trips: every format, random graphs, every type that the format can represent."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings

from sparsezc.exceptions import InvalidValue
from sparsezc.io._read import read_csr
from sparsezc.io._write import convert, write
from sparsezc.io.build import stored_csr
from sparsezc.io.build import weights as weighting
from sparsezc.io.build.csr_builder import build
from sparsezc.io.build.edge_list import Edges
from sparsezc.memory.csr import Csr
from sparsezc.semirings.types import datatypes
from tests.io.graphs import load, same, scipy_of

DIRECTED = ("a.txt", "a.csv", "a.mtx", "a.mtx.gz", "a.gr", "a.sg", "a.wsg", "a.bel", "a.npz")
UNDIRECTED = (*DIRECTED, "a.graph", "a.graph.gz", "a.sg.gz")
UNWEIGHTED = ("a.sg", "a.sg.gz")


@st.composite
def graphs(draw: st.DrawFn, undirected: bool) -> Csr:
    """Draw a graph, without self-loops if undirected, with integer weights or none; the last vertex has an edge."""
    n = draw(st.integers(2, 12))
    vertex = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex), min_size=0, max_size=40))
    edges.append((n - 1, draw(st.integers(0, n - 2))))
    if undirected:
        edges = [(i, j) for i, j in edges if i != j]
    rows, cols = (np.array(part, np.uint32) for part in zip(*edges, strict=True))
    values = None
    if draw(st.booleans()):
        top = draw(st.sampled_from([1, 255, 2**31 - 1]))
        values = np.array(draw(st.lists(st.integers(1, top), min_size=len(edges), max_size=len(edges))), np.int64)
    return build(Edges(n, n, rows, cols, values, undirected), placement="host")


def round_trip(csr: Csr, name: str) -> Csr:
    with tempfile.TemporaryDirectory() as folder:
        write(csr, Path(folder) / name)
        return load(Path(folder) / name)


def check(csr: Csr, name: str) -> None:
    found = round_trip(csr, name)
    if name in UNWEIGHTED:
        same(found, scipy_of(csr).astype(bool))
    else:
        assert (scipy_of(found) != scipy_of(csr)).nnz == 0
        assert found.nvals == csr.nvals


@pytest.mark.parametrize("name", DIRECTED)
@settings(max_examples=25)
@given(csr=graphs(undirected=False))
def test_directed_graphs(name: str, csr: Csr) -> None:
    check(csr, name)


@pytest.mark.parametrize("name", UNDIRECTED)
@settings(max_examples=25)
@given(csr=graphs(undirected=True))
def test_undirected_graphs(name: str, csr: Csr) -> None:
    check(csr, name)
    if name in ("a.graph", "a.mtx", "a.sg"):
        assert round_trip(csr, name).symmetric


def numbers(dtype: datatypes.DataType) -> np.ndarray:
    if dtype.is_bool:
        return np.array([True, False, True])
    if dtype.is_float:
        return np.array([0.1, -1e-30, 1e30], dtype.np_type)
    bounds = np.iinfo(dtype.np_type)
    return np.array([bounds.min, 7, bounds.max], dtype.np_type)


@pytest.mark.parametrize("dtype", datatypes.ALL, ids=str)
@pytest.mark.parametrize("name", ["a.mtx", "a.npz"])
def test_every_type_keeps_its_values_and_its_name(tmp_path: Path, name: str, dtype: datatypes.DataType) -> None:
    csr = Csr.from_arrays([0, 1, 3], [1, 0, 2], numbers(dtype), 3)
    write(csr, tmp_path / name)
    found = load(tmp_path / name)
    assert found.dtype is dtype
    same(found, scipy_of(csr))


@pytest.mark.parametrize("dtype", datatypes.ALL, ids=str)
def test_an_iso_value_is_written_for_every_entry(tmp_path: Path, dtype: datatypes.DataType) -> None:
    csr = Csr.from_arrays([0, 1, 3], [1, 0, 2], [1], 3, dtype=dtype)
    for name in ("a.mtx", "a.npz"):
        write(csr, tmp_path / name)
        found = scipy_of(load(tmp_path / name))
        assert found.data.tolist() == [1, 1, 1]


@pytest.mark.parametrize("name", [name for name in UNDIRECTED if name not in UNWEIGHTED])
def test_an_iso_value_other_than_one_is_kept(tmp_path: Path, name: str) -> None:
    csr = Csr.from_arrays([0, 1, 3, 4], [1, 0, 2, 1], [7], 3, dtype="INT32")
    write(csr, tmp_path / name)
    found = load(tmp_path / name)
    assert found.iso
    same(found, scipy_of(csr))
    same(load(tmp_path / name, symmetrize=True), scipy_of(csr))


def test_weights_of_an_older_bel_graph_are_not_taken_for_those_of_a_new_one(tmp_path: Path) -> None:
    weighted, plain = (Csr.from_arrays([0, 1, 2], [1, 0], values, 2) for values in ([3, 4], [True]))
    write(weighted, tmp_path / "a.bel")
    write(plain, tmp_path / "a.bel")
    found = load(tmp_path / "a.bel")
    assert found.iso
    assert found.dtype is datatypes.BOOL


def test_equal_values_that_are_stored_one_by_one_are_symmetric_too(tmp_path: Path) -> None:
    csr = Csr.from_arrays([0, 1, 2], [1, 0], [3, 3], 2)
    write(csr, tmp_path / "a.graph")
    same(load(tmp_path / "a.graph"), scipy_of(csr))


def test_an_iso_value_of_a_directed_graph_is_kept_in_its_transpose(tmp_path: Path) -> None:
    write(Csr.from_arrays([0, 2, 2, 2], [1, 2], [7], 3, dtype="INT32"), tmp_path / "a.wsg")
    assert np.frombuffer((tmp_path / "a.wsg").read_bytes()[-16:], "<i4").tolist() == [0, 7, 0, 7]


def test_scipy_reads_what_we_write_and_we_what_scipy_writes(tmp_path: Path) -> None:
    matrix = sp.random_array((40, 30), density=0.2, rng=3, format="csr")
    csr = Csr.from_arrays(matrix.indptr, matrix.indices, matrix.data, 30)
    for compressed in (False, True):
        write(csr, tmp_path / "a.npz", compressed=compressed)
        assert (sp.load_npz(tmp_path / "a.npz") != matrix).nnz == 0
        for form in ("csr", "csc", "coo"):
            sp.save_npz(tmp_path / "b.npz", matrix.asformat(form), compressed=compressed)
            same(load(tmp_path / "b.npz"), matrix)
    write(csr, tmp_path / "a.mtx")
    np.testing.assert_array_equal(scipy.io.mmread(tmp_path / "a.mtx").toarray(), matrix.toarray())


def test_a_csr_whose_rows_are_not_sorted_or_hold_duplicates(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows, cols = rng.integers(0, 300, (2, 9000))
    order = np.argsort(rows, kind="stable")
    indptr = np.r_[0, np.cumsum(np.bincount(rows, minlength=300))]
    twice = sp.csr_array((rng.integers(1, 50, 9000), cols[order], indptr), shape=(300, 300))
    merged = twice.copy()
    merged.sum_duplicates()
    sp.save_npz(tmp_path / "a.npz", twice)
    same(load(tmp_path / "a.npz", dup_op="plus"), merged)
    shuffled = sp.csr_array(
        (merged.data[::-1], merged.indices[::-1], merged.nnz - merged.indptr[::-1]), shape=(300, 300)
    )
    assert not shuffled.has_sorted_indices
    sp.save_npz(tmp_path / "b.npz", shuffled)
    same(load(tmp_path / "b.npz"), sp.csr_array(np.flipud(merged.toarray())))


@pytest.mark.parametrize("piece", [1, 2, 5, 64])
def test_pieces_of_any_size_make_the_same_matrix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    matrix = sp.random_array((30, 50), density=0.3, rng=5, format="csr")
    dense = matrix.toarray()
    dense[7, :] = 3.5  # a row far longer than a piece
    matrix = sp.csr_array(dense)
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in pairwise(matrix.indptr)])
    backwards = sp.csr_array((matrix.data[order], matrix.indices[order], matrix.indptr), shape=(30, 50))
    rows, cols = np.nonzero(dense)
    expected = weighting.hashed(rows, cols, weighting.parse("hash:1-255"))
    monkeypatch.setattr(stored_csr, "CHUNK", piece)
    for stored in (matrix, backwards):
        sp.save_npz(tmp_path / "a.npz", stored)
        np.testing.assert_array_equal(scipy_of(load(tmp_path / "a.npz")).toarray(), dense)
        made = scipy_of(load(tmp_path / "a.npz", weights="hash:1-255")).toarray()
        np.testing.assert_array_equal(made[rows, cols], expected)


def test_what_a_format_cannot_hold_is_refused(tmp_path: Path) -> None:
    rectangle = Csr.from_arrays([0, 1], [1], [1], 3)
    fractions = Csr.from_arrays([0, 1, 2], [1, 0], [1.5, 1.5], 2)
    lopsided = Csr.from_arrays([0, 1, 1], [1], [5], 2)
    loop = Csr.from_arrays([0, 1, 2], [0, 1], [5, 5], 2)
    for csr, names in (
        (rectangle, ("a.gr", "a.sg", "a.bel", "a.graph")),
        (fractions, ("a.gr", "a.wsg", "a.bel", "a.graph")),
        (lopsided, ("a.graph",)),
        (loop, ("a.graph",)),
    ):
        for name in names:
            with pytest.raises(InvalidValue):
                write(csr, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_directed_sg_file_has_its_incoming_edges_too(tmp_path: Path) -> None:
    write(load("path:4"), tmp_path / "u.sg")
    assert (tmp_path / "u.sg").stat().st_size == 1 + 16 + 5 * 8 + 6 * 4
    csr = Csr.from_arrays([0, 2, 2, 2], [1, 2], [1], 3)
    write(csr, tmp_path / "d.sg")
    data = (tmp_path / "d.sg").read_bytes()
    half = 4 * 8 + 2 * 4
    assert len(data) == 17 + 2 * half
    assert np.frombuffer(data, "<i8", 4, 17 + half).tolist() == [0, 0, 1, 2]
    assert np.frombuffer(data, "<i4", 2, 17 + half + 32).tolist() == [0, 0]


@pytest.mark.parametrize("target", ["b.mtx", "b.sg", "b.npz", "b.graph", "b.bel", "b.gr.gz"])
def test_convert(tmp_path: Path, target: str) -> None:
    convert("kron:6?seed=3", tmp_path / "a.npz")
    convert(tmp_path / "a.npz", tmp_path / target, symmetrize=True)
    a, b = load("kron:6?seed=3"), load(tmp_path / target, weights=False)
    last = np.flatnonzero(np.diff(a.indptr)).max() + 1
    assert b.nvals == a.nvals
    assert b.nrows in (a.nrows, last)
    np.testing.assert_array_equal(a.indices.read(), b.indices.read())


@pytest.mark.parametrize("dtype", [datatypes.FC32, datatypes.FC64])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_complex_values_in_npz(tmp_path: Path, kind: str, dtype: datatypes.DataType) -> None:
    matrix = sp.csr_array(np.array([[0, 1 + 2j], [3 - 1j, 0]], dtype.np_type))
    sp.save_npz(tmp_path / "a.npz", matrix.asformat(kind))
    found = load(tmp_path / "a.npz")
    assert found.dtype is dtype
    write(found, tmp_path / "b.npz")
    for path in (tmp_path / "a.npz", tmp_path / "b.npz"):
        same(load(path), matrix)
    with pytest.raises(InvalidValue, match=r"a\.npz: .*dup_op='min' cannot order complex values"):
        load(tmp_path / "a.npz", symmetrize=True, dup_op="min")
    assert scipy_of(load(tmp_path / "a.npz", symmetrize=True, dup_op="plus"))[0, 1] == 4 + 1j


@pytest.mark.parametrize("name", ["a.txt", "a.csv.gz", "a.gr", "a.graph", "a.mtx", "a.parquet"])
def test_complex_values_are_refused_by_the_name_of_the_file_and_the_type(tmp_path: Path, name: str) -> None:
    edges = Edges(2, 2, np.array([0, 1]), np.array([1, 0]), np.array([1 + 2j, 1 + 2j]))
    with pytest.raises(InvalidValue, match=rf"{name}: .*FC64"):
        write(build(edges, placement="host"), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.txt", "a.el.gz", "a.tsv"])
@pytest.mark.parametrize(("nrows", "ncols"), [(9, 9), (4, 7), (7, 2), (0, 0)])
@pytest.mark.parametrize("edges", [[], [(0, 1), (1, 0)]])
def test_sizes_of_edge_lists(tmp_path: Path, name: str, nrows: int, ncols: int, edges: list[tuple[int, int]]) -> None:
    """Isolated last vertices and graphs without edges survive a round trip, in bounded memory too."""
    rows, cols = np.array(edges[: nrows + ncols], np.uint32).reshape(-1, 2).T
    csr = build(Edges(nrows, ncols, rows, cols), placement="host")
    write(csr, tmp_path / name)
    found = load(tmp_path / name)
    assert (found.nrows, found.ncols, found.nvals) == (nrows, ncols, rows.size)
    pytest.importorskip("h5py", reason="h5py is not installed")
    convert(tmp_path / name, tmp_path / "a.h5", memory="8GB")
    found = load(tmp_path / "a.h5")
    assert (found.nrows, found.ncols, found.nvals) == (nrows, ncols, rows.size)


@pytest.mark.parametrize(
    ("text", "nrows", "ncols"),
    [
        ("# 9 x 9, 1 entries\n0 1\n", 9, 9),
        ("# 9 x 9, 1 entries\r\n0 1\r\n", 9, 9),
        ("# 9 x 4, 1 entries\n3 1\n", 9, 4),
        ("# 9 x 9, 1 entries of a table\n0 1\n", 2, 2),  # comments of other programs
        ("# a\n# 9 x 9, 1 entries\n0 1\n", 2, 2),
        ("#9 x 9, 1 entries\n0 1\n", 2, 2),
        ("# Nodes: 9 Edges: 1\n0 1\n", 2, 2),
        ("% 9 x 9, 1 entries\n0 1\n", 2, 2),
    ],
)
def test_which_comments_say_sizes(tmp_path: Path, text: str, nrows: int, ncols: int) -> None:
    (tmp_path / "a.txt").write_bytes(text.encode())
    found = load(tmp_path / "a.txt")
    assert (found.nrows, found.ncols) == (nrows, ncols)
    relabelled, ids = read_csr(tmp_path / "a.txt", relabel=True)
    assert relabelled.nrows == relabelled.ncols == ids.size == 2


@pytest.mark.parametrize("name", ["a.txt", "a.csv.gz", "a.gr", "a.graph"])
def test_values_that_the_reader_would_refuse_are_not_written(tmp_path: Path, name: str) -> None:
    for largest in (2**63 - 1, 2**63):
        weights = np.array([largest, largest, 1, 1], np.uint64)
        edges = Edges(3, 3, np.array([0, 1, 1, 2]), np.array([1, 0, 2, 1]), weights)
        csr = build(edges, placement="host", weights=weighting.parse("UINT64"))
        if largest < 2**63:
            write(csr, tmp_path / name)
            same(load(tmp_path / name), scipy_of(csr))
            (tmp_path / name).unlink()
            continue
        with pytest.raises(InvalidValue, match=rf"{name}: the value 9223372036854775808 does not fit"):
            write(csr, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_negative_weights_are_not_written_where_no_reader_takes_them(tmp_path: Path) -> None:
    edges = Edges(3, 3, np.array([0, 1, 1, 2]), np.array([1, 0, 2, 1]), np.array([4, 4, -7, -7]))
    csr = build(edges, placement="host")
    with pytest.raises(
        InvalidValue, match=r"a\.graph: the value -7 is negative; a \.graph file holds weights from 0 on"
    ):
        write(csr, tmp_path / "a.graph")
    assert list(tmp_path.iterdir()) == []
