"""The engines that the operations are tested on: each test that takes `engine` runs once for each."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from sparsezc.device import cuda
from sparsezc.exceptions import PerformanceWarning
from tests.emulator import ahead as compile_ahead
from tests.emulator.rehearsal import rehearse
from tests.ops.judge import ENGINES, Engine

_AHEAD = 12  # tests rehearsed together, some 50 kernels: another process may take the next tests
_BEGUN = pytest.StashKey[set[str]]()  # the tests whose kernels are compiled


def _alike(one: Any, other: Any) -> bool:
    """Return whether two tests are one function on one engine."""
    function, engine = getattr(one, "function", None), getattr(one, "callspec", other.callspec).params.get("engine")
    return function is other.function and engine == other.callspec.params["engine"]


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """Compile together the kernels of a test marked `many_kernels` and of the next tests of its function.

    In a run of all tests, kernels are compiled in the groups of an earlier run, and nothing is rehearsed.
    """
    engine = pyfuncitem.funcargs.get("engine")
    marked = pyfuncitem.get_closest_marker("many_kernels") is not None and not compile_ahead.in_use
    if marked and str(engine).startswith("emulated"):
        begun = pyfuncitem.config.stash.setdefault(_BEGUN, set())
        if pyfuncitem.nodeid not in begun:
            at = pyfuncitem.session.items.index(pyfuncitem)
            ahead = [x for x in pyfuncitem.session.items[at : at + _AHEAD] if _alike(x, pyfuncitem)]
            begun |= {x.nodeid for x in ahead}
            runs = [partial(x.obj, **x.callspec.params | {"engine": engine}) for x in ahead]
            cuda.current().compile_many(rehearse(runs))
    return (yield)


def _marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.gpu] * name.startswith("gpu") + [pytest.mark.slow] * name.endswith("-full")


@pytest.fixture(params=[pytest.param(name, marks=_marks(name)) for name in ENGINES])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Yield the engine to which operands are moved before a statement runs."""
    under_test = ENGINES[request.param]
    before = cuda.use(request.getfixturevalue("emulated")) if under_test.name.startswith("emulated") else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PerformanceWarning)  # results of a fallback are compared all the same
            yield under_test
    finally:
        if before is not None or under_test.name.startswith("emulated"):
            cuda.use(before)
