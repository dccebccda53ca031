"""Graphs in and out: files, made graphs, and other libraries' objects.

One module a format: :mod:`~sparsezc.io.snap` (edge lists), :mod:`~sparsezc.io.mtx`, :mod:`~sparsezc.io.dimacs` (.gr),
:mod:`~sparsezc.io.metis` (.graph), :mod:`~sparsezc.io.gap` (.sg, .wsg), :mod:`~sparsezc.io.emogi` (.bel),
:mod:`~sparsezc.io.npz`, :mod:`~sparsezc.io.parquet` and :mod:`~sparsezc.io.binsparse` (.h5). Each has `SUFFIXES`,
`read` and `write`; a new format is one more such module, named in :data:`sparsezc.io.reader.FORMATS`. Edges become a
matrix in :mod:`~sparsezc.io.build`, a stored CSR in :mod:`~sparsezc.io.stream`; :mod:`~sparsezc.io.generate` makes
graphs. One module a foreign library too: ``from_...`` and ``to_...`` (docs/conversions.md).

>>> import sparsezc as gb
>>> A = gb.io.read("star:5")
>>> A.nrows, A.nvals
(5, 8)
"""

from sparsezc.io.array import from_array, to_array
from sparsezc.io.arrow import from_arrow, to_arrow
from sparsezc.io.awkward import from_awkward, to_awkward
from sparsezc.io.binsparse import read_binsparse, write_binsparse
from sparsezc.io.csr_arrays import from_coo_arrays, from_csr_arrays, to_coo_arrays, to_csr_arrays
from sparsezc.io.cupy_sparse import from_cupy_sparse, to_cupy_sparse
from sparsezc.io.jax import from_jax_sparse, to_jax_sparse
from sparsezc.io.networkx import from_networkx, to_networkx
from sparsezc.io.pandas import from_pandas_edgelist, to_pandas_edgelist
from sparsezc.io.parquet import from_parquet, to_parquet
from sparsezc.io.pydata_sparse import from_pydata_sparse, to_pydata_sparse
from sparsezc.io.reader import read
from sparsezc.io.scipy_sparse import from_scipy_sparse, mmread, mmwrite, to_scipy_sparse
from sparsezc.io.torch import from_torch_sparse, to_torch_sparse
from sparsezc.io.writer import convert, write

__all__ = [
    "convert", "from_array", "from_arrow", "from_awkward", "from_coo_arrays", "from_csr_arrays", "from_cupy_sparse",
    "from_jax_sparse", "from_networkx", "from_pandas_edgelist", "from_parquet", "from_pydata_sparse",
    "from_scipy_sparse", "from_torch_sparse", "mmread", "mmwrite", "read", "read_binsparse", "to_array", "to_arrow",
    "to_awkward", "to_coo_arrays", "to_csr_arrays", "to_cupy_sparse", "to_jax_sparse", "to_networkx",
    "to_pandas_edgelist", "to_parquet", "to_pydata_sparse", "to_scipy_sparse", "to_torch_sparse", "write",
    "write_binsparse",
]  # fmt: skip
