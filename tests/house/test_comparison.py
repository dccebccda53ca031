"""The tables of docs/explain/comparison.md: no cell is empty, and its name exists where its library is installed."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "explain" / "comparison.md").read_text()
#: The libraries by their names in cells; cuGraph, which needs a GPU to be imported, is compared below.
LIBRARIES = {
    "gb": "sparsezc",
    "nx": "networkx",
    "igraph": "igraph",
    "graphblas": "graphblas",
    "ga": "graphblas_algorithms",
    "pyg": "torch_geometric",
}


#: The names that `__init__.py` of cuGraph 26.10.0 and its package for several GPUs import.
CUGRAPH = """
    Graph MultiGraph BiPartiteGraph from_edgelist from_cudf_edgelist from_pandas_edgelist to_pandas_edgelist
    from_pandas_adjacency to_pandas_adjacency from_numpy_array to_numpy_array from_numpy_matrix to_numpy_matrix
    from_adjlist hypergraph symmetrize symmetrize_df symmetrize_ddf is_weighted is_directed is_multigraph is_bipartite
    is_multipartite betweenness_centrality edge_betweenness_centrality katz_centrality degree_centrality
    eigenvector_centrality ecg induced_subgraph ktruss_subgraph k_truss louvain leiden spectralBalancedCutClustering
    spectralModularityMaximizationClustering analyzeClustering_modularity analyzeClustering_edge_cut
    analyzeClustering_ratio_cut triangle_count ego_graph connected_components weakly_connected_components
    strongly_connected_components core_number k_core pagerank hits jaccard jaccard_coefficient all_pairs_jaccard overlap
    overlap_coefficient all_pairs_overlap sorensen sorensen_coefficient all_pairs_sorensen cosine cosine_coefficient
    all_pairs_cosine bfs bfs_edges sssp shortest_path filter_unreachable shortest_path_length concurrent_bfs
    multi_source_bfs minimum_spanning_tree maximum_spanning_tree hungarian dense_hungarian force_atlas2
    uniform_random_walks biased_random_walks node2vec_random_walks homogeneous_neighbor_sample
    heterogeneous_neighbor_sample experimental exceptions utils dask
"""


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


def test_cugraphs_cells_link_to_their_dated_source() -> None:
    cells = [row[5] for row in rows() if "cugraph" in row[5]]
    assert len(cells) >= 15
    names = [re.fullmatch(r"\[`(?:cugraph\.(\w+)|nx-cugraph)`\]\[([\w-]+)\]", cell) for cell in cells]
    assert [cell for cell, name in zip(cells, names, strict=True) if name is None] == []
    assert {name[1] for name in names if name and name[1]} - set(CUGRAPH.split()) == set()
    sources = dict(re.findall(r"^\[([\w-]+)\]: (.*)$", PAGE, re.MULTILINE))
    for name in {name[2] for name in names if name}:
        assert re.fullmatch(
            r"https://github\.com/rapidsai/\S+/[0-9a-f]{40}/\S+ \"read on \w+ \d+, \d{4}\"", sources[name]
        )


def rows() -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.startswith("|")]


def test_no_cell_is_empty() -> None:
    assert {len(row) for row in rows()} == {7}
    assert [row for row in rows() if not all(row[1:])] == []


def test_the_judge_sees_absent_names() -> None:
    assert exists("sparsezc", ".algorithms.bfs")
    assert not exists("sparsezc", ".algorithms.breadth_first")
