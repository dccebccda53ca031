"""The source of a Python function: its syntax tree, and the outer constants that it uses."""

from __future__ import annotations

import ast
import inspect
import linecache
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from sparsezc.exceptions import UdfParseError

__all__ = ["Source", "refuse", "source_of"]

# CPython before 3.13 counts the depth of a syntax tree for all threads together, and then fails.
_parsing = threading.Lock()


class Source(NamedTuple):
    """A function's name, place, parameters, syntax tree, and the outer values that it uses."""

    name: str
    file: str
    parameters: tuple[str, ...]
    body: list[ast.stmt]
    outside: dict[str, Any]  #: names of globals, of enclosing functions and built-ins, with their values

    def refuse(self, node: ast.AST, why: str) -> UdfParseError:
        """Make the error that names the construct that cannot be translated, and its line."""
        return refuse(self.name, why, f"{self.file}, line {getattr(node, 'lineno', '?')}")


def refuse(name: str, why: str, where: str) -> UdfParseError:
    """Make the error for a function that cannot be translated."""
    return UdfParseError(
        f"{name} ({where}): {why}; a function may use arithmetic, comparisons, and, or, not, if, assignment,"
        " abs, min, max, int, float, bool and the functions of math and numpy that docs/operators.md lists"
    )


def source_of(function: Callable[..., Any], arity: int) -> Source:
    """Return a function's source, checked to have the needed number of parameters.

    Raises
    ------
    UdfParseError
        Its source is not available, or the function has another number of parameters.
    TypeError
        It is no Python function.
    """
    if not inspect.isfunction(function):
        raise TypeError(
            f"func must be a function written in Python; got {function!r} of type {type(function).__name__}"
        )
    code = function.__code__
    name = function.__name__
    where = f"{code.co_filename}, line {code.co_firstlineno}"
    lines = linecache.getlines(code.co_filename, function.__globals__)
    node = _find(function, lines)
    if node is None:
        why = "its source text, which is translated, cannot be found: write it in a file or a notebook, not at a prompt"
        raise refuse(name, why, where)
    args = node.args
    if args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs or args.defaults:
        raise refuse(name, "its parameters must be plain names, without defaults or stars", where)
    names = tuple(arg.arg for arg in args.args)
    if len(names) != arity:
        raise refuse(name, f"it takes {len(names)} parameters and {arity} are needed", where)
    body: list[ast.stmt] = node.body if isinstance(node, ast.FunctionDef) else [_returning(node)]
    try:
        outside = inspect.getclosurevars(function)
    except ValueError as error:  # a name of an enclosing function without a value yet
        raise refuse(name, str(error), where) from None
    meant = {**outside.builtins, **outside.globals, **outside.nonlocals}
    return Source(name, code.co_filename, names, body, meant)


def _returning(node: ast.Lambda) -> ast.stmt:
    return ast.copy_location(ast.Return(node.body), node.body)


def _find(function: Any, lines: list[str]) -> ast.FunctionDef | ast.Lambda | None:
    """Find the node from which the function's code was compiled."""
    try:
        with _parsing:
            tree = ast.parse("".join(lines))
    except SyntaxError:
        return None
    code = function.__code__
    lambdas = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
        elif isinstance(node, ast.Lambda) and code.co_name == "<lambda>" and node.lineno == code.co_firstlineno:
            lambdas.append(node)
    # Several lambdas may begin in one line: choose the innermost that contains all positions of the code.
    known = [(a, c, b, d) for a, b, c, d in code.co_positions() if a and b and c is not None and d]
    return next((node for node in reversed(lambdas) if all(_holds(node, place) for place in known)), None)


def _holds(node: ast.Lambda, place: tuple[int, int, int, int]) -> bool:
    end = node.end_lineno or node.lineno, node.end_col_offset or 0
    return (node.lineno, node.col_offset) < place[:2] and place[2:] <= end
