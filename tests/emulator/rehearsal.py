"""A rehearsal: a test runs once with kernels that do nothing, so that all it needs can be compiled in a few batches.

g++ takes as long for a file of twenty kernels as for one or two, so a test that asks for its kernels one by one would
wait ten times longer. Nothing is compared in a rehearsal; array code runs on zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from sparsezc import device

from .device import EmulatedDevice

NAME = "rehearsal"


class _Rehearsal(EmulatedDevice):
    """The emulated device, but kernels are only written down."""

    name = NAME

    def __init__(self) -> None:
        super().__init__()
        self.cases: list[tuple[str, str]] = []
        self.xp = SimpleNamespace(**{k: getattr(np, k) for k in dir(np) if not k.startswith("__")})
        self.xp.empty = np.zeros  # decisions on what no kernel has written are the same each time

    def compile(self, source: str, name: str) -> Any:
        self.cases.append((source, name))
        return lambda grid, block, arguments: None


def rehearse(run: Callable[[], Any], emulated: EmulatedDevice) -> None:
    """Run once for the list of kernels, then compile them all for `emulated`."""
    stage = _Rehearsal()
    before = device.use(stage)
    try:
        run()
    finally:
        device.use(before)
    emulated.compile_many(stage.cases)


def rehearsing() -> bool:
    """Whether results mean nothing now."""
    return device.reason() is None and device.current().name == NAME
