"""Graph algorithms, one short file each: a Matrix goes in, a Vector comes out."""

from sparsezc.algorithms.bfs import bfs, bfs_parents
from sparsezc.algorithms.connected_components import connected_components
from sparsezc.algorithms.pagerank import pagerank
from sparsezc.algorithms.sssp import sssp

__all__ = ["bfs", "bfs_parents", "connected_components", "pagerank", "sssp"]
