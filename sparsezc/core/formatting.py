"""The notebook view of a Matrix or Vector: one line about the whole and a table of its first corner.

Only the corner is read, as the whole may be larger than the host's memory.
"""

from __future__ import annotations

from typing import Any

from sparsezc.expr import engines

_MOST = 10  # rows and columns that are shown


def html(x: Any) -> str:
    """Show a Matrix or Vector as HTML."""
    from html import escape

    if x._engine is not None and engines.capability(x._engine, "summary")(x._store) is not None:
        return f"<div><p>{escape(repr(x))}</p></div>"
    shape = tuple(x.shape)
    rows, columns = (1, shape[0]) if x.ndim == 1 else shape
    shown_rows, shown_columns = min(rows, _MOST), min(columns, _MOST)
    cells = _corner(x, shown_rows, shown_columns)
    more = shown_columns < columns
    head = "".join(f"<th>{j}</th>" for j in range(shown_columns)) + "<th>&hellip;</th>" * more
    lines = [f"<tr><th></th>{head}</tr>"]
    for i in range(shown_rows):
        line = "".join(f"<td>{escape(cells.get((i, j), ''))}</td>" for j in range(shown_columns))
        lines.append(f"<tr><th>{'' if x.ndim == 1 else i}</th>{line}{'<td>&hellip;</td>' * more}</tr>")
    if shown_rows < rows:
        lines.append(f"<tr><th>&hellip;</th>{'<td></td>' * (shown_columns + more)}</tr>")
    return f"<div><p>{escape(repr(x))}</p><table>{''.join(lines)}</table></div>"


def _corner(x: Any, rows: int, columns: int) -> dict[tuple[int, int], str]:
    if rows == 0 or columns == 0 or x.nvals == 0:
        return {}
    if x.ndim == 1:
        at, values = x[:columns].new().to_coo()
        return {(0, int(j)): str(v) for j, v in zip(at, values.tolist(), strict=True)}
    i, j, values = x[:rows, :columns].new().to_coo()
    return {(int(a), int(b)): str(v) for a, b, v in zip(i, j, values.tolist(), strict=True)}
