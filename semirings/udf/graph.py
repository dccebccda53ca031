"""A function of numbers as a graph of typed nodes, and its three forms: over NumPy arrays, in CUDA, in plain Python.

The three have the same semantics: every conversion between types is a node of its own, so none depends on a language's
rules. All branches are computed, and a choice selects one of them; no operation can fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sparsezc.semirings.types import datatypes
from sparsezc.semirings.types.datatypes import BOOL, DataType

__all__ = ["Form", "Node", "choose", "constant", "convert", "cuda", "cuda_row", "evaluate", "operand", "python"]


class Form(NamedTuple):
    """One operation in the three forms; ``{0}``, ``{1}`` ... stand for its arguments, ``{T}`` for the result's type."""

    numpy: Callable[..., Any]
    cuda: str
    python: str


class Node:
    """A value of one type: an operand, a constant, or an operation on other nodes."""

    __slots__ = ("args", "dtype", "form", "value")

    def __init__(
        self, dtype: DataType, args: tuple[Node, ...] = (), form: Form | None = None, value: Any = None
    ) -> None:
        self.dtype = dtype
        self.args = args
        self.form = form
        self.value = value  #: an operand's name, or a constant


def operand(name: str, dtype: DataType) -> Node:
    """Make the node of an operand."""
    return Node(dtype, value=name)


def constant(value: Any, dtype: DataType) -> Node:
    """Make the node of a constant."""
    return Node(dtype, value=dtype.np_type.type(value))


def _is_constant(node: Node) -> bool:
    return node.form is None and not isinstance(node.value, str)


def convert(node: Node, dtype: DataType) -> Node:
    """Convert a node's value by GraphBLAS's rules: integers wrap, floats saturate, NaN becomes 0."""
    if node.dtype is dtype:
        return node
    if _is_constant(node):
        return constant(datatypes.cast(node.value, dtype), dtype)
    if dtype is BOOL:
        text = "({0} != 0)"
    elif node.dtype.is_float and dtype.is_integer:
        low, high = datatypes.lowest(dtype), datatypes.highest(dtype)
        name = f"np.{dtype.np_type.name}"
        text = f"({name}({low}) if {{0}} <= {float(low)!r} else {name}({high}) if {{0}} >= {float(high)!r} else "
        text += f"{name}(0) if {{0}} != {{0}} else {name}({{0}}))"
    else:
        text = f"np.{dtype.np_type.name}({{0}})"
    return Node(dtype, (node,), Form(lambda x: datatypes.cast(x, dtype), f"cast<{dtype.ctype}>({{0}})", text))


_SMALL = (-2, -1, -0.5, 0, 0.5, 1, 2, 3, 4)
_CHOICE = Form(lambda c, a, b: np.where(c, a, b), "({0} ? {1} : {2})", "({1} if {0} else {2})")


def choose(condition: Node, yes: Node, no: Node) -> Node:
    """Choose `yes` where a condition of BOOL is true, else `no`; both of one type."""
    return yes if yes is no else Node(yes.dtype, (condition, yes, no), _CHOICE)


def evaluate(root: Node, operands: dict[str, Any]) -> Any:
    """Compute the value over arrays."""
    found: dict[int, Any] = {}

    def value(node: Node) -> Any:
        if id(node) not in found:
            if node.form is not None:
                found[id(node)] = node.form.numpy(*map(value, node.args))
            else:
                found[id(node)] = operands[node.value] if isinstance(node.value, str) else node.value
        return found[id(node)]

    shape = np.broadcast_shapes(*(np.shape(x) for x in operands.values()))
    return np.broadcast_to(value(root), shape)


def cuda(root: Node) -> str:
    """Return the value as one CUDA expression."""
    lines, (value,) = _written((root,), lambda node: node.form.cuda if node.form else "", _cuda_constant)
    return f"[&] {{ {_named(lines)} return {value}; }}()" if lines else value


def cuda_row(roots: tuple[Node, ...], out: str) -> str:
    """Return CUDA statements that write several values to an array; common subexpressions are computed once."""
    lines, values = _written(roots, lambda node: node.form.cuda if node.form else "", _cuda_constant)
    return " ".join([_named(lines), *(f"{out}[{k}] = {value};" for k, value in enumerate(values))])


def _named(lines: list[tuple[str, DataType, str]]) -> str:
    return " ".join(f"const {dtype.ctype} {name} = {text};" for name, dtype, text in lines)


def python(root: Node, name: str, parameters: tuple[str, ...], first: str = "") -> tuple[str, tuple[Any, ...]]:
    """Return the source of a Python function that computes the value, after `first`, and its constants.

    Constants are parameters after the others, so that functions that differ in constants only share one source. Small
    numbers are literals, which a compiler can optimise (``x ** 2``).
    """
    constants: dict[Node, str] = {}

    def literal(node: Node) -> str:
        is_small = node.dtype is BOOL or node.value in _SMALL
        return _python_constant(node) if is_small else constants.setdefault(node, f"c{len(constants)}")

    lines, (value,) = _written((root,), lambda node: node.form.python if node.form else "", literal)
    named = "".join(f"    {each} = {text}\n" for each, _, text in lines)
    text = f"def {name}({', '.join((*parameters, *constants.values()))}):\n{first}{named}    return {value}\n"
    return text, tuple(node.value for node in constants)


def _cuda_constant(node: Node) -> str:
    return node.dtype.literal(node.value)


def _python_constant(node: Node) -> str:
    name = f"np.{node.dtype.np_type.name if node.dtype is not BOOL else 'bool_'}"
    if node.dtype.is_float and not np.isfinite(node.value):
        return f"{name}(np.{'nan' if np.isnan(node.value) else 'inf'})" if not node.value < 0 else f"{name}(-np.inf)"
    return f"{name}({node.value.item()!r})"


def _written(
    roots: tuple[Node, ...], form: Callable[[Node], str], literal: Callable[[Node], str]
) -> tuple[list[tuple[str, DataType, str]], list[str]]:
    """Write graphs as source: a named line for each node used twice, and the values."""
    uses: Counter[int] = Counter()

    def count(node: Node) -> None:
        text = form(node)
        for position, arg in enumerate(node.args):
            if not uses[id(arg)]:
                count(arg)
            uses[id(arg)] += max(1, text.count(f"{{{position}}}"))

    for root in roots:
        if not uses[id(root)]:
            count(root)
        uses[id(root)] += len(roots) > 1  # a root may also be an operand of another root
    lines: list[tuple[str, DataType, str]] = []
    texts: dict[int, str] = {}

    def write(node: Node) -> str:
        if node.form is None:
            return node.value if isinstance(node.value, str) else literal(node)
        if id(node) not in texts:
            text = form(node).format(*map(write, node.args), T=node.dtype.ctype)
            if uses[id(node)] > 1:
                lines.append((f"t{len(lines)}", node.dtype, text))
                text = lines[-1][0]
            texts[id(node)] = text
        return texts[id(node)]

    return lines, [write(root) for root in roots]
