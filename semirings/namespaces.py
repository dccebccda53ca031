"""``from sparsezc.semiring import min_plus``: the operators' namespaces import as modules of this package too.

They are defined in ``sparsezc.semirings``; programs written for python-graphblas import them from the top. A module
here is one line that replaces itself by the namespace, so that both names are one object.
"""

from __future__ import annotations

import sys
from importlib import import_module

__all__ = ["give_way"]


def give_way(name: str) -> None:
    """Replace the module `name`, which is being imported, by the namespace."""
    module = import_module(f"sparsezc.semirings.{name.rpartition('.')[2]}")
    sys.modules[name] = module
    for inner in ("numpy", "ss"):
        if hasattr(module, inner):  # the import system reads these attributes, and `module` is no package
            sys.modules[f"{name}.{inner}"] = getattr(module, inner)
