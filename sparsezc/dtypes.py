"""The types under python-graphblas's name for the module: see :mod:`sparsezc.semirings.types.datatypes`.

``register_new`` and ``register_anonymous`` add types of the user's own: see :mod:`sparsezc.semirings.types.user_types`.
"""

from sparsezc.semirings.types import datatypes as _types
from sparsezc.semirings.types import user_types as _user_types
from sparsezc.semirings.types.datatypes import *  # noqa: F403
from sparsezc.semirings.types.datatypes import DataType, unify
from sparsezc.semirings.types.datatypes import lookup as lookup_dtype
from sparsezc.semirings.types.user_types import register_anonymous, register_new

_supports_complex = True  # programs read it: python-graphblas's build has complex numbers

__all__ = [
    "DataType",
    "lookup_dtype",
    "register_anonymous",
    "register_new",
    "unify",
    *(name for name, t in vars(_types).items() if isinstance(t, DataType) and name == t.name),
]


def __dir__() -> list[str]:
    return sorted({*__all__, *_user_types.named})


def __getattr__(name: str) -> object:
    if name in _user_types.named:
        return _user_types.named[name]
    found: object = getattr(_types, name)
    return found
