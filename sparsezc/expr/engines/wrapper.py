"""Wrappers of engines, which observe or replace some methods: in one thread, within a ``with`` block.

>>> import sparsezc as gb
>>> from sparsezc.expr import engines
>>> class Listing(engines.EngineWrapper):
...     def run(self, expression, out, write):
...         print(expression.operation)
...         self.engine.run(expression, out, write)
>>> v = gb.Vector.from_coo([0], [2], size=3)
>>> with engines.through(Listing(engines.get("cpu"))):
...     v << v.apply(gb.unary.ainv)
apply
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

from sparsezc.expr.engines.registry import WRAPPERS

__all__ = ["EngineWrapper", "Stepping", "stepping", "through"]


class EngineWrapper:
    """A wrapper of an engine; a subclass defines the methods that it replaces, all others are the engine's.

    Objects and stores stay those of the wrapped engine, and :func:`through` installs the wrapper. Statements, calls of
    capabilities and reads of vectors' entries then go through it; all other calls reach the wrapped engine directly.

    Attributes
    ----------
    engine : Engine
        The wrapped engine, which the wrapper's own methods call.
    """

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)


W = TypeVar("W", bound=EngineWrapper)


@contextmanager
def through(wrapper: W) -> Iterator[W]:
    """Redirect this thread's calls of an engine to a wrapper of it; other threads still call the engine itself.

    If two wrappers of an engine are nested, the inner one replaces the outer one.
    """
    token = WRAPPERS.set({**WRAPPERS.get(), id(wrapper.engine): wrapper})
    try:
        yield wrapper
    finally:
        WRAPPERS.reset(token)


#: The capabilities that run rounds of a loop, or count the entries of rows, in place of statements.
_LOOPS = frozenset({
    "search", "searches", "shorten", "components", "local_pagerank", "follow", "part", "run_loop", "run_arrays",
    "replay", "replay_buckets", "row_lengths",
})  # fmt: skip


class Stepping(EngineWrapper):
    """A wrapper that hides the capabilities that run loops, so that algorithms run the statements of every loop."""

    def __getattr__(self, name: str) -> Any:
        if name in _LOOPS:
            raise AttributeError(f"{self.engine.name} runs statements here, not {name}")
        return super().__getattr__(name)


def stepping(engine: Any) -> AbstractContextManager[Stepping]:
    """Return a context in which this thread's algorithms run the statements of every loop on an engine."""
    return through(Stepping(engine))
