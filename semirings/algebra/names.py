"""Lookup of an operator by a user's notation: itself, its name, ``"+"``, ``"min.+[int]"`` or a Python built-in."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

from sparsezc.exceptions import InvalidValue, meant
from sparsezc.semirings.algebra.operators import BinaryOp, Operator, TypedOp
from sparsezc.semirings.algebra.registering import Parameterized, Path, namespace
from sparsezc.semirings.algebra.structures import Monoid, Semiring, register_anonymous
from sparsezc.semirings.types import datatypes

KINDS = ("unary", "binary", "indexunary", "select", "monoid", "semiring")
KINDS_IN_ORDER = ("unary", "binary", "monoid", "semiring", "indexunary", "select", "agg")
"""The kinds in which a name of any kind is looked up, in this order."""

_VALUE_TESTS = {
    "<": "valuelt", ">": "valuegt", "<=": "valuele", ">=": "valuege", "!=": "valuene", "==": "valueeq",
    "col<=": "colle", "col>": "colgt", "row<=": "rowle", "row>": "rowgt", "index<=": "indexle", "index>": "indexgt",
}  # fmt: skip
_SPELLINGS: dict[str, dict[str, str]] = {
    "unary": {"-": "ainv", "~": "lnot"},
    "indexunary": _VALUE_TESTS,
    "select": _VALUE_TESTS,
    "binary": {
        "<": "lt", ">": "gt", "<=": "le", ">=": "ge", "!=": "ne", "==": "eq", "+": "plus", "-": "minus", "*": "times",
        "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "&": "land", "|": "lor", "^": "lxor",
    },
    "monoid": {"==": "eq", "+": "plus", "*": "times", "&": "land", "|": "lor", "^": "lxor"},
    "semiring": {},
    "agg": {"+": "sum", "*": "prod", "&": "all", "|": "any"},
}  # fmt: skip
_HELPERS = {
    "Aggregator", "TypedAggregator", "column", "from_string", "get_semiring", "index", "numpy", "register_anonymous",
    "register_new", "row", "ss", "value",
}  # fmt: skip
_NUMPY = ("unary", "binary", "monoid", "semiring")
_BUILTINS: dict[Any, str] = {builtins.abs: "abs", builtins.min: "min", builtins.max: "max"}
_COMPARISONS = {"eq": "valueeq", "ne": "valuene", "gt": "valuegt", "ge": "valuege", "lt": "valuelt", "le": "valuele"}
_EXAMPLES = {
    "agg": "sum[int]",
    "unary": "abs[int]",
    "indexunary": "rowindex",
    "select": "tril",
    "semiring": "min.+[int]",
}


def names_of(kind: str) -> dict[str, Operator]:
    """Return every operator of a kind by its name, aliases and SuiteSparse's own included.

    >>> from sparsezc.semirings.algebra import names
    >>> len(names.names_of("monoid"))
    14
    """
    here = namespace_dict(kind)
    own = vars(here["ss"]) if "ss" in here else {}
    return dict(_operators_in({**own, **here}, ""))


def namespace_dict(kind: str) -> dict[str, Any]:
    """Return the dict of a kind's namespace."""
    return vars(namespace(kind))


def _operators_in(namespace: dict[str, Any], path: str) -> Iterator[tuple[str, Operator]]:
    for name, op in namespace.items():
        if isinstance(op, Operator):
            yield path + name, op
        elif isinstance(op, Path):
            yield from _operators_in(vars(op), f"{path}{name}.")


def lookup(kind: str, x: Any) -> Any:
    """Find the operator of a kind that ``x`` denotes.

    Parameters
    ----------
    kind : str
        ``"unary"``, ``"binary"``, ``"indexunary"``, ``"select"``, ``"monoid"`` or ``"semiring"``.
    x : Operator, TypedOp, str or built-in function
        An operator of the kind is returned unchanged. A monoid serves as a binary operator and a binary operator as the
        monoid of its name; a comparison serves as a select operator of values. A string is a name or an infix spelling,
        and may end in a type: ``"+"``, ``"min[FP64]"``, ``">="``, ``"min.+"`` for a semiring.

    Returns
    -------
    Operator or TypedOp
        Typed where ``x`` is typed or names a type.

    Raises
    ------
    TypeError
        ``x`` is an operator of another kind, or no operator.
    exceptions.InvalidValue
        The string names no operator of the kind.

    >>> from sparsezc.semirings import lookup
    >>> lookup("binary", "+"), lookup("semiring", "min.+[int]"), lookup("select", ">"), lookup("binary", max)
    (binary.plus, semiring.min_plus[INT64], select.valuegt, binary.max)
    """
    if isinstance(x, str):
        return _from_string(kind, x)
    if isinstance(x, (Operator, TypedOp)):
        return _convert(kind, x)
    try:
        name = _BUILTINS.get(x)
    except TypeError:
        name = None
    if name is not None:
        return lookup(kind, name)
    raise TypeError(f"a {kind} operator is needed; got {x!r} of type {type(x).__name__}")


def from_string(kind: str, text: str) -> Any:
    """Find the operator that a string names; the kind ``"op"`` means the first kind that has the name.

    >>> from sparsezc.semirings import from_string
    >>> from_string("op", "min.plus"), from_string("op", "-"), from_string("op", "+[FP32]")
    (semiring.min_plus, unary.ainv, binary.plus[FP32])
    """
    if kind != "op":
        return _from_string(kind, text)
    for each in KINDS_IN_ORDER:
        try:
            return _from_string(each, text, offer=False)
        except InvalidValue:
            continue
    raise InvalidValue(
        f"Unknown op string: {text!r} names no operator; a name or a spelling such as 'abs[int]' is needed"
    )


def find(kind: str, text: str) -> Any:
    """Find the operator of a kind that a string names; return None if there is none."""
    try:
        return _from_string(kind, text, offer=False)
    except InvalidValue:
        return None


def _convert(kind: str, x: Operator | TypedOp) -> Any:
    op = x.op if isinstance(x, TypedOp) else x
    if op.kind == kind:
        return x
    found: Operator | None = None
    if kind == "binary" and isinstance(op, Monoid):
        found = op.binaryop
    elif kind == "monoid" and isinstance(op, BinaryOp):
        found = names_of("monoid").get(op.name)
    elif kind == "select" and isinstance(op, BinaryOp) and op.name.removeprefix("is") in _COMPARISONS:
        found = names_of("select")[_COMPARISONS[op.name.removeprefix("is")]]
    elif {kind, op.kind} == {"select", "indexunary"}:
        found = names_of(kind).get(op.name)
    if found is None:
        raise TypeError(f"a {kind} operator is needed; got {x!r}")
    return found[x.type] if isinstance(x, TypedOp) else found


def _from_string(kind: str, text: str, *, offer: bool = True) -> Any:
    """Find the operator; with `offer` the error names the nearest one, which takes time that some callers save."""
    written, bracket, dtype = text.strip().partition("[")  # registered names may have capital letters
    written = written.strip()
    base, dtype = written.lower(), dtype.lower()
    if wrong := _wrong_brackets(written, bracket, dtype):
        raise InvalidValue(
            f"{text!r} is not a {kind} operator: {wrong}; a type is given in brackets at the end, as in '+[int]'"
        )
    base = base.removeprefix("ss.")
    known = names_of(kind)
    op: Any = None
    if not base.startswith("numpy."):
        op = known.get(_SPELLINGS[kind].get(base, base)) or known.get(written.removeprefix("ss."))
    if op is None and kind in _NUMPY:  # NumPy's names, with or without "numpy."
        numpy = namespace(kind).numpy
        name = base.removeprefix("numpy.")
        op = getattr(numpy, name) if name in dir(numpy) else None
    if op is None and kind == "semiring" and base.count(".") == 1:
        left, _, right = base.partition(".")
        op = semiring_of(_from_string("monoid", left, offer=offer), _from_string("binary", right, offer=offer))
    if op is None:
        example = _EXAMPLES.get(kind, "+[int]")
        unknown = "Bad semiring string" if kind == "semiring" else f"Unknown {kind} string"
        nearest = f"{text!r} names no {kind} operator{meant(base, known) if offer else ''}"
        raise InvalidValue(f"{unknown}: {nearest}; a name or a spelling such as {example!r} is needed")
    return op[datatypes.lookup(dtype[:-1])] if bracket else op


def _wrong_brackets(written: str, bracket: str, dtype: str) -> str | None:
    """Describe the mistake in ``written[dtype``, or return None."""
    if "]" in written:
        return "']' is not matched by a '['"
    if not bracket:
        return None
    if "[" in dtype or dtype.count("]") > 1:
        return "there are too many brackets"
    return None if dtype.endswith("]") else "it does not end with ']'"


def listed(namespace: dict[str, Any]) -> list[str]:
    """Return the public names of a namespace: its operators and the functions that make, find or group them."""
    return sorted(
        name
        for name, x in namespace.items()
        if not name.startswith("_") and (isinstance(x, Operator | Parameterized | Path) or name in _HELPERS)
    )


def semiring_of(monoid: Any, binaryop: Any) -> Semiring:
    """Return the semiring of two operators: the named one if there is one, otherwise an anonymous one.

    >>> from sparsezc.semirings import binary, monoid, semiring
    >>> semiring.get_semiring(monoid.min, binary.plus) is semiring.min_plus
    True
    """
    adds, multiplies = lookup("monoid", monoid), lookup("binary", binaryop)
    known = names_of("semiring").get(f"{adds.name}_{multiplies.name}")
    if isinstance(known, Semiring) and known.monoid is adds and known.binaryop is multiplies:
        return known
    made: Semiring = register_anonymous(adds, multiplies)
    return made
