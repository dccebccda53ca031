"""Kernel texts to shared libraries: g++, a precompiled header, many kernels in one file, and a cache on disk.

A kernel text is compiled unchanged: its includes are inlined (each file once), the whole is wrapped in a namespace of
its own, and one exported symbol describes the kernel. So one translation unit holds many kernels of the same name, and
compiler and linker start once for all: a large kernel then takes 80 ms of one core and a small one 30, and 30 ms more
where it is compiled alone.
-Og takes half as long as -O1, and its code is as good here.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Container
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import ahead

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
_KERNELS = ROOT / "sparsezc" / "engines" / "gpu" / "kernels"
INCLUDE_FOLDERS = (*(folder for folder in sorted(_KERNELS.iterdir()) if folder.is_dir()), ROOT / "semirings")
_SMALLEST = 8  # kernels in one translation unit, if there are so many: they repay another compiler run
BATCH = 48  # kernels in one translation unit: a larger one saves little

# -fno-reorder-blocks keeps code in source order, on which lockstep relies; with trace-pc each block calls the runtime.
COMMON_FLAGS = ["-std=c++17", "-fPIC", "-w", "-g0", "-U_FORTIFY_SOURCE"]
KERNEL_FLAGS = [
    *COMMON_FLAGS,
    "-Og",
    "-fno-exceptions",  # no exception passes through a kernel, so it needs no tables
    "-fno-asynchronous-unwind-tables",
    "-fno-reorder-blocks",
    # These passes over machine code take 7% of g++'s time, and code that is slower without them runs only briefly.
    "-fno-dce",
    "-fno-forward-propagate",
    "-fno-cprop-registers",
    "-fno-if-conversion",
    "-fno-if-conversion2",
    "-fno-split-wide-types",
    "-fno-compare-elim",
    "-fno-shrink-wrap",
    "-fno-guess-branch-probability",
    # These passes have no option of their own, and take 11% of the remaining time.
    *(f"-fdisable-rtl-{name}" for name in ("ce1", "combine", "cse1", "cse_local", "postreload")),
    "-fsanitize-coverage=trace-pc",
    "-fvisibility=hidden",
    "-fno-gnu-unique",  # else one library's kernel would replace another's
    # g++ guards a static array of complex numbers, as shared memory is here, although it needs no constructor. Lanes
    # are fibres of one OS thread: a fibre that waits for the guard of another would wait for ever.
    "-fno-threadsafe-statics",
    "-fwrapv",  # signed integers wrap, as operators.cuh expects and as they do on a GPU
]
SANITIZERS: dict[str | None, tuple[list[str], list[str]]] = {  # flags of the runtime, flags of the kernels
    None: ([], []),
    "address": (
        ["-DSZC_ADDRESS_SANITIZER"],  # the runtime only announces its fibres: the kernels are checked
        ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer", "-g1"],
    ),
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"[^\n]*', re.MULTILINE)
DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
KERNELS = re.compile(r'extern "C" __global__ void\s+(?:__launch_bounds__\([^)]*\)\s*)?(?!__launch_bounds__)(\w+)\s*\(')
ERROR_IN = re.compile(r"(szc_emu_\w+)\.cu:\d+:\d+: (?:fatal )?error:")
REFUSED = "refused"  # written in place of a library's name
PRAGMA_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b.*", re.MULTILINE)


class EmulatorError(RuntimeError):
    """A kernel does not compile, was launched wrongly, or did something that CUDA leaves undefined."""

    at_fault: frozenset[str] = frozenset()  # kernels in whose texts g++ found an error


def why_unavailable() -> str | None:
    """Return why kernels cannot be emulated here, or None if they can."""
    if not sys.platform.startswith("linux"):
        return "the kernel emulator runs on Linux only"
    if shutil.which("g++") is None:
        return "the kernel emulator needs g++, which is not installed"
    return None


@functools.cache
def compiler_version() -> str:
    return subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()


@functools.cache
def tools() -> tuple[str, ...]:
    """Return the paths of g++'s compiler, assembler and linker, and of the library that its code calls."""
    asked = ("-print-prog-name=cc1plus", "-print-prog-name=as", "-print-prog-name=ld", "-print-libgcc-file-name")
    return tuple(subprocess.run(["g++", x], capture_output=True, text=True, check=True).stdout.strip() for x in asked)


@functools.cache
def machine_text() -> str:
    """Return the text of the emulator itself: part of every cache key."""
    return "".join(path.read_text() for path in sorted(HERE.glob("cuda_emu*"))) + compiler_version()


def default_cache() -> Path:
    """Return pytest's cache folder in the checkout, or a private temporary folder if that cannot be written."""
    if os.access(ROOT, os.W_OK):
        return ROOT / ".pytest_cache" / "d" / "emulator"
    return Path(tempfile.gettempdir()) / f"sparsezc-emulator-{os.getuid()}"


def inline_includes(source: str, folders: tuple[Path, ...] = INCLUDE_FOLDERS) -> str:
    """Replace every ``#include "file"`` by that file, once; ``#line`` makes g++'s messages name the original lines."""
    if "#include" not in source:  # as the package makes them: its includes are inlined already
        return source
    done: set[Path] = set()

    def expand(text: str, label: str) -> str:
        pieces, start = [], 0
        for found in INCLUDE.finditer(text):
            path = next((folder / found[1] for folder in folders if (folder / found[1]).is_file()), None)
            if path is None:
                raise EmulatorError(
                    f'{label}: #include "{found[1]}" is in none of {[str(folder) for folder in folders]}'
                )
            pieces.append(text[start : found.start()])
            if path not in done:
                done.add(path)
                pieces.append(f'#line 1 "{path}"\n{expand(path.read_text(), path.name)}\n')
                pieces.append(f'#line {text.count(chr(10), 0, found.start()) + 2} "{label}"')
            start = found.end()
        return PRAGMA_ONCE.sub("", "".join(pieces) + text[start:])

    return expand(source, "kernel")


class Compiler:
    """A compiler of kernel texts that keeps the libraries in ``cache``; one for each kind of sanitizer."""

    def __init__(self, cache: Path | None = None, sanitize: str | None = None) -> None:
        reason = why_unavailable()
        if reason:
            raise EmulatorError(reason)
        self.cache = Path(cache or default_cache())
        self.cache.mkdir(parents=True, exist_ok=True)
        self.machine_flags, self.extra = SANITIZERS[sanitize]

    def _digest(self, *parts: str) -> str:
        return hashlib.sha256(
            "\0".join([machine_text(), *self.machine_flags, *self.extra, *parts]).encode()
        ).hexdigest()[:20]

    def _run(self, arguments: list[str], target: Path) -> None:
        """Run g++ into a temporary name and rename the result: other processes see a whole file or none."""
        unfinished = target.with_name(f"{target.name}.{os.getpid()}.tmp")
        self._call(["g++", *arguments, "-o", str(unfinished)], unfinished, target)

    def _call(self, command: list[str], unfinished: Path, target: Path) -> None:
        environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}  # no sanitizer in g++, as it is slow
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode:
            unfinished.unlink(missing_ok=True)
            said = [line for line in done.stderr.splitlines() if "note: disable pass" not in line]
            error = EmulatorError("g++ refuses the kernel:\n" + "\n".join(said[:40]))
            error.at_fault = frozenset(ERROR_IN.findall(done.stderr))
            raise error
        unfinished.replace(target)

    def _step_by_step(self, unit: Path, header: Path, library: Path) -> None:
        """Run compiler, assembler and linker without g++, which takes 6 ms to start them and look for files."""
        unfinished = library.with_name(f"{library.name}.{os.getpid()}.tmp")
        code, machine = (unfinished.with_suffix(end) for end in (".s", ".o"))
        compiler, assembler, linker, library_of_compiler = tools()
        steps = [
            # g++ defines _GNU_SOURCE: with macros other than those of the precompiled header it would not use that.
            [compiler, "-quiet", "-D_GNU_SOURCE", *KERNEL_FLAGS, "-include", header, unit, "-o", code],
            [assembler, code, "-o", machine],
            # The process has libm and libc loaded already: looking symbols up in their files takes 5 ms.
            [linker, "-shared", machine, library_of_compiler, "-o", unfinished],
        ]
        try:
            self._call(["sh", "-c", " && ".join(shlex.join(map(str, step)) for step in steps)], unfinished, library)
        finally:
            code.unlink(missing_ok=True)
            machine.unlink(missing_ok=True)

    def _write(self, path: Path, text: str) -> None:
        unfinished = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        unfinished.write_text(text)
        unfinished.replace(path)

    def runtime(self) -> Path:
        """Return the runtime's library: compiled once, shared by all kernels."""
        target = self.cache / f"machine-{self._digest('runtime')}.so"
        if not target.exists():
            self._run(
                [*COMMON_FLAGS, *self.machine_flags, "-O2", "-shared", f"-I{HERE}", str(HERE / "cuda_emu_rt.cpp")],
                target,
            )
        return target

    def _header(self) -> Path:
        """Return a folder that holds cuda_emu.h, precompiled with the kernels' own flags."""
        folder = self.cache / f"header-{self._digest('header', *KERNEL_FLAGS)}"
        compiled = folder / "cuda_emu.h.gch"
        if not compiled.exists():
            folder.mkdir(exist_ok=True)
            self._write(folder / "cuda_emu.h", (HERE / "cuda_emu.h").read_text())
            self._run([*KERNEL_FLAGS, *self.extra, "-x", "c++-header", str(folder / "cuda_emu.h")], compiled)
        return folder

    def prepare(self) -> None:
        """Precompile the header, which all kernels need and two threads must not build at once."""
        self._header()

    def symbol(self, text: str, name: str) -> str:
        """Return the symbol of a kernel that is asked for."""
        return self._symbol(text, name)

    def _symbol(self, text: str, name: str) -> str:
        return f"szc_emu_{self._digest(name, text, *KERNEL_FLAGS)}"

    def _unit(self, cases: dict[str, tuple[str, str]]) -> str:
        """Return a translation unit: each kernel in a namespace of its own, renamed so that C linkage cannot clash."""
        unit = []
        for symbol, (text, name) in cases.items():
            path = self.cache / f"{symbol}.cu"
            self._write(path, text)
            names = sorted(
                {name, *KERNELS.findall(text)} - {"KERNEL"}
            )  # a file may have others, which two of its texts share
            unit += [f"#define {each} {each}_{symbol}\n" for each in names]
            unit.append(
                f"namespace in_{symbol} {{ namespace {{\n"
                f'#include "{path}"\n'
                f"namespace szc {{}} using namespace szc;\n}}\nSZC_EMU_EXPORT({symbol}, {name})\n}}\n"
            )
            unit += [f"#undef {macro}\n" for macro in [*names, *sorted(set(DEFINE.findall(text)))]]
        return "".join(unit)

    def _compile(self, cases: dict[str, tuple[str, str]], asked: Container[str]) -> None:
        """Compile kernels; `asked` has the symbols that are needed now."""
        stem = hashlib.sha256(" ".join(cases).encode()).hexdigest()[:20]
        with (self.cache / f"{stem}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # ranks and workers ask for the same kernels at once: one compiles them
            if any(self._library(s) is None and (s in asked or not self._refused(s)) for s in cases):
                self._compile_unit(stem, cases, asked)

    def _compile_unit(self, stem: str, cases: dict[str, tuple[str, str]], asked: Container[str]) -> None:
        unit, library = self.cache / f"{stem}.cpp", self.cache / f"kernels-{stem}.so"
        self._write(unit, self._unit(cases))
        header = self._header() / "cuda_emu.h"
        try:
            if self.extra:  # only g++ finds the sanitizers' libraries
                self._run([*KERNEL_FLAGS, *self.extra, "-shared", "-include", str(header), str(unit)], library)
            else:
                self._step_by_step(unit, header, library)
        except EmulatorError as error:
            at_fault = error.at_fault if len(cases) > 1 else cases
            stale = {symbol for symbol in at_fault if symbol in cases and symbol not in asked}
            for symbol in stale:  # it was recorded in an earlier run, and its prelude no longer suits the kernel's text
                self._write(self.cache / f"{symbol}.library", REFUSED)
            if stale:
                rest = [{symbol: case for symbol, case in cases.items() if symbol not in stale}]
            elif len(cases) > 1:  # one by one: the faulty one is found, and the others are kept
                rest = [{symbol: case} for symbol, case in cases.items()]
            else:
                raise
            for some in filter(None, rest):
                self._compile(some, asked)
            return
        for symbol in cases:
            self._write(self.cache / f"{symbol}.library", library.name)

    def _library(self, symbol: str) -> Path | None:
        try:
            library = self.cache / (self.cache / f"{symbol}.library").read_text()
        except FileNotFoundError:
            return None
        return library if library.exists() else None

    def _refused(self, symbol: str) -> bool:
        """Return whether g++ refused a kernel while no test had asked for it."""
        path = self.cache / f"{symbol}.library"
        return path.exists() and path.read_text() == REFUSED

    def _ahead(self, missing: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
        """Return kernels that other tests will ask for, to be compiled together with these."""
        others = dict.fromkeys(other for text, name in missing.values() for other in ahead.together(text, name))
        found = {self._symbol(*other): other for other in others}
        return {s: case for s, case in found.items() if self._library(s) is None and not self._refused(s)}

    def compile_many(self, cases: list[tuple[str, str]], workers: int | None = None) -> list[tuple[Path, str]]:
        """Return (library, symbol) of each (source, kernel name); compile missing ones in batches, in parallel."""
        wanted = {}
        for source, name in cases:
            text = inline_includes(source)
            wanted.setdefault((source, name), (self.symbol(text, name), (text, name)))
        missing = dict(case for case in wanted.values() if self._library(case[0]) is None)
        if missing:
            self.prepare()
            asked = frozenset(missing)
            if ahead.in_use and not self.extra:
                missing |= self._ahead(missing)
            if not workers:  # worker processes keep the cores busy already: fewer, larger units take less time
                workers = 1 if "PYTEST_XDIST_WORKER" in os.environ else min(4, os.cpu_count() or 1)
            items = list(missing.items())
            size = max(_SMALLEST, min(BATCH, -(-len(items) // workers)))
            batches = [dict(items[i : i + size]) for i in range(0, len(items), size)]
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(functools.partial(self._compile, asked=asked), batches))
        found = []
        for source, name in cases:
            symbol = wanted[source, name][0]
            library = self._library(symbol)
            assert library is not None
            found.append((library, symbol))
        with (self.cache / ahead.ASKED).open("a") as asked_for:
            asked_for.write("".join(f"{symbol}\n" for _, symbol in found))
        return found
