"""Files of several ranks over MPI: rows of a .h5, text by bytes, one .h5 of all, checkpoints; against the whole."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from mpi4py import MPI

import sparsezc as gb
from sparsezc.errors import FileFormatError, InvalidValue

COMM = MPI.COMM_WORLD
GRAPH = "kron:9?weights=1-255"


def _folder() -> Path:
    return Path(COMM.bcast(tempfile.mkdtemp() if COMM.rank == 0 else None))


def _made(name: str, **options: bool) -> Path:
    path = _folder() / name
    if COMM.rank == 0:
        gb.io.convert(GRAPH, path, **options)
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
    if COMM.rank == 0:
        path.write_text("1 2\n" * 99 + "1 x\n")
    COMM.Barrier()
    for call, kind in (
        (lambda: gb.io.read(path, comm=COMM), FileFormatError),
        (lambda: gb.io.read(GRAPH, comm=COMM, relabel=True), InvalidValue),
        (lambda: gb.io.convert(path, path.with_suffix(".mtx"), comm=COMM), InvalidValue),
    ):
        with pytest.raises(kind) as raised:
            call()
        assert len(set(COMM.allgather(str(raised.value)))) == 1


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


def check_few_rows() -> None:
    A = gb.io.read("path:5", comm=COMM)
    assert A.to("cpu").isequal(gb.io.read("path:5"))
