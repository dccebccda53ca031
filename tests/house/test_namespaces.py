"""The operators' namespaces import as modules of the package, as python-graphblas's do."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import importlib, sys
before = list(sys.meta_path)
from sparsezc.semiring import min_plus
from sparsezc.binary.numpy import add
import sparsezc.unary.numpy as npunary
import sparsezc.agg
import sparsezc as gb
from sparsezc import monoid, op, select
assert min_plus is gb.semiring.min_plus and add is gb.binary.plus and npunary is gb.unary.numpy
assert sparsezc.agg is gb.agg and monoid.plus is gb.monoid.plus
for name in ("agg", "binary", "indexunary", "monoid", "op", "select", "semiring", "unary"):
    assert importlib.import_module(f"sparsezc.{name}") is getattr(gb, name), name
assert sys.meta_path == before
assert gb.binary.__name__ == "sparsezc.semirings.binary"
try:
    import sparsezc.nothing
except ModuleNotFoundError:
    pass
else:
    raise AssertionError
"""


def test_imports() -> None:
    """The program runs in a fresh process, where nothing was imported before."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr


def test_io_shows_its_public_functions_only() -> None:
    import sparsezc as gb

    names = dir(gb.io)
    assert {"read", "write", "convert"} <= set(names)
    assert [name for name in names if name.startswith("_") or not callable(getattr(gb.io, name))] == []
    assert set(names) == set(gb.io.__all__)
