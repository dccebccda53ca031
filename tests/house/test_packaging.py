"""The wheel, the sdist, an editable install and a bare checkout all give the same package, whole and only once.

`ops/` and `semirings/` are at the top level of the tree and must install inside `sparsezc` only: other packages own
those names. Builds run on a copy of the tree, so that they never use old build folders.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

import pytest
import yaml
from build import ProjectBuilder
from build.env import DefaultIsolatedEnv
from packaging.requirements import Requirement
from pyproject_hooks import quiet_subprocess_runner

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("sparsezc", "ops", "semirings")
LINKED = ("ops", "semirings")
KINDS = {".py", ".pyi", ".cu", ".cuh"}
IGNORED = shutil.ignore_patterns("__pycache__", "*.egg-info")


def project() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def sources() -> dict[str, Path]:
    """Return the files to install: the path inside an installation, and the file. Links are not followed."""
    found = {}
    for folder in FOLDERS:
        for parent, names, files in os.walk(ROOT / folder):
            names[:] = [name for name in names if name != "__pycache__"]
            for path in (Path(parent, file) for file in files):
                if path.suffix in KINDS or path.name == "py.typed":
                    inside = path.relative_to(ROOT).as_posix()
                    found[inside if folder == "sparsezc" else f"sparsezc/{inside}"] = path
    return found


@contextmanager
def builder(tree: Path) -> Iterator[ProjectBuilder]:
    """Yield the build front end: of this environment if its setuptools suffices, else of an isolated one."""
    if int(version("setuptools").split(".")[0]) >= 77:
        yield ProjectBuilder(tree, runner=quiet_subprocess_runner)
    else:
        with DefaultIsolatedEnv() as environment:
            isolated = ProjectBuilder.from_isolated_env(environment, tree, runner=quiet_subprocess_runner)
            environment.install(isolated.build_system_requires)
            yield isolated


def copied(destination: Path, links: bool) -> Path:
    """Return a copy of the checkout; without `links`, links are small text files, as git writes them where it must."""
    destination.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, destination)
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, destination / folder, symlinks=True, ignore=IGNORED)
    for name in () if links else LINKED:
        (destination / "sparsezc" / name).unlink()
        (destination / "sparsezc" / name).write_text(f"../{name}")
    return destination


def build(tree: Path, kind: str, out: Path) -> Path:
    with builder(tree) as ready:
        return Path(ready.build(kind, out))


def python(code: str, *, cwd: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run code in a new interpreter that imports from its environment and, with priority, from `path`."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment |= {"PYTHONPATH": str(path)} if path else {}
    return subprocess.run([sys.executable, "-c", code], cwd=cwd, env=environment, capture_output=True, text=True)


class Built(NamedTuple):
    tree: Path
    wheel: Path
    sdist: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    base = tmp_path_factory.mktemp("packaging")
    tree = copied(base / "tree", links=True)
    return Built(tree, build(tree, "wheel", base / "out"), build(tree, "sdist", base / "out"))


def contents(wheel: Path) -> dict[str, bytes]:
    with ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_list_of_packages_is_complete() -> None:
    """pyproject.toml lists every folder that has a source."""
    folders = {Path(name).parent.as_posix().replace("/", ".") for name in sources()}
    assert sorted(folders) == project()["tool"]["setuptools"]["packages"]  # type: ignore[index]


@pytest.mark.parametrize("name", LINKED)
def test_the_links_are_relative(name: str) -> None:
    assert (ROOT / "sparsezc" / name).readlink() == Path("..", name)


def test_the_wheel_is_the_tree(built: Built) -> None:
    """The wheel has each source once, byte for byte, and only metadata besides."""
    with ZipFile(built.wheel) as archive:
        twice = [name for name, count in Counter(archive.namelist()).items() if count > 1]
    files = {name: data for name, data in contents(built.wheel).items() if ".dist-info/" not in name}
    assert twice == []
    assert sorted(files) == sorted(sources())
    assert [name for name, path in sources().items() if files[name] != path.read_bytes()] == []


def test_the_sdist_is_the_tree(built: Built) -> None:
    """The sdist has each source once, at its place in the tree, and the files that a build needs."""
    with tarfile.open(built.sdist) as archive:
        names = [member.name.partition("/")[2] for member in archive.getmembers() if not member.isdir()]
    assert [name for name, count in Counter(names).items() if count > 1] == []
    packaged = [name for name in names if name.split("/")[0] in FOLDERS]
    assert sorted(packaged) == sorted(path.relative_to(ROOT).as_posix() for path in sources().values())
    assert {"pyproject.toml", "README.md", "LICENSE", "PKG-INFO"} <= set(names)


def test_the_wheel_of_the_sdist_is_the_wheel_of_the_tree(built: Built, tmp_path: Path) -> None:
    with tarfile.open(built.sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    assert contents(build(unpacked, "wheel", tmp_path / "out")) == contents(built.wheel)


def test_a_clone_without_links_gives_the_same_wheel(built: Built, tmp_path: Path) -> None:
    tree = copied(tmp_path / "tree", links=False)
    assert contents(build(tree, "wheel", tmp_path / "out")) == contents(built.wheel)


IMPORTS = """
import importlib.util, sparsezc.ops, sparsezc.semirings
from importlib.metadata import distribution
where = {where!r}
for module in (sparsezc, sparsezc.ops, sparsezc.semirings):
    assert module.__file__.startswith(where), module.__file__
for name in ("ops", "semirings"):
    spec = importlib.util.find_spec(name)
    assert spec is None or not str(spec.origin).startswith(where), spec
"""


def test_the_installed_wheel_works(built: Built, tmp_path: Path) -> None:
    """The package is imported from the installed wheel, which installs one name only and a command that works."""
    target = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", str(target), str(built.wheel)], check=True, stdin=subprocess.DEVNULL)
    kept = {path.name for path in target.iterdir() if path.suffix != ".dist-info"}
    assert kept == {"bin" if os.name == "posix" else "Scripts", "sparsezc"}
    # the entry points of the command and for NetworkX
    entries = """
entries = {entry.group: entry for entry in distribution("sparsezc").entry_points}
assert sorted(entries) == ["console_scripts", "networkx.backend_info", "networkx.backends"]
assert all(entry.name == "sparsezc" and entry.load() for entry in entries.values())
"""
    done = python(IMPORTS.format(where=str(target)) + entries, cwd=tmp_path, path=target)
    assert done.returncode == 0, done.stderr


def test_twine_accepts_wheel_and_sdist(built: Built) -> None:
    """Their metadata is complete, and README.md renders as the description."""
    command = [sys.executable, "-m", "twine", "--no-color", "check", "--strict", str(built.wheel), str(built.sdist)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.count("PASSED")) == (0, 2), done.stdout + done.stderr


def declared() -> set[str]:
    """Return the distributions that pyproject.toml requires without an extra, with those that they require."""
    found: set[str] = set()
    waiting = list(project()["project"]["dependencies"])  # type: ignore[index]
    while waiting:
        needed = Requirement(waiting.pop())
        if needed.name not in found and (needed.marker is None or needed.marker.evaluate({"extra": ""})):
            found.add(needed.name)
            waiting += distribution(needed.name).requires or []
    return found


PROGRAM = """
import sparsezc as gb
from sparsezc import algorithms, applications, cli, io
for package in (gb, algorithms, applications, io):
    for name in package.__all__:
        getattr(package, name)
assert cli.main(["convert", "kron:6", "graph.mtx"]) == 0
assert cli.main(["bfs", "graph.mtx"]) == 0
assert cli.main(["pagerank", "kron:6", "--out", "ranks.csv", "--quiet"]) == 0
"""


def test_the_declared_dependencies_are_enough(built: Built, tmp_path: Path) -> None:
    """The wheel runs in a folder with links to the declared distributions' files only, without site-packages."""
    alone = tmp_path / "alone"
    alone.mkdir()
    for name in declared():
        files = distribution(name).files or []
        for top in {path.parts[0] for path in files if path.parts[0] not in ("..", "__pycache__")}:
            (alone / top).symlink_to(Path(str(distribution(name).locate_file(top))))
    with ZipFile(built.wheel) as archive:
        archive.extractall(alone)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"PYTHONPATH": str(alone)}
    assert not (alone / "networkx").exists()
    command = [sys.executable, "-S", "-c", PROGRAM]  # -S: neither site-packages nor editable installs
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "ranks.csv").exists()


# The environment may have an editable install of this very checkout, which must not replace the one under test.
EDITABLE = """
import site, sys
for name in [name for name in sys.modules if name.startswith("__editable__")]:
    del sys.modules[name]
sys.meta_path[:] = [finder for finder in sys.meta_path if "__editable__" not in getattr(finder, "__module__", "")]
sys.path.insert(0, {site!r})
site.addsitedir({site!r})
"""


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
@pytest.mark.filterwarnings("ignore:Editable installation")  # setuptools warns of editable installs
def test_an_editable_install_works(links: bool, tmp_path: Path) -> None:
    """It imports the tree's own files, even from a clone without links."""
    tree = copied(tmp_path / "tree", links)
    with ZipFile(build(tree, "editable", tmp_path / "out")) as archive:
        archive.extractall(tmp_path / "site")
    code = EDITABLE.format(site=str(tmp_path / "site")) + IMPORTS.format(where=str(tree))
    done = python(code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_bare_checkout_works(built: Built) -> None:
    done = python("import sparsezc.ops, sparsezc.semirings; print(sparsezc.ops.__file__)", cwd=built.tree)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()) == built.tree / "sparsezc" / "ops" / "__init__.py"


@pytest.mark.parametrize("name", LINKED)
def test_the_top_level_folders_refuse_other_names(name: str) -> None:
    """In a checkout `import ops` finds our folder, whose error names the module to import instead."""
    done = python(f"import {name}", cwd=ROOT)
    assert done.returncode == 1
    assert "ImportError" in done.stderr
    assert f"sparsezc.{name}" in done.stderr


def test_the_version_is_said_once() -> None:
    done = python("import sparsezc; print(sparsezc.__version__)", cwd=ROOT)
    assert done.stdout.strip() == project()["project"]["version"], done.stderr  # type: ignore[index]


def test_what_deploys_says_what_pyproject_says() -> None:
    """The conda recipe has pyproject's bounds, the constraints meet them, and the citation has the version."""
    deploy = ROOT / "docs" / "deploy"
    metadata: dict[str, Any] = project()["project"]  # type: ignore[assignment]
    recipe = yaml.safe_load((deploy / "recipe.yaml").read_text())
    bounds = [str(Requirement(each)).replace(">=", " >=") for each in metadata["dependencies"]]
    assert recipe["requirements"]["run"] == [f"python {metadata['requires-python']}", *bounds]
    citation = yaml.safe_load((deploy / "CITATION.cff").read_text())
    assert {recipe["context"]["version"], citation["version"]} == {metadata["version"]}
    sources = {each.removesuffix("/**") for each in recipe["source"]["filter"]}
    for image in deploy.glob("*.Dockerfile"):
        copied = re.findall(r"^COPY (?!docs/|--from)(.*) \S+$", image.read_text(), re.MULTILINE)
        assert {name for line in copied for name in line.split()} == sources, image.name
    wanted = {"constraints.txt": ("hdf5", "arrow"), "constraints-cuda13.txt": ("cuda13",)}
    for file, extras in wanted.items():
        text = (deploy / file).read_text()
        pinned = re.findall(r"^([\w-]+)==([\w.]+)", text, re.MULTILINE)
        needed = [each for extra in extras for each in metadata["optional-dependencies"][extra]]
        needed += metadata["dependencies"] if file == "constraints.txt" else []
        for each in map(Requirement, needed):
            found = [number for name, number in pinned if name == each.name]
            assert found, f"{file}: {each}"
            assert all(number in each.specifier for number in found), f"{file}: {each}, found {found}"
        # each pin is followed by hashes
        assert len(re.findall(r"^[\w-]+==[^\n]*\\\n    --hash=sha256:[0-9a-f]{64}", text, re.MULTILINE)) == len(pinned)
