"""The table of the command line: a line for each algorithm and application says how its answer is shown.

Everything else, names, options, types and help, comes from the function's signature and docstring.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sparsezc.cli import parameters, shown
from sparsezc.cli.options import Option
from sparsezc.cli.report import Table
from sparsezc.cli.shown import Columns, Given, Show, Shown

if TYPE_CHECKING:
    from sparsezc.cli.graph import Graph

_USES = {
    "ignored": "ignored",
    "weighted": "the weights, with --weighted (those of the file)",
    "lengths": "lengths of the edges (those of the file, else 1 each)",
    "values": "values of the edges (those of the file, else 1 each)",
}


@dataclass(frozen=True)
class Row:
    """An algorithm or an application.

    Attributes
    ----------
    function : str
        Its name in the algorithms or the applications.
    show : callable
        How its answer is reported.
    weights : {"ignored", "lengths", "values"}
        The use of the edges' values; a function with a parameter `weighted` has that use.
    out : {"vertices", "graph", "table", "rows", "arrays", "numbers"}
        The answer in a file: columns of vertices; a Matrix for a graph's file, or one of which a row a vertex can be a
        table too; an array whose rows are no vertices'; arrays by name; numbers by name.
    leave : tuple of str
        Parameters that are no options.
    short : str
        Another name. A row with one of its own name is a command without ``run``, too.
    """

    function: str
    show: Show
    weights: Literal["ignored", "lengths", "values"] = "ignored"
    out: Literal["vertices", "graph", "table", "rows", "arrays", "numbers"] = "vertices"
    leave: tuple[str, ...] = ()
    short: str = ""

    @property
    def name(self) -> str:
        """The name on the command line."""
        return self.function.replace("_", "-")

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return parameters.function(self.function).summary

    @property
    def graphs(self) -> list[str]:
        """The graphs that it needs after the first."""
        return [p.name for p in parameters.function(self.function).parameters[1:] if self._is_graph(p)]

    @property
    def options(self) -> list[Option]:
        """Its options."""
        rest = [p for p in parameters.function(self.function).parameters[1:] if not self._is_graph(p)]
        found = (Option.of(parameter) for parameter in rest if parameter.name not in self.leave)
        return [option for option in found if option is not None]

    @property
    def weighted(self) -> Option | None:
        """The option that asks for the edges' values."""
        return next((option for option in self.options if option.name == "weighted"), None)

    @property
    def use(self) -> str:
        """The use of the edges' values, as text."""
        return _USES["weighted" if self.weighted and not self.weighted.default else self.weights]

    def read_weights(self, given: dict[str, Any]) -> Any:
        """Return ``weights`` of :func:`sparsezc.io.read` where --weights does not say."""
        if self.weighted is not None:
            asked = given.get("weighted")
            return None if (self.weighted.default if asked is None else asked) else False
        return {"ignored": False, "lengths": "narrowest", "values": None}[self.weights]

    def call(self, *graphs: Any, **given: Any) -> Any:
        """Call the function."""
        from importlib import import_module

        return getattr(import_module(parameters.home(self.function)), self.function)(*graphs, **given)

    @staticmethod
    def _is_graph(parameter: parameters.Parameter) -> bool:
        return parameter.type.startswith("Matrix, ") and parameter.default is parameters.REQUIRED


def _plain(make: Callable[[Graph, Any, Given], tuple[dict[str, Any], Any]]) -> Show:
    """Return what reports numbers as facts and lists as tables; `make` returns the data and what ``--out`` writes."""

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
    """Return the column of a Vector; its values are vertices of the graph `named`, if there is one."""
    rows, values = vector.to_coo()
    if named is not None:
        values = named.named(values)
    return Columns(rows, {"value": values}, float("nan") if values.dtype.kind == "f" else -1)


@_plain
def _bellman_ford(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    distance, parent = result
    rows, values = distance.to_coo()
    above = found.named(parent.to_coo()[1])
    missing = float("nan") if values.dtype.kind == "f" else -1
    longest = values.max().item() if values.size else None
    data = {"source": found.name_of(given.values["source"]), "reached": int(rows.size), "longest": longest}
    return data, Columns(rows, {"distance": values, "parent": above}, missing)


@_plain
def _scan(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    psi, vertex = result
    return {"vertex": found.name_of(vertex), "largest": psi.get(vertex)}, _column(psi)


@_plain
def _flow(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    value, flow = result
    return {"value": value, "edges_used": flow.nvals}, flow


@_plain
def _cut(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    value, side = result
    return {"value": value, "vertices_with_s": side.nvals}, _column(side.dup("INT8"))


@_plain
def _global_cut(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    value, side = result
    return {"value": value, "vertices": side.nvals}, _column(side.dup("INT8"))


@_plain
def _places(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    return {"located": result.nvals // 2}, result


@_plain
def _nominated(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    nominated, score = result
    best = nominated.to_dense()[:1000].tolist()
    return {"top": [{"vertex": found.name_of(v), "score": score.get(v)} for v in best]}, _column(score)


@_plain
def _projected(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    if isinstance(result, int):
        return {"pairs": result}, None
    return {"pairs": result.nvals // 2}, result


@_plain
def _clusters(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    import numpy as np

    p, cluster, conductance = result
    seeds = np.array(given.values["seeds"])
    (row, vertex), (inner, member) = ([at.astype(np.int64) for at in each.to_coo()[:2]] for each in (p, cluster))
    inside = np.isin(row * p.ncols + vertex, inner * p.ncols + member)
    columns = found.named(seeds[row]), found.named(vertex), p.to_coo()[2], inside
    sizes = np.bincount(inner, minlength=seeds.size).tolist()
    told = [
        {"seed": found.name_of(seed), "vertices": sizes[k], "conductance": conductance.get(k)}
        for k, seed in enumerate(seeds)
    ]
    return {"clusters": told}, np.column_stack(columns)


@_plain
def _smoothed(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    x, gap = result
    return {"gap": gap}, _column(x)


@_plain
def _matched_pattern(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    best = result.to_dense().argmax(axis=0).tolist()
    pairs = [
        {"pattern": given.others[0].name_of(j), "vertex": found.name_of(v), "log_probability": result.get(v, j)}
        for j, v in enumerate(best)
    ]
    return {"best": pairs}, result


@_plain
def _factored(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    U, V, loss = result
    return {"loss": [{"round": number, "loss": float(value)} for number, value in enumerate(loss)]}, {
        "U": U.to_dense(float("nan")), "V": V.to_dense(float("nan")), "loss": loss,
    }  # fmt: skip


@_plain
def _embedded(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    return {"columns": result.ncols}, result


@_plain
def _assigned(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    return {"assigned": result.nvals}, _column(result, found)


@_plain
def _matched(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    match, disagreements = result
    return {"disagreements": disagreements}, _column(match, given.others[0])


@_plain
def _walks(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    import numpy as np

    w, step, vertex = result.to_coo()
    named = found.named(vertex)
    walks = np.full((result.nrows, result.ncols), -1, named.dtype)
    walks[w.astype(np.int64), step.astype(np.int64)] = named
    return {"walks": result.nrows, "steps": result.nvals - result.nrows}, walks


@_plain
def _sampled(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    import numpy as np

    row, neighbor, value = result.to_coo()
    source = np.array(given.values["sources"])[row.astype(np.int64)]
    return {"edges": result.nvals}, np.column_stack(
        (found.named(source), found.named(neighbor.astype(np.int64)), value)
    )


@_plain
def _biconnected(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    import numpy as np

    return {"components": int(np.unique(result.to_coo()[2]).size), "edges": result.nvals // 2}, result


@_plain
def _bridges(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    return {"bridges": result.nvals // 2}, result


@_plain
def _condensed(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    between, component = result
    return {"components": between.nrows, "edges": between.nvals}, _column(component)


@_plain
def _by_degree(found: Graph, result: Any, given: Given) -> tuple[dict[str, Any], Any]:
    import numpy as np

    return {"degrees": result.nvals}, np.column_stack(result.to_coo())


_communities = shown.groups("community", "communities")
_components = shown.groups("component", "components")
_LEVELS = ("return_levels",)
ROWS = (
    Row("bfs", shown.levels, short="bfs"),
    Row("sssp", shown.distances, "lengths", short="sssp"),
    Row("pagerank", shown.ranks, short="pagerank"),
    Row("connected_components", _components, short="cc"),
    Row("adamic_adar_index", shown.edges("pairs"), out="graph"),
    Row("all_pairs_shortest_paths", shown.edges("pairs"), "lengths", "graph"),
    Row("approximate_diameter", shown.number("diameter"), out="numbers"),
    Row("articulation_points", shown.members),
    Row("average_shortest_path_length", shown.number("average_shortest_path_length"), out="numbers"),
    Row("bellman_ford", _bellman_ford, "lengths"),
    Row("betweenness_centrality", shown.scores),
    Row("bfs_parents", shown.tree),
    Row("biconnected_components", _biconnected, out="graph"),
    Row("bridges", _bridges, out="graph"),
    Row("cdlp", _communities),
    Row("closeness_centrality", shown.scores),
    Row("clustering", shown.scores),
    Row("common_neighbors", shown.edges("pairs"), out="graph", leave=("weight",)),
    Row("condensation", _condensed),
    Row("constraint", shown.scores),
    Row("core_number", shown.counts("core_number")),
    Row("cosine_similarity", shown.edges("pairs"), out="graph"),
    Row("dag_longest_path", shown.sequence("path"), out="rows"),
    Row("degree_assortativity", shown.number("assortativity"), out="numbers"),
    Row("diameter", shown.number("diameter"), out="numbers"),
    Row("double_edge_swap", shown.edges("edges"), out="graph"),
    Row("eccentricity", shown.counts("eccentricity")),
    Row("edge_betweenness_centrality", shown.edges("edges"), out="graph"),
    Row("effective_size", shown.scores),
    Row("ego_graph", shown.edges("edges"), "values", "graph", ("undirected",)),
    Row("eigenvector_centrality", shown.scores),
    Row("find_negative_cycle", shown.sequence("cycle"), "lengths", "rows"),
    Row("global_efficiency", shown.number("efficiency"), out="numbers"),
    Row("graph_search", _walks, out="rows"),
    Row("greedy_color", shown.groups("colour", "colours", vertices=False)),
    Row("greedy_modularity_communities", _communities),
    Row("harmonic_centrality", shown.scores),
    Row("hits", shown.hubs),
    Row("is_directed_acyclic_graph", shown.number("acyclic"), out="numbers"),
    Row("jaccard_coefficient", shown.edges("pairs"), out="graph"),
    Row("k_core", shown.counts("core_number")),
    Row("k_hop", shown.levels, leave=("undirected",)),
    Row("k_truss", shown.edges("edges"), out="graph"),
    Row("katz_centrality", shown.scores),
    Row("label_propagation", _communities),
    Row("leiden_communities", _communities, leave=_LEVELS),
    Row("local_clustering_coefficient", shown.scores),
    Row("local_efficiency", shown.scores),
    Row("louvain_communities", _communities, leave=_LEVELS),
    Row("maximal_independent_set", shown.members),
    Row("maximal_matching", shown.mates),
    Row("maximum_flow", _flow, "values", "graph"),
    Row("minimum_cut", _cut, "values"),
    Row("minimum_spanning_forest", shown.edges("edges"), "values", "graph"),
    Row("modularity", shown.number("modularity"), out="numbers"),
    Row("multi_source_shortest_paths", shown.distances),
    Row("overall_reciprocity", shown.number("reciprocity"), out="numbers"),
    Row("radius", shown.number("radius"), out="numbers"),
    Row("random_walks", _walks, out="rows"),
    Row("reciprocity", shown.scores),
    Row("resource_allocation_index", shown.edges("pairs"), out="graph"),
    Row("rich_club_coefficient", _by_degree, out="rows"),
    Row("sample_neighbors", _sampled, out="rows"),
    Row("scan_statistics", _scan),
    Row("square_clustering", shown.scores),
    Row("stoer_wagner", _global_cut, "values"),
    Row("strongly_connected_components", _components),
    Row("topological_generations", shown.counts("generation")),
    Row("topological_sort", shown.sequence("sorted"), out="rows"),
    Row("transitive_closure", shown.edges("pairs"), out="graph"),
    Row("transitive_reduction", shown.edges("edges"), "values", "graph"),
    Row("transitivity", shown.number("transitivity"), out="numbers"),
    Row("triangle_count", shown.number("triangles"), out="numbers"),
    Row("triangles", shown.scores),
    Row("voterank", shown.sequence("elected"), out="rows"),
    Row("application_classification", _matched_pattern, "values", "table"),
    Row("collaborative_filtering", _factored, "values", "arrays"),
    Row("fused_lasso", _smoothed),
    Row("geolocation", _places, out="table"),
    Row("graphsage", _embedded, out="table"),
    Row("linear_assignment", _assigned, "values"),
    Row("local_clustering", _clusters, out="rows"),
    Row("projection", _projected, out="graph"),
    Row("seeded_graph_matching", _matched),
    Row("vertex_nomination", _nominated, "values"),
)
BY_NAME = {row.name: row for row in ROWS} | {row.short: row for row in ROWS if row.short}
#: The rows that are commands without ``run``.
COMMANDS = tuple(row.short for row in ROWS if row.short)
