"""Imports go only downwards, and only the engines' folders depend on engines.

The table is docs/architecture.md's, as modules. An import inside a function runs later, and so does that of a module
that a string names (`import_module`, `first_use`, a table of modules): both are dependences all the same. A lower
folder gets functions of a higher one by registration from above (`first_use.provide`). Imports under `TYPE_CHECKING`
serve readers and may go upwards.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]

# From low to high; the modules of one row may import each other.
FOLDERS = (
    ("sparsezc.exceptions",),
    ("sparsezc.process",),
    ("sparsezc.semirings.types",),
    ("sparsezc.semirings.udf",),
    ("sparsezc.semirings.algebra",),
    ("sparsezc.semirings",),
    ("sparsezc.dtypes",),
    ("sparsezc.config",),
    ("sparsezc.terminal",),
    ("sparsezc.device",),
    ("sparsezc.stats",),
    ("sparsezc.memory",),
    ("sparsezc.placements",),
    ("sparsezc.expr",),
    ("sparsezc.ops",),
    ("sparsezc.engines.cpu",),
    ("sparsezc.engines.gpu.runtime",),
    ("sparsezc.engines.gpu.storage",),
    ("sparsezc.engines.gpu.placements",),
    ("sparsezc.engines.gpu.placements.baselines",),
    ("sparsezc.engines.gpu.layouts",),
    ("sparsezc.engines.gpu.elementwise",),
    ("sparsezc.engines.gpu.products",),
    ("sparsezc.engines.gpu.graphs",),
    ("sparsezc.engines.gpu.several_processes",),
    ("sparsezc.engines.gpu.sampling",),
    ("sparsezc.engines.gpu",),
    ("sparsezc.engines.distributed.model",),
    ("sparsezc.engines.distributed.transports",),
    ("sparsezc.engines.distributed.parts",),
    ("sparsezc.engines.distributed.loops",),
    ("sparsezc.engines.distributed.statements",),
    ("sparsezc.engines.distributed",),
    ("sparsezc.engines",),
    ("sparsezc.core",),
    ("sparsezc.ss", "sparsezc.viz"),
    ("sparsezc.algorithms.loops",),
    ("sparsezc.algorithms",),
    ("sparsezc.orders",),
    ("sparsezc.io.files",),
    ("sparsezc.io.build",),
    ("sparsezc.io.hdf5",),
    ("sparsezc.io.interop",),
    ("sparsezc.io.formats",),
    ("sparsezc.io.ranks",),
    ("sparsezc.io",),
    ("sparsezc.applications",),
    ("sparsezc.loader",),
    ("sparsezc.networkx_backend.graphs",),
    ("sparsezc.networkx_backend.generators",),
    ("sparsezc.networkx_backend.paths",),
    ("sparsezc.networkx_backend.structure",),
    ("sparsezc.networkx_backend.measures",),
    ("sparsezc.cli.answers", "sparsezc.cli.planning"),
    ("sparsezc.cli", "sparsezc.networkx_backend"),
    # the short names of the operators' namespaces
    tuple(
        f"sparsezc.{name}" for name in ("agg", "binary", "indexunary", "monoid", "op", "select", "semiring", "unary")
    ),
    ("sparsezc", "sparsezc.__main__"),  # the facade: users import it, no folder does
)

# Folders that may name CuPy or compare with an engine's name, and the reason.
ENGINE_FOLDERS = {
    "sparsezc.engines": "they are the engines",
    "sparsezc.memory": "a placement belongs to a device",
    "sparsezc.device.cupy_device": "it is the device",
    "sparsezc.cli.doctor": "it tells what CuPy and the card say",
    "sparsezc.io.build.generate": "graphs are made on the GPU where there is one",
    "sparsezc.expr.dispatch": "the one dispatch: vectors follow to the engine where the matrices are",
}
ENGINE_NAMES = {"cpu", "gpu"}
MENTIONS = re.compile(rf"""cupy|["'](?:{"|".join(ENGINE_NAMES)})["']""")  # only these files need be parsed


class Import(NamedTuple):
    """One import statement's target, and its line."""

    module: str
    target: str
    line: int


@cache
def modules() -> dict[str, Path]:
    """Return every module of the package by name; the two top-level folders have their installed names."""
    found = {}
    for folder, prefix in (("sparsezc", ""), ("ops", "sparsezc."), ("semirings", "sparsezc.")):
        for path in sorted((ROOT / folder).rglob("*.py")):
            inside = path.relative_to(ROOT)
            if inside.parts[:2] in (("sparsezc", "ops"), ("sparsezc", "semirings")):
                continue  # reached through the links
            parts = inside.with_suffix("").parts
            found[prefix + ".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def entry(module: str) -> str | None:
    """Return the entry of the table that is `module` or contains it."""
    names = [name for row in FOLDERS for name in row]
    inside = [name for name in names if module == name or (name != "sparsezc" and is_in(module, name))]
    return max(inside, key=len, default=None)


def is_in(module: str, folder: str) -> bool:
    return f"{module}.".startswith(f"{folder}.")


@cache
def height(module: str) -> int:
    name = entry(module)
    return next(level for level, row in enumerate(FOLDERS) if name in row)


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def spelled(text: str) -> list[str]:
    """Return the module that a string names, either in full or up to a part that is filled in later."""
    return [name] if (name := text.rstrip(".")).startswith("sparsezc.") and name in modules() else []


def listed(call: ast.Call, package: str) -> list[str]:
    """Return the modules that a call of `first_use.names` lists, or the facade if `import_module` names it."""
    last, given = getattr(call.func, "attr", getattr(call.func, "id", "")), call.args
    if last == "import_module" and isinstance(given[0], ast.Constant) and given[0].value == "sparsezc":
        return ["sparsezc"]
    if last != "names" or len(given) < 2 or not isinstance(given[1], ast.Dict):
        return []
    files = [ast.literal_eval(key) for key in given[1].keys if key]
    files += ast.literal_eval(given[2]).split() if len(given) > 2 else []
    return [f"{package}.{file}" for file in files]


def targets(node: ast.AST, module: str, is_package: bool) -> list[str]:
    """Return the imports of one node by absolute names; `from package import module` names the module."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return spelled(node.value)
    if isinstance(node, ast.Call):
        return listed(node, module)
    if not isinstance(node, ast.ImportFrom):
        return []
    base = node.module or ""
    if node.level:
        parents = module.split(".")[: None if is_package else -1]
        parents = parents[: len(parents) - (node.level - 1)]
        base = ".".join([*parents, *([base] if base else [])])
    full = [f"{base}.{alias.name}" for alias in node.names]
    return [name if name in modules() else base for name in full]


@cache
def imports(module: str, path: Path) -> tuple[Import, ...]:
    """Return every import of the package in a file, except those under TYPE_CHECKING."""

    def walk(node: ast.AST) -> Iterator[Import]:
        for target in targets(node, module, path.name == "__init__.py"):
            if target.split(".")[0] == "sparsezc":
                yield Import(module, target, node.lineno)  # type: ignore[attr-defined]
        children = node.orelse if is_type_checking(node) else ast.iter_child_nodes(node)  # type: ignore[attr-defined]
        for child in children:
            yield from walk(child)

    return tuple(walk(ast.parse(path.read_text())))


@cache
def upward() -> list[Import]:
    every = [each for module, path in modules().items() if entry(module) for each in imports(module, path)]
    return [each for each in every if height(each.target) > height(each.module)]


def test_the_page_lists_the_folders_in_this_order() -> None:
    """The page leaves out the facade's names and the folders within the command line and NetworkX's backend."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    listed = page.partition("From the lowest to the highest:\n\n```text\n")[2].partition("```")[0].split()
    names = [name.removeprefix("sparsezc.").replace(".", "/") for row in FOLDERS for name in row]
    within = {name for name in names if name.startswith(("cli/", "networkx_backend/"))}
    facade = {"sparsezc", "__main__", "ss", "viz", *(name.removeprefix("sparsezc.") for name in FOLDERS[-2])}
    assert listed == [name for name in names if name not in within | facade]


def test_every_file_has_a_folder() -> None:
    assert [module for module in modules() if entry(module) is None] == []


def test_imports_go_downwards() -> None:
    assert [f"{modules()[each.module]}:{each.line}: imports {each.target}" for each in upward()] == []


def folder(module: str) -> str:
    """Return a module's folder; a file of the package's root is its own folder."""
    inside = module if modules()[module].name == "__init__.py" else module.rpartition(".")[0]
    return module if inside == "sparsezc" else inside


def test_no_folders_import_each_other_in_a_circle() -> None:
    """Imports inside functions count, too."""
    uses: dict[str, set[str]] = {}
    for module, path in modules().items():
        for each in imports(module, path):
            target = each.target if each.target in modules() else each.target.rpartition(".")[0]
            uses.setdefault(folder(module), set()).add(folder(target))
    order = TopologicalSorter({name: found - {name} for name, found in uses.items()})
    order.prepare()  # raises CycleError, which names the circle


_ALGEBRA = "sparsezc.semirings.algebra"
#: Files that import each other, inside functions at least, as each builds on the other's classes.
CIRCLES = (
    ("sparsezc.core.matrix", "sparsezc.core.vector"),
    ("sparsezc.semirings.types.datatypes", "sparsezc.semirings.types.user_types"),
    *((f"{_ALGEBRA}.names", f"{_ALGEBRA}.{x}") for x in ("operators", "registering", "structures")),
    *((f"sparsezc.semirings.{x}", f"sparsezc.semirings.{x}_ss") for x in ("agg", "binary", "semiring", "unary")),
    *((f"sparsezc.semirings.{x}", f"sparsezc.semirings.{x}_numpy") for x in ("binary", "monoid", "unary")),
)


def test_no_other_files_import_each_other_in_a_circle() -> None:
    one = {other: first for first, other in CIRCLES}  # the first file represents its circle
    uses: dict[str, set[str]] = {}
    for module, path in modules().items():
        for each in imports(module, path):
            target = each.target if each.target in modules() else each.target.rpartition(".")[0]
            uses.setdefault(one.get(module, module), set()).add(one.get(target, target))
    TopologicalSorter({name: found - {name} for name, found in uses.items()}).prepare()


def test_the_import_reader_sees_every_form(tmp_path: Path) -> None:
    """The judge sees every form of import, with its line, and ignores imports for types."""
    text = """
from typing import TYPE_CHECKING
import sparsezc.cli
from sparsezc import exceptions
from . import buffer
from ..io import read
if TYPE_CHECKING:
    import sparsezc.core.matrix
else:
    import sparsezc.core.vector
def f():
    import sparsezc.core.scalar as s
    import_module("sparsezc.algorithms")
    importlib.import_module(f"sparsezc.expr.engines.{name}")
g = first_use.function("sparsezc.orders", "order")
names = first_use.names(__name__, {"buffer": "Buffer"}, "host budget")
table = {"cpu": "sparsezc.engines.cpu"}
h = import_module("sparsezc")
"""
    path = tmp_path / "host.py"
    path.write_text(text)
    seen = [each.target for each in imports("sparsezc.memory.host", path)]
    assert seen == [
        "sparsezc.cli",
        "sparsezc.exceptions",
        "sparsezc.memory.buffer" if "sparsezc.memory.buffer" in modules() else "sparsezc.memory",
        "sparsezc.io",
        "sparsezc.core.vector",
        "sparsezc.core.scalar",
        "sparsezc.algorithms",
        "sparsezc.expr.engines",
        "sparsezc.orders",
        *(f"sparsezc.memory.host.{name}" for name in ("buffer", "host", "budget")),
        "sparsezc.engines.cpu",
        "sparsezc",
    ]


def knows_engines(path: Path) -> list[str]:
    """Return the lines where a file imports or names CuPy, or compares with an engine's name."""
    found: list[str] = []
    text = path.read_text()
    if not MENTIONS.search(text):
        return found
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names=names) if any(alias.name.split(".")[0] in ("cupy", "cupyx") for alias in names):
                what = "imports CuPy"
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] in ("cupy", "cupyx"):
                what = "imports CuPy"
            case ast.Name(id="cupy" | "cupyx"):
                what = "names CuPy"
            case ast.Constant(value="cupy" | "cupyx"):
                what = "names CuPy"
            case ast.Compare() | ast.MatchValue() if any(
                isinstance(inner, ast.Constant) and inner.value in ENGINE_NAMES for inner in ast.walk(node)
            ):
                what = "compares with an engine's name"
            case _:
                continue
        found.append(f"{path}:{getattr(node, 'lineno', 0)}: {what}")
    return found


@pytest.mark.parametrize("module", [name for name in modules() if not any(is_in(name, r) for r in ENGINE_FOLDERS)])
def test_only_the_engines_folders_know_engines(module: str) -> None:
    assert knows_engines(modules()[module]) == []


def test_the_engine_reader_sees_every_form(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text('import cupy\nfrom cupyx import y\ne == "gpu" or e in ("cpu",)\nmatch e:\n  case "gpu": z\n')
    assert sorted(line.split(":")[-2] for line in knows_engines(path)) == ["1", "2", "3", "3", "5"]


def test_the_list_of_folders_that_know_engines_is_not_longer_than_needed() -> None:
    """CONTRIBUTING.md gives the number of files in the list besides the folders."""
    found = {each for each in ENGINE_FOLDERS if any(knows_engines(modules()[m]) for m in modules() if is_in(m, each))}
    assert found == set(ENGINE_FOLDERS)
    files = [name for name in ENGINE_FOLDERS if name not in ("sparsezc.engines", "sparsezc.memory")]
    number = ("four", "five", "six", "seven")[len(files) - 4]
    assert f"the {number} files that the same test lists" in (ROOT / "CONTRIBUTING.md").read_text()
