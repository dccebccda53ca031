"""Limits on functions' parameters and folders' files, and rules on private names."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.house.test_layers import ROOT, is_in, modules

MOST_PARAMETERS = 8
MOST_FILES = 20

#: Functions with more parameters, and the reason.
LONG = {
    "sparsezc.networkx_backend.measures.layouts.forceatlas2_layout": "NetworkX's signature",
}
#: Folders with more files, and the reason.
FULL = {
    "sparsezc/algorithms": "users look for them one by one, a file each",
    "sparsezc/applications": "the same",
    "tests/algorithms": "the same",
    "benchmarks/results": "what runs have written; git ignores it",
}


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[str]:
    """Return the names of a function's parameters, without `self` or `cls`."""
    a = function.args
    given = [*a.posonlyargs, *a.args, *a.kwonlyargs, *(each for each in (a.vararg, a.kwarg) if each is not None)]
    names = [each.arg for each in given]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def functions(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield name and parameters of every function in a file, including nested ones."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield getattr(node, "name", "lambda"), parameters(node)


@cache
def sources() -> dict[str, Path]:
    """Return the modules of the package, and of the folders beside it that import it."""
    paths = (path for folder in ("benchmarks", "docs", "tests") for path in (ROOT / folder).rglob("*.py"))
    others = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in paths}
    return modules() | others


@cache
def long() -> dict[str, int]:
    """Return the functions with too many parameters, by module and name."""
    every = ((f"{m}.{name}", len(p)) for m, path in sources().items() for name, p in functions(path.read_text()))
    return {name: count for name, count in every if count > MOST_PARAMETERS}


def test_functions_take_eight_parameters_at_most() -> None:
    assert {name: count for name, count in long().items() if name not in LONG} == {}


def test_the_list_of_long_functions_is_not_longer_than_needed() -> None:
    assert LONG.keys() - long() == set()


def test_the_reader_of_parameters_sees_every_form() -> None:
    """The judge sees every form of parameter."""
    text = "class C:\n  def f(self, a, /, b, *c, d, **e): return lambda x, y=1: x\nasync def g(a, *, b): pass\n"
    assert dict(functions(text)) == {"f": ["a", "b", "d", "c", "e"], "g": ["a", "b"], "lambda": ["x", "y"]}


def test_folders_hold_twenty_files_at_most() -> None:
    held: dict[str, int] = {}
    for top in ("sparsezc", "ops", "semirings", "tests", "benchmarks", "docs"):
        for folder, names, files in os.walk(ROOT / top):
            names[:] = [name for name in names if name != "__pycache__"]
            held[Path(folder).relative_to(ROOT).as_posix()] = len(files)
    assert {folder: count for folder, count in held.items() if count > MOST_FILES and folder not in FULL} == {}


#: Private names that their own files do not use, and their users.
FOR_OTHERS = {
    "sparsezc.core._supports_udfs": "programs written for python-graphblas",
    "sparsezc.dtypes._supports_complex": "the same",
}


def unused(text: str) -> list[str]:
    """Return private top-level names that a file defines and never reads; one read of `_a, _b = ...` suffices."""
    tree = ast.parse(text)
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    found = []
    for node in tree.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                made = [node.name]
            case ast.Assign() | ast.AnnAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                stored = (each for target in targets for each in ast.walk(target))
                made = [each.id for each in stored if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
            case _:
                continue
        if made and not read & set(made):
            found += [name for name in made if name[0] == "_" and name[:2] != "__" and name != "_"]
    return found


def test_private_names_are_used_in_their_files() -> None:
    paths = {name: path for name, path in sources().items() if not is_in(name, "tests")}  # pytest calls fixtures
    found = {f"{name}.{each}" for name, path in paths.items() for each in unused(path.read_text())}
    assert found - FOR_OTHERS.keys() == set()


def test_the_reader_of_unused_names_sees_every_form() -> None:
    """The judge sees every form of definition."""
    text = "_a = 1\n_b: int = 2\n_c, _d = range(2)\ndef _e(): return _c\nclass _F: _g = 1\n_h, i = 1, 2\n_j[0] = i"
    assert unused(text) == ["_a", "_b", "_e", "_F"]


def assigned(text: str) -> Iterator[str]:
    """Yield the names of all attributes that a file assigns."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def test_one_place_knows_of_a_matrix_that_it_is_symmetric() -> None:
    texts = {name: path.read_text() for name, path in modules().items()}
    knowing = [name for name, text in texts.items() if "_symmetric" in text and "_symmetric" in assigned(text)]
    assert knowing == ["sparsezc.core.matrix"]


#: Attributes of the objects' storage on their engine, which is below the algorithms.
BELOW = {"_engine", "_lock", "_need", "_put", "_settle", "_store", "capability"}


def test_algorithms_see_no_engine() -> None:
    for name, path in modules().items():
        if is_in(name, "sparsezc.algorithms") or is_in(name, "sparsezc.applications"):
            tree = ast.parse(path.read_text())
            seen = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} & BELOW
            imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
            assert (name, seen, [each for each in imported if "engines" in each]) == (name, set(), [])


#: Folders that use only public names of objects; core/access/ and core/engine_loops.py provide everything else.
OUTSIDE = ("sparsezc.algorithms", "sparsezc.applications")
NAMED_TUPLES = {"_replace", "_asdict", "_make", "_fields"}


def private(text: str) -> Iterator[str]:
    """Yield the private attributes of other objects that a file uses."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not own and node.attr not in NAMED_TUPLES:
                yield ast.unparse(node)


def test_algorithms_and_applications_use_public_names_of_objects() -> None:
    wrong = {
        module: found
        for module, path in modules().items()
        if any(is_in(module, folder) for folder in OUTSIDE) and (found := list(private(path.read_text())))
    }
    assert wrong == {}


def test_the_reader_of_private_names_sees_every_form() -> None:
    """The judge sees private names of other objects only."""
    text = "A._turned(); self._own(); x = B.T._symmetric; self.A._hidden; t._replace(a=1); A.__class__; A._f = 1"
    assert sorted(private(text)) == ["A._f", "A._turned", "B.T._symmetric", "self.A._hidden"]
