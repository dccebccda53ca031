"""Counts of requests over the link, by the emulator or by a GPU's counters, which Nsight Compute (ncu) reads.

A GPU counts a request more than once if it crosses from one half of the L2 cache to the other. So a stream of known
size is counted before each case, which gives the counts of one request in the same run, and also separates the cases.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import sparsezc as gb
from sparsezc.device import cuda

ROOT = Path(__file__).resolve().parents[2]
METRICS = (
    "lts__t_requests_aperture_sysmem_op_read.sum",
    "lts__t_sectors_aperture_sysmem_op_read.sum",
    "pcie__read_bytes.sum",
)
STREAM = "stream"  # the kernel whose size is known
#: The kernels that are counted; no other kernel of the engine reads a matrix in these programs.
KERNELS = rf"regex:^({STREAM}|mxv|vxm|spmm|multi_source_bfs_\w+)$"
STREAM_BYTES = 64 << 20
# Of benchmarks.suites.gap_kernels.KERNELS:
NOT_MODELLED = ("tc", "bc", "bc1", "bc16")  # they multiply matrices that are no searches, or panels of numbers
LOOKS_AT_HEADS = ("bfs", "cc", "bfs64", "bfs_parents")  # their pulls stop at a terminal value
READS_VALUES = ("sssp",)  # which may be packed; spmv is excluded, as it measures streams of both arrays


class Counted(NamedTuple):
    """Requests, and bytes in whole sectors; `link_bytes` are those that the link reports, None if it reports none."""

    requests: float
    nbytes: float
    link_bytes: float | None = None


def emulator() -> Any:
    """Return an emulated device that counts requests; it replaces the GPU from this call on."""
    from tests.emulator.device import EmulatedDevice  # benchmarks run from a checkout, which has the tests

    made = EmulatedDevice("lockstep", counting=True, memory=1 << 34, seconds=600.0)
    cuda.use(made)
    return made


def on_emulator(gpu: Any, call: Callable[[], Any]) -> Counted:
    """Return the emulated device's counts during a call."""
    gpu.reset()
    call()
    found = gpu.total(0) + gpu.total(1)
    return Counted(found.count, found.bytes)


def why_not_ncu() -> str | None:
    """Return the reason why ncu cannot be used, or None if it can."""
    if why := cuda.reason():
        return why
    if not hasattr(cuda.current().xp, "cuda"):
        return "the device is emulated"
    return None if shutil.which("ncu") else "ncu (Nsight Compute) is not on the path"


class Planned(NamedTuple):
    """A kernel, the ids of each row in the row-head cache, and whether ids and values are packed."""

    kernel: str
    heads: int = 0
    packed: bool = False

    @property
    def label(self) -> str:
        if self.kernel in LOOKS_AT_HEADS:
            return f"{self.kernel}, {self.heads} heads"
        return f"{self.kernel}, packed" if self.packed else self.kernel

    @contextmanager
    def kept(self, graph: Any) -> Iterator[None]:
        """Configure the engine to build these caches only."""
        budget = self.heads * graph.id_bytes * graph.n or None
        packing = "on" if self.packed else "off"
        with gb.config.set(head_cache="on" if self.heads else "off", head_budget=budget, packing=packing):
            yield


def with_ncu(
    graph: str, weights: str, cases: Sequence[Planned], sources: Sequence[Any], seconds: float = 600.0
) -> list[Counted]:
    """Run ``python -m benchmarks.model.ncu_program`` under ncu; return the GPU's counts of each case from its source.

    Raises
    ------
    RuntimeError
        ncu failed, or reported another number of cases.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "counts.csv"
        command = ["ncu", "--clock-control", "none", "--profile-from-start", "off", "--target-processes", "all"]
        command += ["--kernel-name", KERNELS, "--metrics", ",".join(METRICS), "--csv", "--page", "raw"]
        command += ["--print-units", "base", "--log-file", str(log)]
        plan = {"graph": graph, "weights": weights, "cases": list(cases), "sources": list(sources)}
        command += [sys.executable, "-m", "benchmarks.model.ncu_program", json.dumps(plan)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=seconds)
        text = log.read_text() if log.exists() else ""
        if done.returncode or not text:
            said = "\n".join((done.stdout[-1000:], done.stderr[-1000:], text[-1000:]))
            raise RuntimeError(f"ncu ended with {done.returncode}: {said}")
    found = parse(text)
    if len(found) != len(cases):
        raise RuntimeError(f"ncu reported {len(found)} cases; there were {len(cases)}: {text[:500]}")
    return found


def parse(text: str) -> list[Counted]:
    """Return the counts of each case in ncu's table (a stream, then the case's kernels), scaled by the stream's.

    >>> head = ",".join(["ID", "Kernel Name", *METRICS])
    >>> rows = "0,stream,1048576,3145728,70000000", "1,mxv,30,90,4000", "2,vxm,15,30,2000"
    >>> parse(chr(10).join(["==PROF== Connected", head, ",,,,", *rows]))
    [Counted(requests=22.5, nbytes=2560.0, link_bytes=6000.0)]
    """
    lines = [line for line in text.splitlines() if line and not line.startswith("==")]
    found: list[Counted] = []
    for row in csv.DictReader(io.StringIO("\n".join(lines))):
        if not row["ID"]:  # the line of units
            continue
        requests, sectors, nbytes = (float(row[name].replace(",", "") or 0) for name in METRICS)
        if row["Kernel Name"].partition("(")[0] == STREAM:
            request_is, sector_is = requests / (STREAM_BYTES / 128), sectors / (STREAM_BYTES / 32)
            found.append(Counted(0, 0, 0))
        else:
            before = found[-1]
            more = before.requests + requests / request_is, before.nbytes + 32 * sectors / sector_is
            found[-1] = Counted(*more, (before.link_bytes or 0) + nbytes)
    return found
