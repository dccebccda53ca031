"""Input and output of graphs: files, generated graphs, and other libraries' objects.

`formats/` has one module for each file format, with `read` and `write`; ``formats.FORMATS`` lists the formats with
their suffixes. `build/` makes matrices from edges, streams a stored CSR into its placement, and generates graphs;
`hdf5/` has the .h5 files that open without reading entries; `ranks/` reads and writes by several ranks; `files/`
finds, unpacks and replaces files. `interop/` has one module for each foreign library, with ``from_...`` and
``to_...`` (docs/conversions.md).

>>> import sparsezc as gb
>>> A = gb.io.read("star:5")
>>> A.nrows, A.nvals
(5, 8)
"""

from typing import TYPE_CHECKING

from sparsezc.process import first_use

if TYPE_CHECKING:
    from sparsezc.io._checkpoints import restore_checkpoint as restore_checkpoint
    from sparsezc.io._checkpoints import save_checkpoint as save_checkpoint
    from sparsezc.io._read import read as read
    from sparsezc.io._types import read_types as read_types
    from sparsezc.io._write import convert as convert
    from sparsezc.io._write import write as write
    from sparsezc.io.build.edge_list import EdgeChunks as EdgeChunks
    from sparsezc.io.build.edge_list import Edges as Edges
    from sparsezc.io.formats import register_format as register_format
    from sparsezc.io.formats.binsparse import read_binsparse as read_binsparse
    from sparsezc.io.formats.binsparse import write_binsparse as write_binsparse
    from sparsezc.io.formats.mmio import mmread as mmread
    from sparsezc.io.formats.mmio import mmwrite as mmwrite
    from sparsezc.io.formats.parquet import from_parquet as from_parquet
    from sparsezc.io.formats.parquet import to_parquet as to_parquet
    from sparsezc.io.interop.array import from_array as from_array
    from sparsezc.io.interop.array import to_array as to_array
    from sparsezc.io.interop.arrow import from_arrow as from_arrow
    from sparsezc.io.interop.arrow import to_arrow as to_arrow
    from sparsezc.io.interop.awkward import from_awkward as from_awkward
    from sparsezc.io.interop.awkward import to_awkward as to_awkward
    from sparsezc.io.interop.csr_arrays import from_coo_arrays as from_coo_arrays
    from sparsezc.io.interop.csr_arrays import from_csr_arrays as from_csr_arrays
    from sparsezc.io.interop.csr_arrays import to_coo_arrays as to_coo_arrays
    from sparsezc.io.interop.csr_arrays import to_csr_arrays as to_csr_arrays
    from sparsezc.io.interop.cupy_sparse import from_cupy_sparse as from_cupy_sparse
    from sparsezc.io.interop.cupy_sparse import to_cupy_sparse as to_cupy_sparse
    from sparsezc.io.interop.jax import from_jax_sparse as from_jax_sparse
    from sparsezc.io.interop.jax import to_jax_sparse as to_jax_sparse
    from sparsezc.io.interop.networkx import from_networkx as from_networkx
    from sparsezc.io.interop.networkx import to_networkx as to_networkx
    from sparsezc.io.interop.pandas import from_pandas_edgelist as from_pandas_edgelist
    from sparsezc.io.interop.pandas import to_pandas_edgelist as to_pandas_edgelist
    from sparsezc.io.interop.polars import from_polars as from_polars
    from sparsezc.io.interop.polars import to_polars as to_polars
    from sparsezc.io.interop.pydata_sparse import from_pydata_sparse as from_pydata_sparse
    from sparsezc.io.interop.pydata_sparse import to_pydata_sparse as to_pydata_sparse
    from sparsezc.io.interop.scipy_sparse import from_scipy_sparse as from_scipy_sparse
    from sparsezc.io.interop.scipy_sparse import to_scipy_sparse as to_scipy_sparse
    from sparsezc.io.interop.torch import from_torch_sparse as from_torch_sparse
    from sparsezc.io.interop.torch import to_torch_sparse as to_torch_sparse
else:
    __all__, __getattr__, __dir__ = first_use.names(
        __name__,
        {
            "_checkpoints": "restore_checkpoint save_checkpoint",
            "_read": "read",
            "_types": "read_types",
            "_write": "convert write",
            "build.edge_list": "EdgeChunks Edges",
            "formats": "register_format",
            "formats.binsparse": "read_binsparse write_binsparse",
            "formats.mmio": "mmread mmwrite",
            "formats.parquet": "from_parquet to_parquet",
            "interop.array": "from_array to_array",
            "interop.arrow": "from_arrow to_arrow",
            "interop.awkward": "from_awkward to_awkward",
            "interop.csr_arrays": "from_coo_arrays from_csr_arrays to_coo_arrays to_csr_arrays",
            "interop.cupy_sparse": "from_cupy_sparse to_cupy_sparse",
            "interop.jax": "from_jax_sparse to_jax_sparse",
            "interop.networkx": "from_networkx to_networkx",
            "interop.pandas": "from_pandas_edgelist to_pandas_edgelist",
            "interop.polars": "from_polars to_polars",
            "interop.pydata_sparse": "from_pydata_sparse to_pydata_sparse",
            "interop.scipy_sparse": "from_scipy_sparse to_scipy_sparse",
            "interop.torch": "from_torch_sparse to_torch_sparse",
        },
    )
