"""Fixtures for all tests: the judge in blocking mode, settings restored after a test, the `gpu` mark, one profile."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import graphblas
import pytest

from sparsezc.config import config
from sparsezc.device import cuda, launcher
from sparsezc.engines.cpu import compiled_loops as cpu_loops
from sparsezc.memory import budget
from tests import only_statements  # for its effect
from tests.emulator import ahead
from tests.emulator.device import EmulatedDevice, why_unavailable
from tests.networkx_backend import entry_points

# The judge must be right: in its default, nonblocking mode SuiteSparse can corrupt an input. This must come before any
# other name of graphblas is used, and so before any test module is imported.
if "PYTEST_XDIST_WORKER" in os.environ:  # the processes share the cores already
    os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_OPT", "0")  # tests apply Python functions to a few entries: compiling costs more
# Ranks share the cores with other tests, so a rank that waits sleeps between polls and yields its core.
os.environ.setdefault("MPIR_CVAR_CH4_PROGRESS_THROTTLE", "1")
os.environ.setdefault("MPIR_CVAR_ENABLE_HEAVY_YIELD", "1")
# Code compiled without optimisation must not enter the user's cache; all test processes share one of their own.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).resolve().parents[1] / ".pytest_cache" / "numba"))
graphblas.init("suitesparse", blocking=True)

# NetworkX must find the backend also where the checkout is not installed, and before a test imports it.
_METADATA = TemporaryDirectory()
entry_points.provide(Path(_METADATA.name))

try:
    import hypothesis
except ModuleNotFoundError:  # a GPU machine may have only the packages that its own tests need
    pass
else:
    # CI runs the same examples every time, so that its failures can be repeated; elsewhere they are random, so that
    # many runs together try more than 50.
    hypothesis.settings.register_profile(
        "sparsezc", deadline=None, max_examples=50, derandomize=bool(os.environ.get("CI"))
    )
    hypothesis.settings.load_profile("sparsezc")


gc.disable()  # until all tests are collected: objects made till then are never freed, and scanning them takes time
assert cpu_loops.pays is not only_statements.loops_pay
launcher.always_check = True  # outside tests only the first launch of a kernel with given argument names is checked


@cache
def why_no_gpu() -> str | None:
    """Return why no test can use a GPU here, or None if one can; CuPy is asked, not the code under test."""
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
def emulated() -> EmulatedDevice:
    """Return the emulated GPU that all tests share."""
    if reason := why_unavailable():
        pytest.skip(reason)
    return EmulatedDevice()


@pytest.fixture(params=["emulated", pytest.param("gpu", marks=pytest.mark.gpu)], ids=str)
def gpu(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Put a device in use while a test runs, and return it."""
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
    """Put the emulated device in use, counting requests to host memory."""
    monkeypatch.setattr(emulated, "order", "lockstep")
    monkeypatch.setattr(emulated, "counting", True)
    before = cuda.use(emulated)
    try:
        yield emulated
    finally:
        cuda.use(before)


@pytest.fixture(autouse=True)
def only_gpu_tests_see_the_gpu(request: pytest.FixtureRequest) -> Iterator[None]:
    """Hide a real GPU from tests without the mark `gpu`, which expect the choices of "auto" where there is none."""
    if request.node.get_closest_marker("gpu") is not None or why_no_gpu() is not None:
        yield
        return
    before = cuda.use(None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuda, "_reason", "no GPU: it is hidden from tests that are not marked gpu")
        yield
    cuda.use(before)


@pytest.fixture(autouse=True)
def settings_stay() -> Iterator[None]:
    """Restore the configuration after each test, and drop caches that count towards a budget."""
    with config.set(**vars(config)):
        yield
    budget.reclaim()


def pytest_report_header() -> str:
    """Return the line at the top of a run that tells whether it tests the GPU."""
    reason = why_no_gpu()
    return "gpu: tests marked gpu run" if reason is None else f"gpu: tests marked gpu are skipped ({reason})"


def pytest_collection_finish(session: pytest.Session) -> None:
    """Freeze the tests and their modules, which live to the end, so that garbage collections do not scan them."""
    if len(session.items) > 5000:  # a run of all tests
        ahead.use()
    gc.enable()
    gc.set_threshold(10_000)  # allocations, not 700: collecting the young generation took 2% of the tests' time
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs a GPU where there is none."""
    if item.get_closest_marker("gpu") and (reason := why_no_gpu()):
        pytest.skip(f"needs a GPU: {reason}")
