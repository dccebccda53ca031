"""Graph algorithms, one short file each: a Matrix goes in, a Vector comes out."""

from sparsezc.algorithms.bfs import bfs, bfs_parents
from sparsezc.algorithms.cdlp import cdlp
from sparsezc.algorithms.connected_components import connected_components
from sparsezc.algorithms.core_number import core_number, k_core
from sparsezc.algorithms.pagerank import pagerank
from sparsezc.algorithms.sssp import sssp
from sparsezc.algorithms.strongly_connected_components import strongly_connected_components

__all__ = [
    "bfs",
    "bfs_parents",
    "cdlp",
    "connected_components",
    "core_number",
    "k_core",
    "pagerank",
    "sssp",
    "strongly_connected_components",
]
