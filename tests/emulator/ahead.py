"""Kernels that a run of all tests asks for, in groups that are compiled together: ahead.json.xz.

A kernel takes 30 ms of processor time more where it is compiled alone, and most tests ask for one after the other. The
groups are those of a run: for each kernel its file, name and prelude. A kernel whose prelude has changed since is in no
group, and is compiled alone; one that g++ takes no more is left out. So the file need not be right, but is to be
renewed after a change of many preludes, which costs a run of all tests minutes::

    python -m pytest -n 2 --dist worksteal --cache-clear && python -m tests.emulator.ahead

``python -m tests.emulator.ahead --compile`` compiles them before a run, while a processor has nothing else to do.
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
GROUP = 48  # kernels; a miss of one compiles all of them
ASKED = "asked.txt"  # in a compiler's cache: names of the kernels that were asked for, in their order
_COUNTING = "#define SZC_COUNT\n"
_OPEN, _CLOSE = "\nnamespace szc {\n", "\n}\n"  # around a prelude

_IN_USE = "SPARSEZC_AHEAD"  # in the environment, as ranks and benchmarks that tests start ask for kernels, too
in_use = _IN_USE in os.environ  # in a run of all tests only: one that asks for few kernels would compile others


def use() -> None:
    """Compile in groups in this process, and in those that it starts."""
    global in_use
    os.environ[_IN_USE] = "1"
    in_use = True


class Case(NamedTuple):
    """The parts of a kernel's text, as `codegen.kernel` has them."""

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
    """Return the file of each text that stands after a prelude: a prelude itself may hold the brace that closes it."""
    ends: dict[str, str] = {}
    for name, _ in sorted(codegen.files().items(), key=itemgetter(1)):
        if name.endswith(".cu"):
            for types in ("", "c64 c128"):
                ends.setdefault(codegen.source(name, types).partition(_OPEN + types + _CLOSE)[2], name)
    return ends


def _case(text: str, name: str) -> Case | None:
    """Return the parts of a kernel's text, or None of one that the package did not make."""
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
        cases = [case for case in map(Case._make, group) if case.file in codegen.files()]  # others are gone
        found |= dict.fromkeys(cases, cases)
    return found


def together(text: str, name: str) -> list[tuple[str, str]]:
    """Return texts and names of the kernels to compile with one, this one too."""
    case = _case(text, name) if in_use else None
    group = _groups().get(case, []) if case else []
    return list(dict.fromkeys([(text, name), *((each.text(), each.name) for each in group)]))


def write(cache: Path) -> int:
    """Write down the kernels that were asked of a compiler with this cache, in their order; return how many."""
    names: dict[str, str] = {}
    for unit in cache.glob("*.cpp"):
        names |= dict(re.findall(r"^SZC_EMU_EXPORT\((\w+), (\w+)\)$", unit.read_text(), re.M))
    asked = dict.fromkeys((cache / ASKED).read_text().split())
    there = [each for each in asked if (cache / f"{each}.cu").exists()]  # no lines that two wrote at once
    found = (_case((cache / f"{symbol}.cu").read_text(), names.get(symbol, "")) for symbol in there)
    cases = list(filter(None, found))
    groups = [cases[i : i + GROUP] for i in range(0, len(cases), GROUP)]
    FILE.write_bytes(lzma.compress(json.dumps(groups).encode(), preset=9))
    return len(cases)


def compile_groups(cache: Path) -> None:
    """Compile all groups into a cache, one after the other; a run of the tests takes those that are there."""
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
