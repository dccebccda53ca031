"""The text of objects and expressions, in python-graphblas's format: names above values, or an HTML table."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from sparsezc.expr.operand import IndexList, Operand
from sparsezc.process import first_use

__all__ = ["CSS_STYLE", "Shown", "escape", "header", "header_html", "index_text", "name_html", "shown", "shown_html",
           "written"]  # fmt: skip

#: ``html.escape``, imported at first use: its table of 2,231 names takes as long as five of our modules.
escape: Callable[..., str] = first_use.function("html", "escape")

CSS_STYLE = """
<style>
table.gb-info-table { border: 1px solid; max-width: 100%; margin: 0; }
td.gb-info-name-cell { white-space: nowrap; }
details.gb-arg-details, details.gb-expr-details { margin: 0; padding-bottom: 5px; }
summary.gb-arg-summary, summary.gb-expr-summary { display: list-item; }
.gb-scalar { padding-bottom: 5px; }
.expr-tooltip .tooltip-circle { border: 1px solid; border-radius: 50%; padding: 0 5px; }
.expr-tooltip .tooltip-text { display: none; border: 1px solid; margin-left: 6px; padding: 3px 8px; }
.expr-tooltip:hover .tooltip-text { display: inline-block; }
</style>
"""

# How a call is written; {0} is the first operand, {rest} are the others.
_FORMS = {
    "apply_left": "{1}.apply({op}, left={0})",
    "apply_right": "{0}.apply({op}, right={1})",
    "apply_index": "{0}.apply({op}, right={1})",
    "assign": "[{rest}] = {0}",
    "ewise_union": "{0}.ewise_union({2}, {op}, {1}, {3})",
    "extract": "{0}[{rest}]",
    "select": "{0}.select({op}, thunk={1})",
    "subassign": "[{rest}] = {0}",
}
# python-graphblas's text names the type that a vector has in SuiteSparse's call.
_AS_MATRIX = {
    "inner": "{0}.inner((GrB_Matrix){rest}, op={op})",
    "outer": "(GrB_Matrix){0}.outer((GrB_Matrix){rest}, op={op})",
}


class Shown(NamedTuple):
    """The text of an expression, in parts.

    Attributes
    ----------
    kind : str
        The name of its class in python-graphblas.
    text, html : str
        The expression as it is written.
    columns : dict
        Names and values of the header.
    hint : str
        The way to compute the expression, as HTML; ``{}`` stands for its text.
    """

    kind: str
    text: str
    html: str
    columns: dict[str, Any]
    hint: str


def header(kind: str | list[str], columns: dict[str, Any], name: str) -> str:
    """Return a line of names above a line of values; `kind` may have two lines."""
    kinds = [kind] if isinstance(kind, str) else kind
    width = max(map(len, [name, *kinds]))
    sizes = {key: max(len(key), len(str(value))) + 2 for key, value in columns.items()}
    names = "".join(key.rjust(size) for key, size in sizes.items())
    values = "".join(str(value).rjust(sizes[key]) for key, value in columns.items())
    *above, last = (line.ljust(width) for line in kinds)
    return "\n".join([name.ljust(width) + names, *above, last + values])


def header_html(kind: str, columns: dict[str, Any]) -> str:
    """Return an HTML table of a row of names and a row of values; `kind` is HTML, too."""
    names = "".join(f"    <td><pre>{key}</pre></td>\n" for key in columns)
    values = "".join(f"    <td>{escape(str(value))}</td>\n" for value in columns.values())
    return (
        '<div>\n<table class="gb-info-table">\n  <tr>\n'
        f'    <td rowspan="2" class="gb-info-name-cell"><pre>{kind}</pre></td>\n'
        f"{names}  </tr>\n  <tr>\n{values}  </tr>\n</table>\n</div>\n"
    )


def name_html(name: str) -> str:
    """Return a name in HTML, with the text after its first underscore as a subscript, up to a dot (``.T``)."""
    head, mark, rest = name.partition("_")
    if not mark:
        return escape(name)
    index, dot, suffix = rest.partition(".")
    return f"{escape(head)}<sub>{escape(index)}</sub>{dot}{escape(suffix)}"


def index_text(index: IndexList, length: int) -> str:
    """Return one dimension of an index as it is written, for an object of this length."""
    if index.kind != "range":
        return repr(index)
    found = index.as_python(length)
    start, stop, step = ("" if part is None else str(part) for part in (found.start, found.stop, found.step))
    return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"


def written(operation: str, operands: tuple[Any, ...], op: Any, *, html: bool = False) -> str:
    """Return an operation as it is written: ``A.mxm(B, op=semiring.plus_times[INT64])``."""
    if operation == "aggregate":
        operation, operands = "reduce_rowwise" if operands[1].by_rows else "reduce", operands[:1]
    given = [_operand(x, html) for x in operands]
    said = repr(op)
    if operation == "outer":
        said = said.replace("binary.", "semiring.any_")  # a product whose inner dimension is 1
    form = _FORMS.get(operation) or (None if html else _AS_MATRIX.get(operation))
    if operation == "reduce" and operands[0].ndim == 2:
        operation = "reduce_scalar"
    if operation == "reduce_rowwise" and operands[0]._transposed:
        operation, given = "reduce_columnwise", [_operand(operands[0].T, html)]
    if operation == "select_mask":
        mask = operands[2]
        form = f"{{0}}.select({'~' * mask.complement}{{1}}.{'S' if mask.structure else 'V'})"
    if form is None:
        form = "{0}." + operation
        arguments = [part for part in ("{rest}" if len(given) > 1 else "", "" if op is None else "{op}") if part]
        form += "(" + ", op=".join(arguments) + ")"
    return form.format(*given, rest=", ".join(given[1:]), op=escape(said, quote=False) if html else said)


def _operand(x: Any, html: bool) -> str:
    if not isinstance(x, Operand):
        return escape(repr(x), quote=False) if html else repr(x)
    if not x.ndim:
        value: Any = x
        return str(value.value)
    return name_html(x.name) if html else x.name


def sizes(shape: tuple[int, ...]) -> dict[str, Any]:
    """Return the sizes in a shape by their names: ``size``, or ``nrows`` and ``ncols``."""
    return dict(zip(("size",) if len(shape) == 1 else ("nrows", "ncols"), shape, strict=False))


def shown(x: Shown) -> str:
    """Return the text of an expression."""
    hint = re.sub("</?[a-z]+>", "", x.hint.replace("<br>", "\n")).format(x.text)
    return f"{header(x.text, x.columns, f'gb.{x.kind}')}\n\n{hint}"


def shown_html(x: Shown) -> str:
    """Return an expression as HTML."""
    columns = dict(x.columns)
    if "ncols" in columns and "left_dtype" in columns:  # for matrices, python-graphblas has the right type first
        columns["left_dtype"] = columns.pop("left_dtype")
    return (
        f'<div>{CSS_STYLE}<details class="gb-expr-details"><summary class="gb-expr-summary">'
        f'<tt><b>gb.{x.kind}</b></tt>&nbsp;<span class="expr-tooltip"><span class="tooltip-circle">?</span>'
        f'<span class="tooltip-text"><em>{x.hint.format(x.html)}</em></span></span>'
        f"{header_html(x.html, columns)}</summary></details></div>"
    )
