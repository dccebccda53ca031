"""The answers of algorithms by their kind: levels, distances, scores, groups, counts and so on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sparsezc.cli.answers.answer import Columns, Given, Picture, Rows, Show, Shown, pictured
from sparsezc.cli.answers.report import Percent, Table, counted

if TYPE_CHECKING:
    from sparsezc.cli.graph import Graph

_BLOCK = 1 << 20  # vertices that are counted at a time
_ROWS = 20  # of a table of levels; a longer one combines levels


@pictured
def levels(found: Graph, result: Any, given: Given) -> Shown:
    """Report hops, and a table of level sizes."""
    rows, values = result.to_coo()
    return _leveled(found, values, result.size, given, Columns(rows, {"value": values}))


@pictured
def tree(found: Graph, result: Any, given: Given) -> Shown:
    """Report a tree of parents as the levels in it."""
    import numpy as np

    rows, parents = result.to_coo()
    depths = _depths(rows.astype(np.int64), parents, given.values["source"], result.size)
    return _leveled(found, depths, result.size, given, Columns(rows, {"value": found.named(parents)}))


def _leveled(found: Graph, levels: Any, n: int, given: Given, out: Columns) -> Shown:
    import numpy as np

    sizes = np.zeros(int(levels.max(initial=-1)) + 1, np.int64)
    for first in range(0, levels.size, _BLOCK):  # bincount copies its input as 8-byte integers
        sizes += np.bincount(levels[first : first + _BLOCK], minlength=sizes.size)
    deep = max(sizes.size - 1, 0)
    data = {
        "source": found.name_of(given.values["source"]),
        "reached": int(levels.size),
        "depth": deep,
        "levels": sizes,
    }
    facts = [("reached", reached(levels.size, n) + f", {counted(deep, 'level', 'levels')} deep")]
    picture = Picture("bars", "vertices at each level", np.arange(sizes.size), sizes, "level", "vertices")
    return Shown(data, facts, [_level_table(sizes)], out, out.rows, picture)


@pictured
def distances(found: Graph, result: Any, given: Given) -> Shown:
    """Report distances and their distribution."""
    import numpy as np

    rows, values = result.to_coo()
    spread = np.quantile(values, [0, 0.25, 0.5, 0.75, 1], method="nearest") if values.size else np.full(5, np.nan)
    mean = float(values.mean()) if values.size else float("nan")
    data = {"reached": int(rows.size), "longest": spread[4], "mean": mean, "quartiles": spread}
    if "source" in given.values:
        data["source"] = found.name_of(given.values["source"])
    names = ("nearest", "a quarter", "half", "three quarters", "all")
    table = Table(("within", "distance"), list(zip(names, spread.tolist(), strict=True)))
    missing = np.inf if values.dtype.kind == "f" else np.iinfo(values.dtype).max
    out = Columns(rows, {"value": values}, missing)
    return Shown(data, [("reached", reached(rows.size, result.size))], [table], out, rows, tail(values, "distance"))


@pictured
def scores(found: Graph, result: Any, given: Given) -> Shown:
    """Report scores and the highest of them."""
    return _scored(found, result, given, "score")


def _scored(found: Graph, result: Any, given: Given, name: str) -> Shown:
    import numpy as np

    rows, values = result.to_coo()
    table, top = _highest(found, rows, values, name, given.top)
    data = {"sum": values.sum(dtype=np.float64 if values.dtype.kind == "f" else None), "top": top}
    missing = np.nan if values.dtype.kind == "f" else -1
    return Shown(data, [], [table], Columns(rows, {"value": values}, missing), picture=tail(values, name))


@pictured
def ranks(found: Graph, result: Any, given: Given) -> Shown:
    """Report ranks and the highest of them."""
    made = _scored(found, result, given, "rank")
    known = {name: given.values[name] for name in ("damping", "tol", "error") if name in given.values}
    return replace(made, data=known | made.data, out=made.out._replace(missing=0))


@pictured
def hubs(found: Graph, result: Any, given: Given) -> Shown:
    """Report the best hubs and the best authorities."""
    data, tables, columns = {}, [], {}
    for name, more, vector in zip(("hub", "authority"), ("hubs", "authorities"), result, strict=True):
        rows, columns[name] = vector.to_coo()
        table, data[more] = _highest(found, rows, columns[name], "score", given.top, f"best {more}")
        tables.append(table)
    return Shown(data, [], tables, Columns(rows, columns, 0), picture=tail(columns["authority"], "authority"))


def _highest(
    found: Graph, rows: Any, values: Any, name: str, top: int, title: str | None = None
) -> tuple[Table, list[dict[str, Any]]]:
    """Return the vertices of the highest values, the lowest vertices first among equal ones."""
    import numpy as np

    order = np.lexsort((rows, -values if values.dtype.kind == "f" else np.bitwise_not(values)))[:top]
    at = rows[order].astype(np.int64)
    best = [
        {"vertex": found.name_of(v), name: value, "out_edges": int(found.degrees[v])}
        for v, value in zip(at.tolist(), values[order].tolist(), strict=True)
    ]
    lines = [(str(each["vertex"]), each[name], each["out_edges"]) for each in best]
    return Table(("vertex", name, "out-edges"), lines, f"highest {name}s" if title is None else title), best


def groups(one: str, more: str, *, vertices: bool = True) -> Show:
    """Return a function that reports groups of equal labels, such as components; `vertices`: labels are vertices."""

    @pictured
    def show(found: Graph, result: Any, given: Given) -> Shown:
        import numpy as np

        rows, values = result.to_coo()
        labels, sizes = np.unique(values, return_counts=True)
        first = np.lexsort((labels, -sizes))[: given.top]
        named = found.named if vertices else lambda labels: labels
        alone = int((sizes == 1).sum())
        largest = [
            {"label": label, "vertices": size}
            for label, size in zip(named(labels[first]).tolist(), sizes[first].tolist(), strict=True)
        ]
        data = {more: int(labels.size), "alone": alone, "largest": largest}
        fact = f"{labels.size:,}" + (f", {alone:,} of them of one vertex" if alone else "")
        n = max(result.size, 1)
        lines = [(str(each["label"]), each["vertices"], Percent(each["vertices"] / n)) for each in largest]
        heading = ("smallest vertex" if vertices and one == "component" else one, "vertices", "share")
        table = Table(heading, lines, title=f"largest {more}")
        sizes = np.sort(sizes)[::-1]
        picture = Picture("ranked", f"{more} by size", np.arange(1, sizes.size + 1), sizes, one, "vertices")
        return Shown(data, [(more, fact)], [table], Columns(rows, {"value": named(values)}), picture=picture)

    return show


def counts(name: str) -> Show:
    """Return a function that reports whole numbers of vertices, such as core numbers, and the vertices of each."""

    @pictured
    def show(found: Graph, result: Any, given: Given) -> Shown:
        import numpy as np

        rows, values = result.to_coo()
        if values.dtype.kind == "f":
            return distances(found, result, given)
        each, sizes = np.unique(values, return_counts=True)
        largest = int(each[-1]) if each.size else 0
        some = slice(max(each.size - given.top, 0), None)
        pairs = list(zip(each.tolist(), sizes.tolist(), strict=True))
        data = {"vertices": int(rows.size), "largest": largest, "values": [{name: v, "vertices": s} for v, s in pairs]}
        n = max(result.size, 1)
        lines = [(v, s, Percent(s / n)) for v, s in reversed(pairs[some])]
        table = Table((name.replace("_", " "), "vertices", "share"), lines)
        picture = Picture(
            "bars", f"vertices by {name.replace('_', ' ')}", each, sizes, name.replace("_", " "), "vertices"
        )
        out = Columns(rows, {"value": values})
        shown = f"{largest:,}" + (f" (the table has {given.top} of {each.size:,} values; --top)" if some.start else "")
        return Shown(data, [("largest", shown)], [table], out, picture=picture)

    return show


def members(found: Graph, result: Any, given: Given) -> Shown:
    """Report a set of vertices."""
    import numpy as np

    rows, _ = result.to_coo()
    out = Columns(rows, {"value": np.ones(rows.size, np.int8)}, 0)
    return Shown({"members": int(rows.size)}, [("members", f"{rows.size:,}")], out=out)


def mates(found: Graph, result: Any, given: Given) -> Shown:
    """Report a vertex's partner."""
    rows, values = result.to_coo()
    pairs = int(rows.size) // 2
    return Shown({"pairs": pairs}, [("pairs", f"{pairs:,}")], out=Columns(rows, {"value": found.named(values)}))


def sequence(name: str) -> Show:
    """Return the function that reports vertices in an order."""

    def show(found: Graph, result: Any, given: Given) -> Shown:
        _, vertices = result.to_coo()
        named = found.named(vertices)
        first = named[: given.top].tolist()
        more = ", ..." if vertices.size > given.top else ""
        facts = [(name, counted(int(vertices.size), "vertex", "vertices"))]
        facts += [("order", ", ".join(map(str, first)) + more)] if first else []
        return Shown({"vertices": int(vertices.size), "first": first}, facts, out=Rows({"vertex": named}))

    return show


def number(name: str) -> Show:
    """Return the function that reports one number, or yes or no."""

    def show(found: Graph, result: Any, given: Given) -> Shown:
        value = result.item() if hasattr(result, "item") else result
        text = ("no", "yes")[value] if isinstance(value, bool) else f"{value:,}"
        return Shown({name: value}, [(name.replace("_", " "), text)], out={name: value})

    return show


def edges(name: str) -> Show:
    """Return the function that reports a matrix, which ``--out`` writes as a graph."""

    def show(found: Graph, result: Any, given: Given) -> Shown:
        count = result.nvals
        return Shown({name: count}, [(name, f"{count:,}")], out=result)

    return show


def edge_scores(name: str, score: str) -> Show:
    """Return the function that reports a matrix of scores."""

    @pictured
    def show(found: Graph, result: Any, given: Given) -> Shown:
        picture = tail(result.to_coo(rows=False, columns=False)[2], score, name)
        return replace(edges(name)(found, result, given), picture=picture)

    return show


def tail(values: Any, name: str, of: str = "vertices") -> Picture:
    """Return the picture of a distribution: for each value, the share of all values that are at least as large."""
    import numpy as np

    x = np.sort(np.asarray(values, np.float64))
    y = 1 - np.arange(x.size) / max(x.size, 1)
    return Picture("tail", f"{of} by {name}", x, y, name, f"share of {of} with at least this {name}")


def reached(count: int, n: int) -> str:
    """Return how many vertices were reached, as text."""
    return f"{count:,} of {counted(n, 'vertex', 'vertices')} ({100 * count / max(n, 1):.1f}%)"


def _level_table(sizes: Any) -> Table:
    """Return the sizes of the levels; of many levels, the sizes of equal ranges of levels."""
    step = max(-(-sizes.size // _ROWS), 1)
    total = int(sizes.sum())
    rows = []
    for low in range(0, sizes.size, step):
        high = min(low + step, sizes.size) - 1
        count = int(sizes[low : high + 1].sum())
        rows.append((low if step == 1 else f"{low}-{high}", count, Percent(count / total)))
    return Table(("level" if step == 1 else "levels", "vertices", "share"), rows)


def _depths(vertices: Any, parents: Any, source: int, n: int) -> Any:
    """Return the level of each vertex in a tree of parents, by pointer doubling."""
    import numpy as np

    above = np.arange(n)
    above[vertices] = parents
    hops = np.zeros(n, np.int64)
    hops[vertices] = 1
    hops[source] = 0
    while (above[vertices] != source).any():
        hops += hops[above]
        above = above[above]
    return hops[vertices]
