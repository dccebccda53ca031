"""Replacement of python-graphblas by another library in a package, by rewriting the package's imports only.

As a plugin of pytest (``-p swapped``) it does so for the package graphblas_algorithms; the variable ``GRAPHBLAS`` names
the library that replaces ``graphblas``, which may be ``graphblas`` itself.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

import graphblas


def renamed(name: str, to: str) -> str:
    head, dot, rest = name.partition(".")
    return f"{to}{dot}{rest}" if head == "graphblas" else name


class Imports(ast.NodeTransformer):
    """Transformer that rewrites ``import graphblas ...`` and ``from graphblas... import ...`` only."""

    def __init__(self, to: str) -> None:
        self.to = to

    def visit_Import(self, node: ast.Import) -> ast.Import:
        for alias in node.names:
            if alias.name == "graphblas" and alias.asname is None:
                alias.asname = "graphblas"
            alias.name = renamed(alias.name, self.to)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        if node.level == 0 and node.module:
            node.module = renamed(node.module, self.to)
        return node


class Loader(SourceFileLoader):
    """Loader that compiles the rewritten text, and writes no compiled file."""

    to: str

    def get_code(self, fullname: str) -> CodeType:
        tree = Imports(self.to).visit(ast.parse(self.get_data(self.path)))
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)


class Finder:
    """Finder of one package's modules on Python's path, which gives them a :class:`Loader`."""

    def __init__(self, package: str, to: str) -> None:
        self.package, self.to = package, to

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        if name.partition(".")[0] != self.package:
            return None
        spec: ModuleSpec | None = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = Loader(name, spec.loader.path)
            spec.loader.to = self.to
        return spec


def swap(package: str, to: str) -> None:
    """Make later imports of `package` import `to` in place of graphblas."""
    if package in sys.modules:
        raise RuntimeError(f"{package} has been imported already")
    sys.meta_path.insert(0, Finder(package, to))


if "GRAPHBLAS" in os.environ:
    graphblas.init("suitesparse", blocking=True)
    swap("graphblas_algorithms", os.environ["GRAPHBLAS"])
