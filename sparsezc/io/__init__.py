"""Graphs in and out: files, made graphs, and other libraries' objects.

One module a format: :mod:`~sparsezc.io.formats.snap` (edge lists), :mod:`~sparsezc.io.formats.mtx`, :mod:`~sparsezc.io.formats.dimacs` (.gr),
:mod:`~sparsezc.io.formats.metis` (.graph), :mod:`~sparsezc.io.formats.gap` (.sg, .wsg), :mod:`~sparsezc.io.formats.emogi` (.bel),
:mod:`~sparsezc.io.formats.npz`, :mod:`~sparsezc.io.formats.parquet` and :mod:`~sparsezc.io.formats.binsparse` (.h5). Each has `SUFFIXES`,
`read` and `write`; a new format is one more such module, named in :data:`sparsezc.io._read.FORMATS`. Edges become a
matrix in :mod:`~sparsezc.io.build.csr_builder`, a stored CSR in :mod:`~sparsezc.io.build.csr_stream`; :mod:`~sparsezc.io.build.generate` makes
graphs. One module a foreign library too: ``from_...`` and ``to_...`` (docs/conversions.md).

>>> import sparsezc as gb
>>> A = gb.io.read("star:5")
>>> A.nrows, A.nvals
(5, 8)
"""

from sparsezc.io.interop.array import from_array, to_array
from sparsezc.io.interop.arrow import from_arrow, to_arrow
from sparsezc.io.interop.awkward import from_awkward, to_awkward
from sparsezc.io.formats.binsparse import read_binsparse, write_binsparse
from sparsezc.io.interop.csr_arrays import from_coo_arrays, from_csr_arrays, to_coo_arrays, to_csr_arrays
from sparsezc.io.interop.cupy_sparse import from_cupy_sparse, to_cupy_sparse
from sparsezc.io.interop.jax import from_jax_sparse, to_jax_sparse
from sparsezc.io.interop.networkx import from_networkx, to_networkx
from sparsezc.io.interop.pandas import from_pandas_edgelist, to_pandas_edgelist
from sparsezc.io.formats.parquet import from_parquet, to_parquet
from sparsezc.io.interop.pydata_sparse import from_pydata_sparse, to_pydata_sparse
from sparsezc.io._read import read
from sparsezc.io.interop.scipy_sparse import from_scipy_sparse, mmread, mmwrite, to_scipy_sparse
from sparsezc.io.interop.torch import from_torch_sparse, to_torch_sparse
from sparsezc.io._write import convert, write

__all__ = [
    "convert", "from_array", "from_arrow", "from_awkward", "from_coo_arrays", "from_csr_arrays", "from_cupy_sparse",
    "from_jax_sparse", "from_networkx", "from_pandas_edgelist", "from_parquet", "from_pydata_sparse",
    "from_scipy_sparse", "from_torch_sparse", "mmread", "mmwrite", "read", "read_binsparse", "to_array", "to_arrow",
    "to_awkward", "to_coo_arrays", "to_csr_arrays", "to_cupy_sparse", "to_jax_sparse", "to_networkx",
    "to_pandas_edgelist", "to_parquet", "to_pydata_sparse", "to_scipy_sparse", "to_torch_sparse", "write",
    "write_binsparse",
]  # fmt: skip
