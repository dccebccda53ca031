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

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Imported here, because importing the submodule later would replace the object by the module.
from sparsezc.config import config as config
from sparsezc.memory import placement as _placements  # noqa: F401  (it tells config the names)

if TYPE_CHECKING:
    from sparsezc import algorithms as algorithms
    from sparsezc import applications as applications
    from sparsezc import core as core
    from sparsezc import dtypes as dtypes
    from sparsezc import errors as errors
    from sparsezc import exceptions as exceptions
    from sparsezc import io as io
    from sparsezc import loader as loader
    from sparsezc import orders as orders
    from sparsezc import ss as ss
    from sparsezc import stats as stats
    from sparsezc import viz as viz
    from sparsezc.core.graphblas_objects import from_graphblas as from_graphblas
    from sparsezc.core.graphblas_objects import to_graphblas as to_graphblas
    from sparsezc.core.matrix import Matrix as Matrix
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

__version__ = "0.1.0"
#: The library behind the CPU engine, by python-graphblas's name.
backend = "suitesparse"

# Where each name lives: (module, name in it; None for the module itself). Loaded when first used.
_HOMES: dict[str, tuple[str, str | None]] = {
    "Matrix": ("sparsezc.core.matrix", "Matrix"),
    "Vector": ("sparsezc.core.vector", "Vector"),
    "Scalar": ("sparsezc.core.scalar", "Scalar"),
    "MAX_SIZE": ("sparsezc.ops.arrays", "MAX_SIZE"),
    "agg": ("sparsezc.semirings.agg", None),
    "algorithms": ("sparsezc.algorithms", None),
    "applications": ("sparsezc.applications", None),
    "Recorder": ("sparsezc.core.recorder", "Recorder"),
    "binary": ("sparsezc.semirings.binary", None),
    "core": ("sparsezc.core", None),
    "distributed": ("sparsezc.engines.distributed", None),
    "dtypes": ("sparsezc.dtypes", None),
    "errors": ("sparsezc.errors", None),
    "exceptions": ("sparsezc.exceptions", None),
    "from_graphblas": ("sparsezc.core.graphblas_objects", "from_graphblas"),
    "indexunary": ("sparsezc.semirings.indexunary", None),
    "io": ("sparsezc.io", None),
    "loader": ("sparsezc.loader", None),
    "monoid": ("sparsezc.semirings.monoid", None),
    "op": ("sparsezc.semirings.op", None),
    "orders": ("sparsezc.orders", None),
    "replace": ("sparsezc.expr.writable", "replace"),
    "select": ("sparsezc.semirings.select", None),
    "semiring": ("sparsezc.semirings.semiring", None),
    "ss": ("sparsezc.ss", None),
    "stats": ("sparsezc.stats", None),
    "to_graphblas": ("sparsezc.core.graphblas_objects", "to_graphblas"),
    "unary": ("sparsezc.semirings.unary", None),
    "viz": ("sparsezc.viz", None),
}

__all__ = [*_HOMES, "backend", "config", "init"]


def init(backend: str = "suitesparse", blocking: bool = True) -> None:
    """Accept the first call of programs written for python-graphblas; nothing needs to be started here.

    Parameters
    ----------
    backend : str
        Ignored: a matrix's placement chooses the engine.
    blocking : bool
        Ignored: the CPU engine runs SuiteSparse in blocking mode, in which its answers are right.
    """


def __getattr__(name: str) -> Any:
    try:
        module, attribute = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module 'sparsezc' has no attribute {name!r}") from None
    found: Any = import_module(module)
    if attribute is not None:
        found = getattr(found, attribute)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})
