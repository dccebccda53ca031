"""Type checkers infer the result of each operation: programs.py passes mypy and pyright, and runs."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sparsezc.expr import infix
from tests.typing import programs

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = "tests/typing/programs.py"

#: Lines with a wrong type each, which a checker finds only if it knows the result of the operation.
WRONG = """
import sparsezc as gb

A, v = gb.Matrix(int, 2, 2), gb.Vector(int, 2)
a: gb.Matrix = A.mxv(v).new()
b: gb.Vector = (A @ A).new()
c: gb.Vector = v.reduce().new()
d: str = v.reduce().new().value
e: gb.Matrix = A[0, :].new()
f: gb.Matrix = gb.algorithms.pagerank(A)
A.mxv(A)
A @ 1
g: list[int] = A[0, 1].value
v[0].value.upper()
v.nvalues
"""
#: Line numbers of the wrong lines in a file that begins with a blank line.
WRONG_LINES = range(5, 16)


def test_the_programs_run() -> None:
    programs.main()


def test_the_programs_pass_mypy_and_it_finds_what_is_wrong(tmp_path: Path) -> None:
    """One run of mypy, whose time is mostly the package's, accepts the programs and finds every wrong line."""
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", PROGRAMS, str(wrong)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    found = [line.partition(": error:")[0] for line in done.stdout.splitlines() if ": error:" in line]
    places = [Path(place).name for place in found]  # mypy's cache may name an earlier run's folder
    assert places == [f"wrong.py:{line}" for line in WRONG_LINES], done.stdout + done.stderr
    assert not any(line.startswith(PROGRAMS) for line in done.stdout.splitlines()), done.stdout
    assert "type: ignore" not in (ROOT / PROGRAMS).read_text()


def test_the_programs_pass_pyright_and_it_finds_what_is_wrong(tmp_path: Path) -> None:
    here = Path(sys.executable).parent
    pyright = shutil.which("pyright", path=here) or shutil.which("basedpyright", path=here)
    if pyright is None:
        pytest.skip("pyright is not installed")
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    done = subprocess.run(
        [pyright, "--outputjson", "--warnings", "--pythonpath", sys.executable, PROGRAMS, str(wrong)],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    found = [(Path(x["file"]), x["range"]["start"]["line"] + 1) for x in json.loads(done.stdout)["generalDiagnostics"]]
    assert set(found) == {(wrong, line) for line in WRONG_LINES}, done.stdout


def test_the_stub_of_the_signs_has_their_names() -> None:
    """infix.pyi, which checkers read in place of infix.py, has the same methods and module-level names."""

    def names(body: list[ast.stmt]) -> set[str]:
        named = [x.name for x in body if isinstance(x, ast.FunctionDef | ast.ClassDef)]
        noted = [x.target.id for x in body if isinstance(x, ast.AnnAssign) and isinstance(x.target, ast.Name)]
        given = [t.id for x in body if isinstance(x, ast.Assign) for t in x.targets if isinstance(t, ast.Name)]
        return {*named, *noted, *given}

    stub = ast.parse((ROOT / "sparsezc/expr/infix.pyi").read_text())
    signs = next(x for x in stub.body if isinstance(x, ast.ClassDef) and x.name == "Infix")
    there = {name for name in vars(infix.Infix) if name not in {"__doc__", "__module__", "__slots__"}}
    made_by_python = {"__orig_bases__", "__parameters__", "__static_attributes__", "__firstlineno__"}
    assert names(signs.body) == there - made_by_python
    assert set(infix.__all__) <= names(stub.body)
    assert all(hasattr(infix, name) for name in infix.__all__)


def test_what_an_expression_has_of_its_result_is_there() -> None:
    """The names that the stub's StandIn declares are methods of Matrix, Vector or Scalar."""
    import sparsezc as gb

    stub = ast.parse((ROOT / "sparsezc/expr/infix.pyi").read_text())
    body = next(x for x in stub.body if isinstance(x, ast.ClassDef) and x.name == "StandIn").body
    for method in (x for x in body if isinstance(x, ast.FunctionDef)):
        assert any(hasattr(kind, method.name) for kind in (gb.Matrix, gb.Vector, gb.Scalar)), method.name
