"""A rehearsal: tests run once with kernels that do nothing, so that all that they need can be compiled at once.

g++ takes as long for a file of twenty kernels as for one or two, so tests that ask for their kernels one by one would
wait ten times longer. Nothing is compared in a rehearsal; array code runs on zeros. Code that loops until a kernel says
so may never end in one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np

from sparsezc import device
from sparsezc.config import config

from .device import HostDevice


class Rehearsal(HostDevice):
    """A device whose kernels are written down in `cases`, as (source, name), and never run. Needs no compiler."""

    name = "rehearsal"

    def __init__(self) -> None:
        self.cases: list[tuple[str, str]] = []
        self.xp = SimpleNamespace(**{k: getattr(np, k) for k in dir(np) if not k.startswith("__")})
        self.xp.empty = np.zeros  # decisions on what no kernel has written are the same each time

    def compile(self, source: str, name: str) -> Any:
        self.cases.append((source, name))
        return lambda grid, block, arguments: None


def rehearse(runs: Iterable[Callable[[], Any]]) -> list[tuple[str, str]]:
    """The kernels that these functions ask for, each once; what fails in a rehearsal is passed over."""
    stage = Rehearsal()
    before = device.use(stage)
    try:
        for run in runs:
            # What fails here fails again with the right values, and is seen then. SuiteSparse must see none of these.
            with contextlib.suppress(Exception), config.set(fallback="error"):
                run()
    finally:
        device.use(before)
    return list(dict.fromkeys(stage.cases))


def rehearsing() -> bool:
    """Whether results mean nothing now."""
    return device.reason() is None and isinstance(device.current(), Rehearsal)
