"""The host link: the rate at which a kernel reads host memory, by pattern, size of requests and kind of pages.

``python -m benchmarks.micro.link`` takes under a minute on a GPU. Each case reads words of 1, and their sum is checked.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import copyrate, facts
from benchmarks.harness.frame import Case, Report, Trial, judge, measure, number, table, timed
from benchmarks.harness.plot import plot
from benchmarks.verify.answers import Wrong
from sparsezc.device import cuda, cupy_device
from sparsezc.device.launcher import THREADS, Launcher
from sparsezc.device.protocol import Device, Pages
from sparsezc.engines import gpu as gpu_engine

MIB = 1 << 20
GIB = 1 << 30
MOST_MANAGED = 4 * GIB  # the most managed memory that is allocated here
BLOCKS_PER_MULTIPROCESSOR = 8
WORDS = {4: "u32", 8: "u64", 16: "Quad"}
KERNELS = ("stream", "strided", "random_requests")
_READ_MOSTLY = 1  # cudaMemAdviseSetReadMostly


class Sizes(NamedTuple):
    """The sizes of reads: bytes of the streamed array, working sets of random requests, requests a launch."""

    stream: int = GIB
    working: tuple[int, ...] = (256 * MIB, GIB, 4 * GIB)
    requests: int = 1 << 23
    trials: int = 5


def source(bytes_a_lane: int = 4, bytes_a_request: int = 128) -> str:
    """Return the full text of benchmarks/micro/kernels/link.cu for these sizes, with its headers inserted."""
    port = Path(gpu_engine.__file__).parent / "kernels" / "common" / "portability.cuh"
    prelude = f"struct Quad;\ntypedef {WORDS[bytes_a_lane]} Word;\nconstexpr u32 BYTES = {bytes_a_request};"
    text = (Path(__file__).parent / "kernels" / "link.cu").read_text()
    return f"{port.read_text().replace('#pragma once', '')}\nnamespace szc {{\n{prelude}\n}}\n{text}"


def fill(array: NDArray[np.uint8]) -> None:
    """Set every 32-bit word to 1, so that a sum counts words; by many threads, as one is slower than the link."""
    words, step = array[: array.size // 4 * 4].view(np.uint32), 1 << 24
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda start: words[start : start + step].fill(1), range(0, words.size, step)))


class Bench:
    """The link benchmark: launches the kernels over pages and adds the cases to a report."""

    def __init__(self, gpu: Device, report: Report, sizes: Sizes) -> None:
        self.gpu, self.report, self.sizes = gpu, report, sizes
        self.blocks = gpu.multiprocessors * BLOCKS_PER_MULTIPROCESSOR
        self.sums = gpu.xp.zeros(self.blocks * THREADS, np.uint64)
        self.kernel = cache(self._kernel)
        self.rate: float | None = None

    def _kernel(self, name: str, bytes_a_lane: int = 4, bytes_a_request: int = 128) -> Launcher:
        return Launcher.compiled(self.gpu, source(bytes_a_lane, bytes_a_request), name)

    def run(
        self, name: str, nbytes: int, kernel: Launcher, arguments: dict[str, Any], *, pages: str, requests: int = 0,
        reference: float | None = None, working: int = 0,
    ) -> Case:  # fmt: skip
        """Measure a kernel that reads `nbytes` bytes with these arguments and writes the sums, and report the case."""
        case = Case(name, {"pages": pages, "working_set": working or nbytes}, rate=self.rate, requests=requests)
        case.reference, case.peer = reference, facts.MACHINE if reference is not None else ""
        measure(
            case,
            lambda _: kernel.launch(self.blocks, **arguments, sums=self.sums),
            trials=self.sizes.trials,
            nbytes=lambda *_: nbytes,
            synchronize=self.gpu.synchronize,
            verify=lambda _given, _answer: self.check(nbytes // 4),
        )
        self.report.add(case)
        return case

    def check(self, words: int) -> None:
        found = int(self.gpu.asnumpy(self.sums).sum())
        if found != words:
            raise Wrong(f"the sum of {words:,} words of 1 is {found:,}")

    # The parts

    def copies(self) -> None:
        size, xp = self.sizes.stream, self.gpu.xp
        pages, target = self.gpu.pages(size, "pinned"), xp.empty(size, np.uint8)
        fill(pages.array)
        case = Case("cudaMemcpy, pinned", {"pages": "pinned", "working_set": size})
        case.reference, case.peer = facts.LINK_GBS[case.name], facts.MACHINE
        measure(
            case, lambda _: copyrate.transfer(self.gpu, target, pages), trials=self.sizes.trials,
            nbytes=lambda *_: size, synchronize=self.gpu.synchronize, verify=lambda *_: _is_ones(target),
        )  # fmt: skip
        self.rate = self.report.rates["zerocopy"] = case.rate = case.bytes_per_second
        self.report.add(case)

    def streams(self, kind: str) -> None:
        """Measure a streamed array: aligned in loads of 4, 8 and 16 bytes a lane, misaligned, and a thread a line."""
        size = self.sizes.stream
        with held(self.gpu, size, kind) as pages:
            for width in WORDS:
                kernel, name = self.kernel("stream", width), f"stream, {width} B a lane"
                arguments = {"count": size // width, "words": pages.pointer}
                self.run(name, size, kernel, arguments, pages=kind, reference=facts.LINK_GBS[name])
            self._misaligned(pages, "stream, every warp off by 32 B")
            self._strided(pages, "scan, one thread 128 B")

    def _misaligned(self, pages: Pages, name: str) -> None:
        size = self.sizes.stream - 32
        arguments = {"count": size // 4, "words": pages.pointer + 32}
        reference = facts.LINK_GBS[name]
        self.run(name, size, self.kernel("stream", 4), arguments, pages=pages.kind, reference=reference)

    def _strided(self, pages: Pages, name: str) -> None:
        size = self.sizes.stream
        arguments = {"lines": size // 128, "words": pages.pointer}
        reference = facts.LINK_GBS[name]
        self.run(name, size, self.kernel("strided"), arguments, pages=pages.kind, reference=reference)

    def toy(self) -> None:
        """EMOGI's experiment: one array in pinned memory, read strided, merged, and merged and aligned."""
        size = self.sizes.stream
        with held(self.gpu, size, "pinned") as pages:
            self._strided(pages, "EMOGI strided")
            self._misaligned(pages, "EMOGI merged")
            name, arguments = "EMOGI merged + aligned", {"count": size // 4, "words": pages.pointer}
            kernel, reference = self.kernel("stream", 4), facts.LINK_GBS["EMOGI merged + aligned"]
            self.run(name, size, kernel, arguments, pages="pinned", reference=reference)

    def random(self, kind: str, working: int) -> None:
        """Measure random requests over a working set: of 32, 64 and 128 bytes over the smallest, of 128 over others."""
        requests = self.sizes.requests
        with held(self.gpu, working, kind) as pages:
            for size in (32, 64, 128) if working == min(self.sizes.working) else (128,):
                known = facts.RANDOM_128[kind] if size == 128 else {256: facts.RANDOM_256_MIB[size]}
                millions = known.get(working // MIB)
                self.run(
                    f"random {size} B", size * requests, self.kernel("random_requests", 4, size),
                    {"requests": requests, "mask": working // size - 1, "words": pages.pointer},
                    pages=kind, requests=requests, working=working,
                    reference=None if millions is None else millions * size / 1e3,
                )  # fmt: skip

    def first_touch(self) -> None:
        """Measure migrating pages: with the advice ReadMostly, faults of the first read copy pages to the device."""
        runtime = copyrate.runtime_of(self.gpu)
        if runtime is None:
            print("no first touch: this device has no pages that migrate")
            return
        size = min(self.sizes.stream, GIB)
        pointer = int(runtime.mallocManaged(size))
        try:
            runtime.memAdvise(pointer, size, _READ_MOSTLY, int(runtime.getDevice()))
            array = cupy_device._view(pointer, size)
            kernel, arguments = self.kernel("stream", 4), {"count": size // 4, "words": pointer}
            name = "first touch, managed ReadMostly"
            case = Case(name, {"pages": "managed, ReadMostly", "working_set": size}, rate=self.rate)
            case.reference, case.peer = facts.LINK_GBS[name], facts.MACHINE
            for _ in range(2):
                fill(array)  # a write by the host invalidates the device's copies of the pages
                _, seconds = timed(
                    lambda: kernel.launch(self.blocks, **arguments, sums=self.sums), self.gpu.synchronize
                )
                case.trials.append(Trial(None, seconds, size))
            case.verified = judge(lambda *_: self.check(size // 4), None, None)
            self.report.add(case)
        finally:
            runtime.free(pointer)


def _is_ones(target: Any) -> None:
    if not bool((target.view(np.uint32) == 1).all()):
        raise Wrong("the copy differs from its source")


@contextmanager
def held(gpu: Device, nbytes: int, kind: str) -> Iterator[Pages]:
    """Return pages of words of 1, which are freed at the context's end."""
    if kind == "managed" and nbytes > MOST_MANAGED:
        raise ValueError(f"{nbytes:,} bytes of managed memory; at most {MOST_MANAGED:,} are made here")
    pages = gpu.pages(nbytes, kind)
    fill(pages.array)
    yield pages
    gpu.synchronize()  # no kernel may read the pages when they are freed


def run(gpu: Device, report: Report, sizes: Sizes) -> None:
    """Run all parts; one that fails is reported, and the next one runs."""
    bench = Bench(gpu, report, sizes)
    kinds = ("pinned", "managed") if gpu.managed_is_safe() else ("pinned",)
    with report.part("cudaMemcpy"):
        bench.copies()
    for kind in kinds:
        with report.part(f"streams, {kind}"):
            bench.streams(kind)
    with report.part("EMOGI's experiment"):
        bench.toy()
    for working in sizes.working:
        for kind in kinds:
            if kind == "pinned" or working <= MOST_MANAGED:
                with report.part(f"random, {kind}, {working // MIB} MiB"):
                    bench.random(kind, working)
    with report.part("first touch"):
        bench.first_touch()


def printed(report: Report) -> str:
    """Return the table of a link report."""
    header = ["case", "pages", "MiB", "min ms", "median", "max", "GB/s", "of copy"]
    header += ["ref GB/s", "ours/ref", "M req/s", "ok"]
    rows = []
    for case in report.cases:
        gbs, least = case.figure("GB/s"), [number(second * 1e3) for second in case.seconds]
        ratio = gbs / case.reference if case.reference else None
        requests = case.requests / case.seconds.median / 1e6 if case.requests else None
        working = case.setting["working_set"] / MIB
        rows.append(
            (case.name, case.setting["pages"], number(working, 4), *least, number(gbs), number(case.share),
             number(case.reference), number(ratio), number(requests), case.verified)
        )  # fmt: skip
    return table(header, rows, left=2)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.micro.link", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="the result file (default: a new one in benchmarks/results)")
    parser.add_argument("--trials", type=int, default=Sizes().trials)
    parser.add_argument("--stream-mib", type=int, default=GIB // MIB, help="MiB that are streamed")
    parser.add_argument("--working-mib", default="256,1024,4096", help="working sets of random requests, powers of two")
    parser.add_argument("--requests", type=int, default=Sizes().requests, help="random requests a launch")
    given = parser.parse_args(arguments)
    if why := cuda.reason():
        print(f"the link benchmark needs a GPU: {why}")
        return 2
    working = tuple(int(part) * MIB for part in given.working_mib.split(","))
    if any(size & (size - 1) for size in working):
        parser.error(f"--working-mib {given.working_mib}: powers of two are needed")
    gpu, report = cuda.current(), Report("link", "GB/s", given.out)
    print(f"{gpu.name}; reference: {facts.MACHINE}", flush=True)
    run(gpu, report, Sizes(given.stream_mib * MIB, working, given.requests, given.trials))
    print(printed(report))
    report.end(plot(report))
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
