"""Engines on top of others, which watch or replace some of their methods: in one thread, for a time.

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
    """An engine that holds another one; a subclass has the methods that it watches, and all others are the other's.

    Objects and stores stay those of the engine that it holds, and :func:`through` puts it in place. It is asked for
    statements, for capabilities and for the entries of vectors; all else is asked of the engine that it holds.

    Attributes
    ----------
    engine : Engine
        The engine that it holds, which the wrapper's own methods call.
    """

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)


W = TypeVar("W", bound=EngineWrapper)


@contextmanager
def through(wrapper: W) -> Iterator[W]:
    """Redirect this thread's calls of an engine to a wrapper of it; other threads still call the engine itself.

    The inner one of two wrappers of an engine replaces the outer one.
    """
    token = WRAPPERS.set({**WRAPPERS.get(), id(wrapper.engine): wrapper})
    try:
        yield wrapper
    finally:
        WRAPPERS.reset(token)


#: The capabilities that run rounds of a loop, or tell degrees, in place of statements.
_LOOPS = frozenset({
    "search", "searches", "shorten", "components", "local_pagerank", "follow", "part", "run_loop", "run_arrays",
    "replay", "replay_buckets", "row_lengths",
})  # fmt: skip


class Stepping(EngineWrapper):
    """An engine that runs the statements of every loop, as one without these capabilities does."""

    def __getattr__(self, name: str) -> Any:
        if name in _LOOPS:
            raise AttributeError(f"{self.engine.name} runs statements here, not {name}")
        return super().__getattr__(name)


def stepping(engine: Any) -> AbstractContextManager[Stepping]:
    """Have an engine run the statements of every loop in this thread meanwhile."""
    return through(Stepping(engine))
