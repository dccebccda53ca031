"""Pictures of matrices and vectors, by python-graphblas's ``viz``: ``draw``, ``spy``, ``datashade``.

Each copies its argument to the CPU engine if it is elsewhere, and needs the packages that python-graphblas needs
(matplotlib, NetworkX, datashader).
"""

from __future__ import annotations

from typing import Any

from sparsezc.core.suitesparse import theirs
from sparsezc.engines import cpu
from sparsezc.engines.cpu.suitesparse import native

__all__ = ["datashade", "draw", "spy"]


def _call(name: str, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    cpu.engine()
    return getattr(native.gb.viz, name)(theirs(x), *args, **kwargs)


def draw(m: Any, **kwargs: Any) -> Any:
    """Draw the graph whose adjacency matrix is `m`, by NetworkX."""
    return _call("draw", m, (), kwargs)


def spy(M: Any, **kwargs: Any) -> Any:
    """Show where `M` has entries, by matplotlib's ``spy``."""
    return _call("spy", M, (), kwargs)


def datashade(M: Any, agg: Any = "count", **kwargs: Any) -> Any:
    """Show where a large `M` has entries, as an interactive picture of datashader."""
    return _call("datashade", M, (agg,), kwargs)


def __dir__() -> list[str]:
    return sorted(__all__)
