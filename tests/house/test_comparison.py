"""The tables of docs/explain/comparison.md: no cell is empty, and its name exists where its library is installed."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "explain" / "comparison.md").read_text()
#: The libraries by the names that the cells give them; cuGraph needs a GPU to be imported.
LIBRARIES = {
    "gb": "sparsezc",
    "nx": "networkx",
    "igraph": "igraph",
    "graphblas": "graphblas",
    "ga": "graphblas_algorithms",
    "pyg": "torch_geometric",
}


def exists(library: str, path: str) -> bool:
    """Return whether a library has an attribute or a module at a path, as `.nn.SAGEConv`."""
    found: object = importlib.import_module(library)
    for part in path[1:].split("."):
        if not hasattr(found, part):
            try:
                importlib.import_module(f"{found.__name__}.{part}")  # type: ignore[attr-defined]
            except (AttributeError, ImportError):
                return False
        found = getattr(found, part)
    return True


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_names_in_cells_exist(name: str) -> None:
    pytest.importorskip(LIBRARIES[name], reason="a column is about it")
    paths = re.findall(rf"`{name}((?:\.\w+)+)`", PAGE)
    assert len(paths) >= 3
    assert [path for path in paths if not exists(LIBRARIES[name], path)] == []


def test_no_cell_is_empty() -> None:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.startswith("|")]
    assert {len(row) for row in rows} == {7}
    assert [row for row in rows if not all(row[1:])] == []


def test_the_judge_sees_absent_names() -> None:
    assert exists("sparsezc", ".algorithms.bfs")
    assert not exists("sparsezc", ".algorithms.breadth_first")
