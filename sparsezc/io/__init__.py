"""Graphs in and out: files, made graphs, and other libraries' objects.

One module a format: :mod:`~sparsezc.io.snap` (edge lists), :mod:`~sparsezc.io.mtx`, :mod:`~sparsezc.io.dimacs` (.gr),
:mod:`~sparsezc.io.metis` (.graph), :mod:`~sparsezc.io.gap` (.sg, .wsg), :mod:`~sparsezc.io.emogi` (.bel) and
:mod:`~sparsezc.io.npz`. Each has `SUFFIXES`, `read` and `write`; a new format is one more such module, named in
:data:`sparsezc.io.reader.FORMATS`. Edges become a matrix in :mod:`~sparsezc.io.build`, a stored CSR in
:mod:`~sparsezc.io.stream`; :mod:`~sparsezc.io.generate` makes graphs.

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
