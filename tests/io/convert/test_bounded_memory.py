"""Conversion in bounded memory: the graph that reading gives, whatever the number of runs; and the memory it takes."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsezc as gb
from benchmarks import converting
from benchmarks.micro.scattered import WRITERS, Scattered, Spool
from sparsezc.cli import main
from sparsezc.errors import DimensionMismatch, FileFormatError, InvalidValue, OutOfMemory
from sparsezc.io import _convert
from sparsezc.io._read import read_csr
from sparsezc.io.build import external_sort, stored_csr
from sparsezc.io.hdf5 import aligned_file, compressing, merge_runs
from sparsezc.memory.csr import Csr
from tests.io.graphs import load

h5py: Any = pytest.importorskip("h5py", reason="h5py is not installed")

ROOT = Path(__file__).resolve().parents[3]
FORMATS = ("a.txt", "a.csv", "a.txt.gz", "a.mtx", "a.gr", "a.graph", "a.sg", "a.wsg", "a.bel", "a.npz", "a.h5")
DUPS = ("min", "max", "plus", "times", "first", "second", "lor", "land", "lxor")


ROOMS = (5_000, 40_000, 1 << 30)  # for many runs, some, and one


@pytest.fixture(params=ROOMS, ids=["many runs", "some runs", "one run"])
def room(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Bytes for sorting: so few that there are many runs, merged in turns."""
    found = int(request.param)
    monkeypatch.setattr(_convert._Room, "left", lambda _: found)
    monkeypatch.setattr(external_sort, "_BLOCK", 4)
    return found


def same(source: Any, folder: Path, **options: Any) -> Csr:
    """The matrix of a conversion in bounded memory, after it was found to be the one that is read."""
    target = folder / "target.h5"
    gb.io.convert(source, target, memory="8GB", **options)
    found, _ = read_csr(target, placement="host", verify=True)
    expected, _ = read_csr(source, placement="host", **options)
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.indices.read(), expected.indices.read())
    np.testing.assert_array_equal(found.values.read(), expected.values.read()[: found.values.count])
    assert (found.nrows, found.ncols, found.dtype) == (expected.nrows, expected.ncols, expected.dtype)
    assert found.symmetric == expected.symmetric
    assert found.iso == expected.iso or not found.nvals
    assert not list(folder.glob(".*"))
    return found


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(tmp_path: Path, room: int, name: str) -> None:
    gb.io.convert("kron:8?weights=1-99", tmp_path / name)
    same(tmp_path / name, tmp_path)
    same(tmp_path / name, tmp_path, weights=False)
    same(tmp_path / name, tmp_path, weights="FP32", symmetrize=True)
    same(tmp_path / name, tmp_path, weights="5-500", relabel=True)


def test_parquet(tmp_path: Path, room: int) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    gb.io.convert("kron:7?weights=1-99", tmp_path / "a.parquet")
    same(tmp_path / "a.parquet", tmp_path)
    same(tmp_path / "a.parquet", tmp_path, symmetrize=True, dup_op="plus")


def foreign(path: Path, A: sp.csr_array, form: str, *, iso: bool = False, **how: Any) -> None:
    """A binsparse file as another program would write it; `how` its arrays lie."""
    if form.startswith("DMAT"):
        flat = (A.toarray().T if form == "DMATC" else A.toarray()).ravel()
        arrays, count = {"values": flat}, flat.size
    else:
        B = A.T.tocsr() if form.endswith("C") else A
        lengths = np.diff(B.indptr)
        some = np.flatnonzero(lengths)
        arrays, count = {"indices_1": B.indices.astype(np.uint32), "values": B.data}, B.nnz
        if form.startswith("COO"):
            arrays["indices_0"] = np.repeat(np.arange(B.shape[0]), lengths)
        elif form.startswith("D"):
            arrays |= {"indices_0": some, "pointers_to_1": np.append(B.indptr[some], count).astype(np.uint64)}
        else:
            arrays["pointers_to_1"] = B.indptr
    kinds = {name: array.dtype.name for name, array in arrays.items()}
    kind = {"bool": "bint8", "complex64": "complex[float32]"}.get(kinds["values"], kinds["values"])
    kinds["values"] = f"iso[{kind}]" if iso else kind
    arrays["values"] = aligned_file.plain(np.ascontiguousarray(arrays["values"][: 1 if iso else None]))
    head = {"version": "0.1", "format": form, "shape": A.shape, "number_of_stored_values": count, "data_types": kinds}
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=array, **how)
        file.attrs["binsparse"] = json.dumps({"binsparse": head})


BINSPARSE = {
    "CSR": "uint8", "CSC": "float32", "COOR": "complex64", "COOC": "bool", "DCSR": "bool", "DCSC": "complex64",
    "DMATR": "complex64", "DMATC": "int16",
}  # fmt: skip


@pytest.mark.parametrize("turn", range(3), ids=["many runs", "some runs", "one run"])
@pytest.mark.parametrize(("form", "dtype"), BINSPARSE.items())
def test_binsparse_by_other_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, dtype: str, turn: int
) -> None:
    """Every form with every option, and both of them in every room: each reading starts a process."""
    monkeypatch.setattr(stored_csr, "CHUNK", 100)
    monkeypatch.setattr(_convert._Room, "left", lambda _: ROOMS[turn])
    monkeypatch.setattr(external_sort, "_BLOCK", 4)
    A = (sp.random_array((40, 40), density=0.3, rng=1, format="csr") * 99).astype(dtype)
    foreign(tmp_path / "a.h5", A, form, chunks=(32,), compression="gzip")
    foreign(tmp_path / "iso.h5", A[:, :30], form, iso=True)
    ways: list[tuple[str, dict[str, Any]]] = [
        ("a.h5", {}),
        ("a.h5", {"weights": False}),
        ("a.h5", {"weights": "5-500", "relabel": True}),
        ("a.h5", {"symmetrize": True, "dup_op": "max"}),
        ("iso.h5", {}),
    ]
    for way, (name, options) in enumerate(ways):
        if (list(BINSPARSE).index(form) + way + turn) % 3 == 0 and not (dtype == "complex64" and "dup_op" in options):
            same(tmp_path / name, tmp_path, **options)


@pytest.mark.parametrize("options", [{}, {"symmetrize": True}, {"dup_op": "plus"}])
def test_duplicates_in_binsparse_are_refused(tmp_path: Path, room: int, options: dict[str, Any]) -> None:
    foreign(tmp_path / "a.h5", sp.csr_array((np.arange(5), [0, 1, 2, 1, 2], [0, 2, 5, 5, 5]), (4, 4)), "COOR")
    with pytest.raises(FileFormatError, match=r"a\.h5: the position \(1, 2\) occurs more than once"):
        gb.io.convert(tmp_path / "a.h5", tmp_path / "b.h5", memory="8GB", **options)
    with pytest.raises(FileFormatError, match=r"a\.h5"):
        gb.io.read(tmp_path / "a.h5", placement="host", **options)


DAMAGE: dict[str, tuple[Callable[[Any], Any], str]] = {
    "id": (lambda file: file["indices_1"].__setitem__(7, 40), r"indices_1\[7\] is 40; ids from 0 to 39 are needed"),
    "count": (
        lambda file: file.__delitem__("indices_0"),
        "a.h5 has the format COOR, and there is no indices_0 in the file",
    ),
    "values": (lambda file: file["values"].resize((9,)), r"values has 9 entries; \d+ are needed"),
    "lengths": (lambda file: file["indices_0"].resize((9,)), r"indices_0 has 9 entries; \d+ are needed"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_binsparse_by_other_programs(tmp_path: Path, damage: str) -> None:
    A = sp.random_array((40, 40), density=0.3, rng=1, format="csr")
    foreign(tmp_path / "a.h5", A, "COOR", chunks=(64,), maxshape=(None,))
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        DAMAGE[damage][0](file)
    with pytest.raises(FileFormatError, match=DAMAGE[damage][1]):
        gb.io.convert(tmp_path / "a.h5", tmp_path / "b.h5", memory="8GB")
    assert not (tmp_path / "b.h5").exists()


@pytest.mark.parametrize("graph", ["kron:9", "urand:8:3?weights=1-9", "grid:31x17", "path:1", "path:300", "star:99"])
def test_made_graphs(tmp_path: Path, room: int, graph: str) -> None:
    same(graph, tmp_path)
    for weights in (None, "5-500"):
        same(graph, tmp_path, relabel=True, weights=weights)


@pytest.mark.parametrize("part", [32, 96, 1 << 15])
@pytest.mark.parametrize("graph", ["kron:7?weights=1-9", "grid:31x17", "path:1", "path:2", "star:99", "a.mtx"])
def test_compressed_ids_are_those_of_a_conversion_in_memory(
    tmp_path: Path, room: int, monkeypatch: pytest.MonkeyPatch, graph: str, part: int
) -> None:
    monkeypatch.setattr(compressing, "_PART", part)
    monkeypatch.setattr(merge_runs, "_STEP", 70)
    source: Any = graph
    if graph == "a.mtx":
        source = tmp_path / graph
        source.write_text(f"{MM}7 4294967296 3\n1 5 1\n1 4294967296 2\n7 3 3\n")
    gb.io.convert(source, tmp_path / "a.h5", memory="8GB", compress=True)
    gb.io.convert(source, tmp_path / "b.h5", compress=True)
    with h5py.File(tmp_path / "a.h5") as found, h5py.File(tmp_path / "b.h5") as expected:
        assert set(found) == set(expected)
        for name in set(found) - {"sparsezc"}:
            np.testing.assert_array_equal(found[name][()], expected[name][()])
        assert json.loads(found.attrs["binsparse"])["binsparse"] == json.loads(expected.attrs["binsparse"])["binsparse"]
    assert load(tmp_path / "a.h5", verify=True).nvals == load(source).nvals
    assert not list(tmp_path.glob(".*"))


def test_ids_that_blocks_cannot_hold_stay_plain(tmp_path: Path, room: int) -> None:
    (tmp_path / "a.mtx").write_text(f"{MM}7 4294967297 2\n1 5 1\n1 4294967297 2\n")
    gb.io.convert(tmp_path / "a.mtx", tmp_path / "a.h5", memory="8GB", compress=True)
    with h5py.File(tmp_path / "a.h5") as found:
        assert found["indices_1"][()].tolist() == [4, 4294967296]


@pytest.mark.parametrize("values", ["none", "whole", "fractions", "mixed"])
@pytest.mark.parametrize("dup_op", DUPS)
def test_duplicates_become_one_by_the_readers_rule(tmp_path: Path, room: int, dup_op: str, values: str) -> None:
    rng = np.random.default_rng(3)
    rows, cols, weights = (rng.integers(0, high, 3000) for high in (30, 40, 9))
    last = {"none": "", "whole": " {}", "fractions": " {}.5", "mixed": " {}"}[values]
    lines = [f"{i} {j}{last.format(w)}" for i, j, w in zip(rows, cols, weights, strict=True)]
    if values == "mixed":  # whole numbers at first, and then a fraction, in a later chunk of the file
        lines = lines[:50] + ["#" * 1000] * 2500 + lines[50:99] + ["1 2 0.25"]
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n")
    for symmetrize in (False, True):
        if values in ("fractions", "mixed") and dup_op in ("plus", "times"):
            close(tmp_path, dup_op, symmetrize)
        else:
            same(tmp_path / "a.txt", tmp_path, dup_op=dup_op, symmetrize=symmetrize)


def close(folder: Path, dup_op: str, symmetrize: bool) -> None:
    """Floating sums depend on their order."""
    options = {"dup_op": dup_op, "symmetrize": symmetrize}
    gb.io.convert(folder / "a.txt", folder / "target.h5", memory="8GB", **options)
    found, expected = load(folder / "target.h5"), load(folder / "a.txt", **options)
    np.testing.assert_array_equal(found.indices.read(), expected.indices.read())
    np.testing.assert_allclose(found.values.read(), expected.values.read(), rtol=1e-12)


def test_ids_of_more_than_32_bits(tmp_path: Path, room: int) -> None:
    rng = np.random.default_rng(4)
    i, j = rng.integers(0, 50, 2000), rng.integers(2**32 - 5, 2**32 + 900, 2000)
    i[:700], j[:700] = i[:700] % 9, j[:700] % 50  # in the first runs none is
    entries = "\n".join(f"{a + 1} {b + 1} {k % 7}" for k, (a, b) in enumerate(zip(i, j, strict=True)))
    (tmp_path / "a.mtx").write_text(f"{MM}60 4294968300 2000\n{entries}\n")
    found = same(tmp_path / "a.mtx", tmp_path, dup_op="second")
    assert found.ncols == 4294968300
    (tmp_path / "a.txt").write_text("\n".join(f"{a} {b}" for a, b in zip(i, j, strict=True)) + "\n")
    same(tmp_path / "a.txt", tmp_path, relabel=True, symmetrize=True)


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_matrix_market_of_every_kind(tmp_path: Path, room: int, symmetry: str, field: str) -> None:
    if (symmetry, field) == ("skew-symmetric", "pattern"):
        pytest.skip("the format has no such files")
    lower = np.tril(np.random.default_rng(5).integers(-9, 9, (30, 30)), -1 if symmetry == "skew-symmetric" else 0)
    i, j = np.nonzero(lower)
    values = [""] * i.size if field == "pattern" else [f" {v}" for v in lower[i, j]]
    lines = [f"{a + 1} {b + 1}{v}" for a, b, v in zip(i, j, values, strict=True)]
    head = f"%%MatrixMarket matrix coordinate {field} {symmetry}\n% a comment\n\n30 30 {len(lines)}\n"
    (tmp_path / "a.mtx").write_text(head + "\n".join(lines))  # without an end of the last line
    same(tmp_path / "a.mtx", tmp_path)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_duplicates_in_scipys_formats(tmp_path: Path, room: int, kind: str) -> None:
    rng = np.random.default_rng(6)
    rows, cols, data = np.repeat(np.arange(40), 50), rng.integers(0, 40, 2000), rng.integers(1, 9, 2000)
    arrays = {"indptr": np.arange(0, 2001, 50), "indices": cols} if kind != "coo" else {"row": rows, "col": cols}
    np.savez(tmp_path / "a.npz", format=kind, shape=[40, 40], data=data, **arrays)
    for options in ({}, {"dup_op": "max"}, {"symmetrize": True}, {"symmetrize": True, "dup_op": "plus"},
                    {"relabel": True, "weights": "1-9"}, {"weights": False}, {"weights": "FP32"}):  # fmt: skip
        same(tmp_path / "a.npz", tmp_path, **options)


def test_whole_numbers_of_more_than_64_bits(tmp_path: Path, room: int) -> None:
    """Real ones are rounded; edge lists that are read without weights may have them."""
    (tmp_path / "a.mtx").write_text(f"{MM.replace('integer', 'real')}3 3 2\n1 2 99999999999999999999\n2 1 5\n")
    same(tmp_path / "a.mtx", tmp_path)
    (tmp_path / "a.txt").write_text("0 1 99999999999999999999\n1 2 9223372036854775807\n")
    same(tmp_path / "a.txt", tmp_path, weights=False)


def test_dense_and_rectangular_matrix_market(tmp_path: Path, room: int) -> None:
    numbers = "\n".join(map(str, range(12)))
    (tmp_path / "a.mtx").write_text(f"%%MatrixMarket matrix array real general\n3 4\n{numbers}\n")
    same(tmp_path / "a.mtx", tmp_path)
    with pytest.raises(DimensionMismatch, match="3 x 4"):
        gb.io.convert(tmp_path / "a.mtx", tmp_path / "b.h5", memory="8GB", symmetrize=True)
    assert not (tmp_path / "b.h5").exists()


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_scipys_formats(tmp_path: Path, room: int, kind: str) -> None:
    sp.save_npz(tmp_path / "a.npz", sp.random_array((40, 70), density=0.2, rng=1, format=kind))
    same(tmp_path / "a.npz", tmp_path)


MM = "%%MatrixMarket matrix coordinate integer general\n"
BAD = {
    "a.txt": ("0 1\n0 two\n", r"a\.txt, line 2, column 2 \(character 3\): found 'two'"),
    "outside.mtx": (f"{MM}3 3 2\n1 1 5\n4 1 5\n", r"line 4, column 1 \(character 1\): found the row 4"),
    "cut.mtx": (f"{MM}3 3 2\n1 1 5\n", "truncated: it has 1 entries"),
    "surplus.mtx": (f"{MM}3 3 1\n1 1 5\n2 2 5\n", "more than the 1 entries"),
    "half.mtx": (f"{MM}3 3 1\n1 1 5.5\n", "the header says integer"),
    "arcs.gr": ("p sp 3 2\na 1 2 3\n", "has 1 arcs; its 'p' line says 2"),
    "onesided.graph": ("3 1\n2 3\n\n\n", "one of its ends only"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_by_name_and_leaves_the_old_file(tmp_path: Path, name: str) -> None:
    content, message = BAD[name]
    (tmp_path / name).write_text(content)
    (tmp_path / "b.h5").write_text("old")
    with pytest.raises(FileFormatError, match=message):
        gb.io.convert(tmp_path / name, tmp_path / "b.h5", memory="8GB")
    assert (tmp_path / "b.h5").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "b.h5"])


def test_arguments_that_make_no_sense(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match=r"for \.h5 targets, not for .*a\.npz"):
        gb.io.convert("kron:4", tmp_path / "a.npz", memory="8GB")
    with pytest.raises(InvalidValue, match=r"memory=.much. is not allowed; a number of bytes"):
        gb.io.convert("kron:4", tmp_path / "a.h5", memory="much")
    with pytest.raises(InvalidValue, match="undirected by its format"):
        gb.io.convert("kron:4", tmp_path / "a.h5", memory="8GB", directed=True)
    with pytest.raises(OutOfMemory, match=r"memory=1,000,000 is too little: .* bytes are in use .* at least"):
        gb.io.convert("kron:4", tmp_path / "a.h5", memory="1MB")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("when", ["runs", "target"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    (tmp_path / "a.h5").write_text("old")

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    if when == "runs":
        monkeypatch.setattr(external_sort.Run, "write", full)
    else:
        monkeypatch.setattr(aligned_file.Filled, "write", full)
    with pytest.raises(OSError, match=r"a\.h5 cannot be written: No space left on device"):
        gb.io.convert("kron:6", tmp_path / "a.h5", memory="8GB")
    assert (tmp_path / "a.h5").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.h5"]


#: VmHWM: getrusage's peak would begin with that of the process that this one was forked from.
MEASURED = """
import sys
import sparsezc as gb
gb.io.convert(sys.argv[1], sys.argv[2], memory=int(sys.argv[3]), **eval(sys.argv[4]))
lines = open("/proc/self/status").read().splitlines()
print(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024)
"""


def child(program: str, *arguments: Any) -> subprocess.Popen[str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip


def peak(source: Any, target: Path, limit: int, **options: Any) -> int:
    """Bytes that a conversion by a process of its own has in memory at most."""
    run = child(MEASURED, source, target, limit, options)
    said = run.communicate(timeout=600)[0]
    assert run.returncode == 0
    return int(said)


def peaks(source: Any, target: Path, limit: int, **options: Any) -> None:
    """A conversion by a process of its own keeps its limit."""
    found = peak(source, target, limit, **options)
    print(f"{source}, {options}: {found / limit:.2f} of what was allowed")
    assert found <= 1.1 * limit, f"{found:,} bytes"


SCATTERED = Scattered(17)


@pytest.fixture(scope="module")
def spool(tmp_path_factory: pytest.TempPathFactory) -> Spool:
    """A graph of 3.2 million entries in no order."""
    return Spool.of(SCATTERED, tmp_path_factory.mktemp("spool"))


@pytest.mark.parametrize("kind", ["txt", "mtx", "npz", "h5"])
def test_no_format_is_held_in_memory(spool: Spool, tmp_path: Path, kind: str) -> None:
    """In 100 MB beside what a few entries take: all of them take 230 MB while they are sorted as a whole."""
    few, many = tmp_path / f"few.{kind}", tmp_path / f"many.{kind}"
    WRITERS[kind](Spool.of(Scattered(12), tmp_path), few)
    WRITERS[kind](spool, many)
    peaks(many, tmp_path / "b.h5", peak(few, tmp_path / "b.h5", 8 * 10**9) + 100_000_000)
    converting.check(SCATTERED, tmp_path / "b.h5")


@pytest.mark.parametrize("name", FORMATS)
def test_more_entries_than_the_memory_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """An undirected format has half of the entries: at 8 bytes each these would take more than is given, too."""
    monkeypatch.setattr(_convert._Room, "left", lambda _: 40_000)
    gb.io.convert("kron:9", tmp_path / name)
    expected = load("kron:9")
    gb.io.convert(tmp_path / name, tmp_path / "b.h5", memory=3 * expected.nvals)
    np.testing.assert_array_equal(load(tmp_path / "b.h5").indices.read(), expected.indices.read())


def test_memory_that_runs_short_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gb.io.convert("kron:8", tmp_path / "a.npz")
    real = zipfile.ZipExtFile.read

    def short(self: zipfile.ZipExtFile, n: int | None = -1) -> bytes:
        if n is not None and n > 1000:
            raise MemoryError
        return real(self, n)

    monkeypatch.setattr(zipfile.ZipExtFile, "read", short)
    for options in ({}, {"memory": "8GB"}):
        with pytest.raises(OutOfMemory, match=r"a\.npz"):
            gb.io.convert(tmp_path / "a.npz", tmp_path / "b.h5", **options)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph of 4 million edges: 45 MB of text, and 49 MB of rows."""
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(6)
    with (folder / "a.txt").open("wb") as file:
        for _ in range(16):
            edges = rng.integers(0, 1 << 17, (1 << 18, 2))
            file.write("\n".join(f"{i} {j} {(i + j) % 200}" for i, j in edges.tolist()).encode() + b"\n")
    gb.io.convert(folder / "a.txt", folder / "a.wsg")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{}, {"weights": False, "symmetrize": True}, {"symmetrize": True, "dup_op": "plus"}, {"compress": True}]
)
@pytest.mark.parametrize("name", ["a.txt", "a.wsg", "kron:17"])
def test_the_peak_is_what_was_allowed(files: Path, tmp_path: Path, name: str, options: dict[str, Any]) -> None:
    """Of the whole process, interpreter and all: in 160 MB, what takes 500 MB otherwise."""
    limit = 160_000_000
    source = name if ":" in name else files / name
    peaks(source, tmp_path / "b.h5", limit, **options)
    found, expected = load(tmp_path / "b.h5"), load(source, **{k: v for k, v in options.items() if k != "compress"})
    with h5py.File(tmp_path / "b.h5") as file:
        assert ("blocks" in file) == options.get("compress", False)
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.indices.read(), expected.indices.read())
    np.testing.assert_array_equal(found.values.read(), expected.values.read())


def test_the_peak_with_parquet_is_what_was_allowed(tmp_path: Path) -> None:
    """The file has 20 row groups and 144 MB; one row group is read at a time."""
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    rng, count = np.random.default_rng(7), 300_000
    schema = pa.schema({"source": pa.int64(), "target": pa.int64(), "weight": pa.float64()})
    with parquet.ParquetWriter(tmp_path / "a.parquet", schema, compression="none", use_dictionary=False) as file:
        for _ in range(20):
            edges = (*rng.integers(0, 1 << 17, (2, count)), rng.random(count))
            file.write_table(pa.table([pa.array(part) for part in edges], schema=schema))
    peaks(tmp_path / "a.parquet", tmp_path / "b.h5", 300_000_000)


def test_the_peak_with_binsparse_by_other_programs_is_what_was_allowed(tmp_path: Path) -> None:
    """4 M entries in no order: the file has 64 MB, and takes 1 GB when it is read as a whole."""
    rows, cols = np.random.default_rng(8).permutation(1 << 22).astype(np.uint32).reshape(1, -1) >> [[9], [0]]
    foreign(tmp_path / "a.h5", sp.csr_array((5, 5)), "COOR")
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        head = json.loads(file.attrs["binsparse"])
        head["binsparse"] |= {"shape": [1 << 13, 1 << 9], "number_of_stored_values": rows.size}
        file.attrs["binsparse"] = json.dumps(head)
        for name, array in (("indices_0", rows), ("indices_1", cols & 511), ("values", rows / 7)):
            del file[name]
            file[name] = array
    peaks(tmp_path / "a.h5", tmp_path / "b.h5", 160_000_000)
    assert load(tmp_path / "b.h5").nvals == rows.size


KILLED = """
import sys
from sparsezc.io.hdf5 import aligned_file
import sparsezc as gb
real = aligned_file.Filled.write
def write(self, part):
    print("go", flush=True)
    sys.stdin.readline()
    real(self, part)
aligned_file.Filled.write = write
gb.io.convert("kron:10", sys.argv[1], memory="8GB")
"""


def test_a_killed_conversion_leaves_the_old_file_and_the_next_one_cleans_up(tmp_path: Path) -> None:
    target = tmp_path / "a.h5"
    target.write_text("old")
    run = child(KILLED, target)
    assert run.stdout is not None
    run.stdout.readline()
    assert len(list(tmp_path.iterdir())) == 2
    run.send_signal(signal.SIGKILL)
    run.communicate()
    assert target.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2
    gb.io.convert("kron:10", target, memory="8GB")
    assert [each.name for each in tmp_path.iterdir()] == ["a.h5"]
    assert load(target).nvals == load("kron:10").nvals


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("10 20 5\n20 10 6\n10 30 7\n")
    target = tmp_path / "a.h5"
    assert main(["convert", str(tmp_path / "a.txt"), str(target), "--memory", "8GB", "--relabel", "--symmetrize"]) == 0
    assert "3 vertices, 4 edges, symmetric" in capsys.readouterr().out
    assert gb.io.read(target, placement="host").to_dicts() == {0: {1: 5, 2: 7}, 1: {0: 5}, 2: {0: 7}}
    assert main(["convert", "kron:11", str(target), "--memory", "8GB", "--compress"]) == 0
    assert " bits each, " in capsys.readouterr().out
    assert main(["convert", "kron:5", str(tmp_path / "a.npz"), "--memory", "8GB"]) == 1
    assert "is for .h5 targets" in capsys.readouterr().err


def test_checksums_of_the_source_are_compared_first(tmp_path: Path) -> None:
    gb.io.convert("kron:9", tmp_path / "a.h5")
    gb.io.convert(tmp_path / "a.h5", tmp_path / "b.h5", memory="8GB", verify=True)
    with pytest.raises(InvalidValue, match="has no checksums"):
        gb.io.convert("kron:9", tmp_path / "b.h5", memory="8GB", verify=True)


def test_ids_that_are_too_many_to_number_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_convert._Room, "left", lambda _: 1000)
    monkeypatch.setattr(_convert.edge_list, "BLOCK", 10)
    with pytest.raises(OutOfMemory, match=r"relabel=True holds [\d,]+ ids in memory"):
        gb.io.convert("kron:9", tmp_path / "b.h5", memory="8GB", relabel=True)


def test_progress_says_what_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels: list[tuple[str, int]] = []
    real = external_sort.bar

    def noted(total: int, label: str, unit: str) -> Any:
        labels.append((label, total))
        return real(total, label, unit)

    monkeypatch.setattr(external_sort, "bar", noted)
    gb.io.convert("kron:8", tmp_path / "b.h5", memory="8GB")
    (first, count), (second, again) = labels
    assert (first, second, count) == ("counting edges", "writing b.h5", again)
    assert count >= load(tmp_path / "b.h5").nvals


@pytest.mark.parametrize("memory", [True, -1, 0, 0.5, "abc", "0.5", "1.5"])
def test_memory_is_a_number_of_bytes(tmp_path: Path, memory: Any) -> None:
    with pytest.raises(InvalidValue, match=rf"memory={memory!r} is not allowed; a number of bytes"):
        gb.io.convert("path:3", tmp_path / "a.h5", memory=memory)


def test_an_empty_name_is_refused_in_either_way(tmp_path: Path) -> None:
    for memory in (None, "8GB"):
        with pytest.raises(InvalidValue, match="the name of the graph is empty"):
            gb.io.convert("", tmp_path / "a.h5", memory=memory)


def test_what_is_no_name_is_refused_by_its_argument(tmp_path: Path) -> None:
    A: Any = gb.Matrix.from_coo([0], [1], [2])
    for call in (lambda: gb.io.read(A), lambda: gb.io.convert(A, tmp_path / "a.h5")):
        with pytest.raises(TypeError, match="the name of the graph is a Matrix; a str or a path is needed"):
            call()
    target = "the name of the file to write is a Matrix; a str or a path is needed"
    for memory in (None, "8GB"):
        with pytest.raises(TypeError, match=target):
            gb.io.convert("path:3", A, memory=memory)
    with pytest.raises(TypeError, match=target):
        gb.io.write("a.mtx", A)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["compress", "verify"])
def test_flags_are_true_or_false(tmp_path: Path, name: str) -> None:
    for value in ("foo", "yes", 1, None):
        with pytest.raises(InvalidValue, match=rf"{name}={value!r} is not allowed; True or False is needed"):
            gb.io.convert("path:3", tmp_path / "a.h5", **{name: value})
    with pytest.raises(InvalidValue, match=r"'yes' is not allowed"):
        gb.io.write(gb.io.read("path:3"), tmp_path / "a.h5", compress="yes")
    gb.io.convert("path:3", tmp_path / "a.h5")
    for flag in ("verify", "symmetrize", "relabel", "directed"):
        with pytest.raises(InvalidValue, match=rf"{flag}='no' is not allowed"):
            gb.io.read(tmp_path / "a.h5", **{flag: "no"})
        for memory in (None, "8GB"):
            with pytest.raises(InvalidValue, match=rf"{flag}='no' is not allowed"):
                gb.io.convert("path:3", tmp_path / "b.h5", memory=memory, **{flag: "no"})
