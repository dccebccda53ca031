"""Conversion of a graph larger than memory: ``python -m benchmarks.converting``, no GPU; h5py is needed.

The graph (hashed_graph.py) is written in each format, its edges in no order, and `sparsezc convert --memory` converts
it to .h5 in a process whose memory the system limits: RLIMIT_DATA, which bounds all private writable memory, touched
or not, is the given memory and 10%. The peak is VmHWM, the most resident pages of the process, those of the
interpreter and the libraries included. The system's page cache of files is neither counted nor limited; it holds
nothing of the input when the clock starts. h5py reads the result, and each row is generated again and compared. Last,
the same conversion is tried in memory, under the same limit.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.frame import Case, Report, Trial, judge, number, table
from benchmarks.harness.plot import plot
from benchmarks.micro.hashed_graph import WRITERS, Scattered, Spool
from benchmarks.opening import forget
from benchmarks.verify.answers import Wrong
from sparsezc.config import bytes_of

SHARE = 1.1  # of the given memory: the most that a conversion may take
ROOT = Path(__file__).resolve().parent.parent
HEADER = ["format", "memory MB", "in GB", "out GB", "moved GB", "min s", "median", "max", "MB/s", "of copy", "peak MB",
          "of memory", "limit", "in memory", "ok"]  # fmt: skip
_ROWS = 1 << 15  # rows that are compared at a time
_COPIED = 1 << 30  # bytes of the file whose copy measures the disk's rate

#: Threads of libraries and Arrow's allocator reserve memory that they do not touch, and RLIMIT_DATA counts it.
LEAN = {
    "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "ARROW_IO_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system",
}  # fmt: skip

#: A program that limits its memory, converts, and prints its peak memory and the bytes that it read and wrote.
CHILD = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[1]),) * 2)
from sparsezc.cli import main
code = main(sys.argv[2:])
def told(name):
    try:
        found = (line.split() for line in open(name))
        return {words[0].rstrip(":"): int(words[1]) for words in found if words[1:] and words[1].isdigit()}
    except OSError:
        return {}
status, io = told("/proc/self/status"), told("/proc/self/io")
print(json.dumps({"peak": status["VmHWM"] * 1024, "libraries": status["RssFile"] * 1024,
                  "moved": io.get("rchar", 0) + io.get("wchar", 0)}))
sys.exit(code)
"""


def convert(source: Path, target: Path, limit: int, *options: str) -> tuple[dict[str, Any], float]:
    """Return the output of a process that converts a file under a limit, and the seconds that it took."""
    command = [sys.executable, "-c", CHILD, str(limit), "convert", str(source), str(target), *options]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": path} | LEAN
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    took = time.perf_counter() - start
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no word"]
        raise RuntimeError(f"it ended with {done.returncode}: {lines[-1]}".replace(f"{source.parent}{os.sep}", ""))
    return json.loads(done.stdout.splitlines()[-1]), took


def check(graph: Scattered, path: Path) -> None:
    """Raise Wrong unless a file holds the rows of the graph and nothing else."""
    import h5py

    with h5py.File(path, "r") as file:
        facts = json.loads(file.attrs["binsparse"])["binsparse"]
        offsets, ids, values = (file[name] for name in ("pointers_to_1", "indices_1", "values"))
        if (facts["format"], facts["shape"]) != ("CSR", [graph.n, graph.n]) or offsets.size != graph.n + 1:
            raise Wrong(f"the file holds {facts['format']} of {facts['shape']} with {offsets.size} offsets")
        at = 0
        for first in range(0, graph.n, _ROWS):
            stop = min(first + _ROWS, graph.n)
            rows, cols, expected = graph.rows(first, stop)
            ends = at + np.searchsorted(rows, np.arange(first, stop + 1))
            here = slice(at, at + rows.size)
            for what, found, wanted in (
                ("offsets", offsets[first : stop + 1], ends),
                ("ids", ids[here], cols),
                ("values", values[here], expected),
            ):
                if not np.array_equal(found, wanted):
                    raise Wrong(f"{what} of the rows {first} to {stop - 1} differ from the graph's")
            at += rows.size
        if ids.size != at or values.size != at:
            raise Wrong(f"the file has {ids.size} ids and {values.size} values; the graph has {at}")


def copy_rate(folder: Path) -> float:
    """Return the bytes a second that a plain copy of a file reads and writes, from disk to disk."""
    source, target = folder / "copied", folder / "copy"
    part = np.random.default_rng(1).bytes(1 << 24)
    with source.open("wb") as file:
        for _ in range(_COPIED // len(part)):
            file.write(part)
    forget(source)
    start = time.perf_counter()
    with source.open("rb") as file, target.open("wb") as out:
        while part := file.read(1 << 24):
            out.write(part)
        out.flush()
        os.fsync(out.fileno())
    took = time.perf_counter() - start
    source.unlink()
    target.unlink()
    return 2 * _COPIED / took


def run(graph: Scattered, spool: Spool, kind: str, options: argparse.Namespace, report: Report) -> None:
    """Measure and check conversions from one format."""
    limit = int(SHARE * options.memory)
    source, target = spool.folder / f"graph.{kind}", spool.folder / "made.h5"
    start = time.perf_counter()
    WRITERS[kind](spool, source)
    size = source.stat().st_size
    print(f"  graph.{kind}: {size / 1e9:.2f} GB, written in {time.perf_counter() - start:.0f} s", flush=True)
    case = Case(
        kind, {"vertices": graph.n, "entries": spool.nvals, "memory": options.memory, "limit": limit, "in_bytes": size},
        rate=report.rates["disk"],
    )  # fmt: skip
    peaks, moved = [], []
    for _ in range(options.trials):
        target.unlink(missing_ok=True)
        forget(source)
        said, took = convert(source, target, limit, "--memory", str(options.memory))
        case.setting["out_bytes"] = target.stat().st_size
        case.trials.append(Trial(None, took, size + target.stat().st_size))
        peaks.append(said["peak"])
        moved.append(said["moved"])
    case.notes = {"library_bytes": said["libraries"]}
    case.series = {"peak_bytes": peaks, "moved_bytes": moved}
    case.verified = judge(lambda *_: check(graph, target), None, None)
    target.unlink()
    try:
        convert(source, target, limit)
        case.notes["in_memory"] = "done"
    except RuntimeError as error:
        case.notes["in_memory"] = str(error)
    source.unlink()
    target.unlink(missing_ok=True)
    report.add(case)
    print(f"  {kind}: {number(case.seconds.median)} s, {number(max(peaks) / 1e6)} MB, {case.verified}", flush=True)


def kept(case: Case) -> bool:
    """Return whether a conversion's peak memory was within the limit."""
    return bool(max(case.series["peak_bytes"]) <= case.setting["limit"])


def row(case: Case) -> list[str]:
    setting, notes = case.setting, case.notes
    peak, moved = max(case.series["peak_bytes"]), max(case.series["moved_bytes"])
    return [
        case.name, number(setting["memory"] / 1e6), number(setting["in_bytes"] / 1e9),
        number(setting["out_bytes"] / 1e9), number(moved / 1e9), *map(number, case.seconds),
        number(case.bytes_per_second / 1e6), number(case.share), number(peak / 1e6), number(peak / setting["memory"]),
        "kept" if kept(case) else "BROKEN", "done" if notes["in_memory"] == "done" else "fails", case.verified,
    ]  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.converting", description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, default=22, help="2^scale vertices; 22: 103 M entries, 1.3 GB")
    parser.add_argument("--memory", type=partial(bytes_of, "memory"), default=300_000_000, help="such as 300MB")
    parser.add_argument("--formats", default="txt,mtx.gz,npz,parquet", help=f"of {', '.join(WRITERS)}")
    parser.add_argument("--folder", type=Path, help="where the files are written (default: a temporary one)")
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    options = parser.parse_args(arguments)
    kinds = options.formats.split(",")
    if unknown := [kind for kind in kinds if kind not in WRITERS]:
        parser.error(f"--formats: {', '.join(unknown)} is none of {', '.join(WRITERS)}")
    if options.trials < 1 or not 8 <= options.scale <= 26:
        parser.error("--trials must be at least 1, and --scale from 8 to 26")
    report = Report("converting", "ms", options.out)
    graph = Scattered(options.scale)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder, report.part("the graph"):
        report.rates["disk"] = copy_rate(Path(folder))
        spool = Spool.of(graph, Path(folder))
        print(f"{graph.n:,} vertices, {spool.nvals:,} entries", flush=True)
        for kind in kinds:
            with report.part(kind):
                run(graph, spool, kind, options, report)
    print(table(HEADER, map(row, report.cases)))
    report.end(plot(report))
    return 0 if report.ok and all(map(kept, report.cases)) else 1


if __name__ == "__main__":
    sys.exit(main())
