"""Edges by ranks: each reads a range of bytes or generates a part, and sends edges to the ranks of their rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.exceptions import FileFormatError, InvalidObject, OutOfMemory, PerformanceWarning
from sparsezc.io.files.source import Span
from sparsezc.io.ranks import edge_spool, exchange
from sparsezc.io.ranks.text_ranges import line_start
from tests.io.graphs import load
from tests.io.ranks.blocks import check, convert, read, source
from tests.io.ranks.threads import run


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit the memory, so that edges are spooled to disk and exchanged in many rounds."""
    monkeypatch.setattr(exchange, "_ROUND", 50)
    monkeypatch.setattr(edge_spool, "_MEMORY", 1000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made, rng = tmp_path_factory.mktemp("edges"), np.random.default_rng(5)
    i, j = rng.integers(0, 190, (2, 700))
    weights = rng.integers(1, 9, 700)
    lines = [f"{a} {b} {w}\n" for a, b, w in zip(i, j, weights, strict=True)]
    (made / "list.txt").write_text("# a comment\n" * 30 + "".join(lines) + "5 6 7")  # no line end
    (made / "named.csv").write_text("dst,src,cost\n" + "".join(lines).replace(" ", ","))
    (made / "late.txt").write_text("".join(f"{k} {k + 1}\n" for k in range(150)) + f"{2**33} 5\n")
    A = gb.Matrix.from_coo(i, j, rng.random(700), nrows=190, ncols=190, dup_op="min")
    for name in ("a.tsv", "a.mtx"):
        gb.io.write(A, made / name)
    S = gb.io.read("kron:7?weights=1-255")
    for name in ("s.mtx", "s.gr"):
        gb.io.write(S, made / name)
    return made


FILES = ("list.txt", "named.csv", "a.tsv", "a.mtx", "s.mtx", "s.gr")
OPTIONS: tuple[dict[str, Any], ...] = (
    {}, {"symmetrize": True}, {"weights": False}, {"weights": "hash:3-70"},
    {"dup_op": "first"}, {"dup_op": "second", "symmetrize": True}, {"dup_op": "plus", "weights": "FP32"},
)  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", FILES)
def test_ranks_read_what_one_reads(folder: Path, small: None, name: str, options: dict[str, Any]) -> None:
    whole = load(folder / name, **options)
    for size in (2, 3):
        check(read(folder / name, size, **options), whole)


@pytest.mark.parametrize(
    "text", ["0 1\n", "source,target\r\n0,1\r\n1,2\r\n", "# a comment\n" * 40 + "0 1\n1 2\n", "\ufeff0 1\n1 2\n2 3\n"]
)
def test_ranks_may_have_no_edge(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text.replace(" ", "," if "#" not in text else " ").encode())
    for size in (2, 3):
        check(read(path, size), load(path))


@pytest.mark.parametrize("graph", ["kron:7", "urand:7?weights=1-9", "grid:11x13", "path:200", "star:99"])
def test_generated_graphs_are_made_by_parts(tmp_path: Path, graph: str) -> None:
    whole = load(graph)
    for size in (1, 3):
        check(read(graph, size), whole)
    assert convert(graph, tmp_path / "a.h5", 3) == [None] * 3
    check(read(tmp_path / "a.h5", 2), whole)


@pytest.mark.parametrize("name", FILES)
def test_all_ranks_write_one_file(folder: Path, tmp_path: Path, small: None, name: str) -> None:
    target = tmp_path / "a.h5"
    assert convert(folder / name, target, 3) == [None] * 3
    made, whole = gb.io.read(target, verify=True, placement="host"), gb.io.read(folder / name, placement="host")
    assert made.isequal(whole, check_dtype=True)
    assert made._symmetric == whole._symmetric
    assert [path.name for path in tmp_path.iterdir()] == ["a.h5"]


def test_the_folder_of_a_new_file_is_looked_for_first(folder: Path, tmp_path: Path) -> None:
    found = convert(folder / "list.txt", tmp_path / "none" / "a.h5", 2)
    assert all(
        isinstance(error, FileNotFoundError) and f"the folder {tmp_path / 'none'} does not exist" in str(error)
        for error in found
    )


def test_no_file_is_left_where_a_rank_fails(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sparsezc.io.ranks.shared_file.os.pwrite", full)
    found = convert(folder / "list.txt", tmp_path / "a.h5", 2)
    assert all(isinstance(error, OSError) and "No space left" in str(error) for error in found)
    assert not list(tmp_path.iterdir())


def test_lines_are_cut_at_their_starts(tmp_path: Path) -> None:
    path, text = tmp_path / "a.txt", b"".join(b"%d\n" % 10 ** (k % 5) for k in range(300))
    path.write_bytes(text)
    for at in range(0, len(text) + 1, 7):
        start = line_start(path, at)
        assert start == len(text) or (start >= at and text[start - 1 : start] in (b"\n", b""))
        assert b"".join(chunk.data for chunk in Span(start, len(text), 1).lines(path, size=11)) == text[start:]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2\n" * 400 + "1 x\n" + "1 2\n" * 30, "line 401, column 2 (character 3): found 'x'"),
        ("1 2\n" * 400 + "1 2 3\n" + "1 2\n" * 30, "line 401: found 3 columns; 2 are needed"),
        ("# 9 x 9, 400 entries\n" + "1 2\n" * 399, "its first line says 400"),
        ("# nothing\n" * 100, "holds no edges"),
    ],
)
def test_wrong_lines_have_their_number_in_the_file(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.txt").write_text(text)
    found = read(tmp_path / "a.txt", 3)
    assert {isinstance(error, FileFormatError) for error in found} == {True}
    assert len({str(error) for error in found}) == 1
    assert message in str(found[0])


def test_too_large_ids_stop_all_ranks(folder: Path) -> None:
    with gb.config.set(host_budget="1GB"):
        found = read(folder / "late.txt", 2, weights=False)
    assert {type(error) for error in found} == {OutOfMemory}
    assert "budget" in str(found[0])


def test_a_file_that_changes_between_openings_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from threading import current_thread

    from sparsezc.io.ranks import text_ranges

    state, first = text_ranges.state, []
    monkeypatch.setattr(
        text_ranges, "state", lambda path: (state(path)[0], first.append(current_thread()) or len(first))
    )
    found = read(folder / "list.txt", 3)
    assert {type(error) for error in found} == {InvalidObject}
    assert "not the same file for all ranks" in str(found[0])


@pytest.mark.parametrize("name", ["a.txt.gz", "a.npz", "a.graph", "a.wsg.gz"])
def test_what_is_read_from_its_start_one_rank_reads_for_all(
    folder: Path, tmp_path: Path, small: None, name: str
) -> None:
    gb.io.convert(folder / ("s.gr" if name[2] in "gw" else "list.txt"), tmp_path / name)
    for options in ({}, {"symmetrize": True, "dup_op": "plus"}):
        with pytest.warns(PerformanceWarning, match="one rank reads for all"):
            found = read(tmp_path / name, 3, **options)
        check(found, load(tmp_path / name, **options))
    with pytest.warns(PerformanceWarning):
        assert convert(tmp_path / name, tmp_path / "b.h5", 2) == [None] * 2
    check(read(tmp_path / "b.h5", 2), load(tmp_path / name))


@pytest.mark.parametrize("name", ["a.sg", "a.wsg", "s.sg", "s.wsg", "a.bel", "s.bel", "a.parquet"])
def test_stored_rows_are_read_by_ranges(folder: Path, tmp_path: Path, small: None, name: str) -> None:
    gb.io.convert(folder / ("s.gr" if name[0] == "s" else "list.txt"), tmp_path / name)
    for options in OPTIONS:
        whole = load(tmp_path / name, **options)
        for size in (2, 3):
            check(read(tmp_path / name, size, **options), whole)


def test_ranks_read_their_row_groups_and_compare_only_these(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    from sparsezc.io.formats import parquet_checksums

    rng = np.random.default_rng(3)
    path, count = tmp_path / "a.parquet", 600_000
    table = pa.table({name: rng.integers(0, 3000, count) for name in ("source", "target")})
    parquet.write_table(table, path, row_group_size=100_000, use_dictionary=False, compression="none")
    parquet_checksums.seal(path)
    whole = load(path)
    check(read(path, 3), whole)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    compared: list[int] = []
    sums = parquet_checksums._sum
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet_checksums, "_sum", lambda *given: compared.append(given[1]) or sums(*given))
        found = read(path, 3)
    assert {isinstance(error, FileFormatError) for error in found} == {True}
    assert "rank 1" in str(found[0])
    assert len(compared) <= len(data) // 2**20 + 4  # no rank compares the whole file


def test_an_undirected_file_must_list_both_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.sg"
    gb.io.write(gb.io.read("path:200"), path)
    data = bytearray(path.read_bytes())
    data[-4:] = (5).to_bytes(4, "little")
    path.write_bytes(data)
    found = read(path, 2)
    assert {isinstance(error, FileFormatError) for error in found} == {True}
    assert "is marked undirected" in str(found[0])
    data[-4:] = (200).to_bytes(4, "little")
    path.write_bytes(data)
    assert "ids from 0 to 199 are needed" in str(read(path, 2)[0])
    data[17 + 8 * 100 : 17 + 8 * 101] = (3).to_bytes(8, "little")
    path.write_bytes(data)
    assert "must ascend from 0 to 398" in str(read(path, 2)[0])


def test_ranks_with_different_arguments_are_told(folder: Path) -> None:
    def one(comm: Any) -> None:
        from sparsezc.io.ranks import reading

        asked = source(folder / "list.txt", weights=None if comm.rank else False)
        reading.read_rank_rows(asked, lambda: load(asked.path), comm)

    found = run(2, one)
    assert {type(error) for error in found} == {InvalidObject}
    assert "the ranks' arguments differ: rank 0 has" in str(found[0])
