"""The parameters of an algorithm or an application, from its signature and its docstring.

Both are read from the source, which takes a millisecond: the command line is parsed before NumPy and GraphBLAS are
imported.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from sparsezc.process import first_use

PACKAGES = ("sparsezc.applications", "sparsezc.algorithms")
REQUIRED = object()  # the marker of a parameter without a default
_SECTION = re.compile(r"^(\w+)\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^(\w[\w, ]*?)(?: : (.*))?\n((?:(?: .*)?\n)*)", re.MULTILINE)
_ROLE = re.compile(r":\w+:`~?(?:[\w.]*\.)?(\w+)`|``([^`]*)``|`([^`]*)`")
_SENTENCE = re.compile(r"(?<=[^.])[.;:](?= [A-Z])")
_SHORT, _LONGEST = 30, 160  # characters of an option's help


class Parameter(NamedTuple):
    """A parameter: its name, its type in the docstring, the sentence that explains it, and its default."""

    name: str
    type: str
    help: str
    default: Any


class Function(NamedTuple):
    """A function: the first line of its docstring, and its parameters; the first is the graph."""

    summary: str
    parameters: tuple[Parameter, ...]


def home(name: str) -> str:
    """Return the package that has the function: the applications or the algorithms."""
    return next(package for package in PACKAGES if name in import_module(package).__all__)


@cache
def function(name: str) -> Function:
    """Return a function of the algorithms or the applications.

    >>> [each.name for each in function("connected_components").parameters]
    ['A']
    """
    node = _node(name)
    told = _told(name)
    given = [*node.args.posonlyargs, *node.args.args]
    defaults: list[Any] = [REQUIRED] * (len(given) - len(node.args.defaults)) + list(node.args.defaults)
    given, defaults = given + node.args.kwonlyargs, defaults + [each or REQUIRED for each in node.args.kw_defaults]
    made = tuple(
        Parameter(each.arg, *told.get(each.arg, ("", "")), _value(default))
        for each, default in zip(given, defaults, strict=True)
    )
    return Function(_plain((ast.get_docstring(node) or "").partition("\n")[0]), made)


@cache
def _node(name: str) -> ast.FunctionDef:
    """Return the syntax tree of a function's definition, which is behind those of its overloads."""
    module = first_use.home(home(name), name)
    spec = find_spec(module)
    loader: Any = spec and spec.loader
    tree = ast.parse(loader.get_source(module))
    return [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name][-1]


def _told(name: str) -> dict[str, tuple[str, str]]:
    """Return the type and help of each documented parameter; where the docstring refers to a function, that one's."""
    text = inspect.cleandoc(ast.get_docstring(_node(name)) or "") + "\n"
    found: dict[str, tuple[str, str]] = {}
    section = dict(_SECTION.findall(text)).get("Parameters")
    if section is None:
        return _referred(text)
    for names, type, about in _ENTRY.findall(section):
        elsewhere = {} if type else _referred(about)
        for each in names.split(", "):
            found[each] = elsewhere.get(each) or (type, _sentence(about))
    return found


def _referred(text: str) -> dict[str, tuple[str, str]]:
    """Return types and helps of the parameters of the first function that a text refers to."""
    found = re.search(r":func:`(\w+)`", text)
    return {} if found is None else _told(found[1])


def _sentence(about: str) -> str:
    """Return the first sentence of an explanation, in plain text; with the next one if it is short."""
    one, *more = _SENTENCE.split(_plain(" ".join(about.split())))
    first = (f"{one}.{more[0]}" if more and len(one) < _SHORT else one).rstrip(".")
    return first if len(first) <= _LONGEST else first[: _LONGEST - 3].rsplit(" ", 1)[0] + "..."


def _plain(text: str) -> str:
    return _ROLE.sub(lambda found: next(filter(None, found.groups()), ""), text).rstrip(".")


def _value(default: Any) -> Any:
    """Return a parameter's default; None also for a default that is an expression, which the function evaluates."""
    if default is REQUIRED:
        return REQUIRED
    try:
        return ast.literal_eval(default)
    except ValueError:
        return None


def every() -> Iterator[str]:
    """Yield the names of all algorithms and applications."""
    for package in reversed(PACKAGES):
        yield from import_module(package).__all__
