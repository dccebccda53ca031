"""Run modules of checks on all ranks: ``mpiexec -n 2 python -m mpi4py -m tests...run_checks NAME,... FILE ENGINE``.

ENGINE is "cpu", "gpu" (emulated), or the transport between real cards.

A check is a function of a module whose name begins with ``check``; each rank calls it without arguments, and it fails
by an exception. Rank 0 writes ``{check: failures of all ranks, or None}`` to a file as JSON.
"""

from __future__ import annotations

import json
import sys
import traceback
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import sparsezc as gb
from sparsezc.engines import distributed
from sparsezc.engines.distributed.transports import mpi


def main(names: str, path: str, engine: str) -> None:
    if engine in ("cpu", "gpu"):  # ranks share processors, so a waiting rank yields its processor soon
        mpi._POLLS, mpi._YIELDS = 10, 10
    if engine == "gpu":
        from sparsezc.device import cuda
        from tests.emulator.device import EmulatedDevice

        cuda.use(EmulatedDevice())
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", gb.exceptions.PerformanceWarning)
    if engine in ("cpu", "gpu"):
        gb.distributed.init(engine=engine, deadline=60, force=True)
    else:
        gb.distributed.init(engine="gpu", transport=engine, deadline=60, force=True)
    transport = distributed.engine().transport
    found = {}
    for name in names.split(","):
        module = import_module(f"tests.engines.distributed.{name}")
        for title, check in [(f"{name}: {key}", each) for key, each in vars(module).items() if key.startswith("check")]:
            found[title] = _told(check, transport)
    if transport.rank == 0:
        Path(path).write_text(json.dumps(found))


def _told(check: Callable[[], None], transport: Any) -> str | None:
    """Run a check on all ranks; return each failing rank's traceback, or None."""
    said = None
    try:
        check()
    except Exception:
        said = traceback.format_exc(limit=-8)
    told = [f"rank {rank}: {text}" for rank, text in enumerate(transport.objects(said)) if text]
    return "\n".join(told) or None


if __name__ == "__main__":
    main(*sys.argv[1:])
