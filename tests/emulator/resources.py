"""Resources of each kernel, found without a GPU: NVRTC compiles for every supported architecture and reports them.

The figures (registers a thread, stack, spills, shared memory) are compared with the table ``resources.txt``, so that
review sees a change which makes a kernel spill or lowers its occupancy. It needs ``nvidia-cuda-nvrtc`` only: ptxas
reports the figures, so no cubin is read, and no driver is called.

After an intended change run ``python -m tests.emulator.resources --update``. NVRTC is deterministic, so the figures of
the texts of every run are kept below the table, by digests of name, options, version and the text without comments: a
run compiles the texts that have changed since, and a sixteenth of the others, which shows whether the file is wrong. If
half of the texts have changed (as after a change of a common header), the run takes half a minute of a processor longer
and fails: ``--known`` writes their figures anew.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import hashlib
import json
import os
import re
import site
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.emulator import cases
from tests.emulator.compiler import DEFINE, HERE, default_cache, inline_includes

ARCHITECTURES = (75, 80, 90, 100, 120)
WHOLE = 90  # the architecture that most cases are compiled for
TABLE = HERE / "resources.txt"
OPTIONS = ("--std=c++17", "--ptxas-options=-v", "--disable-warnings")
REGISTERS_AT_ONCE = 8  # threads are given registers in units of eight (256 a warp, on every architecture here)
BATCH = 16  # kernels in one NVRTC program: 25 ms a kernel, alone 100
_MOST = 2  # cases of each kernel in every run

Case = tuple[str, str, str]  # label, source (prelude first), kernel name; cases of one label share a row of the table
#: Why 24 of the 260 rows that already existed in 6f40da0 take more registers or bytes now; 13 others take less.
GROWN = (
    "# Rows that grew since 6f40da0, and why:",
    "#   reorder, reduce: four entries are asked for at once, not each after the one before (67c2cc92): none spills",
    "#   spmm: entries are compared with X and the mask before their columns (d463ae0e): up to 128 bytes spill",
    "#   mxv, mxv.complex: a warp takes one row where rows are long (bbf0d761, in 48fb9d6f): up to 32 bytes more",
    "#   mxv.compressed: the old row was too small (08f2d285 says so); on sm_80 one register",
)
Known = dict[tuple[str, int], "Usage"]  # by the digest of a case's text, and architecture


class NvrtcError(RuntimeError):
    """NVRTC is missing, or refuses a kernel."""


@dataclass(frozen=True)
class Usage:
    """The resources of one kernel: registers a thread, and bytes of stack, spills and shared memory."""

    registers: int = 0
    stack: int = 0
    spills: int = 0
    shared: int = 0

    def largest(self, other: Usage) -> Usage:
        return Usage(*map(max, asdict(self).values(), asdict(other).values()))


def _libraries() -> Iterator[Path]:
    for root in (*site.getsitepackages(), site.getusersitepackages(), *sys.path):
        yield from sorted(Path(root).glob("nvidia/*/lib/libnvrtc.so.*"))
    for root in ("/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu"):
        yield from sorted(Path(root).glob("libnvrtc.so.*"))


@functools.cache
def _nvrtc() -> ctypes.CDLL:
    library = next((path for path in _libraries() if ".alt." not in path.name), None)
    if library is None:
        raise NvrtcError("NVRTC is not installed: pip install nvidia-cuda-nvrtc")
    for builtins in library.parent.glob("libnvrtc-builtins.so.*"):  # NVRTC opens it by name and would not find it
        ctypes.CDLL(str(builtins))
    return ctypes.CDLL(str(library))


def why_unavailable() -> str | None:
    """Return why kernels cannot be compiled for a GPU here, or None if they can."""
    try:
        _nvrtc()
    except (NvrtcError, OSError) as error:
        return str(error)
    return None


def version() -> str:
    """Return NVRTC's version, such as ``13.0``: the table holds for one version."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _nvrtc().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return f"{major.value}.{minor.value}"


def compile_program(source: str, architecture: int) -> str:
    """Compile one text for one architecture; return the report, or raise :class:`NvrtcError` with the messages."""
    nvrtc, program, size = _nvrtc(), ctypes.c_void_p(), ctypes.c_size_t()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel", 0, None, None):
        raise NvrtcError("NVRTC does not start")
    options = [f"--gpu-architecture=sm_{architecture}".encode(), *(option.encode() for option in OPTIONS)]
    failed = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    if failed:
        raise NvrtcError(log.value.decode())
    return log.value.decode()


def parse_report(report: str) -> dict[str, Usage]:
    """Return the usage of each kernel in ptxas's report."""
    found = {}
    for part in report.split("Compiling entry function '")[1:]:
        numbers = {
            what: sum(int(n) for n in re.findall(rf"(\d+) {pattern}", part))
            for what, pattern in (
                ("registers", "registers"),
                ("stack", "bytes stack frame"),
                ("spills", r"bytes spill (?:stores|loads)"),
                ("shared", "bytes smem"),
            )
        }
        found[part.split("'")[0]] = Usage(**numbers)
    return found


def _measure_batch(texts: Mapping[str, tuple[str, str]], architecture: int) -> dict[str, Usage]:
    """Return the usage of several (text, name), each in a namespace of its own and renamed to its key."""
    program = []
    for key, (text, name) in texts.items():
        macros = "".join(f"#undef {macro}\n" for macro in sorted(set(DEFINE.findall(text))))
        program.append(f"namespace in_{key} {{\n#define {name} {key}\n{text}\n}}\n#undef {name}\n{macros}")
    try:
        return parse_report(compile_program("".join(program), architecture))
    except NvrtcError:
        if len(texts) == 1:
            raise
        return {key: _measure_batch({key: case}, architecture)[key] for key, case in texts.items()}


def measure(
    cases: Iterable[Case],
    architectures: Sequence[int] = ARCHITECTURES,
    cache: Path | None = None,
    told: Known | None = None,
) -> dict[tuple[str, int], Usage]:
    """Return the usage of every (label, architecture): the largest of the label's cases.

    Compile only the cases that are neither in `told`, to which they are added, nor in the cache.
    """
    folder = (cache or default_cache()).with_name("resources")
    folder.mkdir(parents=True, exist_ok=True)
    labels, texts = {}, {}
    for label, source, name in cases:
        text = inline_includes(source)
        code = "\n".join(filter(None, (" ".join(line.partition("//")[0].split()) for line in text.splitlines())))
        key = "k" + hashlib.sha256("\0".join((version(), *OPTIONS, name, code)).encode()).hexdigest()[:20]
        labels[key], texts[key] = label, (text, name)

    known: Known = {}
    for key in texts:
        for architecture in architectures:
            path = folder / f"{key}-{architecture}.json"
            if told is not None and (key, architecture) in told:
                known[key, architecture] = told[key, architecture]
            elif path.exists():
                known[key, architecture] = Usage(**json.loads(path.read_text()))

    def work(job: tuple[int, list[str]]) -> None:
        architecture, keys = job
        for key, usage in _measure_batch({key: texts[key] for key in keys}, architecture).items():
            if key not in texts:
                continue  # another kernel of the same file, with a case of its own
            known[key, architecture] = usage
            unfinished = folder / f"{key}-{architecture}.{os.getpid()}.tmp"
            unfinished.write_text(json.dumps(asdict(usage)))
            unfinished.replace(folder / f"{key}-{architecture}.json")

    jobs = []
    for architecture in architectures:
        missing = [key for key in texts if (key, architecture) not in known]
        jobs += [(architecture, missing[i : i + BATCH]) for i in range(0, len(missing), BATCH)]
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        list(pool.map(work, jobs))
    if told is not None:
        told |= known

    result: dict[tuple[str, int], Usage] = {}
    for (key, architecture), usage in known.items():
        row = labels[key], architecture
        result[row] = usage.largest(result.get(row, usage))
    return result


def _rows(path: Path) -> Iterator[tuple[str, str, Usage]]:
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            name, architecture, *numbers = line.split()
            yield name, architecture, Usage(*map(int, numbers))


def read_table(path: Path = TABLE) -> dict[tuple[str, int], Usage]:
    return {(label, int(gpu.removeprefix("sm_"))): row for label, gpu, row in _rows(path) if gpu.startswith("sm_")}


def read_known(path: Path = TABLE) -> Known:
    return {(digest, int(gpu)): row for digest, gpu, row in _rows(path) if not gpu.startswith("sm_")}


def format_table(usage: Mapping[tuple[str, int], Usage], known: Known) -> str:
    width = max([len(label) for label, _ in usage], default=0)
    lines = [
        f"# What the kernels take of a GPU, by NVRTC {version()}; a row is the largest of a kernel's cases.",
        "# Written by: python -m tests.emulator.resources --update",
        *GROWN,
        f"# {'kernel':{width - 2}}  {'GPU':6} registers  stack  spills  shared",
    ]
    for (label, architecture), row in sorted(usage.items()):
        target = f"sm_{architecture}"
        lines.append(f"{label:{width}}  {target:6} {row.registers:9} {row.stack:6} {row.spills:7} {row.shared:7}")
    lines.append("# The same of the texts of every run, by their digests: python -m tests.emulator.resources --known")
    for (digest, architecture), row in sorted(known.items()):
        lines.append(f"{digest} {architecture} {row.registers} {row.stack} {row.spills} {row.shared}")
    return "\n".join(lines) + "\n"


def differences(table: Mapping[tuple[str, int], Usage], measured: Mapping[tuple[str, int], Usage]) -> list[str]:
    """Return the resources that exceed the table, one line each; less than the table is no difference.

    Registers are compared in steps of eight, as the hardware allocates them: the other kernels in an NVRTC program
    (those that the cache lacks) change them by one or two, and only a step of eight costs warps.
    """
    lines = []
    for label, architecture in sorted(table.keys() | measured.keys()):
        name, now = f"{label} on sm_{architecture}", measured.get((label, architecture))
        allowed = table.get((label, architecture))
        if allowed is None:
            lines.append(f"{name}: not in the table; it takes {now}")
        elif now is None:
            lines.append(f"{name}: in the table, but there is no such kernel")
        else:
            before, after = asdict(allowed), asdict(now)
            unit = {what: REGISTERS_AT_ONCE if what == "registers" else 1 for what in before}
            changes = [
                f"{what} {before[what]} -> {after[what]}"
                for what in before
                if -(-after[what] // unit[what]) > -(-before[what] // unit[what])
            ]
            if changes:
                lines.append(f"{name}: {', '.join(changes)}")
    return lines


def emogi_cases() -> list[Case]:
    """Return the cases of EMOGI's three access patterns."""
    text = (HERE / "emogi.cu").read_text()
    return [
        (f"emogi.{name}", f"typedef {ctype} Id;\n{text}", name)
        for ctype in ("int", "long long")
        for name in ("naive", "merged", "merged_aligned")
    ]


def _others(*, crossed: bool) -> list[Case]:
    widths = cases.every_width(crossed=crossed)
    return [*widths, *cases.everything_else(), *cases.every_complex(), *cases.every_compressed()]


def measure_all() -> dict[tuple[str, int], Usage]:
    """Measure every case for every architecture, for the table: a quarter of a second of NVRTC each, ten minutes."""
    every = [*cases.every_semiring(), *_others(crossed=True), *emogi_cases()]
    return measure(every, ARCHITECTURES)


def measure_some(told: Known) -> dict[tuple[str, int], Usage]:
    """Measure the cases of every run, the same each time; :func:`measure_all` measures the rest of the table.

    Two cases of each kernel for one architecture, and one of every second kernel for one of the others.
    """
    semirings, others = cases.every_semiring(), _others(crossed=False)
    some = [case for k, case in enumerate(semirings) if k // 2 % 16 == 0]  # mxv and vxm of each semiring
    gate = [*some, *others, *emogi_cases()]
    labels: dict[str, list[Case]] = {}
    for case in gate:
        labels.setdefault(case[0], []).append(case)
    labels = {label: group[:: -(-len(group) // _MOST)] for label, group in labels.items()}
    found = measure([case for group in labels.values() for case in group], (WHOLE,), told=told)
    rest = [architecture for architecture in ARCHITECTURES if architecture != WHOLE]
    for k, architecture in enumerate(rest):
        few = [group[0] for group in list(labels.values())[k :: 2 * len(rest)]]
        found |= measure(few, (architecture,), told=told)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--update", action="store_true", help="write the table and --known; takes ten minutes")
    parser.add_argument("--known", action="store_true", help="write what NVRTC says of the texts of every run")
    arguments = parser.parse_args()
    told: Known = {}
    measure_some(told)
    before = read_table()
    measured = before if arguments.known else measure_all()
    if arguments.update or arguments.known:
        TABLE.write_text(format_table(measured, told))
    print(format_table(measured, told), end="")
    print("\n".join(differences(before, measured)))


if __name__ == "__main__":
    main()
