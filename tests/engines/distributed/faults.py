"""Ranks that are killed or freeze: ``... -m tests.engines.distributed.faults killed``."""

from __future__ import annotations

import os
import signal
import sys
from time import monotonic, sleep

import sparsezc as gb
from sparsezc.engines import distributed


def main(fault: str) -> None:
    gb.distributed.init(deadline=60 if fault == "killed" else 1)
    rank = distributed.engine().rank
    if fault == "late":  # no collective follows
        sleep(3 * rank)
        return
    A = gb.io.read("kron:8").distribute()
    gb.algorithms.bfs(A, 1)
    if fault == "killed" and rank == 1:
        print(monotonic(), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "frozen" and rank == 1:
        sleep(30)
    for _ in range(1000):
        gb.algorithms.bfs(A, 1)


if __name__ == "__main__":
    main(sys.argv[1])
