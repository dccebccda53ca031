"""Attributes of an object are assigned in the file of its class: other files call a method, which names the change.

A reader of a class therefore finds all assignments to its attributes in its file. The judge reads texts, without types:
it accepts an assignment ``x.name = ...`` if a class of the file has such an attribute and `x` is not annotated as
another class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.test_layers import modules

_SUITESPARSE = "sparsezc.engines.cpu.suitesparse"
_ALGEBRA = "sparsezc.semirings.algebra"
_PYTHON_GRAPHBLAS = "python-graphblas's objects would form a cycle, and has no method against it"
_MARK = "a mark of a function, which has no class in this package"
_NAMED = "a function has no constructor that takes its name and text"
_NAMESPACE = "a name that a user gives, in a module"

# (module, target): the reason why no method of its class assigns it.
EXCEPTIONS: dict[tuple[str, str], str] = {
    (f"{_SUITESPARSE}.compiled_functions", "freeing.atexit"): "weakref.finalize is used so",
    (f"{_SUITESPARSE}.expressions", "ss._parent"): _PYTHON_GRAPHBLAS,
    (f"{_SUITESPARSE}.expressions", "ss.config._parent"): _PYTHON_GRAPHBLAS,
    (f"{_SUITESPARSE}.native", "store.ss"): _PYTHON_GRAPHBLAS,
    (f"{_SUITESPARSE}.machine_code", "made._cache"): "numba has no parameter for it",
    ("sparsezc.engines.gpu.placements.host_gather", "setattr(_own_memory, name, kept)"): "threading.local is used so",
    ("sparsezc.algorithms.loops", "loop.statement_ns"): _MARK,
    ("sparsezc.algorithms.loops", "loop.takes_one"): _MARK,
    ("sparsezc.algorithms.loops", "loop.is_jumping"): _MARK,
    ("sparsezc.algorithms.loops", "loop.own_bytes"): _MARK,
    ("sparsezc.networkx_backend.generators.small", "made.__name__"): _NAMED,
    ("sparsezc.networkx_backend.generators.small", "made.__qualname__"): _NAMED,
    ("sparsezc.networkx_backend.generators.small", "made.__doc__"): _NAMED,
    (f"{_ALGEBRA}.registering", "setattr(owner, part, Path())"): _NAMESPACE,
    (f"{_ALGEBRA}.registering", "setattr(owner, parts[-1], op)"): _NAMESPACE,
    (f"{_ALGEBRA}.deprecated_names", "namespace.__getattr__"): "Python asks it for the names that a module lacks",
    ("sparsezc.process.first_use", "found.__class__"): "Python documents it for modules, and has no other way",
    ("sparsezc.terminal.streams", "setattr(sys, name, _Closed())"): "Python's standard streams are replaced so",
    ("sparsezc.cli", "warnings.showwarning"): "warnings documents it, and catch_warnings restores it",
    ("sparsezc.cli.mpirun", "rest.required"): "argparse refuses required= for an argument without dashes",
}


def name_of_class(node: ast.expr) -> str | None:
    """Return the class whose object a call makes: ``Name(...)``, ``Name.of(...)``, ``cls(...)``; None for others."""
    if not isinstance(node, ast.Call):
        return None
    made = node.func
    while isinstance(made, ast.Attribute) and not made.attr[:1].isupper():
        made = made.value
    name = getattr(made, "attr", getattr(made, "id", ""))
    return name if name == "cls" or name.lstrip("_")[:1].isupper() else None


def own_attributes(tree: ast.Module) -> set[str]:
    """Return the attributes of a file's classes: annotated there, in their slots, or assigned by their methods."""
    found = set()
    for node in (inner for each in ast.walk(tree) if isinstance(each, ast.ClassDef) for inner in ast.walk(each)):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                found.add(name)
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case ast.Assign(targets=[ast.Name(id="__slots__")], value=ast.Tuple(elts=names)):
                found |= {name.value for name in names if isinstance(name, ast.Constant)}
            case _:
                pass
    return found


def is_super(method: ast.expr) -> bool:
    """Return whether a call is of ``super()``, and so on the object itself."""
    match method:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
            return True
        case _:
            return False


def inside(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function or module, without those of functions inside."""
    for child in ast.iter_child_nodes(function):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from inside(child)


def foreign_parameters(function: ast.AST, own: set[str]) -> set[str]:
    """Return the parameters that are annotated as objects of other files' classes."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return set()
    given = function.args
    said = {x.arg: ast.unparse(x.annotation) for x in (*given.args, *given.kwonlyargs) if x.annotation is not None}
    parts = {name: set(text.strip("\"'").replace(" ", "").split("|")) - {"None"} for name, text in said.items()}
    return {name for name, kinds in parts.items() if "Any" not in kinds and not kinds & own}


def assigned_elsewhere(path: Path) -> list[tuple[int, str]]:
    """Return line and text of each assignment to an attribute of an object that another file's class made."""
    tree = ast.parse(path.read_text())
    attributes, found = own_attributes(tree), []
    classes = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for function in ast.walk(tree):
        if not isinstance(function, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        nodes = list(inside(function))
        made = {"self", "cls"}
        for node in nodes:
            if isinstance(node, ast.Assign) and name_of_class(node.value):
                made |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        foreign = foreign_parameters(function, classes)
        for node in nodes:
            match node:
                case ast.Attribute(value=ast.Name(id=name)) if name in made:
                    continue
                case ast.Attribute(value=x, attr=name, ctx=ast.Store() | ast.Del()):
                    if name in attributes and not (isinstance(x, ast.Name) and x.id in foreign):
                        continue
                case ast.Call(func=ast.Name(id="setattr") | ast.Attribute(attr="__setattr__"), args=[x, *_]):
                    if (isinstance(x, ast.Name) and x.id in made) or is_super(node.func):
                        continue
                case _:
                    continue
            found.append((node.lineno, ast.unparse(node)))
    return sorted(set(found))


@pytest.mark.parametrize("module", modules())
def test_attributes_are_assigned_in_the_file_of_the_class(module: str) -> None:
    path = modules()[module]
    wrong = [(line, target) for line, target in assigned_elsewhere(path) if (module, target) not in EXCEPTIONS]
    assert [
        f"{path}:{line}: {target} is of a class of another file, which needs a method" for line, target in wrong
    ] == []


def test_the_list_of_exceptions_is_not_longer_than_needed() -> None:
    found = {
        (module, target)
        for module in {key[0] for key in EXCEPTIONS}
        for _, target in assigned_elsewhere(modules()[module])
    }
    assert set(EXCEPTIONS) - found == set()


def test_the_reader_of_assignments_sees_every_form(tmp_path: Path) -> None:
    """The judge sees every form of assignment."""
    path = tmp_path / "x.py"
    path.write_text("""
class Own:
    __slots__ = ("count", "slot")
    kind: int
    def __init__(self, other: Other) -> None:
        self.size = 0
        self.inner.far = 1           # 7
        other.size = 2               # 8, by its annotation
def f(x, own: Own | None, other: "Other | None"):
    x.size = x.kind = x.count = 0
    own.slot = 1
    other.count = 1                  # 12
    x.far = 1                        # 13
    x.far += 1                       # 14
    x.a, (x.size, *x.b) = 1, (2, 3)  # 15, twice
    del x.far                        # 16
    for x.far in ():                 # 17
        pass
    made = Other()
    made.far = module.Other.of(1).near = 1  # 20, for the second
    setattr(x, "far", 1)             # 21
    object.__setattr__(x, "far", 1)  # 22
    setattr(made, "far", 1)
    return lambda: made.far
got = make()
got.far: int = 1                     # 26
class Strict(Own):
    def __setattr__(self, name, value):
        super().__setattr__(name, value)
""")
    assert [line for line, _ in assigned_elsewhere(path)] == [7, 8, 12, 13, 14, 15, 15, 16, 17, 20, 21, 22, 26]
