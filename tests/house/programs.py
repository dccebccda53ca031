"""Programs on pages print the text that the page shows below them.

``python -m tests.house.programs PAGE...`` runs the programs of pages in one process, each page in an empty folder and
with variables of its own, and prints the differences.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import linecache
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.learn.notebooks import Step, steps

ROOT = Path(__file__).resolve().parents[2]
_TIME = re.compile(r"\b\d+(?:\.\d+)? (?:ms|us|s)\b(?: \([^)]* edges/s\))?")
_SAME = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def printed(step: Step, names: dict[str, Any], name: str) -> str:
    """Run a step in the current folder and return its output; Python steps share the variables `names`."""
    if step.language == "sh":
        script = f'sparsezc() {{ "{sys.executable}" -m sparsezc "$@"; }}\n{step.text}'
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        settings = {**os.environ, "PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": "", "COLUMNS": "100"}
        done = subprocess.run(
            ["bash", "-euc", script], env=settings, capture_output=True, text=True, timeout=100, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout
    program = "\n" * step.line + step.text
    linecache.cache[name] = (len(program), None, program.splitlines(keepends=True), name)  # user functions read it
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(program, name, "exec"), names)
    return out.getvalue()


def same(said: str, got: str) -> bool:
    """Return whether two outputs are equal but for times; "..." in the first matches any text."""
    said, got = (_TIME.sub("# s", text) for text in (said, got))
    return doctest.OutputChecker().check_output(said, got, _SAME)


def differing(page: Path) -> Iterator[str]:
    """Run a page's Python programs, and shell programs with an output below; yield outputs that differ."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for step in steps(page.read_text()):
        if step.language == "python" or step.said:
            got = printed(step, names, page.name)
            if not same(step.said, got):
                yield f"{page}:{step.line + 1} prints:\n{got}"


if __name__ == "__main__":
    import sparsezc

    for each in map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            print("".join(differing(each)), end="")
        sparsezc.config.reset()
