"""Files that several ranks read or write over MPI: rows of a .h5, text by bytes, a common .h5, checkpoints."""

from __future__ import annotations

import re
import tempfile
import tracemalloc
from pathlib import Path

import pytest
from mpi4py import MPI

import sparsezc as gb
from sparsezc.exceptions import FileFormatError, InvalidObject, InvalidValue, OutOfMemory

COMM = MPI.COMM_WORLD
GRAPH = "kron:9?weights=1-255"
_BESIDE = 3_400_000  # bytes beside a rank's rows: offsets, and pieces, which the test makes small


def _folder() -> Path:
    return Path(COMM.bcast(tempfile.mkdtemp() if COMM.rank == 0 else None))


def _made(name: str, **options: bool) -> Path:
    return _made_of(GRAPH, name, **options)


def _made_of(graph: str, name: str, **options: bool) -> Path:
    path = _folder() / name
    if COMM.rank == 0:
        gb.io.convert(graph, path, **options)
    COMM.Barrier()
    return path


def _check(path: Path | str) -> None:
    A, whole = gb.io.read(path, comm=COMM), gb.io.read(path)
    assert A._engine.name == "distributed"
    assert A._symmetric == whole._symmetric
    assert A.to("cpu").isequal(whole, check_dtype=True)
    assert gb.algorithms.sssp(A, 1).to("cpu").isequal(gb.algorithms.sssp(whole, 1))


def check_rows_of_a_file() -> None:
    for compress in (False, True):
        _check(_made("a.h5", compress=compress))


def check_text_and_generated_graphs() -> None:
    for name in ("a.txt", "a.mtx"):
        _check(_made(name))
    _check(GRAPH)


def check_one_file_of_all_ranks() -> None:
    text, target = _made("a.tsv"), _folder() / "b.h5"
    gb.io.convert(text, target, comm=COMM)
    whole = gb.io.read(target, verify=True)
    assert whole.isequal(gb.io.read(text), check_dtype=True)
    _check(target)


def check_errors_are_those_of_all_ranks() -> None:
    path = _folder() / "a.txt"
    large, mixed = (path.with_name(name) for name in ("large.txt", "mixed.txt"))
    if COMM.rank == 0:
        path.write_text("1 2\n" * 99 + "1 x\n")
        large.write_text("1 2\n" * 99 + "1 9999999999999\n")
        mixed.write_text(f"1 2 {2**63}\n" * 50 + "1 2 -200000000000000000\n" * 50)
    COMM.Barrier()
    for call, kind in (
        (lambda: gb.io.read(path, comm=COMM), FileFormatError),
        (lambda: gb.io.read(large, comm=COMM), OutOfMemory),
        (lambda: gb.io.read(mixed, comm=COMM), FileFormatError),
        (lambda: gb.io.read(GRAPH, comm=COMM, relabel=True), InvalidValue),
        (lambda: gb.io.convert(path, path.with_suffix(".mtx"), comm=COMM), InvalidValue),
        (lambda: gb.io.read(GRAPH, comm=COMM, weights=("pattern" if COMM.rank else None)), InvalidValue),
        (lambda: gb.io.convert(GRAPH, path.with_name(f"{COMM.rank}.h5"), comm=COMM), InvalidObject),
    ):
        with pytest.raises(kind) as raised:
            call()
        assert len(set(COMM.allgather(str(raised.value)))) == 1
        if kind in (FileFormatError, OutOfMemory):
            assert re.search(r"a\.txt, line 100|large\.txt: ids reach|mixed\.txt.* found the weight", str(raised.value))


def check_a_checkpoint() -> None:
    A, place = gb.io.read(GRAPH, comm=COMM), _folder()
    objects = {"A": A, "v": gb.algorithms.sssp(A, 1), "few": gb.io.read("path:5", comm=COMM)}
    gb.io.save_checkpoint(place, objects, {"round": 3})
    found, state = gb.io.restore_checkpoint(place, comm=COMM, placement="host")
    whole, _ = gb.io.restore_checkpoint(place, placement="host")
    assert state == {"round": 3}
    assert found["A"]._symmetric
    for name, each in objects.items():
        assert found[name]._engine.name == "distributed"
        for restored in (found[name], whole[name]):
            assert restored.to("cpu").isequal(each.to("cpu"), check_dtype=True)
    assert gb.algorithms.sssp(found["A"], 1).isequal(found["v"])


def check_memory_is_that_of_a_share() -> None:
    """With small pieces, reading takes little memory beside the rank's rows: no rank ever has the whole."""
    graph, held = "kron:15", []
    paths = [_made_of(graph, "a.h5"), _made_of(graph, "b.h5", compress=True), _made_of(graph, "c.npz")]
    small = {"stored_rows._PART": 1 << 14, "exchange._ROUND": 1 << 13, "reading._MEMORY": 1 << 20}
    small["edge_spool._MEMORY"] = 1 << 19
    with pytest.MonkeyPatch.context() as patch:
        for name, value in small.items():
            patch.setattr(f"sparsezc.io.ranks.{name}", value)
        for path in (*paths, graph):
            tracemalloc.start()
            A = gb.io.read(path, comm=COMM)
            held.append((tracemalloc.get_traced_memory()[1], str(path)))
            tracemalloc.stop()
    whole, share = 8 * A.nvals, 8 * A._store.local.nvals  # ids of 8 bytes
    assert share < whole * 0.52
    for peak, name in held:
        assert peak < share + _BESIDE, (peak, share, name)
    assert whole > share + _BESIDE


def check_few_rows() -> None:
    A = gb.io.read("path:5", comm=COMM)
    assert A.to("cpu").isequal(gb.io.read("path:5"))
