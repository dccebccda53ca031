"""Matrices in a mapped file, which the CPU engine's loops read in place; it may exceed the memory."""

from __future__ import annotations

import errno
import tracemalloc
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.cli import main
from sparsezc.memory.mapped import PAGE, MappedBuffer
from tests.algorithms.graphs import csr, matrix

pytest.importorskip("h5py", reason="h5py is not installed")
pytest.importorskip("numba", reason="numba compiles the loops")

alg = gb.algorithms
SHORT = "40kB"  # between the loops' own arrays and the whole graphs
#: Calls that loops compute in the file; the graph's values are lengths.
IN_PLACE = {
    "levels": lambda A: alg.bfs(A, 1),
    "parents": lambda A: alg.bfs_parents(A, 1),
    "distances": lambda A: alg.sssp(A, 1),
    "components": alg.connected_components,
    "ranks": lambda A: alg.pagerank(A, tol=1e-9),
    "correlation of degrees": lambda A: gb.Vector.from_dense([alg.degree_assortativity(A)]),
    "ranks by weight": lambda A: alg.pagerank(A, tol=1e-9, weighted=True),
}


def directed() -> gb.Matrix:
    rng = np.random.default_rng(7)
    return matrix(csr(300, rng.integers(0, 300, (4000, 2)), rng.integers(1, 9, 4000)))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    gb.io.write(directed().dup("FP64"), tmp_path / "a.h5")
    return tmp_path / "a.h5"


@pytest.mark.parametrize("kind", ["FP64", "INT64", bool])
def test_loops_read_the_file_where_it_is(tmp_path: Path, kind: Any) -> None:
    whole = directed().dup(kind) if kind is not bool else gb.io.read("kron:9")
    gb.io.write(whole, tmp_path / "a.h5")
    with gb.config.set(host_budget=SHORT, fallback="error"):
        A = gb.io.read(tmp_path / "a.h5")
        assert (A._engine.name, A.nvals, A.dtype) == ("file", whole.nvals, whole.dtype)
        assert A._symmetric == whole._symmetric
        assert repr(A) == (
            f"<Matrix {A.name}: {A.nrows} x {A.ncols}, {A.nvals:,} entries in {tmp_path}/a.h5 of {A.dtype}, on file>"
        )
        calls = IN_PLACE.copy()
        if kind == "INT64":  # weights in another type than the loop's are converted
            with pytest.raises(gb.exceptions.OutOfMemory, match=r"'onward' .* 64 bytes .* of another type, needs 50,"):
                calls.pop("ranks by weight")(A)
        found = {what: call(A) for what, call in calls.items()}
        assert A._engine.name == "file"
    for what, call in calls.items():
        right = call(whole)
        if what == "parents":  # any neighbour one level nearer is a valid parent
            i, parent = found[what].to_coo()
            level = found["levels"].to_dense(-1)
            assert i.size == right.nvals
            i, parent = i[i != 1], parent[i != 1]
            assert (level[i] == level[parent] + 1).all()
            assert all(whole.get(p, v) is not None for v, p in zip(i, parent, strict=True))
        else:
            assert found[what].isclose(right, rel_tol=1e-9, check_dtype=True), what


@pytest.mark.parametrize(("kind", "monoid"), [("FP64", "plus"), ("FP64", "min"), ("INT8", "plus"), (bool, "lor")])
def test_values_are_reduced_piece_by_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Any, monoid: str
) -> None:
    monkeypatch.setattr("sparsezc.engines.cpu.file_engine._PIECE", 1000)
    whole = directed().dup(kind)
    gb.io.write(whole, tmp_path / "a.h5")
    A = gb.io.read(tmp_path / "a.h5", placement="mapped")
    left, right = (x.reduce_scalar(monoid).new() for x in (A, whole))
    assert (left.value, left.dtype) == (right.value, right.dtype)
    assert A._engine.name == "file"
    A.clear()
    assert A.reduce_scalar(monoid).new().value is None


def test_statements_move_it_to_memory(file: Path) -> None:
    whole, x = directed().dup("FP64"), gb.Vector.from_dense(np.arange(300.0))

    def fresh() -> gb.Matrix:
        return gb.io.read(file, placement="mapped")

    pairs: list[tuple[Any, Any]] = [
        (fresh().mxv(x).new(), whole.mxv(x).new()),
        (fresh().T.new(), whole.T.new()),
        (fresh().reduce_rowwise("plus").new(), whole.reduce_rowwise("plus").new()),
        (fresh().dup("INT8"), whole.dup("INT8")),
        (fresh().to("cpu"), whole),
        (fresh().ewise_add(fresh()).new(), whole.ewise_add(whole).new()),
        (fresh().diag(), whole.diag()),
    ]
    A, B = fresh(), fresh()
    A.resize(100, 200)
    B(B.S, replace=True) << fresh().apply("ainv")
    for other in (A, B):
        assert other.nvals
    A.to_csr()[2][:] = 0  # changes a copy only
    small = whole.dup()
    small.resize(100, 200)
    pairs += [(A, small), (B, whole.apply("ainv").new())]
    for left, right in pairs:
        assert left.isequal(right, check_dtype=True)
    assert gb.to_graphblas(fresh()).isequal(gb.to_graphblas(whole))
    assert alg.triangle_count(fresh()) == alg.triangle_count(whole)
    A = fresh()
    A.clear()
    assert (A.nvals, alg.bfs(A, 3).to_dict()) == (0, {3: 0})


def test_memory_that_statements_need_is_named(file: Path) -> None:
    with gb.config.set(host_budget=SHORT):
        A = gb.io.read(file)
        with pytest.raises(
            gb.exceptions.OutOfMemory, match=rf"{A.name} stays in its file, .* needs 6.,... bytes .* 40,0"
        ):
            A.mxm(A).new()
        assert alg.bfs(A, 1).nvals
    assert A.mxm(A).new().nvals  # under the default budget


def test_a_search_takes_the_memory_of_its_vectors(tmp_path: Path) -> None:
    gb.io.convert("kron:14", tmp_path / "a.h5")
    A = gb.io.read(tmp_path / "a.h5", placement="mapped")
    alg.bfs(A, 1)  # loads modules and machine code first
    A = gb.io.read(tmp_path / "a.h5", placement="mapped")
    tracemalloc.start()
    try:
        alg.bfs(A, 1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * A.nrows < 2 * A.nvals
    said = r"'levels' .* 20 bytes for each of 16,384 rows, needs 327,680"
    with gb.config.set(host_budget=20 * A.nrows - 1), pytest.raises(gb.exceptions.OutOfMemory, match=said):
        alg.bfs(A, 1)


def test_a_system_without_memory_for_a_file_is_no_damage(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def memmap(*_: object) -> NoReturn:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(np, "memmap", memmap)
    monkeypatch.setattr("sparsezc.memory.mapped.PAGE", 1)
    with pytest.raises(
        gb.exceptions.OutOfMemory, match=r"a\.h5 cannot be mapped: the system has too little memory, or a l"
    ):
        gb.io.read(file, placement="mapped")


def test_damage_is_found_before_a_loop_reads_it(file: Path) -> None:
    content = bytearray(file.read_bytes())
    with gb.config.set(host_budget=SHORT):
        A = gb.io.read(file)
        place = A._store.csr.indices
        at = content.index(place.array.tobytes())
        content[at + 5000] ^= 1
        file.write_bytes(content)
        A = gb.io.read(file)
        with pytest.raises(gb.exceptions.FileFormatError, match=r"checksum of indices_1"):
            alg.bfs(A, 1)


def test_values_are_compared_when_a_loop_reads_them(file: Path) -> None:
    content = bytearray(file.read_bytes())
    at = content.index(gb.io.read(file, placement="mapped")._store.csr.values.array.tobytes())
    content[at + 5000] ^= 1
    file.write_bytes(content)
    A = gb.io.read(file, placement="mapped")
    assert alg.bfs(A, 1).nvals > 1
    with pytest.raises(gb.exceptions.FileFormatError, match=r"checksum of values"):
        alg.sssp(A, 1)


def test_searches_tell_the_system_not_to_read_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, set[bool]] = {}
    original = MappedBuffer.expect

    def watched(self: MappedBuffer, *, jumps: bool) -> None:
        told.setdefault(what, set()).add(jumps)
        original(self, jumps=jumps)

    monkeypatch.setattr(MappedBuffer, "expect", watched)
    gb.io.convert("kron:12", tmp_path / "a.h5")
    A = gb.io.read(tmp_path / "a.h5", placement="mapped")
    assert A._store.csr.indices.nbytes >= PAGE  # smaller arrays are read, not mapped
    for what, call in IN_PLACE.items():  # noqa: B007
        call(A)
    assert told == {name: {name in ("levels", "parents", "distances")} for name in IN_PLACE}


def test_compressed_ids_are_read_into_memory(tmp_path: Path) -> None:
    gb.io.convert("kron:9", tmp_path / "a.h5", compress=True)
    assert gb.io.read(tmp_path / "a.h5", placement="mapped")._engine.name == "cpu"
    with gb.config.set(host_budget=SHORT), pytest.raises(gb.exceptions.OutOfMemory, match=r"placement 'host' needs"):
        gb.io.read(tmp_path / "a.h5")


def test_the_command_line_searches_a_file(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("bfs", "pagerank", "cc"):
        assert main([command, str(file), "--host-budget", SHORT]) == 0
        told = capsys.readouterr().out
        assert main([command, str(file), "--engine", "cpu", "--placement", "mapped"]) == 0
        assert "file, mapped memory" in told
        assert "file, mapped memory" in capsys.readouterr().out
