"""The engines that the operations are tested on: each test that takes `engine` runs once for each."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator

import pytest

from sparsezc import device
from sparsezc.errors import PerformanceWarning
from tests.emulator.device import EmulatedDevice, why_unavailable
from tests.emulator.rehearsal import rehearse
from tests.ops.judge import ENGINES, Engine


@pytest.fixture(scope="session")
def emulated() -> EmulatedDevice:
    """One emulated device for all tests: what it has compiled stays."""
    return EmulatedDevice()


@pytest.fixture(params=["cpu", "emulated", pytest.param("gpu", marks=pytest.mark.gpu)], ids=str)
def engine(request: pytest.FixtureRequest, emulated: EmulatedDevice) -> Iterator[Engine]:
    """Where operands are put before a statement runs."""
    if request.param != "emulated":
        yield ENGINES[request.param]
        return
    if reason := why_unavailable():
        pytest.skip(reason)
    before = device.use(emulated)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PerformanceWarning)  # what falls back is compared all the same
            yield ENGINES["emulated"]
    finally:
        device.use(before)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[object]:
    """Compile what a test needs of the emulated device before it runs."""
    under_test = pyfuncitem.funcargs.get("engine")
    if under_test is ENGINES["emulated"]:
        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        with contextlib.suppress(Exception):  # what fails in a rehearsal fails again, with the right values
            rehearse(lambda: pyfuncitem.obj(**arguments), pyfuncitem.funcargs["emulated"])
    return (yield)
