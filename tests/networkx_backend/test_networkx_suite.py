"""NetworkX's own tests pass with the backend's functions; declined calls run in NetworkX itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.networkx_backend.entry_points import ROOT, write

QUICK = (
    "tests.test_core", "tests.test_reciprocity", "tests.test_dag", "link_analysis", "components", "assortativity",
    "bipartite", "flow.tests.test_maxflow", "tests.test_boundary", "tests.test_bridges", "tests.test_cuts",
    "tests.test_dominating", "tests.test_euler", "tests.test_isolate", "tests.test_link_prediction",
    "tests.test_lowest_common_ancestors", "tests.test_regular", "tests.test_richclub", "tests.test_simple_paths",
    "tests.test_smetric", "tests.test_tournament", "traversal", "tree.tests.test_recognition", "operators",
    "tests.test_triads", "isomorphism.tests.test_isomorphism",
)  # fmt: skip
OTHERS = (
    "approximation.tests.test_kcomponents", "approximation.tests.test_distance_measures",
    "approximation.tests.test_dominating_set", "centrality", "coloring",
    "community", "connectivity.tests.test_stoer_wagner", "shortest_paths",
    "tests.test_cluster", "tests.test_distance_measures", "tests.test_efficiency",
    "tests.test_matching", "tests.test_mis", "tests.test_smallworld", "tests.test_structuralholes",
    "tests.test_wiener", "tree.tests.test_mst",
)  # fmt: skip
# 500 random graphs with and without bounds, where this backend always takes the same way; functions that it leaves to
# NetworkX, which call smaller ones thousands of times.
LEFT_OUT = "not test_use_bounds_on_off_consistency and not naive_greedy and not spring_layout and not smoke"


def passed(modules: list[str], folder: Path) -> int:
    """How many tests of NetworkX pass in a process of their own; none may fail."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(write(folder)), str(ROOT)]),
        "NETWORKX_TEST_BACKEND": "sparsezc",
        "NETWORKX_FALLBACK_TO_NX": "True",
    }
    command = [sys.executable, "-m", "pytest", "-c", "pytest.ini", "-q", "-p", "no:cacheprovider", "-k", LEFT_OUT]
    done = subprocess.run(
        [*command, "--pyargs", *modules], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    found = re.search(r"(\d+) passed", done.stdout)
    assert found, done.stdout
    return int(found[1])


def test_a_quick_part(tmp_path: Path) -> None:
    assert passed([f"networkx.algorithms.{name}" for name in QUICK], tmp_path) > 100


@pytest.mark.slow
def test_all_that_is_claimed(tmp_path: Path) -> None:
    modules = [f"networkx.algorithms.{name}" for name in OTHERS]
    others = (
        "generators.tests.test_ego", "generators.tests.test_classic", "generators.tests.test_small",
        "generators.tests.test_community", "linalg", "tests.test_convert", "tests.test_convert_numpy",
        "tests.test_convert_pandas", "tests.test_convert_scipy", "tests.test_relabel", "drawing.tests.test_layout",
        "classes.tests.test_function",
    )  # fmt: skip
    assert passed([*modules, *(f"networkx.{name}" for name in others)], tmp_path) > 500
