"""Checkpoints: one shard a rank, a manifest renamed last, restored by any number of ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparsezc.exceptions import FileFormatError, InvalidObject, InvalidValue
from sparsezc.io.files.source import FileMissing
from sparsezc.io.ranks import checkpoint
from sparsezc.io.ranks.checkpoint import Part
from sparsezc.io.ranks.rank_rows import RankRows
from sparsezc.io.ranks.shards import VectorPart
from tests.io.graphs import load
from tests.io.ranks.blocks import check, read
from tests.io.ranks.threads import ThreadComm, run

RNG = np.random.default_rng(8)
AT = np.flatnonzero(RNG.random(512) < 0.4)
VALUES = RNG.random(AT.size) + 1j


def save(
    folder: Path, size: int, graphs: tuple[str, ...] = ("kron:9?weights=1-9", "grid:4x128"), state: Any = None
) -> Any:
    """Write a checkpoint of graphs of 512 vertices, and of a vector partitioned like the first graph."""
    parts = [read(graph, size) for graph in graphs]

    def one(comm: ThreadComm) -> None:
        objects = {
            graph: Part(part[comm.rank].csr, part[comm.rank].bounds) for graph, part in zip(graphs, parts, strict=True)
        }
        bounds = parts[0][0].bounds
        low, high = np.searchsorted(AT, bounds[comm.rank : comm.rank + 2])
        mine = VectorPart(AT[low:high] - bounds[comm.rank], VALUES[low:high])
        checkpoint.save(folder, objects | {"v": Part(mine, bounds)}, comm, state)

    return run(size, one)


def restore(folder: Path, size: int) -> list[Any]:
    return run(size, lambda comm: checkpoint.restore(folder, comm, "host"))


@pytest.mark.parametrize("written", [1, 3])
def test_any_number_of_ranks_restores(tmp_path: Path, written: int) -> None:
    assert save(tmp_path / "c", written, state={"round": 7}) == [None] * written
    for size in (1, 2, 3, 5):
        found = restore(tmp_path / "c", size)
        for graph in ("kron:9?weights=1-9", "grid:4x128"):
            whole = load(graph)
            check([RankRows(made[graph].data, made[graph].bounds, whole.nvals) for made, _ in found], whole)
        vectors = [(made["v"].data, made["v"].bounds[rank]) for rank, (made, _) in enumerate(found)]
        np.testing.assert_array_equal(np.concatenate([part.positions + first for part, first in vectors]), AT)
        np.testing.assert_array_equal(np.concatenate([part.values for part, _ in vectors]), VALUES)
        assert all(state == {"round": 7} for _, state in found)


def test_a_new_checkpoint_replaces_the_old_one_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path, 2, state=1)
    before = sorted(path.name for path in tmp_path.iterdir())
    write = checkpoint.write

    def full(path: Path, *rest: Any) -> None:
        write(path, *rest)
        if path.name.endswith("-1.h5"):
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(checkpoint, "write", full)
        assert all(isinstance(error, OSError) for error in save(tmp_path, 2, state=2))
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert restore(tmp_path, 3)[2][1] == 1
    save(tmp_path, 3, state=3)
    assert len(list(tmp_path.iterdir())) == 4
    assert restore(tmp_path, 2)[0][1] == 3


def test_damage_is_told_by_all_ranks(tmp_path: Path) -> None:
    save(tmp_path, 2)
    assert {type(error) for error in restore(tmp_path / "none", 2)} == {FileMissing}
    shard = next(tmp_path.glob("shard-*-1.h5"))
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 1
    shard.write_bytes(data)
    assert {type(error) for error in restore(tmp_path, 3)} == {FileFormatError}
    shard.unlink()
    assert all(isinstance(error, FileNotFoundError) for error in restore(tmp_path, 3))
    manifest = tmp_path / checkpoint.MANIFEST
    manifest.write_bytes(manifest.read_bytes().replace(b"kron", b"krom"))
    assert {type(error) for error in restore(tmp_path, 3)} == {FileFormatError}


def test_ranks_with_other_objects_and_odd_states_are_told(tmp_path: Path) -> None:
    def one(comm: ThreadComm) -> None:
        part = Part(VectorPart(np.arange(2), np.arange(2)), np.array([0, 64, 70]))
        checkpoint.save(tmp_path, {"ab"[comm.rank]: part}, comm)

    assert {type(error) for error in run(2, one)} == {InvalidObject}
    assert {type(error) for error in save(tmp_path, 2, state={"x": object()})} == {InvalidValue}
