"""Helpers and arguments for the tests of ``sparsezc run``."""

from __future__ import annotations

import json

import sparsezc as gb
from sparsezc.cli import main


def run(capsys, *arguments):
    code = main(["run", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def answer(capsys, *arguments):
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def graph():
    return gb.io.read("g.tsv", directed=False)


CALLS = {
    "louvain-communities": ["--seed", 1, "--resolution", 0.9, "--out", "labels.csv"],
    "leiden-communities": ["--seed", 1, "--weighted", "--out", "labels.npy"],
    "sample-neighbors": ["--sources", 0, 1, 0, "--k", 1, "--seed", 1, "--replace", "--weighted", "--out", "drawn.csv"],
    "random-walks": ["--sources", 0, 3, "--length", 4, "--p", 0.5, "--q", 2, "--seed", 1, "--out", "walks.npy"],
    "graph-search": ["--sources", 0, 4, "--scores", "y.npy", "--length", 3, "--mode", "greedy", "--out", "walks.csv"],
    "scan-statistics": ["--out", "psi.csv"],
    "maximum-flow": ["--s", 0, "--t", 3, "--out", "flow.mtx"],
    "minimum-cut": ["--s", 0, "--t", 3, "--out", "side.json"],
    "geolocation": ["--places", "places.csv", "--rounds", 2, "--out", "found.csv"],
    "vertex-nomination": ["--seeds", 0, 4, "--k", 2, "--content", "y.npy", "--out", "scores.parquet"],
    "projection": ["--weight", "jaccard", "--out", "pairs.parquet"],
    "local-clustering": ["--seeds", 0, 3, "--rho", 0.01, "--out", "p.csv"],
    "fused-lasso": ["--y", "y.npy", "--lambda1", 0.3, "--out", "x.npy"],
    "application-classification": [
        "p.tsv",
        "--features",
        "y.npy",
        "--pattern-features",
        "p.npy",
        "--rule",
        "published",
        "--out",
        "m.npy",
    ],
    "collaborative-filtering": ["--k", 2, "--solver", "als", "--seed", 1, "--out", "f.npz"],
    "graphsage": [
        *("--X", "x.features.npy", "--W1", "w.npy", "--W2", "w.npy"),
        *("--children", 2, "--seed", 1, "--out", "h.csv"),
    ],
    "linear-assignment": ["--absent", 9, "--out", "columns.txt"],
    "seeded-graph-matching": ["g.tsv", "--seeds", "pairs.csv", "--out", "match.tsv"],
}


#: Required arguments of the other rows.
NEEDED = {
    "double-edge-swap": ["--swaps", "1", "--seed", "1"],
    "k-truss": ["--k", "2"],
    "maximal-independent-set": ["--nodes", "0", "2", "--seed", "1"],
    "maximal-matching": ["--seed", "1"],
    "greedy-color": ["--seed", "1", "--strategy", "largest_first"],
    "modularity": ["--communities", "labels.csv"],
    "multi-source-shortest-paths": ["--sources", "0", "3", "--weighted"],
    "betweenness-centrality": ["--no-normalized", "--endpoints"],
    "katz-centrality": ["--alpha", "0.05", "--nstart", "y.npy"],
    "pagerank": ["--personalization", "y.npy", "--tol", "1e-5"],
    "cosine-similarity": ["--pairs", "p.tsv", "--weighted"],
    "k-hop": ["--radius", "2", "--no-center"],
    "all-pairs-shortest-paths": ["--no-weighted"],
}
ACYCLIC = (
    "topological-generations", "topological-sort", "transitive-reduction", "find-negative-cycle", "dag-longest-path",
)  # fmt: skip
