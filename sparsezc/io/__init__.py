"""Graphs in and out: files, made graphs, and other libraries' objects.

>>> import sparsezc as gb
>>> A = gb.io.read("star:5")
>>> A.nrows, A.nvals
(5, 8)
"""

from sparsezc.io.networkx import from_networkx, to_networkx
from sparsezc.io.reader import read
from sparsezc.io.scipy_sparse import from_scipy_sparse, mmread, mmwrite, to_scipy_sparse
from sparsezc.io.writer import convert, write

__all__ = [
    "convert", "from_networkx", "from_scipy_sparse", "mmread", "mmwrite", "read", "to_networkx", "to_scipy_sparse",
    "write",
]  # fmt: skip
