"""The program that ncu runs: each case once to compile, then a stream of known size and the case, both counted.

``python -m benchmarks.model.ncu_program JSON``, started by benchmarks/model/counters.py.
"""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np

import sparsezc as gb
from benchmarks.harness.frame import Report
from benchmarks.micro.link import Bench, Sizes, held
from benchmarks.model.counters import STREAM_BYTES, Planned
from benchmarks.suites.gap_kernels import KERNELS, Graph
from sparsezc.device import cuda


def main(text: str) -> None:
    given = json.loads(text)
    gpu = cuda.current()
    profiler = gpu.xp.cuda.profiler
    bench = Bench(gpu, Report("counted", "ms"), Sizes())
    stream = bench.kernel("stream")
    with gb.config.set(engine="gpu", progress=False), held(gpu, STREAM_BYTES, "pinned") as pages:
        graph = Graph(given["graph"], given["graph"], "zerocopy", given["weights"], gpu.xp)
        for plan, source in zip(given["cases"], given["sources"], strict=True):
            case = Planned(*plan)
            call = KERNELS[case.kernel].prepare(graph, argparse.Namespace(iterations=1))
            with case.kept(graph):
                call(source)
                gpu.synchronize()
                profiler.start()
                arguments = np.uint64(STREAM_BYTES // 4), np.uint64(pages.pointer), bench.sums
                stream(bench.blocks, 256, arguments)
                call(source)
                gpu.synchronize()
                profiler.stop()


if __name__ == "__main__":
    main(sys.argv[1])
