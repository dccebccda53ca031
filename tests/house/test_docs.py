"""The documentation is true: examples in docstrings, Python blocks in README.md and docs/, links between pages."""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import sparsezc
from docs.gallery import pictures
from docs.learn import notebooks
from sparsezc import cli
from tests.house import built_site, contrast

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
CONTRACTS = {ROOT / "docs" / "architecture.md"}  # its blocks are signatures, not programs
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=indent)```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]+\]\(([^)#\s]+)(?:#[^)]*)?\)")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def files(folder: Path) -> list[Path]:
    """Return the Python files of the package, through the links."""
    walk = os.walk(folder, followlinks=True)
    return [Path(at, name) for at, _, names in walk for name in names if name.endswith(".py")]


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def blocks(page: Path, language: str) -> list[str]:
    return [match["text"] for match in FENCE.finditer(page.read_text()) if match["language"] == language]


#: Modules whose examples need an optional package.
PACKAGES = {
    "sparsezc.io.interop.arrow": "pyarrow",
    "sparsezc.io.interop.awkward": "awkward",
    "sparsezc.io.interop.polars": "polars",
    "sparsezc.io.formats.binsparse": "h5py",
    "sparsezc.io.hdf5.aligned_file": "h5py",
    "sparsezc.io.interop.pandas": "pandas",
    "sparsezc.io.formats.parquet": "pyarrow",
    "sparsezc.io.interop.torch": "torch",
    "sparsezc.loader.interfaces": "torch_geometric",
    "sparsezc.loader.neighbor_loader": "torch_geometric",
}
PAGES_NEED = {"formats.md": "h5py", "loader.md": "torch_geometric"}
DOCUMENTED = (
    "algorithms", "applications", "core", "distributed", "dtypes", "exceptions", "io", "orders", "ss", "stats", "viz",
)  # fmt: skip
#: The long options of all commands.
PARSER = cli.parser()
COMMANDS = dict(PARSER._subparsers._group_actions[0].choices)
COMMANDS |= {f"run {name}": each for name, each in COMMANDS["run"]._subparsers._group_actions[0].choices.items()}
OPTIONS = {option for command in COMMANDS.values() for each in command._actions for option in each.option_strings}
OPTIONS = {option for option in OPTIONS | {"--version"} if option.startswith("--")}
#: Folders of the checkout, through the links, in which a file named on a page may be.
FOLDERS = [ROOT, *(Path(at) for top in ("sparsezc", "tests", "benchmarks", "docs") for at, *_ in os.walk(ROOT / top))]
FOLDERS += [Path(at) for top in ("ops", "semirings") for at, *_ in os.walk(ROOT / top)]
MODULES = sorted(module_name(path) for path in files(ROOT / "sparsezc") if path.name != "__main__.py")
#: test_gallery.py runs the gallery's programs and checks their findings, test_learn.py runs the tutorials.
ELSEWHERE = {ROOT / "docs" / "gallery", ROOT / "docs" / "learn"}
RUNNABLE = [p for p in PAGES if p not in CONTRACTS and not ELSEWHERE & set(p.parents)]
RUNNABLE = [p for p in RUNNABLE if any(s.language == "python" or s.said for s in notebooks.steps(p.read_text()))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example of a public docstring prints the output shown; the files that it writes are temporary."""
    if name in PACKAGES:
        pytest.importorskip(PACKAGES[name], reason=f"examples of {name} need {PACKAGES[name]}")
    module = importlib.import_module(name)
    monkeypatch.chdir(tmp_path)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for case in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        runner.run(case, out=report.append)
    assert not runner.summarize(verbose=False).failed, "".join(report)


def test_pages_print_what_they_say() -> None:
    """All programs of a page run in order; a fragment that cannot run is a ```py block."""
    pages = [str(page) for page in RUNNABLE if importlib.util.find_spec(PAGES_NEED.get(page.name, "sparsezc"))]
    done = subprocess.run(
        [sys.executable, "-m", "tests.house.programs", *pages],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_an_example_has_its_output(page: Path) -> None:
    """A program's output is shown below it; a program without output asserts or defines something."""
    text = page.read_text()
    shown = [step for step in notebooks.steps(text) if step.language == "python"]
    assert len(shown) == len(blocks(page, "python"))
    assert [step.text for step in shown if "print(" in step.text and not step.said] == []
    silent = [step.text for step in shown if not step.said]
    assert [program for program in silent if not re.search(r"^\s*(assert|def) ", program, re.MULTILINE)] == []
    assert [fragment for fragment in blocks(page, "py") if "print(" in fragment] == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_commands_exist(page: Path) -> None:
    """Shell blocks use commands and options that exist."""
    for block in blocks(page, "sh"):
        for line in re.findall(r"(?:^|&& |\| )sparsezc (.*)", block, re.MULTILINE):
            words = shlex.split(line, comments=True)
            ends = [k for k, word in enumerate(words) if word in ("|", "&&", ">", "<")]
            with contextlib.suppress(SystemExit) if words[0] == "completion" else contextlib.nullcontext():
                PARSER.parse_args(words[: ends[0]] if ends else words)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    """A relative link names a file of the checkout, or a gallery picture, which is drawn when the pages are built."""
    text = re.sub(r"`[^`\n]*`", "", page.read_text())  # `C[i, j](m)` is no link
    local = [target for target in LINK.findall(text) if "://" not in target]
    drawn = {pictures.FOLDER / f"{name}.svg" for name in pictures.NAMES}
    paths = [Path(os.path.normpath(page.parent / target)) for target in local]
    assert [path for path in paths if path not in drawn and not path.exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_names_on_pages_exist(page: Path) -> None:
    """Public names (`gb.io.read`), source files (`spmv.py`) and command-line options (`--out`) on pages exist."""
    ticks = re.findall(r"`([^`\n]+)`", page.read_text())
    absent = []
    for tick in ticks:
        for name in re.findall(r"\bgb((?:\.[A-Za-z_]\w*)+)", tick):
            found: object = sparsezc
            for part in name[1:].split("."):
                found = getattr(found, part, absent)
            absent += [tick] * (found is absent)
        for name in re.findall(r"[\w./-]+\.(?:py|cu|cuh|md|json|toml)\b", tick):
            absent += [tick] * (not any((folder / name).exists() for folder in FOLDERS))
        of_benchmarks = page.parent.name == "performance"  # these pages name the benchmarks' options
        if tick.startswith(("--", "sparsezc ")) and not of_benchmarks:
            absent += [tick] * (not set(re.findall(r"(?<![\w-])--[A-Za-z][\w-]*", tick)) <= OPTIONS)
    assert absent == []


def test_every_algorithm_and_every_option_has_its_page() -> None:
    listed = (ROOT / "docs" / "algorithms.md").read_text()
    assert [name for name in sparsezc.algorithms.__all__ if f"`{name}(" not in listed] == []
    listed = (ROOT / "docs" / "cli.md").read_text()
    assert [option for option in OPTIONS - {"--help", "--version"} if option not in listed] == []


def undocumented(places: set[str]) -> list[str]:
    """Return the public classes and functions, and methods of the three objects, that the pages do not document."""
    names = {place.rpartition(".")[2] for place in places}
    modules = [sparsezc, *(getattr(sparsezc, name) for name in DOCUMENTED), sparsezc.ops]
    absent = [
        each for module in modules for each in module.__all__ if callable(getattr(module, each)) and each not in names
    ]
    for kind in (sparsezc.Matrix, sparsezc.Vector, sparsezc.Scalar):
        own = [each for each in dir(kind) if not each.startswith("_")]
        absent += [f"{kind.__name__}.{each}" for each in own if f"sparsezc.{kind.__name__}.{each}" not in places]
    return absent


#: Without lists of methods beside pages: Sphinx would copy them into every page and drop them again, which takes long.
LIGHTER = ["-D", "toc_object_entries=0"]


def test_the_pages_build_without_a_warning(tmp_path: Path) -> None:
    """Docstrings that are no reStructuredText, images without texts and dead links fail, as docs/conf.py has it."""
    for package in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(package, reason=f"the pages are built by {package}")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", *LIGHTER, str(ROOT / "docs"), str(tmp_path)],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    for page in (ROOT / "docs").rglob("*.md"):
        assert (tmp_path / page.relative_to(ROOT / "docs").with_suffix(".html")).exists()
    assert built_site.faults(tmp_path) == []
    assert contrast.faults(tmp_path, sorted((ROOT / "docs" / "explain").glob("*.svg"))) == []
    assert undocumented(built_site.documented(tmp_path)) == []
    assert len(list((tmp_path / "_downloads").rglob("*.ipynb"))) == len(notebooks.NAMES)
    assert built_site.size(tmp_path / "index.html") < built_site.MOST
    if importlib.util.find_spec("matplotlib"):
        assert len(list((tmp_path / "_images").glob("*.svg"))) == len(pictures.NAMES)


def test_the_contrast_is_that_of_wcag() -> None:
    """The judge agrees with published ratios: #767676 is the faintest grey on white that passes."""
    white = contrast.parsed("#fff", {})
    assert contrast.ratio(contrast.parsed("#000000", {}), white) == 21
    assert round(contrast.ratio(contrast.parsed("var(--color-grey)", {"grey": "#767676"}), white), 2) == 4.54
    assert contrast.ratio(contrast.over(contrast.parsed("rgba(0, 0, 0, 0.5)", {}), white), white) < contrast.LEAST
    faint = "body{--color-background-primary:#fff;--color-background-secondary:#fff}a{color:#777}b{color:#767676}"
    assert len(list(contrast.of_theme(faint, "light"))) == 1


def test_readme_has_the_two_lines() -> None:
    """Line 1 installs and runs the main job; line 2, which CI runs, installs the test packages and runs the tests."""
    text = (ROOT / "README.md").read_text()
    first, second = [block.strip() for block in blocks(ROOT / "README.md", "sh")[:2]]
    assert text.count("<!-- .ci/run runs the next line -->\n```sh\n" + second + "\n```") == 1
    assert " pip install --no-compile . " in first  # compiling all files of all packages took 6 of 23 s
    for line in (first, second):
        assert "\n" not in line
        assert line.startswith("python3 -m venv .venv && . .venv/bin/activate && pip install ")
    assert first.endswith("sparsezc bfs kron:16")
    assert second.endswith('pip install -e ".[test]" && python -m pytest -n 2 --dist worksteal')


def test_ci_calls_the_readmes_line() -> None:
    """The script reads the line from README.md and repeats no part of it."""
    script = (ROOT / ".ci" / "run").read_text()
    assert "<!-- \\.ci\\/run runs the next line -->" in script
    assert "pip install" not in script
