"""A rehearsal: a run with kernels that do nothing, which writes down the kernels that it asks for.

g++ takes half as long for a kernel in a file of many as for one in a file of its own. So a test that asks for many and
says so by the mark `many_kernels` is rehearsed first, and its kernels are compiled together. Nothing is compared in a
rehearsal (:func:`rehearsing`); array code runs on zeros. Code that loops until a kernel says so may never end in one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np

from sparsezc.config import config
from sparsezc.device import cuda

from .device import NOTHING, HostDevice, Requests

_LAUNCHES = 1000  # of one run: what goes on for longer waits for an end that no kernel brings


class Rehearsed(Exception):
    """A run that has shown enough."""


class Rehearsal(HostDevice):
    """A device whose kernels are written down in `cases`, as (source, name), and never run. Needs no compiler.

    What kernels would write is zeros.
    """

    name = "rehearsal"
    order, seed, counting = "forward", 1, False

    def __init__(self) -> None:
        self.cases: list[tuple[str, str]] = []
        self.left = _LAUNCHES
        self.xp = SimpleNamespace(**{k: getattr(np, k) for k in dir(np) if not k.startswith("__")})
        self.xp.empty = np.zeros  # decisions on what no kernel has written are the same each time

    def reset(self) -> None:
        """Nothing is counted."""

    def total(self, _site: int) -> Requests:
        return NOTHING

    def compile(self, source: str, name: str) -> Any:
        self.cases.append((source, name))
        return self._launch

    def _launch(self, _grid: int, _block: int, _arguments: Any) -> None:
        self.left -= 1
        if self.left < 0:
            raise Rehearsed


def rehearse(runs: Iterable[Callable[[], Any]]) -> list[tuple[str, str]]:
    """The kernels that these functions ask for, each once; what fails in a rehearsal is passed over."""
    stage = Rehearsal()
    for run in runs:
        stage.left = _LAUNCHES
        before = cuda.use(stage)
        try:
            # What fails here fails again with the right values, and is seen then. SuiteSparse must see none of these.
            with contextlib.suppress(Exception), config.set(fallback="error"):
                run()
        finally:
            cuda.use(before)
    return list(dict.fromkeys(stage.cases))


def rehearsing() -> bool:
    """Whether results mean nothing now."""
    return cuda.reason() is None and isinstance(cuda.current(), Rehearsal)
