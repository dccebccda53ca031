"""Ranks that are killed, freeze, or stray from the others: ``... -m tests.engines.distributed.faults killed``."""

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
    A = gb.io.read("kron:8").distribute()
    gb.algorithms.bfs(A, 1)
    if fault == "killed" and rank == 1:
        print(monotonic(), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "frozen" and rank == 1:
        sleep(30)
    if fault == "strayed":
        gb.config.set(check=True)
        v = A.reduce_rowwise(gb.monoid.lor).new()
        try:
            if rank == 0:
                v.reduce(gb.monoid.lor).new()
            else:
                v.vxm(A, gb.semiring.any_pair).new()
        except gb.exceptions.InvalidValue as error:
            print(f"rank {rank} says: {error}", flush=True)
        return
    for _ in range(1000):
        gb.algorithms.bfs(A, 1)


if __name__ == "__main__":
    main(sys.argv[1])
