"""sparsezc: a GraphBLAS for graphs larger than the GPU.

A program written for python-graphblas runs with ``import sparsezc as gb``: on a CPU through SuiteSparse:GraphBLAS, on a
GPU over matrices that may be in host memory.

>>> import sparsezc as gb
>>> A = gb.Matrix.from_coo([0, 0, 1], [1, 2, 2], [5, 1, 2], nrows=3, ncols=3)
>>> v = gb.Vector.from_coo([0], [10], size=3)
>>> w = v.vxm(A, gb.semiring.min_plus).new()
>>> w.to_dict()
{1: 15, 2: 11}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparsezc.process import first_use

first_use.provide(
    {
        "engine cpu": first_use.function("sparsezc.engines.cpu", "engine"),
        "engine distributed": first_use.function("sparsezc.engines.distributed", "engine"),
        "engine gpu": first_use.function("sparsezc.engines.gpu", "engine"),
        "from array": first_use.function("sparsezc.io", "from_array"),
        "from graphblas": first_use.function("sparsezc.core.graphblas_objects", "from_graphblas"),
        "names of placements": first_use.function("sparsezc.memory.placement", "choices"),
        "scalar": first_use.function("sparsezc.core.scalar", "Scalar.from_value"),
        "to array": first_use.function("sparsezc.io", "to_array"),
    }
)

__version__ = "0.1.0"
#: The library behind the CPU engine, by python-graphblas's name.
backend = "suitesparse"


def init(backend: str = "suitesparse", blocking: bool = True) -> None:
    """Accept the first call of programs written for python-graphblas; nothing needs to be started here.

    Parameters
    ----------
    backend : str
        Ignored: a matrix's placement chooses the engine.
    blocking : bool
        Ignored: the CPU engine runs SuiteSparse in blocking mode, in which results are correct.
    """


if TYPE_CHECKING:
    from sparsezc import algorithms as algorithms
    from sparsezc import applications as applications
    from sparsezc import core as core
    from sparsezc import dtypes as dtypes
    from sparsezc import engines as engines
    from sparsezc import exceptions as exceptions
    from sparsezc import io as io
    from sparsezc import loader as loader
    from sparsezc import orders as orders
    from sparsezc import placements as placements
    from sparsezc import ss as ss
    from sparsezc import stats as stats
    from sparsezc import viz as viz
    from sparsezc.config import config as config
    from sparsezc.core.graphblas_objects import from_graphblas as from_graphblas
    from sparsezc.core.graphblas_objects import to_graphblas as to_graphblas
    from sparsezc.core.matrix import Matrix as Matrix
    from sparsezc.core.recorder import Recorder as Recorder
    from sparsezc.core.scalar import Scalar as Scalar
    from sparsezc.core.vector import Vector as Vector
    from sparsezc.engines import distributed as distributed
    from sparsezc.expr.writable import replace as replace
    from sparsezc.ops.arrays import MAX_SIZE as MAX_SIZE
    from sparsezc.semirings import agg as agg
    from sparsezc.semirings import binary as binary
    from sparsezc.semirings import indexunary as indexunary
    from sparsezc.semirings import monoid as monoid
    from sparsezc.semirings import op as op
    from sparsezc.semirings import select as select
    from sparsezc.semirings import semiring as semiring
    from sparsezc.semirings import unary as unary
else:
    _names, __getattr__, __dir__ = first_use.names(
        __name__,
        {
            "config": "config",
            "core.graphblas_objects": "from_graphblas to_graphblas",
            "core.matrix": "Matrix",
            "core.recorder": "Recorder",
            "core.scalar": "Scalar",
            "core.vector": "Vector",
            "expr.writable": "replace",
            "ops.arrays": "MAX_SIZE",
        },
        "algorithms applications core dtypes engines engines.distributed exceptions io loader orders placements"
        " ss stats viz semirings.agg semirings.binary semirings.indexunary semirings.monoid semirings.op"
        " semirings.select semirings.semiring semirings.unary",
    )
    __all__ = [*_names, "backend", "init"]
