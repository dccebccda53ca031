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
#: The allowed values of each option; None: any number. None and False as an option's value mean that it is not given.
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
    """Check the names, in any case, and the values of python-graphblas's options.

    Raises
    ------
    InvalidValue
        An unknown option, a value that it cannot have, or an option given twice.
    """
    seen: set[str] = set()
    for name, value in options.items():
        key = name.lower()
        if key in seen:
            raise InvalidValue(f"Duplicate descriptor options given: {key!r} is given in two spellings")
        seen.add(key)
        if key not in _ALLOWED:
            known = ", ".join(_ALLOWED)
            raise InvalidValue(
                f"Descriptor option {name!r} is not known; choose from {known}, or from the arguments of the call"
            )
        allowed = _ALLOWED[key]
        if value is None or value is False:
            continue
        if not (isinstance(value, numbers.Real) if allowed is None else value in allowed):
            needed = "a number" if allowed is None else ", ".join(map(repr, allowed))
            raise InvalidValue(f"Descriptor option {name}={value!r} is not allowed; needed is {needed}")


def flag(name: str, value: Any) -> bool:
    """Check and return an argument that must be True or False; text such as "no" is refused.

    Raises
    ------
    InvalidValue
        `value` is any other object.
    """
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise InvalidValue(f"{name}={value!r} is not allowed; True or False is needed")
