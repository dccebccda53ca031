"""The applications on the command line: a line says what each takes besides graphs, and what it answers."""

from __future__ import annotations

from typing import Any

from sparsezc.cli.app_records import App, Option
from sparsezc.cli.graph import Graph

_TOP = 10  # vertices that a table shows


def _scan(found: Graph, result: Any, given: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    psi, vertex = result
    return {"vertex": _id(found, vertex), "largest": psi.get(vertex)}, psi


def _flow(found: Graph, result: Any, given: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    value, flow = result
    return {"value": value, "edges_used": flow.nvals}, flow


def _cut(found: Graph, result: Any, given: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    value, side = result
    return {"value": value, "vertices_with_s": side.nvals}, side.dup("INT8")


def _places(found: Graph, result: Any, given: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    return {"located": result.nvals // 2}, result


def _nominated(found: Graph, result: Any, given: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    nominated, score = result
    best = nominated.to_dense()[:_TOP].tolist()
    return {"top": [{"vertex": _id(found, v), "score": score.get(v)} for v in best]}, score


def _projected(found: Graph, result: Any, given: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    if isinstance(result, int):
        return {"pairs": result}, None
    return {"pairs": result.nvals // 2}, result


def _clusters(found: Graph, result: Any, given: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    p, cluster, conductance = result
    rows = range(cluster.nrows)
    sizes = [cluster[row, :].new().nvals for row in rows]
    return {"clusters": [{"vertices": sizes[row], "conductance": conductance.get(row)} for row in rows]}, p


def _smoothed(found: Graph, result: Any, given: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    x, gap = result
    return {"gap": gap}, x


def _matched_pattern(found: Graph, result: Any, given: dict[str, Any], pattern: Graph) -> tuple[dict[str, Any], Any]:
    best = result.to_dense().argmax(axis=0).tolist()
    pairs = [
        {"pattern": _id(pattern, j), "vertex": _id(found, v), "log_probability": result.get(v, j)}
        for j, v in enumerate(best)
    ]
    return {"best": pairs}, result


def _factored(found: Graph, result: Any, given: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    U, V, loss = result
    return {"loss": [{"round": number, "loss": float(value)} for number, value in enumerate(loss)]}, {
        "U": U.to_dense(float("nan")), "V": V.to_dense(float("nan")), "loss": loss,
    }  # fmt: skip


def _embedded(found: Graph, result: Any, given: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    return {"columns": result.ncols}, result


def _assigned(found: Graph, result: Any, given: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    return {"assigned": result.nvals}, _named(found, result)


def _matched(found: Graph, result: Any, given: dict[str, Any], other: Graph) -> tuple[dict[str, Any], Any]:
    match, disagreements = result
    return {"disagreements": disagreements}, _named(other, match)


def _communities(found: Graph, result: Any, given: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    import numpy as np

    labels, sizes = np.unique(result.to_dense(), return_counts=True)
    most = np.argsort(-sizes, kind="stable")[:_TOP]
    largest = [{"label": _id(found, labels[at]), "vertices": int(sizes[at])} for at in most]
    return {"communities": int(labels.size), "largest": largest}, _named(found, result)


def _walks(found: Graph, result: Any, given: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    import numpy as np

    w, step, vertex = result.to_coo()
    walks = np.full((result.nrows, result.ncols), -1)
    walks[w.astype(np.int64), step.astype(np.int64)] = found.named(vertex)
    return {"walks": result.nrows, "steps": result.nvals - result.nrows}, walks


def _sampled(found: Graph, result: Any, given: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    import numpy as np

    row, neighbor, value = result.to_coo()
    source = np.array(given["sources"])[row.astype(np.int64)]
    columns = found.named(source), found.named(neighbor.astype(np.int64)), value
    return {"edges": result.nvals}, np.column_stack(columns)


_ENDS = (Option("s", "the source", "vertex", required=True), Option("t", "the sink", "vertex", required=True))
_SOURCES = Option("sources", "vertices to begin at", "vertices", required=True)
_LENGTH = Option("length", "most edges to follow (10)", "count", 10)
_SEED = Option("seed", "chooses the draws (by chance)", "count")
_WEIGHTED = Option("weighted", "draw in proportion to the values", "flag")
_VALUES = "the weights, with --weighted (those of the file)"
_MOVES = (
    Option("resolution", "above 1 favours small communities (1)", default=1.0),
    Option("weighted", "edges count by their values", "flag"),
    _SEED,
)
_CAPACITIES = "capacities of the edges (those of the file, else 1 each)"
APPS = (
    App("louvain_communities", "communities of high modularity", _MOVES, _VALUES, _communities, read_weights=None),
    App("leiden_communities", "communities of high modularity, each connected", _MOVES, _VALUES, _communities,
        read_weights=None),
    App("sample_neighbors", "some edges of each of some vertices",
        (_SOURCES, Option("k", "edges of each (10)", "count", 10), Option("replace", "draw each from all", "flag"),
         _WEIGHTED, _SEED), _VALUES, _sampled, "rows", read_weights=None),
    App("random_walks", "walks that follow edges by chance",
        (_SOURCES, _LENGTH, _WEIGHTED, Option("p", "1 / p is the weight of the way back (1)", default=1.0),
         Option("q", "1 / q is the weight of a way farther away (1)", default=1.0), _SEED),
        _VALUES, _walks, "rows", read_weights=None),
    App("graph_search", "walks towards high scores",
        (_SOURCES, Option("scores", "a score for each vertex", "scores", required=True), _LENGTH,
         Option("mode", "uniform, greedy or stochastic (uniform)", "word", "uniform"), _SEED),
        "ignored", _walks, "rows"),
    App("scan_statistics", "edges within a few hops of each vertex",
        (Option("order", "hops that a neighbourhood reaches (1)", "count", 1),), "ignored", _scan),
    App("maximum_flow", "what capacities let through from one vertex to another", _ENDS, _CAPACITIES, _flow, "graph",
        read_weights=None),
    App("minimum_cut", "the edges of least capacity between two vertices", _ENDS, _CAPACITIES, _cut,
        read_weights=None),
    App("geolocation", "places of vertices by those of their neighbours",
        (Option("places", "latitude and longitude of each vertex, NaN where unknown", "file", required=True),
         Option("rounds", "rounds to run (10)", "count", 10), Option("tol", "stop at moves of so many km")),
        "ignored", _places, "table"),
    App("vertex_nomination", "vertices nearest to some of interest, in the graph and in content",
        (Option("seeds", "the vertices of interest", "vertices", required=True),
         Option("content", "a dissimilarity, or features, of each vertex", "file"),
         Option("k", "vertices to nominate at most", "count")),
        "lengths of the edges (those of the file, else 1 each)", _nominated, read_weights=None),
    App("projection", "who has how many neighbours in common with whom",
        (Option("onto", "rows or columns (rows)", "word", "rows"),
         Option("weight", "count, ratio, jaccard, overlap, collaboration or none (count)", "word", "count")),
        "ignored", _projected, "graph"),
    App("local_clustering", "the cluster around each of some vertices",
        (Option("seeds", "the vertices", "vertices", required=True),
         Option("alpha", "share of the walk that begins anew (0.15)", default=0.15),
         Option("rho", "weight of the l1 norm (1e-4)", default=1e-4)), "ignored", _clusters, "table"),
    App("fused_lasso", "measured values, smoothed along edges",
        (Option("y", "what was measured, a number for each vertex", "file", required=True),
         Option("lambda1", "weight of differences along edges", required=True),
         Option("lambda2", "weight of absolute values (0)", default=0.0),
         Option("tol", "duality gap, as a share of the minimum (1e-6)", default=1e-6)), "ignored", _smoothed),
    App("application_classification", "where a pattern lies in a graph, by features",
        (Option("features", "a row of features for each vertex", "file", required=True),
         Option("pattern_features", "the same for the pattern", "file", required=True),
         Option("edge_features", "a row for each edge, by rows and columns (the values)", "file"),
         Option("pattern_edge_features", "the same for the pattern", "file"),
         Option("rule", "corrected or published (corrected)", "word", "corrected"),
         Option("rounds", "rounds of messages (the pattern's vertices)", "count")),
        "the edges' feature, unless --edge-features has others (those of the file)", _matched_pattern, "table",
        graphs=2, read_weights=None),
    App("collaborative_filtering", "factors of users and items whose products are the ratings",
        (Option("k", "factors (20)", "count", 20), Option("solver", "gd or als (gd)", "word", "gd"),
         Option("rounds", "rounds to run (10)", "count", 10), Option("penalty", "of the factors (1e-3)", default=1e-3),
         Option("rate", "step of the descent (by the ratings)"),
         Option("seed", "chooses the factors to begin with (by chance)", "count")),
        "the ratings (those of the file)", _factored, "arrays", read_weights=None),
    App("graphsage", "embeddings of vertices by features of sampled neighbours",
        (Option("X", "features, a row for each vertex", "file", required=True),
         *(Option(name, "weights", "file", required=True) for name in ("Wf1", "Wa1", "Wf2", "Wa2")),
         Option("children", "neighbours sampled for each (10)", "count", 10),
         Option("batch", "vertices in work at a time (2^20)", "count"),
         Option("seed", "chooses the samples (by chance)", "count")), "ignored", _embedded, "table"),
    App("linear_assignment", "a column for each row, of least cost in all",
        (Option("absent", "what entries cost that are not there (they cannot be chosen)"),
         Option("method", "exact or auction (exact)", "word", "exact"), Option("eps", "least bid of the auction")),
        "the costs (those of the file)", _assigned, read_weights=None),
    App("seeded_graph_matching", "which vertex of one graph is which of another",
        (Option("seeds", "pairs of a vertex of each graph", "pairs", required=True),
         Option("lap", "exact or auction (exact)", "word", "exact")), "ignored", _matched, graphs=2),
)  # fmt: skip


def _named(found: Graph, rows: Any) -> Any:
    """Return a Vector of vertices' rows as one of their ids."""
    if found.ids is None:
        return rows
    i, row = rows.to_coo()
    return type(rows).from_coo(i, found.named(row), "INT64", size=rows.size)


def _id(found: Graph, vertex: int) -> int:
    import numpy as np

    return int(found.named(np.array([vertex]))[0])
