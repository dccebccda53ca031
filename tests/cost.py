"""Time, cases, kernels and lines of a run of the tests: ``python -m tests.cost [--lines] [--out FILE] [ARG ...]``.

It runs pytest with this file as a plugin; ARG is passed to pytest (a folder, ``-k NAME``). A table by folders has the
processor time of the tests' processes and of their children, user and system; the number of cases that passed; and the
number of distinct kernels that the emulator compiled or found. ``--lines`` counts the package's statements that ran in
these processes, by the package `coverage`, folder by folder: it does not see loops that numba compiled. Kernels of an
earlier run are not compiled again: remove ``.pytest_cache`` before a comparison. On a busy machine processor time
varies by a tenth.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
_FOLDER = "SPARSEZC_COST_FOLDER"
#: The settings of coverage: it also counts in processes that tests start, workers and ranks, which end by os._exit.
_COUNTING = """[run]
source_pkgs = sparsezc
parallel = true
patch = subprocess, _exit
disable_warnings = module-not-measured, no-data-collected
data_file = {folder}/.coverage
"""


def _seconds() -> float:
    """Return the processor time of this process and of the children that have ended."""
    return sum(os.times()[:4])


class Plugin:
    """A plugin that writes the time, cases and kernels of each pytest process to a file of its own."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.cases: Counter[str] = Counter()
        self.kernels: set[str] = set()

    def pytest_collection_finish(self) -> None:
        from tests.emulator.compiler import Compiler

        asked = Compiler.symbol

        def symbol(compiler: Compiler, text: str, name: str) -> str:
            found = asked(compiler, text, name)
            self.kernels.add(found)
            return found

        Compiler.symbol = symbol  # type: ignore[method-assign]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        before = _seconds()
        try:
            return (yield)
        finally:
            self.seconds["/".join(item.nodeid.split("::")[0].split("/")[:2])] += _seconds() - before

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed and not hasattr(report, "node"):  # a worker's has a node
            self.cases["/".join(report.nodeid.split("::")[0].split("/")[:2])] += 1

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        controls = config.pluginmanager.hasplugin("dsession")  # the workers, its children, count themselves
        whole = sum(os.times()[:2]) if controls else _seconds()
        self.seconds["collecting, reports"] = whole - sum(self.seconds.values())
        found = {"seconds": self.seconds, "cases": self.cases, "kernels": sorted(self.kernels)}
        Path(os.environ[_FOLDER], f"{os.getpid()}.json").write_text(json.dumps(found))


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Plugin(), "cost of tests")


def table(folder: Path) -> dict[str, Any]:
    """Return the sums over the files that all processes wrote."""
    seconds: Counter[str] = Counter()
    cases: Counter[str] = Counter()
    kernels: set[str] = set()
    for path in folder.glob("*.json"):
        found = json.loads(path.read_text())
        seconds.update(found["seconds"])
        cases.update(found["cases"])
        kernels.update(found["kernels"])
    rows = {name: [round(seconds[name], 1), cases[name]] for name in sorted(seconds, key=lambda name: -seconds[name])}
    total = {"seconds": round(sum(seconds.values()), 1), "cases": sum(cases.values()), "kernels": len(kernels)}
    return {"total": total, "folders": rows}


def _lines_of(folder: Path) -> dict[str, list[int]]:
    """Return the numbers of statements that ran and of all statements, by folder of the package."""
    import coverage

    whole = coverage.Coverage(str(folder / ".coverage"))
    whole.combine([str(folder)])
    folders: dict[str, list[int]] = {}
    for file in whole.get_data().measured_files():
        if not (path := Path(file)).is_relative_to(ROOT) or not path.exists():  # a copy that a test installed
            continue
        path = path.relative_to(ROOT)
        _, statements, _, missing, _ = whole.analysis2(file)
        folder = folders.setdefault("/".join(path.parts[:3] if len(path.parts) > 3 else path.parts[:-1]), [0, 0])
        folder[0] += len(statements) - len(missing)
        folder[1] += len(statements)
    return folders


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cost", description="What a run of the tests takes.")
    parser.add_argument("--lines", action="store_true", help="count the lines that ran, by the package coverage")
    parser.add_argument("--out", type=Path, help="also write the table to a file, as JSON")
    options, given = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as name:
        command = [sys.executable]
        if options.lines:
            Path(name, "counting").write_text(_COUNTING.format(folder=name))
            command += ["-m", "coverage", "run", "--rcfile", f"{name}/counting"]
        command += ["-m", "pytest", "-n", "2", "--dist", "worksteal", "-p", "tests.cost", *given]
        ended = subprocess.run(command, cwd=ROOT, env=os.environ | {_FOLDER: name}, check=False).returncode
        found = table(Path(name))
        if options.lines:
            folders = found["folders"] = _lines_of(Path(name))
            found["total"]["lines"], found["total"]["statements"] = map(sum, zip(*folders.values(), strict=True))
    for folder, (took, passed) in found["folders"].items():
        print(f"{folder:24} {took:9.1f} s {passed:7} cases")
    for folder, (ran, statements) in sorted(found.get("folders", {}).items()):
        print(f"{folder:36} {ran:6} of {statements:6} statements")
    print("  ".join(f"{what}: {number}" for what, number in found["total"].items()))
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n")
    return ended


if __name__ == "__main__":
    sys.exit(main())
