"""``from sparsezc.semiring import min_plus``: the operators' namespaces import as modules of this package too.

They live in ``sparsezc.semirings``; programs written for python-graphblas import them from the top.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["install"]

_ROOMS = {f"sparsezc.{name}" for name in ("agg", "binary", "indexunary", "monoid", "op", "select", "semiring", "unary")}


class _Namespaces(MetaPathFinder, Loader):
    """Finds the namespaces, and puts the modules that there are in their places."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in _ROOMS else None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        room = import_module(f"sparsezc.semirings.{name.rpartition('.')[2]}")
        sys.modules[name] = room
        for inner in ("numpy", "ss"):
            if hasattr(room, inner):  # the import system asks for these by name, and `room` is no package
                sys.modules[f"{name}.{inner}"] = getattr(room, inner)


def install() -> None:
    """Let the import system ask here too, once."""
    if not any(type(finder) is _Namespaces for finder in sys.meta_path):
        sys.meta_path.append(_Namespaces())
