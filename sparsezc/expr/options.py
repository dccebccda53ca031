"""python-graphblas's options of a statement, ``w(nthreads=4) << x``: hints that change no answer, checked by name.

And a check of arguments that must be True or False.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from sparsezc.exceptions import InvalidValue

__all__ = ["check", "flag"]

_METHODS = ("default", "dot", "gustavson", "hash", "saxpy")
_COMPRESSIONS = ("default", "lz4", "lz4hc", "none", "zstd")
#: The values that each may have; None for a number. Each may also be None or False, which is the same as not given.
_ALLOWED: dict[str, tuple[Any, ...] | None] = {
    "axb_method": _METHODS,
    "chunk": None,
    "compression": _COMPRESSIONS,
    "compression_level": None,
    "gpu_id": None,
    "nthreads": None,
    "secure_import": (False, True),
    "sort": (False, True),
}


def check(options: dict[str, Any]) -> None:
    """Raise InvalidValue for options that python-graphblas does not know; upper and lower case are the same.

    Raises
    ------
    InvalidValue
        An unknown option, a value that it cannot have, or an option given twice.
    """
    seen: set[str] = set()
    for name, value in options.items():
        key = name.lower()
        if key in seen:
            raise InvalidValue(f"Duplicate descriptor options given: {key!r} is there in two spellings")
        seen.add(key)
        if key not in _ALLOWED:
            known = ", ".join(_ALLOWED)
            raise InvalidValue(f"Descriptor option {name!r} is not known; there are {known}")
        allowed = _ALLOWED[key]
        if value is None or value is False:
            continue
        if not (isinstance(value, numbers.Real) if allowed is None else value in allowed):
            needed = "a number" if allowed is None else ", ".join(map(repr, allowed))
            raise InvalidValue(f"Descriptor option {name}={value!r} is not allowed; needed is {needed}")


def flag(name: str, value: Any) -> bool:
    """Return an argument that is True or False; a text such as "no" is neither.

    Raises
    ------
    InvalidValue
        It is any other value.
    """
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise InvalidValue(f"{name}={value!r} is not allowed; True or False is needed")
