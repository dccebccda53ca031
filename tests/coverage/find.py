"""The engine of a statement, found by running it on python-graphblas, the CPU engine and the GPU engine."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import graphblas
import numpy as np

import sparsezc
from sparsezc.engines.cpu.cpu_engine import CpuEngine
from tests.emulator.rehearsal import rehearsing
from tests.ops.judge import Operands, make, operands, plain, same

NATIVE, FALLBACK, HOST, ABSENT = "native", "by fallback", "on the host", "absent"
Runs = Callable[[Any, Any], Any]


def arrays() -> dict[str, Any]:
    return operands(7, "INT64", n=7, density=0.5)


def seen(x: Any) -> Any:
    """Return a statement's result in a form that can be compared between the libraries."""
    if hasattr(x, "to_coo") or type(x).__name__ == "Scalar":
        return plain(x.new() if not hasattr(x, "dup") or hasattr(x, "left") else x)
    if isinstance(x, np.ndarray):
        return ("array", x.tolist())
    if isinstance(x, list | tuple):
        return ("list", *map(seen, x))
    if isinstance(x, dict):
        return ("dict", sorted((str(k), seen(v)) for k, v in x.items()))
    return ("value", getattr(x, "name", x))


def agree(got: Any, want: Any) -> bool:
    """Return whether two results are equal, floats up to rounding."""
    if got[0] == want[0] == "list":
        return len(got) == len(want) and all(map(agree, got[1:], want[1:]))
    if got[0] in ("array", "list", "dict", "value"):
        return bool(got == want)
    return same(got, want)


@contextmanager
def cpu_engine_watched() -> Iterator[list[str]]:
    """Collect the names of the CPU engine's methods that are called."""
    asked: list[str] = []
    kinds = [kind for kind in CpuEngine.__mro__ if kind is not object]
    real = [(kind, *each) for kind in kinds for each in vars(kind).items() if callable(each[1]) and each[0][0] != "_"]

    def watched(name: str, method: Any) -> Any:
        def noted(*arguments: Any, **options: Any) -> Any:
            asked.append(name)
            return method(*arguments, **options)

        return noted

    for kind, name, method in real:
        setattr(kind, name, watched(name, method))
    try:
        yield asked
    finally:
        for kind, name, method in real:
            setattr(kind, name, method)


def on_cpu(label: str, statement: Runs) -> None:
    """Run a statement on python-graphblas and on the CPU engine, and check that both results are equal."""
    with warnings.catch_warnings(), sparsezc.config.set(autocompute=True), graphblas.config.set(autocompute=True):
        warnings.simplefilter("ignore")
        want = seen(statement(graphblas, Operands(lambda x: make(graphblas, x), arrays())))
        got = seen(statement(sparsezc, Operands(lambda x: make(sparsezc, x), arrays())))
    assert agree(got, want), f"{label}: {got} instead of {want}"


def on_gpu(label: str, statement: Runs) -> str:
    """Return the state of a statement whose operands are on the GPU: native, on the host, or by fallback."""
    put: list[Any] = []

    def there(x: Any) -> Any:
        made = make(sparsezc, x).to("gpu")
        put.append(made)
        return made

    with warnings.catch_warnings(), sparsezc.config.set(autocompute=True, fallback="error", engine="gpu"):
        warnings.simplefilter("ignore")
        given = Operands(there, arrays())
        for name in arrays():
            getattr(given, name)
        try:
            with cpu_engine_watched() as asked:
                made = statement(sparsezc, given)
                done = NATIVE if not asked else HOST
                got = seen(made)
        except sparsezc.exceptions.NotImplementedException:
            done = FALLBACK
            with sparsezc.config.set(fallback="silent"):
                got = seen(statement(sparsezc, Operands(there, arrays())))
        if rehearsing():
            return done
        with sparsezc.config.set(engine="cpu"):
            want = seen(statement(sparsezc, Operands(lambda x: make(sparsezc, x), arrays())))
    assert agree(got, want), f"{label} on the GPU: {got} instead of {want}"
    return done
