"""A rehearsal: a run on a device whose kernels do nothing, and which records the kernels that are asked for.

g++ takes half as long for a kernel in a file of many as for one in a file of its own. So a test that asks for many
kernels and has the mark `many_kernels` is rehearsed first, and its kernels are compiled together
(tests/ops/conftest.py). Nothing is compared in a rehearsal; array code runs on zeros. A loop that ends by a kernel's
result may never end.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

from sparsezc.config import config
from sparsezc.core.matrix_methods import Readable
from sparsezc.core.vector_methods import ReadableVector
from sparsezc.device import cuda

from .device import NOTHING, HostDevice, Requests

_LAUNCHES = 1000  # of one run: a longer one waits for a result that no kernel computes
_SHOWN = 4  # most values that may be copied to the host where entries mean nothing: counts, but no library's input


class Rehearsed(Exception):
    """A signal that the run has asked for enough kernels."""


class Rehearsal(HostDevice):
    """A device that records kernels in `cases`, as (source, name), and never runs them. It needs no compiler.

    Results of kernels are zeros; with `entries` they are ones, so that matrices have entries, at meaningless positions.
    """

    name = "rehearsal"
    order, seed, counting = "forward", 1, False

    def __init__(self, *, entries: bool = False) -> None:
        self.cases: list[tuple[str, str]] = []
        self.entries, self.left = entries, _LAUNCHES
        self.xp = SimpleNamespace(**{k: getattr(np, k) for k in dir(np) if not k.startswith("__")})
        self.xp.empty = np.zeros  # decisions by unwritten memory are then the same each time
        if entries:
            self.xp.empty = np.ones
            self.xp.zeros = _totals

    def reset(self) -> None:
        """Do nothing: no requests are counted."""

    def total(self, _site: int) -> Requests:
        return NOTHING

    def compile(self, source: str, name: str, _passed: Any = None) -> Any:
        self.cases.append((source, name))
        return _Nothing(self)

    def asnumpy(self, array: np.ndarray) -> np.ndarray:
        if self.entries and array.size > _SHOWN:
            raise Rehearsed
        return array


class _Nothing:
    """A kernel that does nothing."""

    def __init__(self, stage: Rehearsal) -> None:
        self.stage = stage

    def __call__(self, _blocks: int, _threads: int, _arguments: Any) -> None:
        self.stage.left -= 1
        if self.stage.left < 0:
            raise Rehearsed

    together = __call__

    def reserve(self, _nbytes: int) -> None:
        """Reserve nothing: a kernel that does nothing needs none."""

    def at_once(self, _threads: int) -> int:
        return 1


def _totals(shape: Any, dtype: Any = float) -> np.ndarray:
    """Return zeros, or ones where a kernel would write counts."""
    counts = np.dtype(dtype) == np.uint64 and isinstance(shape, int) and shape <= _SHOWN
    return np.ones(shape, dtype) if counts else np.zeros(shape, dtype)


def rehearse(runs: Iterable[Callable[[], Any]], *, to_the_end: bool = False) -> list[tuple[str, str]]:
    """Return the kernels that these functions ask for, each once; failures in a rehearsal are ignored.

    With `to_the_end` comparisons do not fail, and each function runs twice: results have no entries, then some.
    """
    stages = [Rehearsal(), Rehearsal(entries=True)] if to_the_end else [Rehearsal()]
    for run in runs:
        for stage in stages:
            stage.left = _LAUNCHES
            before, agreeing = cuda.use(stage), _agreeing() if to_the_end else contextlib.nullcontext()
            try:
                # A failure here is seen again with the right values, so pytest need not explain it, which takes minutes
                # for long lists. SuiteSparse must see none of these objects.
                unexplained = mock.patch("_pytest.assertion.util._reprcompare", None)
                with contextlib.suppress(Exception), config.set(fallback="error"), agreeing, unexplained:
                    run()
            finally:
                cuda.use(before)
    return list(dict.fromkeys(case for stage in stages for case in stage.cases))


@contextlib.contextmanager
def _agreeing() -> Iterator[None]:
    """Make all comparisons succeed."""
    with contextlib.ExitStack() as patches:
        for kind in (Readable, ReadableVector):
            for name in ("isequal", "isclose"):
                patches.enter_context(mock.patch.object(kind, name, _same(getattr(kind, name))))
        for name in ("array_equal", "allclose"):
            patches.enter_context(mock.patch.object(np, name, return_value=True))
        for name in ("assert_array_equal", "assert_allclose", "assert_equal"):
            patches.enter_context(mock.patch.object(np.testing, name))
        yield


def _same(compare: Callable[..., bool]) -> Callable[..., bool]:
    def same(*arguments: Any, **options: Any) -> bool:
        with contextlib.suppress(Exception):
            compare(*arguments, **options)
        return True

    return same


def rehearsing() -> bool:
    """Return whether the device in use is a rehearsal, whose results mean nothing."""
    return cuda.reason() is None and isinstance(cuda.current(), Rehearsal)
