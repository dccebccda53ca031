"""Bad input raises an error with the file, the line, the text found and the requirement."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsezc as gb
from sparsezc.exceptions import DimensionMismatch, FileFormatError, GraphblasException, InvalidValue
from tests.io.graphs import load

MM = "%%MatrixMarket matrix coordinate integer general\n"
BAD = {
    # name: (content, a pattern of the message)
    "empty.txt": ("", "empty"),
    "comments.txt": ("# nothing\n\n", "holds no edges"),
    "negative.txt": ("0 1\n3 -4\n", r"line 2, column 2 \(character 3\): found the vertex id '-4'; ids start at 0"),
    "overflow.txt": (
        "0 1\n\n3 99999999999999999999\n",
        r"line 3, column 2 \(character 3\): .*'99999999999999999999'.*below 2\^63",
    ),
    "market.txt": (
        "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n",
        r"line 1: .*format='mtx'.*--format mtx",
    ),
    "edge-of-int64.txt": ("0 9223372036854775807\n", r"line 1, column 2 \(character 3\): .*below 2\^63"),
    "fraction.txt": ("0 1\n1.5 2\n", r"line 2, column 1 \(character 1\): found '1\.5'; a whole number"),
    "word.txt": ("0 1\n0 two\n", r"line 2, column 2 \(character 3\): found 'two'; a whole number"),
    "signs.txt": ("0 1\n++3 2\n", r"line 2, column 1 \(character 1\): found '\+\+3'; a whole number"),
    "weight.txt": (
        "0 1 5\n0 2 heavy\n",
        r"line 2, column 3 \(character 5\): found 'heavy'; a number is needed as the weight",
    ),
    "braces.txt": ("0 1\n1 2 {'weight': 3}\n", "line 2: found attributes in braces, as NetworkX's write_edgelist"),
    "braces.csv": ("0,1,{}\n", r"line 1: found attributes in braces.* data=False"),
    "pandas.csv": (",source,target\n0,4,5\n", r"line 1: found the column names ',source,target'.*source_col="),
    "one-column.txt": ("# c\n5\n", r"line 2: found 1 column; 2 or 3"),
    "four-columns.txt": ("1 2 3 4\n", r"line 1: found 4 columns"),
    "ragged.txt": ("0 1 5\n1 2 6\n1 2\n", r"line 3: found 2 columns; 3 are needed"),
    "ragged-balanced.txt": ("0 1\n1\n2 3 4\n", r"line 2: found 1 column; 2"),
    "page.csv": ("<!DOCTYPE html>\n<html>", r"line 1: found an HTML page, as a server sends for a wrong address"),
    "pointer.csv": ("version https://git-lfs.github.com/spec/v1\n", "line 1: found a pointer of Git LFS; git lfs pull"),
    "binary.txt": (bytes(range(256)) * 3, r"line \d+: found"),
    "hidden.csv": ("u,v\n0,1\nx,2\n", r"line 3, column 1 \(character 1\): found 'x'"),
    "names.csv": ("a,b\n0,1\n", r"line 1: found the column names 'a,b'; one each of source/src.* is needed"),
    "third.csv": ("# hi\nsrc,dst,time\n0,1,5\n", r"line 2: found the column names 'src,dst,time'"),
    "twice.csv": ("u,from\n0,1\n", r"line 1: found the column names 'u,from'"),
    "alone.tsv": ("u\tweight\n0\t1\n", r"line 1: found the column names 'u\\tweight'"),
    "after.csv": ("0,1,\n1,2,3\n", r"line 1: found '0,1,'; a number is needed on both sides of a comma"),
    "after-windows.csv": ("0,1\r\n1,2,\r\n", r"line 2: found '1,2,'; a number is needed"),
    "between.csv": ("0,1\n0, ,1\n", r"line 2: found '0, ,1'; a number is needed"),
    "before.csv": ("0,1\n# c\n ,1,2\n", r"line 3: found ',1,2'; a number is needed"),
    "not-gzip.txt.gz": (b"0 1\n", "not gzip data"),
    "cut.txt.gz": (gzip.compress(b"0 1\n" * 1000)[:-12], "truncated"),
    "broken.txt.gz": (
        gzip.compress(np.random.default_rng(1).bytes(5000))[:2000] + b"x" * 3000,
        r"cannot be unpacked|truncated|line",
    ),
    "cut.mtx": (MM + "3 3 3\n1 1 5\n2 2 6\n", "cut.mtx"),
    "short.mtx": ("%%MatrixMarket", "short.mtx"),
    "huge-count.mtx": (MM + "3 3 999999999999999\n1 1 5\n", "more than it can hold"),
    "oblong.mtx": (MM.replace("general", "symmetric") + "3 2 1\n2 1 5\n", r"oblong.mtx .*symmetric.*3 x 2.*square"),
    "oblong-skew.mtx": (MM.replace("general", "skew-symmetric") + "2 3 1\n2 1 5\n", "skew-symmetric.*2 x 3.*square"),
    "outside.mtx": (MM + "3 3 1\n4 1 5\n", r"line 3, column 1 \(character 1\): .*out of bounds"),
    "zero.mtx": (MM + "3 3 1\n0 1 5\n", r"line 3, column 1 \(character 1\): .*out of bounds"),
    "surplus.mtx": (MM + "3 3 1\n1 1 5\n2 2 5\n", "line|surplus.mtx"),
    "no-banner.mtx": ("1 1 1\n1 1 5\n", r"line 1: found b'1 1 1"),
    "complex.mtx": ("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 5 6\n", "complex"),
    "cut.mtx.gz": (gzip.compress((MM + "1 1 1\n1 1 5\n").encode())[:-5], "truncated"),
    "no-p.gr": ("a 1 2 3\n", "before the line 'p sp"),
    "nothing.gr": ("c hello\n", "no line 'p sp"),
    "bad-p.gr": ("p max 3 1\na 1 2 3\n", r"line 1: found 'p max 3 1'"),
    "two-p.gr": ("p sp 3 1\np sp 3 1\na 1 2 3\n", r"line 2: found a second"),
    "outside.gr": ("p sp 3 2\na 1 2 3\na 1 4 3\n", r"line 3, column 2 \(character 5\): found an id above 3"),
    "zero.gr": ("p sp 3 1\na 0 2 3\n", r"line 2, column 1 \(character 3\): .*ids start at 1"),
    "count.gr": ("p sp 3 2\na 1 2 3\n", "has 1 arcs; its 'p' line says 2"),
    "letter.gr": ("p sp 3 1\ne 1 2 3\n", r"line 2: found 'e 1 2 3'"),
    "bare.gr": ("p sp 3 1\n1 2 3\n", r"line 2: found '1 2 3'"),
    "columns.gr": ("p sp 3 1\na 1 2\n", r"line 2: found 2 columns"),
    "huge.gr": ("p sp 3 99999999999\na 1 2 3\n", "more than it can hold"),
    "header.graph": ("x y\n", r"line 1: found 'x y'; the header"),
    "format.graph": ("2 1 7\n2\n1\n", r"line 1: found the format '7'"),
    "short.graph": ("4 1\n2\n1\n", "truncated: it has lines for 2 of the header's 4"),
    "long.graph": ("2 1\n2\n1\n1\n", r"line 4: found a line more"),
    "outside.graph": ("% c\n2 1\n3\n1\n", r"line 3, column 1 \(character 1\): found the neighbour 3"),
    "count.graph": ("2 2\n2\n1\n", "lists 2 neighbours; its header says 2 edges"),
    "onesided.graph": ("3 1\n2 3\n\n\n", r"vertex 1 lists 2, but 2 does not list 1"),
    "uneven.graph": ("2 1 001\n2 5\n1 6\n", "different weights"),
    "odd.graph": ("2 1 001\n2\n1 6\n", r"line 2: found 1 numbers"),
    "word.graph": ("2 1\n2\nx\n", r"line 3, column 1 \(character 1\): found 'x'"),
    "mark.sg": (struct.pack("<?qq2qi", True, 1, 1, 0, 1, 0).replace(b"\x01", b"\x07", 1), "directed mark 7"),
    "cut.sg": (struct.pack("<?qq2q", False, 1, 1, 0, 1), "needs 37"),
    "tiny.sg": (b"\0abc", "truncated in its header"),
    "count.sg": (struct.pack("<?qq2qi", False, 2**50, 1, 0, 1, 0), "needs"),
    "offsets.sg": (struct.pack("<?qq3q2i", False, 2, 2, 0, 5, 2, 0, 1), "fall from 5 to 2 after row 1"),
    "end.sg": (struct.pack("<?qq2qi", False, 1, 1, 0, 3, 0), "the offsets end at 3; the header says 1"),
    "outside.sg": (struct.pack("<?qq2qi", False, 1, 1, 0, 1, 4), r"entry 0 has the column id 4; 0 to 0"),
    "cut.sg.gz": (gzip.compress(struct.pack("<?qq2qi", False, 1, 1, 0, 1, 0))[:-5], "truncated"),
    "sum.sg.gz": (gzip.compress(struct.pack("<?qq2qi", False, 1, 1, 0, 1, 0))[:-8] + bytes(8), "damaged"),
    "negative.sg": (struct.pack("<?qq2qi", False, 1, 1, 0, 1, -4), r"entry 0 has the column id -4"),
    "more.txt": ("# 3 x 3, 1 entries\n0 1\n1 2\n", "has 2 entries; its first line says 1"),
    "fewer.txt": ("# 3 x 3, 3 entries\n0 1\n1 2\n", "has 2 entries; its first line says 3"),
    "none.txt": ("# 3 x 3, 3 entries\n", "has 0 entries; its first line says 3"),
    "row.txt": (
        "# 2 x 9, 2 entries\n0 1\n2 2\n",
        r"line 3, column 1 \(character 1\): found the row 2; the first line says 2 x 9",
    ),
    "column.txt": (
        "# 9 x 2, 2 entries\n0 1\n1 2\n",
        r"line 3, column 2 \(character 3\): found the column 2; the first line says 9 x 2",
    ),
    "last.txt": ("# 30 x 30, 2 entries\n0 1\n1 2", "line 3: .*truncated: its last line has no end"),
    "last.mtx": (MM + "%%GraphBLAS type int64_t\n3 3 2\n1 1 5\n2 2 1", "truncated: its last line has no end"),
    "last.gr": ("c written by sparsezc\np sp 3 1\na 1 2 3", "line 3: .*truncated: its last line has no end"),
    "digits.gr": (f"p sp 3 {'9' * 5000}\na 1 2 3\n", "line 1: .*is needed"),
    "digits.graph": (f"3 {'9' * 5000}\n2\n1\n\n", "line 1: .*is needed"),
    "format-digits.graph": (f"2 1 {'1' * 17000}\n2\n1\n", "line 1: .*is needed"),
    "weights.graph": (f"2 1 011 {'9' * 20}\n2\n1\n", "line 2: found 1 numbers"),
    "digits.mtx": (MM + f"3 3 {'9' * 5000}\n1 1 5\n", r"line 2: three sizes below 2\^63 are needed; found '3 3 9999"),
    "word.mtx": (MM + "% sizes\n3 x 1\n1 1 5\n", "line 3: three sizes below .* found '3 x 1'"),
    "digits.txt": (f"0 {'9' * 17000}\n", r"line 1, column 2 \(character 3\): .*below 2\^63"),
    "escape.mtx": (MM + "3 3 1\n1 1 \x1b[2J\n", "line 3"),
    "escape.txt": ("0 1 \x1b[2J\n", "line 1"),
    "long-word.mtx": (MM + f"3 3 1\n1 1 {'x' * 17000}\n", "line 3"),
    "long-line.txt": ("0 1\n" + "1" * 1_100_000 + "\n", "line 2: found a line of more than 1,048,576 bytes"),
    "long-line.csv": ("0,1\n" + " " * 2_100_000 + "\n", "line 2: found a line of more than 1,048,576 bytes"),
    "long-line.gr": ("c" * 1_100_000, "line 1: found a line of more than 1,048,576 bytes"),
    "long-line.mtx": (MM + "%" * 1_100_000 + "\n1 1 1\n1 1 5\n", "line 2: found a line of more than 1,048,576 bytes"),
    "endless.mtx": (MM + "1 1 1\n1 1 " + "5" * 1_100_000, "line 3: found a line of more than 1,048,576 bytes"),
    "text.npz": ("hello\n", "not a .npz"),
    "unknown.xyz": ("0 1\n", r"'\.xyz' is not known; known are .*\.mtx.*kron:16"),
    "none": ("0 1\n", "not known"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_by_name(tmp_path: Path, name: str) -> None:
    content, message = BAD[name]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FileFormatError, match=message) as caught:
        load(path)
    assert name in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert len(str(caught.value)) < 400 + len(str(path))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("name", ["a.txt", "a.mtx", "a.gr", "a.graph", "a.txt.gz"])
@pytest.mark.parametrize("memory", [None, "8GB"])
def test_a_file_of_ours_that_is_cut_is_refused_wherever_it_is_cut(
    tmp_path: Path, name: str, memory: str | None
) -> None:
    A = gb.Matrix.from_coo([0, 1, 1, 10, 11, 12], [1, 0, 10, 1, 12, 11], [10, 10, 20, 20, 30, 30], nrows=13, ncols=13)
    gb.io.write(A, tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    for kept in range(len(whole) - 1, 0, -1 if memory is None else -29):
        (tmp_path / name).write_bytes(whole[:kept])
        if name == "a.graph" and kept == len(whole) - 1:  # only the last newline is missing
            assert gb.io.read(tmp_path / name).isequal(A)
            continue
        with pytest.raises(FileFormatError, match=name):
            gb.io.convert(tmp_path / name, tmp_path / "a.h5", memory=memory)


def test_gzip_data_that_unpack_to_more_than_any_graph_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    part = gzip.compress(b"\n" * (64 << 20))
    path.write_bytes(gzip.compress(b"0 1\n") + part)
    with pytest.raises(FileFormatError, match=r"a\.txt\.gz unpacks to more than 256 times its size.*gunzip"):
        load(path)


def test_gzip_data_of_many_small_members(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(b"".join(gzip.compress(b"%d %d\n" % (i, i + 1)) for i in range(2000)) + bytes(2_500))
    assert load(path).nvals == 2000


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.txt") as caught:
        load(tmp_path / "nowhere.txt")
    assert isinstance(caught.value, GraphblasException)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere.unknown")
    with pytest.raises(IsADirectoryError, match="folder"):
        load(tmp_path, format="snap")
    with pytest.raises(FileNotFoundError, match=r"a\.bel\.col"):
        load(tmp_path / "a.bel")


@pytest.mark.parametrize(
    "name",
    ["kron:", "kron:-1", "kron:x", "kron:33", "kron:99999999999999", "kron:10:0", "kron:10:x", "kron:10?size=3",
     "kron:10?seed=x", "kron:10?weights=5", "urand:1e3", "grid:3", "grid:0x4", "grid:99999999x99999999", "path:0",
     "star:"],
)  # fmt: skip
def test_names_of_made_graphs_that_make_no_sense(name: str) -> None:
    with pytest.raises(InvalidValue, match=name.partition(":")[0]):
        load(name)


@pytest.mark.parametrize(
    ("given", "offered"),
    [("sum", "; did you mean 'plus'?"), ("last", "; did you mean 'second'?"), ("mean", ""), (gb.binary.minus, "")],
)
def test_operators_that_merge_nothing(given: Any, offered: str) -> None:
    """Unusable operators are refused; a name used by other libraries gets the suggestion of ours."""
    with pytest.raises(InvalidValue) as error:
        load("path:3", dup_op=given)
    assert f"dup_op={given!r} cannot merge duplicates{offered}; choose one of min, max, plus" in str(error.value)


def test_nan_among_duplicates_has_no_order(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("0 1 nan\n0 1 2.5\n1 1 nan\n")
    with pytest.raises(InvalidValue, match=r"\(0, 1\) occurs more than once .* NaN"):
        load(path)
    assert np.isnan(load(path, dup_op="first").values.read()).all()
    path.write_text("0 1 nan\n1 1 2.5\n")
    assert np.isnan(load(path).values.read()[0])


def test_a_rectangle_has_no_both_directions(tmp_path: Path) -> None:
    path = tmp_path / "a.mtx"
    path.write_text(MM + "2 3 1\n1 3 5\n")
    assert load(path).ncols == 3
    with pytest.raises(DimensionMismatch, match="2 x 3"):
        load(path, symmetrize=True)


class TestNpz:
    """SciPy's archives that were damaged, and archives of no sparse matrix."""

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"indptr": np.array([0, 1])}, "indptr has 2 entries; 3 are needed"),
            ({"indptr": np.array([0, 1, 3])}, "indptr ends at 3"),
            ({"indptr": np.array([0, 3, 2])}, "fall from 3 to 2"),
            ({"indptr": np.array([1, 1, 2])}, "first offset is 1"),
            ({"indptr": np.array([0.0, 1, 2])}, "dtype float64"),
            ({"indices": np.array([0, 2])}, "column id 2"),
            ({"indices": np.array([0, -1])}, "column id -1"),
            ({"data": np.array([1])}, "data has 1 entries; 2 are needed"),
            ({"data": np.array(["a", "b"])}, "the values have dtype <U1; the types are BOOL"),
            ({"data": np.array([1, 2], "m8[s]")}, "the values have dtype timedelta64"),
            ({"data": np.zeros(2, [("a", "i4")])}, "the values have dtype"),
            ({"data": np.array(["a", "b"], object)}, "Python objects"),
            ({"format": np.array(b"bsr")}, "format is 'bsr'"),
            ({"shape": np.array([2])}, "shape"),
            ({"shape": np.array([2, -2])}, "shape"),
            ({"format": None}, "no array 'format'"),
        ],
    )
    def test_arrays_that_do_not_fit(self, tmp_path: Path, change: dict, message: str) -> None:
        arrays = {"indptr": np.array([0, 1, 2]), "indices": np.array([0, 1]), "data": np.array([1, 2]),
                  "format": np.array(b"csr"), "shape": np.array([2, 2])} | change  # fmt: skip
        np.savez(tmp_path / "a.npz", **{key: value for key, value in arrays.items() if value is not None})
        with pytest.raises(FileFormatError, match=message):
            load(tmp_path / "a.npz")

    @pytest.mark.parametrize("compressed", [False, True])
    def test_every_damaged_byte_is_noticed_or_harmless(self, tmp_path: Path, compressed: bool) -> None:
        matrix = sp.csr_array(np.arange(1, 10).reshape(3, 3))
        whole = io.BytesIO()
        sp.save_npz(whole, matrix, compressed=compressed)
        data = whole.getvalue()
        path = tmp_path / "a.npz"
        for at in range(0, len(data), 7):
            path.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
            try:
                csr = load(path)
            except FileFormatError:
                continue
            assert csr.values.read().tolist() == matrix.data.tolist()

    def test_a_header_whose_brackets_stay_open(self, tmp_path: Path) -> None:
        path = tmp_path / "a.npz"
        sp.save_npz(path, sp.csr_array(np.arange(1, 10).reshape(3, 3)))
        with zipfile.ZipFile(path) as whole:
            members = {name: whole.read(name) for name in whole.namelist()}
        assert b"(9,)" in members["indices.npy"]
        with zipfile.ZipFile(path, "w") as damaged:  # the archive's checksums are right
            for name, data in members.items():
                damaged.writestr(name, data.replace(b"(9,)", b"(9,("))
        with pytest.raises(FileFormatError, match=r"a\.npz"):
            load(path)

    @pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
    def test_a_cut_file(self, tmp_path: Path, share: float) -> None:
        path = tmp_path / "a.npz"
        sp.save_npz(path, sp.random_array((50, 50), density=0.2, rng=1))
        path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
        with pytest.raises(FileFormatError, match=r"a\.npz"):
            load(path)


class TestBel:
    """EMOGI's files with contradictory counts."""

    def put(self, folder: Path, offsets: list[int], ids: list[int], values: list[int] | None = None) -> Path:
        for ending, numbers, form in ((".col", offsets, "<u8"), (".dst", ids, "<u8"), (".val", values, "<u4")):
            if numbers is not None:
                head = np.array([len(numbers), 0], "<u8").tobytes()
                (folder / f"a.bel{ending}").write_bytes(head + np.array(numbers, form).tobytes())
        return folder / "a.bel"

    def test_good_ones(self, tmp_path: Path) -> None:
        path = self.put(tmp_path, [0, 1, 2], [1, 0], [7, 9])
        assert load(path).values.read().tolist() == [7, 9]
        assert load(tmp_path / "a.bel.dst").nvals == 2
        (tmp_path / "a.bel.val").write_bytes(b"")
        assert load(path).iso
        (tmp_path / "a.bel.val").unlink()
        assert load(path).iso

    @pytest.mark.parametrize("kept", [1, 8, 16, 20])
    def test_weights_that_are_cut_are_not_left_out(self, tmp_path: Path, kept: int) -> None:
        path = self.put(tmp_path, [0, 1, 2], [1, 0], [7, 9])
        values = tmp_path / "a.bel.val"
        values.write_bytes(values.read_bytes()[:kept])
        with pytest.raises(FileFormatError, match=r"a\.bel\.val"):
            load(path)

    @pytest.mark.parametrize(
        ("offsets", "ids", "values", "message"),
        [
            ([0, 1, 3], [1, 0], None, "has 2 ids; the offsets of the .col end at 3"),
            ([0, 1, 2], [1, 5], None, "column id 5"),
            ([0, 1, 2], [1, 0], [7], "has 1 weights; the graph has 2"),
            ([], [], None, "bytes for 0 offsets"),
        ],
    )
    def test_bad_ones(self, tmp_path: Path, offsets: list, ids: list, values: list | None, message: str) -> None:
        with pytest.raises(FileFormatError, match=message):
            load(self.put(tmp_path, offsets, ids, values))

    def test_a_folder_or_an_empty_file_in_the_place_of_one(self, tmp_path: Path) -> None:
        path = self.put(tmp_path, [0, 1, 2], [1, 0])
        (tmp_path / "a.bel.val").mkdir()
        with pytest.raises(IsADirectoryError, match=r"a\.bel\.val is a folder"):
            load(path)
        (tmp_path / "a.bel.val").rmdir()
        (tmp_path / "a.bel.dst").write_bytes(b"")
        with pytest.raises(FileFormatError, match=r"a\.bel\.dst is empty"):
            load(path)

    def test_a_size_that_fits_no_width(self, tmp_path: Path) -> None:
        path = self.put(tmp_path, [0, 1, 2], [1, 0])
        (tmp_path / "a.bel.dst").write_bytes((tmp_path / "a.bel.dst").read_bytes()[:-3])
        with pytest.raises(FileFormatError, match=r"a\.bel\.dst has 29 bytes"):
            load(path)


def test_odd_white_space_in_metis_files_is_refused(tmp_path: Path) -> None:
    for odd in (b"\v", b"\f"):
        (tmp_path / "a.graph").write_bytes(b"2 1\n2" + odd + b"\n1\n")
        with pytest.raises(FileFormatError, match=r"a\.graph, line 2"):
            load(tmp_path / "a.graph")
