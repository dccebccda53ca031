"""Each format in small files written by hand, and the effect of each argument of ``read``."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import sparsezc as gb
from sparsezc.exceptions import FileFormatError, InvalidValue, OutOfMemory
from sparsezc.io._read import read_csr
from sparsezc.io._write import convert
from sparsezc.io.build.weights import hashed, parse
from tests.io.graphs import is_symmetric, load, same, scipy_of


def put(folder: Path, name: str, content: str | bytes) -> Path:
    data = content.encode() if isinstance(content, str) else content
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def dense(*rows: list[float]) -> sp.csr_array:
    return sp.csr_array(np.array(rows))


MM = "%%MatrixMarket matrix coordinate integer general\n"
EDGES = {(0, 1): 5, (1, 2): 7, (2, 2): 3, (3, 0): 9}
TEXTS = {
    "a.txt": "# comment\n0\t1\t5\n1 2 7\n\n% other\n2  2 3\r\n3 0 9",
    "a.txt.gz": "0 1 5\n1 2 7\n2 2 3\n3 0 9\n",
    "a.el": " 0 1 5 \n1 2 7\n2 2 3\n3 0 9\n",
    "a.wel": "0 1 5\n1 2 7\n2 2 3\n3 0 9\n",
    "a.csv": "source,target,weight\n0,1,5\n1,2,7\n2,2,3\n3,0,9\n",
    "b.csv": "0,1,5\n1,2,7\n2,2,3\n3,0,9\n",
    "c.csv": "\ufeffsource,target,weight\r\n0,1,5\r\n1,2,7\r\n2,2,3\r\n3,0,9\r\n",  # byte order mark, CR LF
    "b.txt": "\ufeff# comment\r\n0 1 5\r\n1 2 7\r\n2 2 3\r\n3 0 9\r\n",
    "a.tsv": "from\tto\tw\n0\t1\t5\n1\t2\t7\n2\t2\t3\n3\t0\t9\n",
    "a.mtx": "%%MatrixMarket matrix coordinate integer general\n4 4 4\n1 2 5\n2 3 7\n3 3 3\n4 1 9\n",
    "a.mtx.gz": "%%MatrixMarket matrix coordinate integer general\n% c\n4 4 4\n1 2 5\n2 3 7\n3 3 3\n4 1 9\n",
    "a.gr": "c hello\np sp 4 4\na 1 2 5\nc between\na 2 3 7\na 3 3 3\na 4 1 9\n",
    "a.gr.gz": "p sp 4 4\na 1 2 5\na 2 3 7\na 3 3 3\na 4 1 9",
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_same_graph_in_every_text_format(tmp_path: Path, name: str) -> None:
    csr = load(put(tmp_path, name, TEXTS[name]))
    expected = np.zeros((4, 4), int)
    for (i, j), w in EDGES.items():
        expected[i, j] = w
    same(csr, sp.csr_array(expected))
    assert csr.dtype == "INT64"
    assert not csr.symmetric


@pytest.mark.parametrize(
    ("code", "text", "weights"),
    [
        ("", "3 2\n2\n1 3\n2\n", None),
        ("0", "% c\n3 2 0\n2\n%c\n1 3\n2\n", None),
        ("1", "3 2 1\n2 10\n1 10 3 20\n2 20\n", (10, 20)),
        ("001", "3 2 001\n2 10\n1 10 3 20\n2 20\n", (10, 20)),
        ("010", "3 2 010\n7 2\n8 1 3\n9 2\n", None),
        ("011", "3 2 011 2\n7 7 2 10\n8 8 1 10 3 20\n9 9 2 20\n", (10, 20)),
        ("100", "3 2 100\n7 2\n8 1 3\n9 2\n", None),
        ("111", "3 2 111 1\n1 7 2 10\n1 8 1 10 3 20\n1 9 2 20\n\n", (10, 20)),
    ],
)
def test_metis_in_all_its_forms(tmp_path: Path, code: str, text: str, weights: tuple[int, int] | None) -> None:
    csr = load(put(tmp_path, f"m{code}.graph", text))
    a, b = weights or (1, 1)
    same(csr, dense([0, a, 0], [a, 0, b], [0, b, 0]))
    assert csr.symmetric
    assert csr.iso == (weights is None)


def test_metis_vertices_without_neighbours_are_blank_lines(tmp_path: Path) -> None:
    csr = load(put(tmp_path, "m.graph.gz", "4 1\n\n4\n\n2\n"))
    assert (csr.nrows, csr.nvals) == (4, 2)
    assert np.diff(csr.indptr).tolist() == [0, 1, 0, 1]
    assert load(put(tmp_path, "none.graph", "3 0\n\n\n\n")).nvals == 0


def test_lines_that_are_cut_between_chunks(tmp_path: Path) -> None:
    from sparsezc.io.files.source import lines

    path = put(tmp_path, "a.txt", "".join(f"{i} {i + 1}\n" for i in range(5000)) + "5000 5001")
    for size in (7, 100, 1 << 20):
        chunks = list(lines(path, size))
        assert b"".join(chunk.data for chunk in chunks) == path.read_bytes() + b"\n"
        assert all(chunk.data.endswith(b"\n") for chunk in chunks)
        assert [c.first for c in chunks] == list(np.cumsum([1] + [c.data.count(b"\n") for c in chunks[:-1]]))
    assert load(path).nvals == 5001


def test_several_gzip_members_are_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"0 1\n1 ") + gzip.compress(b"2\n2 3\n") + b"\0" * 20)
    assert load(path).nvals == 3


def test_a_gzipped_file_needs_no_gz_in_its_name(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(gzip.compress(b"0 1\n"))
    assert load(path).nvals == 1


class TestOptions:
    """The options ``directed``, ``symmetrize``, ``relabel``, ``weights`` and ``dup_op``."""

    def test_directed_false_and_symmetrize_give_both_directions(self, tmp_path: Path) -> None:
        path = put(tmp_path, "a.txt", "0 1 5\n2 1 4\n2 2 3\n1 0 2\n")
        for options in ({"directed": False}, {"symmetrize": True}):
            csr = load(path, **options)
            same(csr, dense([0, 2, 0], [2, 0, 4], [0, 4, 3]))
            assert csr.symmetric

    def test_a_self_loop_counts_once_when_directions_are_added(self, tmp_path: Path) -> None:
        csr = load(put(tmp_path, "a.txt", "0 0 5\n0 1 1\n1 0 2\n"), directed=False, dup_op="plus")
        same(csr, dense([5, 3], [3, 0]))

    @pytest.mark.parametrize(
        ("name", "value"),
        [("min", 2), ("max", 9), ("plus", 16), ("times", 90), ("first", 5), ("second", 2), ("any", None)],
    )
    def test_duplicates_merge_by_the_named_operator(self, tmp_path: Path, name: str, value: int | None) -> None:
        csr = load(put(tmp_path, "a.txt", "1 0 5\n0 1 7\n1 0 9\n1 0 2\n"), dup_op=name)
        found = csr.values.read().tolist()
        assert found[0] == 7
        assert found[1] == value if value is not None else found[1] in (5, 9, 2)

    def test_sums_of_duplicates_do_not_wrap(self, tmp_path: Path) -> None:
        assert load(put(tmp_path, "a.txt", "0 1 200\n0 1 200\n"), dup_op="plus").values.read().tolist() == [400]

    def test_merging_by_order_of_the_file_holds_with_many(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(1)
        edges = np.c_[rng.integers(0, 40, (5000, 2)), np.arange(5000)]
        path = put(tmp_path, "a.txt", "\n".join(" ".join(map(str, edge)) for edge in edges.tolist()))
        first = {(i, j): w for i, j, w in reversed(edges.tolist())}
        last = {(i, j): w for i, j, w in edges.tolist()}
        for name, wanted in (("first", first), ("second", last)):
            found = scipy_of(load(path, dup_op=name)).tocoo()
            assert (
                dict(zip(zip(found.row.tolist(), found.col.tolist(), strict=True), found.data.tolist(), strict=True))
                == wanted
            )

    def test_relabel_numbers_the_ids_that_occur(self, tmp_path: Path) -> None:
        path = put(tmp_path, "a.txt", "700000000000000 5 1\n5 31 2\n")
        csr, ids = read_csr(path, relabel=True, placement="host")
        assert ids.tolist() == [5, 31, 700000000000000]
        assert ids.dtype == np.int64
        same(csr, dense([0, 2, 0], [0, 0, 0], [1, 0, 0]))

    def test_relabel_by_table_and_by_search_agree(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(2)
        edges = rng.integers(0, 50, (400, 2)) * 3 + 7
        small = put(tmp_path, "a.txt", "".join(f"{i} {j}\n" for i, j in edges.tolist()))
        large = put(tmp_path, "b.txt", "".join(f"{i * 10**9} {j * 10**9}\n" for i, j in edges.tolist()))
        (a, few), (b, many) = (read_csr(path, relabel=True, placement="host") for path in (small, large))
        same(a, scipy_of(b))
        np.testing.assert_array_equal(few * 10**9, many)
        np.testing.assert_array_equal(few, np.unique(edges))

    @pytest.mark.parametrize("values", [[1, 2, 4, 8, 16], [200, 100, 1, 1, 1], [1, 1, 1, 1, 1], [0.5, 1.25, 3, 4, 5]])
    @pytest.mark.parametrize("kind", ["coo", "csr", "csc"])
    def test_duplicates_in_npz_are_added_up(self, tmp_path: Path, kind: str, values: list[float]) -> None:
        data = np.array(values, np.float64 if values[0] == 0.5 else np.uint8)
        arrays = {"format": kind, "shape": [3, 3], "data": data}
        first, second = [0, 0, 1, 1, 2], [1, 1, 0, 2, 2]  # twice at (0, 1), and both directions of it
        if kind == "coo":
            np.savez(tmp_path / "a.npz", row=first, col=second, **arrays)
        else:
            np.savez(tmp_path / "a.npz", indptr=[0, 2, 4, 5], indices=second, **arrays)
        expected = sp.load_npz(tmp_path / "a.npz").tocsr()
        expected.sum_duplicates()
        assert expected.nnz == 4
        same(load(tmp_path / "a.npz"), expected)
        same(read_csr(tmp_path / "a.npz", relabel=True, placement="host")[0], expected)
        twice = (1, 0) if kind == "csc" else (0, 1)
        assert scipy_of(load(tmp_path / "a.npz", dup_op="min"))[twice] == min(values[:2])
        both = scipy_of(load(tmp_path / "a.npz", symmetrize=True)).toarray()
        a, b = expected.toarray(), expected.T.toarray()
        np.testing.assert_array_equal(both, np.where((a != 0) & (b != 0), np.minimum(a, b), np.maximum(a, b)))

    @pytest.mark.parametrize("name", ["a.txt", "a.sg", "a.h5", "kron:8", "kron:8?weights=1-99", "star:9"])
    def test_made_weights_are_of_the_numbers_that_vertices_have(self, tmp_path: Path, name: str) -> None:
        path: str | Path = name
        if name.startswith("a."):
            path = tmp_path / name
            convert("kron:8", path)
        weights = None if "weights" in name else "1-99"
        for relabel in (False, True):
            A = scipy_of(read_csr(path, relabel=relabel, weights=weights, placement="host")[0]).tocoo()
            np.testing.assert_array_equal(A.data, hashed(A.row, A.col, parse("1-99")))

    def test_huge_ids_without_relabel_say_what_to_do(self, tmp_path: Path) -> None:
        with pytest.raises(OutOfMemory, match="relabel=True"):
            load(put(tmp_path, "a.txt", "700000000000000 5\n"))

    def test_weights_that_are_left_out(self, tmp_path: Path) -> None:
        csr = load(put(tmp_path, "a.txt", "0 1 5\n"), weights=False)
        assert csr.iso
        assert csr.dtype == "BOOL"
        assert csr.values.read().tolist() == [True]

    def test_a_file_without_weights_is_iso_valued(self, tmp_path: Path) -> None:
        csr = load(put(tmp_path, "a.txt", "0 1\n"))
        assert csr.iso
        assert csr.dtype == "BOOL"
        csr = load(put(tmp_path, "a.txt", "0 1\n"), weights="FP32")
        assert csr.iso
        assert csr.dtype == "FP32"
        assert csr.values.read().tolist() == [1.0]

    @pytest.mark.parametrize(
        ("text", "dtype"),
        [("255", "UINT8"), ("256", "UINT16"), ("65536", "UINT32"), ("4294967296", "INT64"), ("-1", "INT8"),
         ("-129", "INT16"), ("-32769", "INT32"), ("1.5", "FP64"), ("1e3", "FP64"), ("inf", "FP64")],
    )  # fmt: skip
    def test_values_get_the_narrowest_type_on_request(self, tmp_path: Path, text: str, dtype: str) -> None:
        path = put(tmp_path, "a.txt", f"0 1 {text}\n0 2 1\n")
        csr = load(path, weights="narrowest")
        assert csr.dtype == dtype
        assert load(path).dtype == ("FP64" if dtype == "FP64" else "INT64")
        assert csr.values.read()[0] == float(text)

    @pytest.mark.parametrize("suffix", [".mtx", ".txt", ".csv", ".wel", ".gr", ".graph"])
    @pytest.mark.parametrize("gz", ["", ".gz"])
    def test_sums_of_small_whole_numbers_do_not_wrap(self, tmp_path: Path, suffix: str, gz: str) -> None:
        """Sums of weights of 200, which fits UINT8, exceed 255 and do not wrap around."""
        pytest.importorskip("h5py", reason="h5py is not installed")
        texts = {
            ".mtx": MM + "3 3 4\n1 2 200\n2 1 200\n2 3 200\n3 2 200\n",
            ".gr": "p sp 3 4\na 1 2 200\na 2 1 200\na 2 3 200\na 3 2 200\n",
            ".graph": "3 2 001\n2 200\n1 200 3 200\n2 200\n",
        }
        path = put(tmp_path, f"a{suffix}{gz}", texts.get(suffix, "0 1 200\n1 0 200\n1 2 200\n2 1 200\n"))
        A = gb.io.read(path)
        assert A.dtype == "INT64"
        assert A.reduce_scalar("plus").new() == 800
        assert gb.io.read(path, weights="narrowest").dtype == "UINT8"
        gb.io.convert(path, tmp_path / "a.h5", memory="8GB")
        assert gb.io.read(tmp_path / "a.h5").reduce_scalar("plus").new() == 800

    def test_whole_numbers_beyond_int64_are_uint64(self, tmp_path: Path) -> None:
        text = MM.replace("integer", "unsigned-integer") + f"2 2 2\n1 2 {2**64 - 1}\n2 1 7\n"
        csr = load(put(tmp_path, "a.mtx", text))
        assert csr.dtype == "UINT64"
        assert csr.values.read().tolist() == [2**64 - 1, 7]

    def test_values_in_a_type_of_choice(self, tmp_path: Path) -> None:
        csr = load(put(tmp_path, "a.txt", "0 1 5\n"), weights="FP32")
        assert csr.dtype == "FP32"
        assert csr.values.read().tolist() == [5.0]
        csr = load(put(tmp_path, "b.txt", "0 1 -128\n0 2 127.0\n"), weights="INT8")
        assert csr.values.read().tolist() == [-128, 127]
        sp.save_npz(tmp_path / "a.npz", dense([0, 255.0, 7], [1, 0, 0]))
        assert load(tmp_path / "a.npz", weights="UINT8").values.read().tolist() == [255, 7, 1]

    def test_made_weights_are_symmetric_and_in_bounds(self, tmp_path: Path) -> None:
        csr = load("kron:8", weights="hash:8-72")
        values = csr.values.read()
        assert values.min() == 8
        assert values.max() == 72
        assert csr.dtype == "UINT8"
        assert is_symmetric(csr)

    @pytest.mark.parametrize(
        "options",
        [{"weights": "hash:9-1"}, {"weights": "hash:x"}, {"weights": "complex"}, {"dup_op": "minus"},
         {"directed": True, "symmetrize": True}, {"format": "pickle"}],
    )  # fmt: skip
    def test_arguments_that_are_not_understood(self, tmp_path: Path, options: dict[str, Any]) -> None:
        with pytest.raises(InvalidValue, match=str(next(iter(options)))):
            load(put(tmp_path, "a.txt", "0 1 5\n"), **options)

    def test_directed_true_contradicts_an_undirected_format(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidValue, match="directed=True"):
            load(put(tmp_path, "a.graph", "2 1\n2\n1\n"), directed=True)
        with pytest.raises(InvalidValue, match="directed=True"):
            load("kron:4", directed=True)

    def test_a_format_of_choice(self, tmp_path: Path) -> None:
        assert load(put(tmp_path, "graph.dat", "0 1\n"), format="snap").nvals == 1


class TestRange:
    """Integer weights beyond 64 bits are refused, or ignored if weights are not read."""

    @pytest.mark.parametrize("name", ["a.txt", "a.gr"])
    @pytest.mark.parametrize("weights", [(2**63 - 1, 3), (2**63 - 1, -(2**63)), (2**64, 3), (3, -(2**63) - 1)])
    def test_the_largest_weight(self, tmp_path: Path, name: str, weights: tuple[int, int]) -> None:
        mark, head = ("a ", "p sp 3 2\n") if name == "a.gr" else ("", "")
        path = put(tmp_path, name, f"{head}{mark}1 2 {weights[0]}\n{mark}2 1 {weights[1]}\n")
        if weights[1] >= -(2**63) and weights[0] < 2**63:
            assert load(path).values.read().tolist() == list(weights)
            assert load(path).dtype.name == "INT64"
        else:
            with pytest.raises(FileFormatError, match="it must fit 64 bits"):
                load(path)
        for made in (False, "7-7"):
            assert load(path, weights=made).nvals == 2

    @pytest.mark.parametrize("ids", ["9223372036854775807 1 5", "9223372036854775807 1 -5", "9223372036854775808 1 -5"])
    def test_the_largest_id_is_none_but_a_name(self, tmp_path: Path, ids: str) -> None:
        path = put(tmp_path, "a.txt", f"0 1 99999999999999999999\n{ids}\n")
        with pytest.raises(
            FileFormatError, match=r"line 2, column 1 \(character 1\): found the vertex id .*below 2\^63"
        ):
            load(path, weights=False)
        _, names = gb.io.read(path, relabel=True, weights=False)
        assert names.tolist() == ["0", "1", ids.split()[0]]

    def test_fractions_and_large_numbers_are_floats(self, tmp_path: Path) -> None:
        path = put(tmp_path, "a.txt", "0 1 99999999999999999999\n1 0 0.5\n")
        assert load(path).values.read().tolist() == [1e20, 0.5]


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
def test_dense_matrix_market_lists_one_triangle_if_it_is_enough(tmp_path: Path, symmetry: str) -> None:
    D = np.random.default_rng(1).integers(0, 5, (30, 30)).astype(float)
    D = {"general": D, "symmetric": D + D.T, "skew-symmetric": D - D.T}[symmetry]
    scipy.io.mmwrite(tmp_path / "a.mtx", D, symmetry=symmetry)
    np.testing.assert_array_equal(gb.io.read(tmp_path / "a.mtx").to_dense(), D)
    text = (tmp_path / "a.mtx").read_text()
    (tmp_path / "a.mtx").write_text(text[: len(text) // 2])
    with pytest.raises(FileFormatError, match=r"a\.mtx is truncated"):
        gb.io.read(tmp_path / "a.mtx")
