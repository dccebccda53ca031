"""graphblas-algorithms, a backend of NetworkX on python-graphblas, runs on sparsezc by replacing the import alone.

It is older than today's NetworkX, so some of NetworkX's tests fail with it on either library. NetworkX runs the
functions that it lacks. The tests here compare: each of its own and NetworkX's tests has the same outcome on both.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("graphblas_algorithms", reason="graphblas-algorithms is not installed")

HERE = Path(__file__).resolve().parent
QUICK = ("link_analysis", "operators", "shortest_paths", "traversal", "tests.test_cluster", "tests.test_core")
LINE = re.compile(r"^(PASSED|FAILED|ERROR|XFAIL|XPASS|SKIPPED) (\S+)", re.MULTILINE)


def outcomes(library: str, modules: list[str], folder: Path) -> dict[str, str]:
    """Return each test's outcome, in a process in which graphblas-algorithms uses this library."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    paths = [str(HERE), str(HERE.parent.parent), *filter(None, sys.path)]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "GRAPHBLAS": library,
        "NETWORKX_TEST_BACKEND": "graphblas",
        "NETWORKX_FALLBACK_TO_NX": "True",
    }
    command = [sys.executable, "-m", "pytest", "-c", "pytest.ini", "-q", "-rA", "-p", "swapped", "--tb=no"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "--pyargs", *modules],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout[-3000:] + done.stderr[-3000:]
    return {name: outcome for outcome, name in LINE.findall(done.stdout)}


def compared(modules: list[str], folder: Path) -> int:
    """Return the number of tests that pass, after checking that each has the same outcome on both libraries."""
    with_theirs, with_ours = (outcomes(library, modules, folder) for library in ("graphblas", "sparsezc"))
    different = {
        name: (with_theirs.get(name), with_ours.get(name))
        for name in with_theirs.keys() | with_ours.keys()
        if with_theirs.get(name) != with_ours.get(name)
    }
    assert different == {}
    return sum(outcome == "PASSED" for outcome in with_ours.values())


def test_only_the_library_is_another(tmp_path: Path) -> None:
    """The package uses sparsezc's matrices, and no module of it has a name of python-graphblas."""
    program = (
        "import swapped, sparsezc, networkx as nx, graphblas_algorithms as ga\n"
        "assert type(ga.Graph.from_networkx(nx.path_graph(3))._A) is sparsezc.Matrix\n"
        "import sys\n"
        "for name, module in list(sys.modules.items()):\n"
        "    if name.startswith('graphblas_algorithms'):\n"
        "        for what in vars(module).values():\n"
        "            home = getattr(what, '__module__', None) or getattr(what, '__name__', '')\n"
        "            assert str(home).partition('.')[0] != 'graphblas', (name, what)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), *sys.path]), "GRAPHBLAS": "sparsezc"}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, check=True)


def test_its_own_tests_and_a_part_of_networkxs(tmp_path: Path) -> None:
    modules = ["graphblas_algorithms", *(f"networkx.algorithms.{name}" for name in QUICK)]
    assert compared(modules, tmp_path) > 300


@pytest.mark.slow
def test_all_of_networkxs_tests(tmp_path: Path) -> None:
    assert compared(["networkx"], tmp_path) > 5000
