"""Conversion in bounded memory: its peak memory, measured in processes of its own, and too little memory."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsezc as gb
from benchmarks import converting
from benchmarks.micro.hashed_graph import WRITERS, Scattered, Spool
from sparsezc.exceptions import OutOfMemory
from sparsezc.io import _convert
from tests.io.convert.conversions import FORMATS, child, foreign
from tests.io.graphs import load

h5py: Any = pytest.importorskip("h5py", reason="h5py is not installed")


#: VmHWM, as getrusage's peak includes that of the parent process before the fork.
MEASURED = """
import sys
import sparsezc as gb
gb.io.convert(sys.argv[1], sys.argv[2], memory=int(sys.argv[3]), **eval(sys.argv[4]))
lines = open("/proc/self/status").read().splitlines()
print(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024)
"""


def peak(source: Any, target: Path, limit: int, **options: Any) -> int:
    """Return the peak memory, in bytes, of a process that runs one conversion."""
    run = child(MEASURED, source, target, limit, options)
    said = run.communicate(timeout=600)[0]
    assert run.returncode == 0
    return int(said)


def peaks(source: Any, target: Path, limit: int, **options: Any) -> None:
    """Check that the peak memory of a process that runs one conversion is at most 1.1 times its limit."""
    found = peak(source, target, limit, **options)
    print(f"{source}, {options}: {found / limit:.2f} of what was allowed")
    assert found <= 1.1 * limit, f"{found:,} bytes"


SCATTERED = Scattered(17)


@pytest.fixture(scope="module")
def spool(tmp_path_factory: pytest.TempPathFactory) -> Spool:
    """Return a graph of 3.2 million unsorted entries."""
    return Spool.of(SCATTERED, tmp_path_factory.mktemp("spool"))


@pytest.mark.parametrize("kind", ["txt", "mtx", "npz", "h5"])
def test_no_format_is_held_in_memory(spool: Spool, tmp_path: Path, kind: str) -> None:
    """Converting takes at most 100 MB more than for a few entries; sorting all entries at once would take 230 MB."""
    few, many = tmp_path / f"few.{kind}", tmp_path / f"many.{kind}"
    WRITERS[kind](Spool.of(Scattered(12), tmp_path), few)
    WRITERS[kind](spool, many)
    peaks(many, tmp_path / "b.h5", peak(few, tmp_path / "b.h5", 8 * 10**9) + 100_000_000)
    converting.check(SCATTERED, tmp_path / "b.h5")


@pytest.mark.parametrize("name", FORMATS)
def test_more_entries_than_the_memory_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Files are converted with 3 bytes an entry; even the half that an undirected format lists needs 4."""
    monkeypatch.setattr(_convert._Space, "left", lambda _: 40_000)
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
    """Return a graph of 4 million edges: 45 MB of text, and 49 MB of rows."""
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
    """The whole process, with the interpreter, keeps to 160 MB; without a limit it takes 500 MB."""
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
    """A file of 144 MB in 20 of Parquet's row groups is converted within the limit, one group at a time."""
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
    """A file of 4 million unsorted entries (64 MB) keeps to the limit; read as a whole it takes 1 GB."""
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
