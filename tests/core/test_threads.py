"""Threads that share objects: every answer is that of a sequential order of the calls, and no thread waits for ever.

Code that may end the process runs in a child process; ``tests/campaigns/threads.py`` tries far more.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import sparsezc as gb
from sparsezc.config import changing
from sparsezc.engines.cpu.suitesparse import native
from sparsezc.engines.gpu.runtime import launch
from sparsezc.exceptions import InvalidObject
from sparsezc.process.locks import hold_locks

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60.0  # seconds, after which a thread counts as waiting for ever

_PLAY = """
import numpy as np
import sparsezc as gb
from tests.campaigns.threads import play
{before}
for seed in {seeds}:
    tried, said = play(np.random.default_rng(seed), {calls}, {engine!r})
    assert said is None, said
print(sum(tried.values()))
"""
_EMULATED = """
from sparsezc.device import cuda
from tests.emulator.device import EmulatedDevice
cuda.use(EmulatedDevice())
gb.config.set(fallback="silent")
"""


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Return the answers of calls that begin at once, each in a thread of its own."""
    answers: list[Any] = [None] * len(calls)
    start = threading.Barrier(len(calls))

    def run(k: int) -> None:
        start.wait()
        try:
            answers[k] = calls[k]()
        except Exception as error:
            answers[k] = error

    threads = [threading.Thread(target=run, args=(k,), daemon=True) for k in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert not any(thread.is_alive() for thread in threads), "threads wait for each other"
    return answers


def again(count: int, call: Callable[[], Any]) -> Callable[[], None]:
    def run() -> None:
        for _ in range(count):
            call()

    return run


def played(seeds: range, calls: int, engine: str, before: str = "") -> None:
    program = _PLAY.format(seeds=list(seeds), calls=calls, engine=engine, before=before)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) > 0


def test_any_calls_from_eight_threads_on_the_same_objects() -> None:
    played(range(4), 40, "cpu")


def test_the_same_on_the_gpu_engine(request: pytest.FixtureRequest) -> None:
    from tests.emulator.device import why_unavailable

    if reason := why_unavailable():
        pytest.skip(reason)
    played(range(1), 6, "gpu", _EMULATED)


def test_no_update_is_lost() -> None:
    v, A, s = gb.Vector.from_scalar(0, 3, int), gb.Matrix.from_coo([0], [1], [0], nrows=3, ncols=3), gb.Scalar(int)
    s << 0

    def add() -> None:
        v(gb.binary.plus)[1] << 1
        v << v.apply(gb.binary.plus, 1)
        A(gb.binary.plus) << A.apply(gb.unary.one)
        s(gb.binary.plus) << 1

    together(*[again(100, add)] * 4)
    assert (v.to_dense().tolist(), A[0, 1].value, s.value) == ([400, 800, 400], 400, 400)


def test_elements_written_before_there_is_a_store_are_not_lost() -> None:
    def write(v: Any, k: int) -> None:
        v[k] = k
        v[k + 8] = k + 8

    for _ in range(20):
        v = gb.Vector(int, 16)
        together(*(partial(write, v, k) for k in range(8)), v.dup, v.to_coo)
        assert v.to_dict() == {i: i for i in range(16)}


def test_two_that_need_each_other_do_not_wait_for_each_other() -> None:
    u, v = gb.Vector.from_scalar(1, 3, int), gb.Vector.from_scalar(1, 3, int)
    A, B = gb.Matrix.from_dense([[1, 2], [3, 4]]), gb.Matrix.from_dense([[1, 2], [3, 4]])
    pairs: list[Callable[[Any, Any], Any]] = [
        lambda a, b: a.isequal(b),
        lambda a, b: a(b.S) << b,
        lambda a, b: a << a.ewise_mult(b),
        lambda a, b: a.dup(mask=b.S),
        lambda a, b: (a.S & b.S).new(),
        lambda a, b: (a.S | b.S).new(),
        lambda a, b: a(a.S, input_mask=None) << b,
    ]
    for call in pairs:
        for x, y in ((u, v), (A, B)):
            together(again(40, lambda: call(x, y)), again(40, lambda: call(y, x)))  # noqa: B023
    together(again(40, lambda: A.setdiag(u[:2].new())), again(40, lambda: u << A.reduce_scalar()))


def test_an_index_or_a_value_that_is_read_first_waits_for_no_statement() -> None:
    u, v = gb.Vector.from_scalar(1, 3, int), gb.Vector.from_scalar(1, 3, int)

    def exchange(a: Any, b: Any) -> None:
        a[b[0]] = 1
        a[:] = [b[0], 1, b[2]]
        a[[0, 2]] = b[[0, 2]]

    assert together(again(60, lambda: exchange(u, v)), again(60, lambda: exchange(v, u))) == [None, None]
    assert u.to_dense().tolist() == v.to_dense().tolist() == [1, 1, 1]


def test_objects_of_their_own_do_not_wait() -> None:
    u, v = gb.Vector.from_scalar(1, 3), gb.Vector.from_scalar(1, 3)
    with hold_locks(u):
        assert together(lambda: v.nvals, lambda: v << v.apply(gb.unary.ainv)) == [3, None]


def test_what_an_expression_computed_is_given_to_the_thread_that_asked() -> None:
    x = gb.Vector.from_scalar(1, 3, int).apply(gb.unary.identity)
    mine = x.computed("a test")
    (other,) = together(x.new)
    assert other is not mine
    x = gb.Vector.from_scalar(1, 3, int).apply(gb.unary.identity)
    mine = x.computed("a test")
    assert x.new() is mine


def test_settings_come_back_in_whatever_order_blocks_end() -> None:
    first = gb.config.set(fallback="error")
    second = gb.config.set(fallback="silent")
    for block in (second, first):  # threads may enter the blocks in any order
        block.__enter__()
    first.__exit__(None, None, None)
    assert gb.config.fallback == "silent"
    second.__exit__(None, None, None)
    assert gb.config.fallback == "warn"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_waits_for_no_other_thread() -> None:
    u, v = gb.Vector.from_scalar(1, 3, int), gb.Vector.from_scalar(1, 3, int)
    unfinished = gb.Vector.__new__(gb.Vector)  # as after a constructor that failed: it has no lock
    taken, go = threading.Event(), threading.Event()

    def keep() -> None:
        with hold_locks(v), native.making, changing:
            taken.set()
            go.wait(SECONDS)

    thread = threading.Thread(target=keep)
    thread.start()
    taken.wait()
    pid = os.fork()
    if not pid:
        signal.alarm(20)
        try:
            os._exit(_in_child(u, v))
        finally:
            os._exit(4)
    assert os.waitpid(pid, 0)[1] == 0
    assert not hasattr(unfinished, "_lock")
    go.set()
    thread.join()
    assert v.nvals == 3


def _in_child(u: Any, v: Any) -> int:
    """Return 0 if unlocked objects work in the forked child, and those that another thread had locked raise."""
    with gb.config.set(mapnumpy=True), native.making:
        u[1] = 5
    if u.to_dense().tolist() != [1, 5, 1]:
        return 1
    for call in (v.to_coo, lambda: v.nvals, lambda: u << v, lambda: v << 1):
        try:
            call()
        except InvalidObject:
            continue
        return 2
    return 0


def test_objects_of_the_gpu_engine_have_its_lock(gpu: Any) -> None:
    A = gb.Matrix.from_coo([0], [1], [1.0], nrows=2, ncols=2)
    own = A._lock
    B, v = A.to("gpu"), gb.Vector.from_scalar(1.0, 2)
    assert B._lock is B.T._lock is launch.lock
    assert own is A._lock is not launch.lock
    v << B.mxv(v)  # moves v to the GPU engine
    assert v._lock is B.dup()._lock is v.dup()._lock is launch.lock
