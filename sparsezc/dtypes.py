"""The types under python-graphblas's name for the module: see :mod:`sparsezc.semirings.types`."""

from sparsezc.semirings import types as _types
from sparsezc.semirings.types import *  # noqa: F403
from sparsezc.semirings.types import lookup as lookup_dtype
from sparsezc.semirings.types import unify

__all__ = ["lookup_dtype", "unify", *(t.name for t in _types.ALL)]


def __getattr__(name: str) -> object:
    found: object = getattr(_types, name)  # what is added there later, such as register_new
    return found
