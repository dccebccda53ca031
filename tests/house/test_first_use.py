"""A command loads only the files that it needs: packages and tables of operations load the others at first use."""

from __future__ import annotations

import ast
import subprocess
import sys
import traceback
from importlib import import_module
from pathlib import Path

import pytest

import sparsezc as gb
from tests.house.test_layers import is_type_checking, modules

#: Packages that list the names of several files.
PACKAGES = [name for name, path in modules().items() if "__getattr__, __dir__ = first_use.names(" in path.read_text()]

#: In folders of one file a subject, the files that a search of an edge list needs.
NEEDED = {
    "sparsezc.algorithms": {"bfs", "_check", "_lengths", "_frontier_loops", "_searches", "loops"},
    "sparsezc.applications": set(),
    "sparsezc.cli": {"answers", "features", "graph", "options", "parameters", "plot", "run", "table"},
    "sparsezc.device": {"cuda", "processors", "protocol"},
    "sparsezc.engines.cpu": {"cpu_engine", "dense", "compiled_loops", "store_methods", "suitesparse"},
    "sparsezc.engines.cpu.suitesparse": {
        "compiled_functions", "expressions", "machine_code", "movers", "native", "operators",
        "row_arrays", "array_addresses", "pack_arrays",
    },
    "sparsezc.engines.distributed": set(),
    "sparsezc.engines.gpu": set(),
    "sparsezc.io.formats": {"snap", "text"},
    "sparsezc.io.hdf5": set(),
    "sparsezc.io.interop": set(),
    "sparsezc.loader": set(),
    "sparsezc.networkx_backend": set(),
    "sparsezc.semirings.udf": {"numpy_functions"},
}  # fmt: skip
#: Third-party packages that a search does not need. (numba comes with python-graphblas, where it is installed.)
OTHERS = {"cupy", "h5py", "matplotlib", "networkx", "pandas", "pyarrow", "scipy.sparse", "torch"}

PROGRAM = """
import sys
from sparsezc.cli import main
assert main(["bfs", sys.argv[1], "--source", "0", "--engine", "cpu"]) == 0
print("\\n".join(sys.modules), file=sys.stderr)
"""


def ran(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a fresh Python, and check that it ends without an error."""
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize(
    ("owner", "wrong", "right"),
    [
        (gb, "Matrx", "Matrix"), (gb.io, "reed", "read"), (gb.algorithms, "pagerankk", "pagerank"),
        (gb.applications, "geolocaton", "geolocation"), (gb.config, "budgt", "budget"),
    ],
)  # fmt: skip
def test_the_nearest_name_is_told_once(owner: object, wrong: str, right: str) -> None:
    """The message has it, which a notebook shows, and Python's traceback does not repeat it."""
    with pytest.raises(AttributeError, match=f"has no attribute '{wrong}'; did you mean '{right}'") as caught:
        getattr(owner, wrong)
    told = "".join(traceback.format_exception(caught.value)).splitlines()[-1]
    assert told.lower().count("did you mean") == 1
    assert not hasattr(owner, "unlike_any_name")


def test_a_search_loads_what_it_needs(tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("0 1\n1 2\n")
    loaded = ran(PROGRAM, str(path)).stderr.split()
    assert "sparsezc.engines.cpu.cpu_engine" in loaded
    unneeded = []
    for name in loaded:
        for folder, needed in NEEDED.items():
            inside = name.removeprefix(f"{folder}.")
            if inside != name and inside.split(".")[0] not in needed:
                unneeded.append(name)
    assert unneeded == []
    assert OTHERS & set(loaded) == set()


def listed(package: str) -> dict[str, str]:
    """Return the names that a package shows to type checkers, and the module of each."""
    blocks = [node for node in ast.parse(modules()[package].read_text()).body if is_type_checking(node)]
    found = {}
    for block in blocks:
        for node in ast.walk(block):
            if isinstance(node, ast.ImportFrom):
                found |= {alias.asname: str(node.module) for alias in node.names if alias.asname == alias.name}
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_type_checkers_see_the_names_of_the_table(package: str) -> None:
    module = import_module(package)
    there = set(module.__all__) - {name for name in ("backend", "init") if package == "sparsezc"}
    shown = listed(package)
    assert shown.keys() == there
    if package == "sparsezc.loader":
        pytest.importorskip("torch_geometric")  # its classes derive from torch_geometric's
    for name in there:
        home = import_module(shown[name])
        assert getattr(module, name) is getattr(home, name), name


def test_a_function_stays_one_after_its_file_was_imported() -> None:
    """Importing a file sets an attribute of its name in the package, where a function has the same name."""
    program = (
        "import sparsezc.algorithms.sssp, sparsezc.algorithms.bfs, sparsezc as gb\n"
        "assert callable(gb.algorithms.bfs) and callable(gb.algorithms.sssp)\n"
        "from sparsezc.algorithms.bfs import bfs; assert gb.algorithms.bfs is bfs\n"
        "import sparsezc.algorithms._check as check; assert gb.algorithms._check is check"
    )
    ran(program)


def test_the_configuration_stays_an_object_after_its_file_was_imported() -> None:
    program = (
        "import sys, sparsezc.config, sparsezc as gb\n"
        "gb.config.set(progress=False)\n"
        "assert gb.config is sys.modules['sparsezc.config'].config and not gb.config.progress"
    )
    ran(program)


def test_a_name_that_is_a_module_can_be_replaced_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    before = gb.stats
    with monkeypatch.context() as patch:
        patch.setattr(gb, "stats", None)
        assert gb.stats is None
    assert gb.stats is before


def test_an_import_loads_four_files() -> None:
    program = "import sparsezc, sys; print(*sorted(name for name in sys.modules if name.startswith('sparsezc')))"
    assert ran(program).stdout.split() == [
        "sparsezc",
        "sparsezc.exceptions",
        "sparsezc.process",
        "sparsezc.process.first_use",
    ]


def test_the_facts_for_networkx_can_be_read_before_it_is_imported() -> None:
    """NetworkX calls get_info while it is imported itself, so get_info must not fail or warn."""
    program = "from sparsezc.networkx_backend.info import get_info; assert get_info()['functions']"
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, timeout=100, check=False)
    assert done.stderr == b""


def test_a_name_that_is_not_there() -> None:
    for package in (gb, gb.algorithms, gb.io):
        with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'nothing'"):
            _ = package.nothing
