"""The types under python-graphblas's name for the module: see :mod:`sparsezc.semirings.types`."""

from sparsezc.semirings import types as _types
from sparsezc.semirings.types import *  # noqa: F403
from sparsezc.semirings.types import lookup as lookup_dtype
from sparsezc.semirings.types import unify

_supports_complex = True  # python-graphblas says by this name whether its build has them, and programs ask

__all__ = [
    "lookup_dtype",
    "unify",
    *(name for name, t in vars(_types).items() if isinstance(t, _types.DataType) and name == t.name),
]


def __getattr__(name: str) -> object:
    found: object = getattr(_types, name)  # what is added there later, such as register_new
    return found
