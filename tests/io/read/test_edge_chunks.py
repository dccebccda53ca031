"""Edge chunks: facts about all edges come with the last chunk, through every transformation of the chunks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sparsezc.io.build import edge_list
from sparsezc.io.build.edge_list import Chunk, EdgeChunks, Edges
from sparsezc.io.formats import konect, metis, snap
from sparsezc.semirings.types import datatypes

EDGES = Edges(
    4, 3, np.array([0, 3, 1]), np.array([2, 0, 2]), np.array([5, 6, 7]), dtype=datatypes.INT8, undirected=True
)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_list, "BLOCK", 2)


def test_facts_come_with_the_last_chunk() -> None:
    found = EdgeChunks.of(EDGES)
    assert found.undirected
    assert next(found.chunks)[0].tolist() == [0, 3]
    with pytest.raises(AttributeError):
        found.facts  # noqa: B018
    assert [rows.tolist() for rows, _, _ in found.chunks] == [[1]]
    assert (found.facts.nrows, found.facts.ncols, found.facts.dtype) == (4, 3, datatypes.INT8)


def test_steps_change_chunks_and_leave_the_facts() -> None:
    def reversed_rows(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        for rows, cols, values in chunks:
            yield 3 - rows, cols, values

    found = EdgeChunks.of(EDGES)
    found.pass_through(edge_list.without_values)
    found.pass_through(reversed_rows)
    edges = edge_list.collect(found)
    assert edges.values is None
    assert (edges.nrows, edges.rows.tolist(), edges.cols.tolist()) == (4, [3, 0, 2], [2, 0, 2])


def test_files_one_after_the_other_have_the_largest_sizes() -> None:
    parts = {"a": EDGES, "b": EDGES.transposed()}
    edges = edge_list.collect(edge_list.chained(lambda path: EdgeChunks.of(parts[path.name]), map(Path, parts)))
    assert (edges.nrows, edges.ncols, edges.rows.tolist()) == (4, 4, [0, 3, 1, 2, 0, 2])


@pytest.mark.parametrize(
    ("module", "text", "facts"),
    [
        (snap, "0 1\n0 4\n", (5, 5, 2, None)),
        (snap, "# 7 x 6, 2 entries\n0\t1\n0\t4\n", (7, 6, 2, 2)),
        (konect, "% bip unweighted\n1 2\n1 5\n", (1, 5, 0, None)),
        (metis, "3 1\n2\n1\n\n", (3, 3, 0, None)),
    ],
)
def test_readers_return_facts(
    module: object, text: str, facts: tuple[int, int, int, int | None], tmp_path: Path
) -> None:
    path = tmp_path / "graph.txt"
    path.write_text(text)
    found: EdgeChunks = module.edge_chunks(path)  # type: ignore[attr-defined]
    assert sum(rows.size for rows, _, _ in found.chunks) == 2
    assert (found.facts.nrows, found.facts.ncols, found.facts.listed, found.facts.promised) == facts
