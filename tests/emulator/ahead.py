"""Kernels that a run of all tests asks for, in groups that are compiled together: ahead.json.xz.

A kernel compiled alone takes 30 ms more of processor time, and most tests ask for one after the other. A group has
kernels that such a run asked for in succession: for each its file, name and prelude. A kernel whose prelude has changed
since is in no group, and is compiled alone; one that g++ refuses is left out. So the file need not be up to date, but
renew it after a change of many preludes, which otherwise costs minutes in a run of all tests::

    python -m pytest -n 2 --dist worksteal --cache-clear && python -m tests.emulator.ahead

``python -m tests.emulator.ahead --compile`` compiles all groups before a run.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import sys
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from sparsezc.engines.gpu.runtime import codegen

FILE = Path(__file__).with_suffix(".json.xz")
GROUP = 48  # kernels in a group; if one is missing, all of them are compiled
ASKED = "asked.txt"  # a file in a compiler's cache: the symbols of the kernels that were asked for, in order
_COUNTING = "#define SZC_COUNT\n"
_OPEN, _CLOSE = "\nnamespace szc {\n", "\n}\n"  # the text before and behind a prelude

_IN_USE = "SPARSEZC_AHEAD"  # an environment variable, as ranks and benchmarks that tests start ask for kernels, too
in_use = _IN_USE in os.environ  # in a run of all tests only: a shorter one would compile kernels that it does not need


def use() -> None:
    """Compile in groups in this process and in its children."""
    global in_use
    os.environ[_IN_USE] = "1"
    in_use = True


class Case(NamedTuple):
    """The parts of a kernel's text, as `codegen.kernel` puts them together."""

    counting: bool
    file: str
    name: str
    prelude: str

    def text(self) -> str:
        named = f"#define KERNEL {self.name}\n" if "KERNEL(" in codegen.file_text(self.file) else ""
        return _COUNTING * self.counting + named + codegen.source(self.file, self.prelude)


@cache
def _common() -> tuple[str, ...]:
    """Return the text before a prelude, with complex numbers and without."""
    return tuple(
        codegen.source("presence_words.cu", types).partition(_OPEN + types + _CLOSE)[0] for types in ("c64 c128", "")
    )


@cache
def _ends() -> dict[str, str]:
    """Return each kernel file by its text behind a prelude, as the closing brace may also occur inside a prelude."""
    ends: dict[str, str] = {}
    for name, _ in sorted(codegen.files().items(), key=itemgetter(1)):
        if name.endswith(".cu"):
            for types in ("", "c64 c128"):
                ends.setdefault(codegen.source(name, types).partition(_OPEN + types + _CLOSE)[2], name)
    return ends


def _case(text: str, name: str) -> Case | None:
    """Return the parts of a kernel's text, or None if the package did not make it."""
    counting = text.startswith(_COUNTING)
    head = len(_COUNTING) * counting
    head += len(f"#define KERNEL {name}\n") * text.startswith(f"#define KERNEL {name}\n", head)
    for common in _common():
        if text.startswith(common + _OPEN, head):
            rest = text[head + len(common + _OPEN) :]
            if end := max((end for end in _ends() if rest.endswith(_CLOSE + end)), key=len, default=""):
                return Case(counting, _ends()[end], name, rest[: -len(_CLOSE + end)])
    return None


@cache
def _groups() -> dict[Case, list[Case]]:
    found: dict[Case, list[Case]] = {}
    for group in json.loads(lzma.decompress(FILE.read_bytes())):
        cases = [case for case in map(Case._make, group) if case.file in codegen.files()]  # not of a deleted file
        found |= dict.fromkeys(cases, cases)
    return found


def together(text: str, name: str) -> list[tuple[str, str]]:
    """Return text and name of each kernel to compile together with this one, itself first."""
    case = _case(text, name) if in_use else None
    group = _groups().get(case, []) if case else []
    return list(dict.fromkeys([(text, name), *((each.text(), each.name) for each in group)]))


def write(cache: Path) -> int:
    """Write to FILE the kernels that a compiler with this cache was asked for, in order; return their number."""
    names: dict[str, str] = {}
    for unit in cache.glob("*.cpp"):
        names |= dict(re.findall(r"^SZC_EMU_EXPORT\((\w+), (\w+)\)$", unit.read_text(), re.M))
    asked = dict.fromkeys((cache / ASKED).read_text().split())
    there = [each for each in asked if (cache / f"{each}.cu").exists()]  # skips lines that two processes mixed
    found = (_case((cache / f"{symbol}.cu").read_text(), names.get(symbol, "")) for symbol in there)
    cases = list(filter(None, found))
    groups = [cases[i : i + GROUP] for i in range(0, len(cases), GROUP)]
    FILE.write_bytes(lzma.compress(json.dumps(groups).encode(), preset=9))
    return len(cases)


def compile_groups(cache: Path) -> None:
    """Compile all groups into a cache, one after the other, for later runs of the tests."""
    from tests.emulator.compiler import Compiler

    compiler = Compiler(cache)
    for group in {id(cases): cases for cases in _groups().values()}.values():
        texts = [(case.text(), case.name) for case in group]
        compiler._compile({compiler._symbol(*each): each for each in texts}, asked=())


if __name__ == "__main__":
    from tests.emulator.compiler import default_cache

    if sys.argv[1:] == ["--compile"]:
        compile_groups(default_cache())
    else:
        print(f"{write(default_cache()):,} kernels")
