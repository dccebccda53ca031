"""The table of the command line: a line for each algorithm and application names the kind of its answer.

Everything else, names, options, types and help, comes from the function's signature and docstring.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sparsezc.cli import parameters
from sparsezc.cli.answers import kinds, single_algorithms
from sparsezc.cli.answers.answer import PICTURED, Show
from sparsezc.cli.options import Option

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
        The function that reports its answer.
    weights : {"ignored", "lengths", "values"}
        The use of the edges' values; a function with a parameter `weighted` has that use.
    out : {"vertices", "graph", "table", "rows", "arrays", "numbers"}
        The form of the answer in a file: columns of vertices; a Matrix for a graph's file; a Matrix that can also be a
        table with a row for each vertex; an array whose rows are not vertices; arrays by name; numbers by name.
    leave : tuple of str
        Parameters that become no options.
    short : str
        A short name for a command without ``run``; it may equal the function's name.
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
    def pictured(self) -> bool:
        """True if ``--plot`` draws its answer."""
        return self.show in PICTURED

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return parameters.function(self.function).summary

    @property
    def graphs(self) -> list[str]:
        """The names of the graphs that the function needs after the first."""
        return [p.name for p in parameters.function(self.function).parameters[1:] if self._is_graph(p)]

    @property
    def options(self) -> list[Option]:
        """The options of the function's parameters."""
        rest = [p for p in parameters.function(self.function).parameters[1:] if not self._is_graph(p)]
        found = (Option.of(parameter) for parameter in rest if parameter.name not in self.leave)
        return [option for option in found if option is not None]

    @property
    def files(self) -> list[str]:
        """The arguments, after the first graph, that are names of files to read."""
        named = [option.name for option in self.options if option.is_file]
        return [f"graph{k}" for k, _ in enumerate(self.graphs, 2)] + named

    @property
    def weighted(self) -> Option | None:
        """The option ``--weighted``, by which the function reads the edges' values; None if it has none."""
        return next((option for option in self.options if option.name == "weighted"), None)

    @property
    def use(self) -> str:
        """The use of the edges' values, as text."""
        return _USES["weighted" if self.weighted and not self.weighted.default else self.weights]

    def read_weights(self, given: dict[str, Any]) -> Any:
        """Return the argument ``weights`` of :func:`sparsezc.io.read` that applies if --weights is not given."""
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


_communities = kinds.groups("community", "communities")
_components = kinds.groups("component", "components")
_LEVELS = ("return_levels",)
ROWS = (
    Row("bfs", kinds.levels, short="bfs"),
    Row("sssp", kinds.distances, "lengths", short="sssp"),
    Row("pagerank", kinds.ranks, short="pagerank"),
    Row("connected_components", _components, short="cc"),
    Row("adamic_adar_index", kinds.edge_scores("pairs", "score"), out="graph"),
    Row("all_pairs_shortest_paths", kinds.edge_scores("pairs", "distance"), "lengths", "graph"),
    Row("approximate_diameter", kinds.number("diameter"), out="numbers"),
    Row("articulation_points", kinds.members),
    Row("average_shortest_path_length", kinds.number("average_shortest_path_length"), out="numbers"),
    Row("bellman_ford", single_algorithms.bellman_ford, "lengths"),
    Row("betweenness_centrality", kinds.scores),
    Row("bfs_parents", kinds.tree),
    Row("biconnected_components", single_algorithms.biconnected, out="graph"),
    Row("bridges", single_algorithms.bridges, out="graph"),
    Row("cdlp", _communities),
    Row("closeness_centrality", kinds.scores),
    Row("clustering", kinds.scores),
    Row("common_neighbors", kinds.edge_scores("pairs", "number"), out="graph", leave=("weight",)),
    Row("condensation", single_algorithms.condensed),
    Row("constraint", kinds.scores),
    Row("core_number", kinds.counts("core_number")),
    Row("cosine_similarity", kinds.edge_scores("pairs", "score"), out="graph"),
    Row("dag_longest_path", kinds.sequence("path"), out="rows"),
    Row("degree_assortativity", kinds.number("assortativity"), out="numbers"),
    Row("diameter", kinds.number("diameter"), out="numbers"),
    Row("double_edge_swap", kinds.edges("edges"), out="graph"),
    Row("eccentricity", kinds.counts("eccentricity")),
    Row("edge_betweenness_centrality", kinds.edge_scores("edges", "score"), out="graph"),
    Row("effective_size", kinds.scores),
    Row("ego_graph", kinds.edges("edges"), "values", "graph", ("undirected",)),
    Row("eigenvector_centrality", kinds.scores),
    Row("find_negative_cycle", kinds.sequence("cycle"), "lengths", "rows"),
    Row("global_efficiency", kinds.number("efficiency"), out="numbers"),
    Row("graph_search", single_algorithms.walks, out="rows"),
    Row("greedy_color", kinds.groups("colour", "colours", vertices=False)),
    Row("greedy_modularity_communities", _communities),
    Row("harmonic_centrality", kinds.scores),
    Row("hits", kinds.hubs),
    Row("is_directed_acyclic_graph", kinds.number("acyclic"), out="numbers"),
    Row("jaccard_coefficient", kinds.edge_scores("pairs", "score"), out="graph"),
    Row("k_core", kinds.counts("core_number")),
    Row("k_hop", kinds.levels, leave=("undirected",)),
    Row("k_truss", kinds.edges("edges"), out="graph"),
    Row("katz_centrality", kinds.scores),
    Row("label_propagation", _communities),
    Row("leiden_communities", _communities, leave=_LEVELS),
    Row("local_clustering_coefficient", kinds.scores),
    Row("local_efficiency", kinds.scores),
    Row("louvain_communities", _communities, leave=_LEVELS),
    Row("maximal_independent_set", kinds.members),
    Row("maximal_matching", kinds.mates),
    Row("maximum_flow", single_algorithms.flow, "values", "graph"),
    Row("minimum_cut", single_algorithms.cut, "values"),
    Row("minimum_spanning_forest", kinds.edges("edges"), "values", "graph"),
    Row("modularity", kinds.number("modularity"), out="numbers"),
    Row("multi_source_shortest_paths", kinds.distances),
    Row("overall_reciprocity", kinds.number("reciprocity"), out="numbers"),
    Row("radius", kinds.number("radius"), out="numbers"),
    Row("pagerank_within", kinds.ranks),
    Row("random_walks", single_algorithms.walks, out="rows"),
    Row("reciprocity", kinds.scores),
    Row("resource_allocation_index", kinds.edge_scores("pairs", "score"), out="graph"),
    Row("rich_club_coefficient", single_algorithms.by_degree, out="rows"),
    Row("sample_neighbors", single_algorithms.sampled, out="rows"),
    Row("scan_statistics", single_algorithms.scan),
    Row("square_clustering", kinds.scores),
    Row("stoer_wagner", single_algorithms.global_cut, "values"),
    Row("strongly_connected_components", _components),
    Row("topological_generations", kinds.counts("generation")),
    Row("topological_sort", kinds.sequence("sorted"), out="rows"),
    Row("transitive_closure", kinds.edges("pairs"), out="graph"),
    Row("transitive_reduction", kinds.edges("edges"), "values", "graph"),
    Row("transitivity", kinds.number("transitivity"), out="numbers"),
    Row("triangle_count", kinds.number("triangles"), out="numbers"),
    Row("triangles", kinds.scores),
    Row("voterank", kinds.sequence("elected"), out="rows"),
    Row("application_classification", single_algorithms.matched_pattern, "values", "table"),
    Row("collaborative_filtering", single_algorithms.factored, "values", "arrays"),
    Row("fused_lasso", single_algorithms.smoothed),
    Row("geolocation", single_algorithms.places, out="table"),
    Row("graphsage", single_algorithms.embedded, out="table"),
    Row("linear_assignment", single_algorithms.assigned, "values"),
    Row("local_clustering", single_algorithms.clusters, out="rows"),
    Row("projection", single_algorithms.projected, out="graph"),
    Row("seeded_graph_matching", single_algorithms.matched),
    Row("vertex_nomination", single_algorithms.nominated, "values"),
)
BY_NAME = {row.name: row for row in ROWS} | {row.short: row for row in ROWS if row.short}
#: The rows that are commands without ``run``.
COMMANDS = tuple(row.short for row in ROWS if row.short)
