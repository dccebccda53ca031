"""Fixtures for all tests: the judge in blocking mode, settings that end with a test, the `gpu` mark, one profile."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import cache, partial
from inspect import isgenerator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import graphblas
import pytest

from sparsezc.config import config
from sparsezc.device import cuda, launcher
from sparsezc.memory import budget
from tests.emulator.device import EmulatedDevice, why_unavailable
from tests.emulator.rehearsal import rehearse
from tests.networkx_backend import entry_points

# The judge must be right: in its default, nonblocking mode SuiteSparse can corrupt an input. This must come before any
# other name of graphblas is used, and so before any test module is imported.
if "PYTEST_XDIST_WORKER" in os.environ:  # processes share the cores already
    os.environ.setdefault("OMP_NUM_THREADS", "1")
graphblas.init("suitesparse", blocking=True)

# NetworkX must find the backend also where the checkout is not installed, and before a test imports it.
_METADATA = TemporaryDirectory()
entry_points.provide(Path(_METADATA.name))

try:
    import hypothesis
except ModuleNotFoundError:  # a GPU machine may have only what its own tests need
    pass
else:
    # Examples are the same in every run of CI, so that a failure there is a failure here; elsewhere they roam.
    hypothesis.settings.register_profile("sparsezc", deadline=None, derandomize=bool(os.environ.get("CI")))
    hypothesis.settings.load_profile("sparsezc")


launcher.always_check = True  # outside tests only the first launch of a kernel is checked


@cache
def why_no_gpu() -> str | None:
    """Why no test can use a GPU here, or None where one can: asked of CuPy itself, not of the code under test."""
    try:
        import cupy
    except ImportError as error:
        return f"CuPy cannot be imported: {error}"
    try:
        if cupy.cuda.runtime.getDeviceCount() == 0:
            return "CuPy finds no GPU"
        if int(cupy.arange(3).sum()) != 3:
            return "CuPy computes wrongly on this GPU"
    except Exception as error:  # CuPy raises a class of its own for each library that fails
        return f"CuPy cannot use a GPU: {type(error).__name__}: {error}"
    return None


@pytest.fixture(scope="session")
def emulated(request: pytest.FixtureRequest) -> Iterator[EmulatedDevice]:
    """One emulated GPU for all tests; kernels that they will ask of it are compiled together, while tests run."""
    if reason := why_unavailable():
        pytest.skip(reason)
    made = EmulatedDevice()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        items, processes = _share(request.session)
        knowing, others = _plays(items)
        needed = [*rehearse(knowing), *rehearse(others, to_the_end=True)]
    with made.compiling(needed, processes):
        yield made


_FIRST = pytest.StashKey[pytest.Item]()  # the test that this process ran first


def _share(session: pytest.Session) -> tuple[list[pytest.Item], int]:
    """The tests that this process begins with, and how many processes share them all (pytest-xdist's ``-n``).

    ``--dist worksteal`` gives each a part of the list; of what it takes from others later the kernels are there.
    """
    worker: dict[str, Any] | None = getattr(session.config, "workerinput", None)
    if worker is None:
        return session.items, 1
    count, processes = len(session.items), worker["workercount"]
    number = session.items.index(session.config.stash[_FIRST]) * processes // count
    first, end = (count * k // processes for k in (number, number + 1))
    return session.items[first:end], processes


@pytest.fixture(params=["emulated", pytest.param("gpu", marks=pytest.mark.gpu)], ids=str)
def gpu(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The device in use while a test runs."""
    if request.param == "gpu":
        yield cuda.current()
        return
    emulated = request.getfixturevalue("emulated")
    before = cuda.use(emulated)
    try:
        yield emulated
    finally:
        cuda.use(before)


@pytest.fixture
def counting(emulated: EmulatedDevice, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmulatedDevice]:
    """The emulated device in use, counting requests to host memory."""
    monkeypatch.setattr(emulated, "order", "lockstep")
    monkeypatch.setattr(emulated, "counting", True)
    before = cuda.use(emulated)
    try:
        yield emulated
    finally:
        cuda.use(before)


def _plays(items: list[Any]) -> tuple[list[Callable[[], None]], list[Callable[[], None]]]:
    """The tests that run on the emulated device, for a rehearsal.

    First those that take an ``engine``, whose judge knows of rehearsals; then those that take ``gpu`` or ``emulated``.
    """
    from tests.ops.judge import ENGINES

    knowing, others = [], []
    for item in items:
        given = dict(item.callspec.params) if hasattr(item, "callspec") else {}
        if str(given.get("engine", "")).startswith("emulated"):
            knowing.append(partial(_act, item, given | {"engine": ENGINES[given["engine"]]}))
        elif given.get("gpu", "emulated") == "emulated" and {"gpu", "emulated"} & set(item.fixturenames):
            others.append(partial(_act, item, given))
    return knowing, others


def _act(item: Any, parameters: dict[str, Any]) -> None:
    """Call a test with what stands for its fixtures in a rehearsal: its own ones are made, the device is the stage."""
    definitions, asked = item._fixtureinfo.name2fixturedefs, item._fixtureinfo.argnames
    with suppress(pytest.fail.Exception, pytest.skip.Exception), ExitStack() as endings:  # which are no Exceptions
        known = dict.fromkeys(("gpu", "emulated"), cuda.current())
        known |= {"engine": parameters.get("engine"), "settings_stay": None}
        known["monkeypatch"] = endings.enter_context(pytest.MonkeyPatch.context())

        def value_of(name: str) -> Any:
            if name not in known:
                definition = definitions[name][-1]
                request = SimpleNamespace(param=parameters.get(name), getfixturevalue=value_of)
                made = definition.func(**{x: request if x == "request" else value_of(x) for x in definition.argnames})
                if isgenerator(made):
                    endings.callback(next, made, None)
                    made = next(made)
                known[name] = made
            return known[name]

        for name in item.fixturenames:
            if name in definitions:
                value_of(name)
        item.obj(**{name: known[name] for name in asked})


@pytest.fixture(autouse=True)
def settings_stay() -> Iterator[None]:
    """Restore the configuration after each test, and drop caches that count towards a budget."""
    with config.set(**vars(config)):
        yield
    budget.reclaim()


def pytest_report_header() -> str:
    """Say at the top of a run whether it tests the GPU."""
    reason = why_no_gpu()
    return "gpu: tests marked gpu run" if reason is None else f"gpu: tests marked gpu are skipped ({reason})"


def pytest_collection_finish() -> None:
    """Thousands of tests and the modules below them stay to the end: collections of garbage need not look at them."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a GPU where there is none."""
    item.config.stash.setdefault(_FIRST, item)
    if item.get_closest_marker("gpu") and (reason := why_no_gpu()):
        pytest.skip(f"needs a GPU: {reason}")
