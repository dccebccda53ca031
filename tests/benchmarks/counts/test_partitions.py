"""Counts of exchanged bytes equal those found entry by entry with Python sets."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import partitions as command
from benchmarks.model import partitions
from sparsezc.io._read import read_csr

GRAPHS = ("kron:8", "urand:8", "grid:16x20")


def cut(graph: str, parts: int) -> partitions.Cut:
    csr, _ = read_csr(graph, placement="host", weights=False)
    return partitions.cut(csr.indptr, csr.indices.read().astype(np.int64), parts)


def pairs(graph: partitions.Cut, active: np.ndarray | None) -> list[tuple[int, int]]:
    chosen = range(graph.n) if active is None else np.flatnonzero(active)
    return [(i, int(j)) for i in chosen for j in graph.indices[graph.indptr[i] : graph.indptr[i + 1]]]


def packed(count: int, width: int, value: int) -> int:
    return value * count + (0 if count == width else min(4 * count, -(-width // 8)))


def results(graph: partitions.Cut, made: dict[int, set[int]], value: int) -> np.ndarray:
    """Return the bytes received by each owner, from the sets of results that the ranks compute."""
    owner, sizes = graph.owner, np.diff(graph.bounds)
    found = np.zeros(graph.parts)
    for maker, vertices in made.items():
        for rank in range(graph.parts):
            count = sum(int(owner[v]) == rank for v in vertices)
            found[rank] += packed(count, int(sizes[rank]), value) * (rank != maker)
    return found


@pytest.mark.parametrize("value", [0, 8])
@pytest.mark.parametrize("parts", [2, 4])
@pytest.mark.parametrize("name", GRAPHS)
def test_counts_are_those_of_sets(name: str, parts: int, value: int) -> None:
    graph = cut(name, parts)
    active = None if value else np.arange(graph.n) % 3 == 0
    owner, sizes = graph.owner, np.diff(graph.bounds)
    entries = pairs(graph, active)
    there = [int((owner[active] == rank).sum()) if active is not None else int(sizes[rank]) for rank in range(parts)]

    sent = [packed(there[rank], int(sizes[rank]), value) for rank in range(parts)]
    np.testing.assert_array_equal(
        partitions.gathered(graph, active, value).received, [sum(sent) - sent[rank] for rank in range(parts)]
    )
    made: dict[int, set[int]] = {rank: set() for rank in range(parts)}
    for i, j in entries:
        made[int(owner[i])].add(j)
    np.testing.assert_array_equal(partitions.pushed(graph, active, value).received, results(graph, made, value))

    needed: dict[int, set[int]] = {rank: set() for rank in range(parts)}
    for i, j in entries:
        needed[int(owner[j])].add(i)
    received = []
    for rank in range(parts):
        counts = [sum(int(owner[v]) == other for v in needed[rank]) for other in range(parts)]
        each = [
            value * count if active is None else packed(count, int(sizes[k]), value) for k, count in enumerate(counts)
        ]
        received.append(sum(each) - each[rank])
    np.testing.assert_array_equal(partitions.halo(graph, active, value).received, received)

    width = {2: 1, 4: 2}[parts]
    blocks: dict[int, set[int]] = {rank: set() for rank in range(parts)}
    for i, j in entries:
        blocks[int(owner[i]) // width * width + int(owner[j]) % width].add(j)
    expand = [sum(sent[k] for k in range(parts) if k // width == rank // width) - sent[rank] for rank in range(parts)]
    np.testing.assert_array_equal(
        partitions.grid(graph, active, value).received, results(graph, blocks, value) + expand
    )
    high = np.diff(graph.indptr) >= 16
    low: dict[int, set[int]] = {rank: set() for rank in range(parts)}
    for i, j in entries:
        if not high[i] and not high[j]:
            low[int(owner[i])].add(j)
    reduced = 2 * (value * high.sum() if value else -(-high.sum() // 8)) * (parts - 1) / parts
    np.testing.assert_allclose(partitions.hubs(graph, active, value, 16).received, results(graph, low, value) + reduced)


def test_levels_are_those_of_a_search() -> None:
    graph = cut("grid:16x20", 2)
    found = partitions.levels(graph, 0)
    assert [int(level.sum()) for level in found][:4] == [1, 2, 3, 4]
    assert sum(int(level.sum()) for level in found) == graph.n


def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str], tmp_path: object) -> None:
    assert command.main(["kron:6", "--ranks", "2,4", "--out", f"{tmp_path}/a.json"]) == 0
    assert "high/low" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        command.main(["kron:6", "--ranks", "3"])
