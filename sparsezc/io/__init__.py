"""Input and output of graphs: files, generated graphs, and other libraries' objects.

`formats/` has a module a file format, each with `read` and `write`; ``formats.FORMATS`` lists them with their
suffixes. `build/` makes a matrix of edges, streams a stored CSR into its placement, and generates graphs; `hdf5/` is
the layout that opens without reading entries; `files/` finds, unpacks and replaces files. `interop/` has a module a
foreign library: ``from_...`` and ``to_...`` (docs/conversions.md).

>>> import sparsezc as gb
>>> A = gb.io.read("star:5")
>>> A.nrows, A.nvals
(5, 8)
"""

from sparsezc.io._checkpoints import restore_checkpoint, save_checkpoint
from sparsezc.io._read import read
from sparsezc.io._write import convert, write
from sparsezc.io.formats import register_format
from sparsezc.io.formats.binsparse import read_binsparse, write_binsparse
from sparsezc.io.formats.mmio import mmread, mmwrite
from sparsezc.io.formats.parquet import from_parquet, to_parquet
from sparsezc.io.interop.array import from_array, to_array
from sparsezc.io.interop.arrow import from_arrow, to_arrow
from sparsezc.io.interop.awkward import from_awkward, to_awkward
from sparsezc.io.interop.csr_arrays import from_coo_arrays, from_csr_arrays, to_coo_arrays, to_csr_arrays
from sparsezc.io.interop.cupy_sparse import from_cupy_sparse, to_cupy_sparse
from sparsezc.io.interop.jax import from_jax_sparse, to_jax_sparse
from sparsezc.io.interop.networkx import from_networkx, to_networkx
from sparsezc.io.interop.pandas import from_pandas_edgelist, to_pandas_edgelist
from sparsezc.io.interop.pydata_sparse import from_pydata_sparse, to_pydata_sparse
from sparsezc.io.interop.scipy_sparse import from_scipy_sparse, to_scipy_sparse
from sparsezc.io.interop.torch import from_torch_sparse, to_torch_sparse

__all__ = [
    "convert", "from_array", "from_arrow", "from_awkward", "from_coo_arrays", "from_csr_arrays", "from_cupy_sparse",
    "from_jax_sparse", "from_networkx", "from_pandas_edgelist", "from_parquet", "from_pydata_sparse",
    "from_scipy_sparse", "from_torch_sparse", "mmread", "mmwrite", "read", "read_binsparse", "register_format",
    "restore_checkpoint", "save_checkpoint",
    "to_array", "to_arrow", "to_awkward", "to_coo_arrays", "to_csr_arrays", "to_cupy_sparse", "to_jax_sparse",
    "to_networkx", "to_pandas_edgelist", "to_parquet", "to_pydata_sparse", "to_scipy_sparse", "to_torch_sparse",
    "write", "write_binsparse",
]  # fmt: skip


def __dir__() -> list[str]:
    """List the public names only: the folders below are not for users."""
    return sorted(__all__)
