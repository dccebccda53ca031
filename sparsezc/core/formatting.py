"""The text of a Matrix, a Vector, a mask or a Scalar: a header, and a table of the corners.

The format is python-graphblas's. pandas makes the table; its options ``display.max_rows``, ``min_rows`` and
``max_columns`` set the size. Only the corners are read, as all entries may not fit in host memory.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.expr import engines
from sparsezc.expr.formatting import CSS_STYLE, escape, header, header_html, name_html, sizes

__all__ = ["CSS_STYLE", "has_pandas", "html", "scalar_html", "scalar_text", "text"]

has_pandas = find_spec("pandas") is not None  # python-graphblas's name; without pandas there is no table
_NOTEWORTHY_BYTES = 1 << 20  # bytes: the memory of smaller objects is not shown
_MOST_COLUMNS = 150  # the most columns of a table that pandas fits to the terminal


def text(x: Any, mask: Any = None) -> str:
    """Return the text of a Matrix, TransposedMatrix or Vector; with `mask`, that of this mask of the object."""
    if (said := _elsewhere(x, mask)) is not None:
        return said
    kind = f"gb.{type(x).__name__}"
    name = x.name if mask is None else mask.name
    found = header(kind if mask is None else [_mask_kind(mask), f"of {kind}"], _columns(x), f'"{name}"')
    if not has_pandas:
        return found
    found += "\n" + "-" * len(found.partition("\n")[0])
    if 0 in x.shape:
        return found
    table, options = _table(x, mask)
    if x.ndim == 1:
        table = table.rename_axis(columns="index").set_axis(["value"])
    with options:
        return f"{found}\n{table!r}"


def html(x: Any, mask: Any = None) -> str:
    """Return the HTML of the object or mask, for notebooks."""
    if (said := _elsewhere(x, mask)) is not None:
        return f"<div><p>{escape(said)}</p></div>"
    kind = f"gb.{type(x).__name__}"
    state, table = "", "<em>(Install</em> <tt>pandas</tt> <em>to see a preview of the data)</em>"
    if has_pandas:
        frame, options = _table(x, mask)
        with options:
            state, table = " open", frame._repr_html_()
    above = header_html(kind if mask is None else f"{_mask_kind(mask)}\nof\n{kind}", _columns(x))
    name = name_html(x.name if mask is None else mask.name)
    return (
        f'<div>{CSS_STYLE}<details{state} class="gb-arg-details"><summary class="gb-arg-summary"><tt>{name}</tt>{above}'
        f"</summary>{table}</details></div>"
    )


def scalar_text(s: Any) -> str:
    """Return a Scalar as text."""
    return header("gb.Scalar", {"value": s.value, "dtype": s.dtype}, f'"{s.name}"')


def scalar_html(s: Any) -> str:
    """Return a Scalar as HTML."""
    table = header_html("gb.Scalar", {"value": s.value, "dtype": s.dtype})
    return f'{CSS_STYLE}<div class="gb-scalar"><tt>{name_html(s.name)}</tt>{table}</div>'


def _elsewhere(x: Any, mask: Any) -> str | None:
    """Return one line about an object whose engine summarises it without counting all entries; None for others."""
    said = None if x._engine is None else engines.capability(x._engine, "summary")(x._store)
    if said is None:
        return None
    name = f"{type(x).__name__} {x.name}" if mask is None else f"{_mask_kind(mask)} {mask.name}"
    return f"<{name}: {' x '.join(map(str, x.shape))}, {said} of {x.dtype}, on {x._engine.name}>"


def _mask_kind(mask: Any) -> str:
    return f"{'Complemented' * mask.complement}{'Structural' if mask.structure else 'Value'}Mask"


def _columns(x: Any) -> dict[str, Any]:
    """Return the names and values of the header."""
    if x._engine is None:
        format, placement, nbytes = "not stored yet", None, 0
    else:
        stored = engines.capability(x._engine, "storage")(x._store)
        format, placement, nbytes = (f"of {x._engine.name}", None, 0) if stored is None else stored
    if x._transposed:
        format = _turned(format)
    found = {"nvals": x.nvals, **sizes(x.shape), "dtype": x.dtype.name, "format": format}
    if placement is not None or nbytes >= _NOTEWORTHY_BYTES:
        found["placement"] = placement or "host"  # engines without placements use host memory
    if nbytes >= _NOTEWORTHY_BYTES:
        found["memory"] = f"{nbytes / 2**20:,.1f} MiB"
    return found


def _turned(format: str) -> str:
    """Return the format of the transpose, such as ``csc`` for ``csr``."""
    kind, space, rest = format.partition(" ")
    return kind[:-1] + {"r": "c", "c": "r"}.get(kind[-1], kind[-1]) + space + rest


def _table(x: Any, mask: Any) -> tuple[Any, Any]:
    """Return a DataFrame of the corners, and the context of pandas options for printing it."""
    pd: Any = import_module("pandas")

    shown = pd.options.display
    most = shown.max_columns or _MOST_COLUMNS
    columns = _labels(x.shape[-1], most, most)
    rows = np.zeros(1, np.int64) if x.ndim == 1 else _labels(x.shape[0], shown.max_rows, shown.min_rows)
    cells = np.full((rows.size, columns.size), "", object)
    *at, values = _corners(x, rows, columns).to_coo()
    if mask is not None:
        values = ((np.ones(values.size, bool) if mask.structure else values != 0) ^ mask.complement).astype(np.uint8)
    i, j = (np.zeros(values.size, np.int64), at[0]) if x.ndim == 1 else at
    for row, column, value in zip(i.tolist(), j.tolist(), values.tolist(), strict=True):
        cells[row, column] = "nan" if value != value else value  # a record fills one cell
    frame = pd.DataFrame(cells, index=[""] if x.ndim == 1 else rows, columns=columns)
    return frame, pd.option_context("display.show_dimensions", False, "display.large_repr", "truncate")


def _labels(length: int, most: int | None, ends: int | None) -> NDArray[np.int64]:
    """Return the positions in a table: all, or one more than pandas prints, of which the last half is from the end."""
    if most is None or length <= most:
        return np.arange(length)
    half = (most if ends is None else min(ends, most)) // 2
    found = np.arange(most + 1)
    found[found.size - half :] = np.arange(length - half, length)
    return found


def _corners(x: Any, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Any:
    """Return the part of an object that a table shows."""
    if x._engine is None:
        x = x.dup()  # the copy is stored, so printing gives the object no engine
    if x.ndim == 1:
        return x[columns].new()
    return x.T[columns, rows].new().T if x._transposed else x[rows, columns].new()
