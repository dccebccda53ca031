"""Public names: `dir` of a module shows exactly the names of its ``__all__``, and the reference documents each."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
from importlib import import_module

import pytest

import sparsezc as gb
from sparsezc.semirings.algebra.operators import Operator
from sparsezc.semirings.algebra.registering import Parameterized, Path
from sparsezc.semirings.types import user_types

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
API = (DOCS / "api.md").read_text()
REFERENCE = API + "".join(page.read_text() for page in sorted((DOCS / "reference").glob("*.md")))
MODULES = [
    "sparsezc", "sparsezc.algorithms", "sparsezc.applications", "sparsezc.core", "sparsezc.core.dtypes",
    "sparsezc.dtypes", "sparsezc.engines", "sparsezc.engines.distributed", "sparsezc.exceptions",
    "sparsezc.io", "sparsezc.loader", "sparsezc.networkx_backend", "sparsezc.ops", "sparsezc.orders",
    "sparsezc.placements", "sparsezc.ss", "sparsezc.stats", "sparsezc.viz",
]  # fmt: skip
#: Public names beyond ``__all__``, whose lookup needs python-graphblas.
LOOKED_UP = {"sparsezc.ss": {"Context", "about", "burble", "config", "global_context"}}
OPERATORS = ["unary", "binary", "indexunary", "select", "monoid", "semiring", "agg", "op"]
#: Names that make, find or group operators; `select` has a function for comparisons of each kind.
HELPERS = {
    "Aggregator", "TypedAggregator", "column", "from_string", "get_semiring", "index", "numpy", "register_anonymous",
    "register_new", "row", "ss", "value",
}  # fmt: skip


def shown(module: object) -> set[str]:
    return {name for name in dir(module) if not name.startswith("_")}


@pytest.mark.parametrize("name", MODULES)
def test_dir_shows_what_all_lists(name: str) -> None:
    module = import_module(name)
    assert len(module.__all__) == len(set(module.__all__))
    users = set(user_types.named) if name.endswith("dtypes") else set()
    assert shown(module) - users == {*module.__all__, *LOOKED_UP.get(name, ())}
    if name == "sparsezc.loader":
        pytest.importorskip("torch_geometric")  # its classes derive from PyTorch Geometric's
    for each in module.__all__:
        getattr(module, each)


def test_dir_of_the_configuration_shows_settings_and_methods() -> None:
    settings = re.findall(r"^(\w+) = ", repr(gb.config), re.MULTILINE)
    assert len(settings) > 10
    assert dir(gb.config) == sorted([*settings, "get", "reset", "set"])


def test_dir_is_the_same_after_everything_is_imported() -> None:
    """In a fresh process: importing a submodule sets its name in the package, even a private one."""
    program = (
        "import sparsezc as gb; before = dir(gb), dir(gb.algorithms), dir(gb.core), dir(gb.distributed)\n"
        "import sparsezc.process.locks, sparsezc.memory, sparsezc.cli, sparsezc.networkx_backend.interface\n"
        "assert before == (dir(gb), dir(gb.algorithms), dir(gb.core), dir(gb.distributed))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.filterwarnings("ignore:.*deprecated in python-graphblas:DeprecationWarning")
@pytest.mark.parametrize("name", OPERATORS)
def test_namespaces_show_operators(name: str) -> None:
    space = getattr(gb, name)
    for module in (space, *(getattr(space, part) for part in ("numpy", "ss") if hasattr(space, part))):
        for each in shown(module) - HELPERS:
            assert isinstance(getattr(module, each), Operator | Parameterized | Path), each


def test_the_reference_lists_the_top_level() -> None:
    table = API.partition("## Names")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    listed = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(listed) == sorted(gb.__all__)


def test_the_reference_has_the_modules() -> None:
    """Sphinx documents the names of each module's ``__all__``, which `dir` shows."""
    modules = re.findall(r"automodule:: ([\w.]+)", REFERENCE)
    assert {"sparsezc.ops", "sparsezc.algorithms", "sparsezc.io", "sparsezc.exceptions"} <= set(modules)
    for name in modules:
        module = getattr(gb, name.partition(".")[2], None) or import_module(name)
        assert module is gb.config or module.__name__ in MODULES
        for each in getattr(module, "__all__", ()):
            assert getattr(module, each).__doc__, f"{name}.{each}"
