"""Conversion in bounded memory: the graph that `read` gives, for any number of sorted runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsezc as gb
from sparsezc.cli import main
from sparsezc.exceptions import DimensionMismatch, InvalidValue
from sparsezc.io import _convert
from sparsezc.io.build import external_sort, stored_csr
from sparsezc.io.hdf5 import compressing, merge_runs
from tests.io.convert.conversions import FORMATS, MM, SPACES, foreign, same
from tests.io.graphs import load

h5py: Any = pytest.importorskip("h5py", reason="h5py is not installed")


DUPS = ("min", "max", "plus", "times", "first", "second", "lor", "land", "lxor")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(tmp_path: Path, space: int, name: str) -> None:
    gb.io.convert("kron:8?weights=1-99", tmp_path / name)
    same(tmp_path / name, tmp_path)
    same(tmp_path / name, tmp_path, weights=False)
    same(tmp_path / name, tmp_path, weights="FP32", symmetrize=True)
    same(tmp_path / name, tmp_path, weights="5-500", relabel=True)


def test_parquet(tmp_path: Path, space: int) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    gb.io.convert("kron:7?weights=1-99", tmp_path / "a.parquet")
    same(tmp_path / "a.parquet", tmp_path)
    same(tmp_path / "a.parquet", tmp_path, symmetrize=True, dup_op="plus")


BINSPARSE = {
    "CSR": "uint8", "CSC": "float32", "COOR": "complex64", "COOC": "bool", "DCSR": "bool", "DCSC": "complex64",
    "DMATR": "complex64", "DMATC": "int16",
}  # fmt: skip


@pytest.mark.parametrize("turn", range(3), ids=["many runs", "some runs", "one run"])
@pytest.mark.parametrize(("form", "dtype"), BINSPARSE.items())
def test_binsparse_by_other_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, dtype: str, turn: int
) -> None:
    """Every form converts with each option and each space for sorting, in a third of the combinations only."""
    monkeypatch.setattr(stored_csr, "CHUNK", 100)
    monkeypatch.setattr(_convert._Space, "left", lambda _: SPACES[turn])
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


@pytest.mark.parametrize("graph", ["kron:9", "urand:8:3?weights=1-9", "grid:31x17", "path:1", "path:300", "star:99"])
def test_made_graphs(tmp_path: Path, space: int, graph: str) -> None:
    same(graph, tmp_path)
    for weights in (None, "5-500"):
        same(graph, tmp_path, relabel=True, weights=weights)


@pytest.mark.parametrize("part", [32, 96, 1 << 15])
@pytest.mark.parametrize("graph", ["kron:7?weights=1-9", "grid:31x17", "path:1", "path:2", "star:99", "a.mtx"])
def test_compressed_ids_are_those_of_a_conversion_in_memory(
    tmp_path: Path, space: int, monkeypatch: pytest.MonkeyPatch, graph: str, part: int
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


def test_ids_that_blocks_cannot_hold_stay_plain(tmp_path: Path, space: int) -> None:
    (tmp_path / "a.mtx").write_text(f"{MM}7 4294967297 2\n1 5 1\n1 4294967297 2\n")
    gb.io.convert(tmp_path / "a.mtx", tmp_path / "a.h5", memory="8GB", compress=True)
    with h5py.File(tmp_path / "a.h5") as found:
        assert found["indices_1"][()].tolist() == [4, 4294967296]


@pytest.mark.parametrize("values", ["none", "whole", "fractions", "mixed"])
@pytest.mark.parametrize("dup_op", DUPS)
def test_duplicates_become_one_by_the_readers_rule(tmp_path: Path, space: int, dup_op: str, values: str) -> None:
    rng = np.random.default_rng(3)
    rows, cols, weights = (rng.integers(0, high, 3000) for high in (30, 40, 9))
    last = {"none": "", "whole": " {}", "fractions": " {}.5", "mixed": " {}"}[values]
    lines = [f"{i} {j}{last.format(w)}" for i, j, w in zip(rows, cols, weights, strict=True)]
    if values == "mixed":  # integers first, a fraction in a later edge chunk
        lines = lines[:50] + ["#" * 1000] * 2500 + lines[50:99] + ["1 2 0.25"]
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n")
    for symmetrize in (False, True):
        if values in ("fractions", "mixed") and dup_op in ("plus", "times"):
            close(tmp_path, dup_op, symmetrize)
        else:
            same(tmp_path / "a.txt", tmp_path, dup_op=dup_op, symmetrize=symmetrize)


def close(folder: Path, dup_op: str, symmetrize: bool) -> None:
    """Compare a conversion with `load` up to rounding, as floating-point sums depend on their order."""
    options = {"dup_op": dup_op, "symmetrize": symmetrize}
    gb.io.convert(folder / "a.txt", folder / "target.h5", memory="8GB", **options)
    found, expected = load(folder / "target.h5"), load(folder / "a.txt", **options)
    np.testing.assert_array_equal(found.indices.read(), expected.indices.read())
    np.testing.assert_allclose(found.values.read(), expected.values.read(), rtol=1e-12)


def test_ids_of_more_than_32_bits(tmp_path: Path, space: int) -> None:
    rng = np.random.default_rng(4)
    i, j = rng.integers(0, 50, 2000), rng.integers(2**32 - 5, 2**32 + 900, 2000)
    i[:700], j[:700] = i[:700] % 9, j[:700] % 50  # the first sorted runs have no id of 2^32 or more
    entries = "\n".join(f"{a + 1} {b + 1} {k % 7}" for k, (a, b) in enumerate(zip(i, j, strict=True)))
    (tmp_path / "a.mtx").write_text(f"{MM}60 4294968300 2000\n{entries}\n")
    found = same(tmp_path / "a.mtx", tmp_path, dup_op="second")
    assert found.ncols == 4294968300
    (tmp_path / "a.txt").write_text("\n".join(f"{a} {b}" for a, b in zip(i, j, strict=True)) + "\n")
    same(tmp_path / "a.txt", tmp_path, relabel=True, symmetrize=True)


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_matrix_market_of_every_kind(tmp_path: Path, space: int, symmetry: str, field: str) -> None:
    if (symmetry, field) == ("skew-symmetric", "pattern"):
        pytest.skip("the format has no such files")
    lower = np.tril(np.random.default_rng(5).integers(-9, 9, (30, 30)), -1 if symmetry == "skew-symmetric" else 0)
    i, j = np.nonzero(lower)
    values = [""] * i.size if field == "pattern" else [f" {v}" for v in lower[i, j]]
    lines = [f"{a + 1} {b + 1}{v}" for a, b, v in zip(i, j, values, strict=True)]
    head = f"%%MatrixMarket matrix coordinate {field} {symmetry}\n% a comment\n\n30 30 {len(lines)}\n"
    (tmp_path / "a.mtx").write_text(head + "\n".join(lines))  # the last line has no newline
    same(tmp_path / "a.mtx", tmp_path)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_duplicates_in_scipys_formats(tmp_path: Path, space: int, kind: str) -> None:
    rng = np.random.default_rng(6)
    rows, cols, data = np.repeat(np.arange(40), 50), rng.integers(0, 40, 2000), rng.integers(1, 9, 2000)
    arrays = {"indptr": np.arange(0, 2001, 50), "indices": cols} if kind != "coo" else {"row": rows, "col": cols}
    np.savez(tmp_path / "a.npz", format=kind, shape=[40, 40], data=data, **arrays)
    for options in ({}, {"dup_op": "max"}, {"symmetrize": True}, {"symmetrize": True, "dup_op": "plus"},
                    {"relabel": True, "weights": "1-9"}, {"weights": False}, {"weights": "FP32"}):  # fmt: skip
        same(tmp_path / "a.npz", tmp_path, **options)


def test_whole_numbers_of_more_than_64_bits(tmp_path: Path, space: int) -> None:
    """Weights beyond 64 bits are rounded in real matrices, and ignored in edge lists read without weights."""
    (tmp_path / "a.mtx").write_text(f"{MM.replace('integer', 'real')}3 3 2\n1 2 99999999999999999999\n2 1 5\n")
    same(tmp_path / "a.mtx", tmp_path)
    (tmp_path / "a.txt").write_text("0 1 99999999999999999999\n1 2 9223372036854775807\n")
    same(tmp_path / "a.txt", tmp_path, weights=False)


def test_dense_and_rectangular_matrix_market(tmp_path: Path, space: int) -> None:
    numbers = "\n".join(map(str, range(12)))
    (tmp_path / "a.mtx").write_text(f"%%MatrixMarket matrix array real general\n3 4\n{numbers}\n")
    same(tmp_path / "a.mtx", tmp_path)
    with pytest.raises(DimensionMismatch, match="3 x 4"):
        gb.io.convert(tmp_path / "a.mtx", tmp_path / "b.h5", memory="8GB", symmetrize=True)
    assert not (tmp_path / "b.h5").exists()


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_scipys_formats(tmp_path: Path, space: int, kind: str) -> None:
    sp.save_npz(tmp_path / "a.npz", sp.random_array((40, 70), density=0.2, rng=1, format=kind))
    same(tmp_path / "a.npz", tmp_path)


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
