"""Translation of a Python function's source to a graph of typed nodes, for one type of operands."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from sparsezc.semirings.udf import library, rules
from sparsezc.semirings.udf.graph import Node, choose
from sparsezc.semirings.udf.source import Source

__all__ = ["translate", "translate_row"]

_Names = dict[str, Node]


def translate(source: Source, operands: tuple[Node, ...]) -> Node:
    """Translate a function for operands of given types.

    Raises
    ------
    UdfParseError
        A construct has no counterpart, or not for these types; the message names it and its line.
    """
    (result,) = _translated(_Translator(source), operands)
    return result


def translate_row(source: Source, operands: tuple[Node, ...]) -> tuple[Node, ...]:
    """Translate a function that returns a tuple, or one number; raise as :func:`translate` does."""
    return _translated(_Translator(source, several=True), operands)


def _translated(translator: _Translator, operands: tuple[Node, ...]) -> tuple[Node, ...]:
    source = translator.source
    result = translator.block(source.body, dict(zip(source.parameters, operands, strict=True)))
    if not result:
        raise source.refuse(source.body[-1], "a path through it ends without return")
    return result


class _Translator:
    """Translation of statements and expressions to nodes; `names` are the local variables at each point.

    With `several`, a function may return a tuple.
    """

    def __init__(self, source: Source, *, several: bool = False) -> None:
        self.source, self.several = source, several

    # Statements: the values of a block's return, or None if its end is reached without one.

    def block(self, body: list[ast.stmt], names: _Names) -> tuple[Node, ...] | None:
        for position, statement in enumerate(body):
            if isinstance(statement, ast.Return):
                if statement.value is None:
                    raise self.source.refuse(statement, "a return without a value")
                row = self.several and isinstance(statement.value, ast.Tuple)
                values = statement.value.elts if row else [statement.value]  # type: ignore[attr-defined]
                return tuple(self.expression(value, names) for value in values)
            if isinstance(statement, ast.If):
                return self.branch(statement, body[position + 1 :], names)
            self.statement(statement, names)
        return None

    def branch(self, statement: ast.If, rest: list[ast.stmt], names: _Names) -> tuple[Node, ...] | None:
        """Translate both sides and the rest of the block after each; the rest only once if neither side returns."""
        condition = rules.truth(self.expression(statement.test, names))
        yes_names, no_names = dict(names), dict(names)
        if not any(isinstance(node, ast.Return) for node in ast.walk(statement)):
            self.block(statement.body, yes_names)
            self.block(statement.orelse, no_names)
            self.merge(condition, yes_names, no_names, names)
            return self.block(rest, names)
        yes = self.block([*statement.body, *rest], yes_names)
        no = self.block([*statement.orelse, *rest], no_names)
        if yes is None or no is None:
            raise self.source.refuse(statement, "a path through it ends without return")
        if len(yes) != len(no):
            raise self.source.refuse(statement, f"it returns {len(yes)} numbers on one path and {len(no)} on another")
        return tuple(choose(condition, *rules.meet(a, b)) for a, b in zip(yes, no, strict=True))

    @staticmethod
    def merge(condition: Node, yes: _Names, no: _Names, names: _Names) -> None:
        """Merge the variables after a branch: those assigned on both sides."""
        for name in list(names):
            if name not in yes or name not in no:
                del names[name]
        for name in yes.keys() & no.keys():
            names[name] = yes[name] if yes[name] is no[name] else choose(condition, *rules.meet(yes[name], no[name]))

    def statement(self, statement: ast.stmt, names: _Names) -> None:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                names[name] = self.expression(value, names)
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                names[name] = self.expression(value, names)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=sign, value=value):
                read = ast.copy_location(ast.Name(name, ast.Load()), target)
                whole = ast.copy_location(ast.BinOp(read, sign, value), statement)
                names[name] = self.expression(whole, names)
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                pass
            case _:
                raise self.source.refuse(statement, f"{_called(statement)} cannot be translated")

    # Expressions

    def expression(self, node: ast.expr, names: _Names) -> Node:
        try:
            return self._expression(node, names)
        except rules.Refused as error:
            raise self.source.refuse(node, f"{ast.unparse(node)!r}: {error}") from None

    def _expression(self, node: ast.expr, names: _Names) -> Node:
        def of(each: ast.expr) -> Node:
            return self.expression(each, names)

        match node:
            case ast.Constant(value=value):
                return rules.literal(value)
            case ast.Name(id=name):
                return self.name(node, name, names)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name not in names:
                return self.attribute(node, self.source.outside.get(name), attribute)
            case ast.BinOp(left=left, op=sign, right=right):
                return _combine(type(sign), of(left), of(right))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return rules.literal(-value)
            case ast.UnaryOp(op=sign, operand=operand):
                return _UNARY[type(sign)](of(operand))
            case ast.BoolOp(op=sign, values=values):
                return _chain(isinstance(sign, ast.And), [of(each) for each in values])
            case ast.Compare(left=first, ops=signs, comparators=others):
                terms = [of(each) for each in (first, *others)]
                tests = [rules.compare(type(s), a, b) for s, a, b in zip(signs, terms, terms[1:], strict=False)]
                return _chain(True, tests)
            case ast.IfExp(test=test, body=yes, orelse=no):
                return choose(rules.truth(of(test)), *rules.meet(of(yes), of(no)))
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str() as text)], keywords=[]) if (
                name not in names and self.source.outside.get(name) is float
            ):
                return rules.literal(_number(text))
            case ast.Call(func=function, args=args, keywords=[]) if not any(isinstance(x, ast.Starred) for x in args):
                return self.call(node, function, [of(each) for each in args], names)
        raise self.source.refuse(node, f"{_called(node)} cannot be translated: {ast.unparse(node)!r}")

    def name(self, node: ast.AST, name: str, names: _Names) -> Node:
        if name in names:
            return names[name]
        if name not in self.source.outside:
            raise self.source.refuse(node, f"{name!r} has no value on every path to here")
        return rules.literal(self.source.outside[name])

    def attribute(self, node: ast.AST, module: Any, name: str) -> Node:
        if _is_module(module) and name in library.CONSTANTS[module]:
            return rules.literal(float(getattr(module, name)))
        raise self.source.refuse(node, f"{ast.unparse(node)!r} is not a constant that can be translated")

    def call(self, node: ast.Call, called: ast.expr, args: list[Node], names: _Names) -> Node:
        function = self.function(called, names)
        if function is None:
            raise self.source.refuse(node, f"a call of {ast.unparse(called)!r} cannot be translated")
        try:
            return function(*args)
        except TypeError:
            raise self.source.refuse(node, f"{ast.unparse(called)!r} takes another number of arguments") from None

    def function(self, called: ast.expr, names: _Names) -> Callable[..., Node] | None:
        outside = self.source.outside
        match called:
            case ast.Name(id=name) if name not in names:
                return _known(outside.get(name))
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name not in names:
                module = outside.get(name)
                return library.FUNCTIONS[module].get(attribute) if _is_module(module) else None
        return None


def _is_module(x: Any) -> bool:
    return any(x is module for module in library.FUNCTIONS)


def _number(text: str) -> float:
    """Return the value of ``float("inf")``, the usual way to write infinity without an import."""
    try:
        return float(text)
    except ValueError as error:
        raise rules.Refused(str(error)) from None


def _known(function: Any) -> Callable[..., Node] | None:
    """Return a built-in function, or one imported by name from math or numpy."""
    try:
        if function in library.BUILTINS:
            return library.BUILTINS[function]
    except TypeError:
        return None
    name = getattr(function, "__name__", "")
    for module, functions in library.FUNCTIONS.items():
        if name in functions and getattr(module, name, None) is function:
            return functions[name]
    return None


def _combine(sign: type[ast.operator], a: Node, b: Node) -> Node:
    if sign in rules.arithmetic:
        return rules.arithmetic[sign](a, b)
    if sign in (ast.LShift, ast.RShift):
        return rules.shift(sign, a, b)
    if sign is ast.MatMult:
        raise rules.Refused("numbers have no @")
    return rules.bits(sign, a, b)


_UNARY: dict[type[ast.unaryop], Callable[[Node], Node]] = {
    ast.USub: rules.negative,
    ast.UAdd: rules.wide,
    ast.Not: lambda x: rules.invert(rules.truth(x)),
    ast.Invert: rules.invert,
}


def _chain(both: bool, values: list[Node]) -> Node:
    """Translate ``a and b``, which is b if a is true, else a; and ``a or b``, the other way round."""
    result = values[-1]
    for value in reversed(values[:-1]):
        first, result = rules.meet(value, result)
        result = choose(rules.truth(first), result, first) if both else choose(rules.truth(first), first, result)
    return result


def _called(node: ast.AST) -> str:
    """Return the user's name for a construct."""
    names = {
        ast.For: "a for loop", ast.While: "a while loop", ast.With: "with", ast.Try: "try", ast.Raise: "raise",
        ast.Assert: "assert", ast.Subscript: "an index", ast.Attribute: "an attribute", ast.Call: "a call",
        ast.List: "a list", ast.Tuple: "a tuple", ast.Dict: "a dict", ast.Lambda: "a lambda", ast.JoinedStr: "a string",
        ast.FunctionDef: "a function inside", ast.NamedExpr: "an assignment inside an expression",
        ast.Import: "an import", ast.ImportFrom: "an import", ast.ListComp: "a comprehension", ast.Await: "await",
        ast.Assign: "an assignment to anything but one name", ast.Delete: "del", ast.Global: "global",
    }  # fmt: skip
    return names.get(type(node), type(node).__name__)
