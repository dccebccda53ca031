"""Answers of the algorithms and applications that share their kind of answer with no other.

Each is the data of ``--json``: its numbers are printed as facts, its lists as tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sparsezc.cli.answers.answer import Columns, Given, Rows, Show, Shown
from sparsezc.cli.answers.report import Table

if TYPE_CHECKING:
    from sparsezc.cli.graph import Graph


def _plain(make: Callable[[Graph, Any, Given], tuple[dict[str, Any], Any]]) -> Show:
    """Return a function that reports numbers as facts and lists as tables; `make` returns the data, and --out's."""

    def show(found: Graph, result: Any, given: Given) -> Shown:
        data, out = make(found, result, given)
        made = Shown(data, out=out)
        for name, value in data.items():
            if isinstance(value, list) and value:
                lines = [["-" if cell is None else cell for cell in row.values()] for row in value[: given.top]]
                made.tables.append(Table(tuple(value[0]), lines, title=name))
            elif not isinstance(value, list) and name != "source":
                made.facts.append((name.replace("_", " "), f"{value:,}" if isinstance(value, int) else str(value)))
        return made

    return show


def _column(vector: Any, named: Graph | None = None) -> Columns:
    """Return a Vector as a column; its values are vertices of the graph `named`, if that is given."""
    rows, values = vector.to_coo()
    if named is not None:
        values = named.named(values)
    return Columns(rows, {"value": values}, float("nan") if values.dtype.kind == "f" else -1)


@_plain
def bellman_ford(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report distances, and each vertex's predecessor."""
    distance, parent = result
    rows, values = distance.to_coo()
    above = found.named(parent.to_coo()[1])
    missing = float("nan") if values.dtype.kind == "f" else -1
    longest = values.max().item() if values.size else None
    data = {"source": found.name_of(given.values["source"]), "reached": int(rows.size), "longest": longest}
    return data, Columns(rows, {"distance": values, "parent": above}, missing)


@_plain
def scan(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report scan statistics, the largest one and its vertex."""
    psi, vertex = result
    return {"vertex": found.name_of(vertex), "largest": psi.get(vertex)}, _column(psi)


@_plain
def flow(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report a flow and its value."""
    value, flow = result
    return {"value": value, "edges_used": flow.nvals}, flow


@_plain
def cut(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report the value of a cut, and the vertices on one side."""
    value, side = result
    return {"value": value, "vertices_with_s": side.nvals}, _column(side.dup("INT8"))


@_plain
def global_cut(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report the value of a global cut, and the vertices on one side."""
    value, side = result
    return {"value": value, "vertices": side.nvals}, _column(side.dup("INT8"))


@_plain
def places(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report the number of vertices with a predicted place."""
    return {"located": result.nvals // 2}, result


@_plain
def nominated(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report the vertices nominated first."""
    nominated, score = result
    best = nominated.to_dense()[:1000].tolist()
    return {"top": [{"vertex": found.name_of(v), "score": score.get(v)} for v in best]}, _column(score)


@_plain
def projected(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report the pairs of a projection."""
    if isinstance(result, int):
        return {"pairs": result}, None
    return {"pairs": result.nvals // 2}, result


@_plain
def clusters(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report the clusters of seeds."""
    import numpy as np

    p, cluster, conductance = result
    seeds = np.array(given.values["seeds"])
    (row, vertex), (inner, member) = ([at.astype(np.int64) for at in each.to_coo()[:2]] for each in (p, cluster))
    inside = np.isin(row * p.ncols + vertex, inner * p.ncols + member)
    columns = {
        "seed": found.named(seeds[row]),
        "vertex": found.named(vertex),
        "value": p.to_coo()[2],
        "inside": inside.astype(np.int8),
    }
    sizes = np.bincount(inner, minlength=seeds.size).tolist()
    told = [
        {"seed": found.name_of(seed), "vertices": sizes[k], "conductance": conductance.get(k)}
        for k, seed in enumerate(seeds)
    ]
    return {"clusters": told}, Rows(columns)


@_plain
def smoothed(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report smoothed values."""
    x, gap = result
    return {"gap": gap}, _column(x)


@_plain
def matched_pattern(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report the best vertex for each vertex of a pattern."""
    best = result.to_dense().argmax(axis=0).tolist()
    pairs = [
        {"pattern": given.others[0].name_of(j), "vertex": found.name_of(v), "log_probability": result.get(v, j)}
        for j, v in enumerate(best)
    ]
    return {"best": pairs}, result


@_plain
def factored(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report factors and the loss of each round."""
    U, V, loss = result
    return {"loss": [{"round": number, "loss": float(value)} for number, value in enumerate(loss)]}, {
        "U": U.to_dense(float("nan")), "V": V.to_dense(float("nan")), "loss": loss,
    }  # fmt: skip


@_plain
def embedded(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report an embedding's number of columns."""
    return {"columns": result.ncols}, result


@_plain
def assigned(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report the column assigned to each row."""
    return {"assigned": result.nvals}, _column(result, found)


@_plain
def matched(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report the match of each vertex."""
    match, disagreements = result
    return {"disagreements": disagreements}, _column(match, given.others[0])


@_plain
def walks(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report walks, a row each."""
    import numpy as np

    w, step, vertex = result.to_coo()
    named = found.named(vertex)
    walks = np.full((result.nrows, result.ncols), -1, named.dtype)
    walks[w.astype(np.int64), step.astype(np.int64)] = named
    steps = Rows({f"step{k}": walks[:, k] for k in range(walks.shape[1])})
    return {"walks": result.nrows, "steps": result.nvals - result.nrows}, steps


@_plain
def sampled(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report sampled edges."""
    import numpy as np

    row, neighbor, value = result.to_coo()
    source = np.array(given.values["sources"])[row.astype(np.int64)]
    columns = {"source": found.named(source), "neighbor": found.named(neighbor), "value": value}
    return {"edges": result.nvals}, Rows(columns)


@_plain
def biconnected(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report the biconnected component of each edge."""
    import numpy as np

    return {"components": int(np.unique(result.to_coo()[2]).size), "edges": result.nvals // 2}, result


@_plain
def bridges(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report the bridges and their number."""
    return {"bridges": result.nvals // 2}, result


@_plain
def condensed(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report a condensation, as the component of each vertex."""
    between, component = result
    return {"components": between.nrows, "edges": between.nvals}, _column(component)


@_plain
def by_degree(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    """Report numbers by degree."""
    degrees, values = result.to_coo()
    return {"degrees": result.nvals}, Rows({"degree": degrees, "value": values})
