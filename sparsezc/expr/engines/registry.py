"""The engines by name, sparsezc's own and those that programs register, and the lookup of their capabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sparsezc.config import Config
from sparsezc.device import cuda
from sparsezc.exceptions import DeviceUnavailable, InvalidValue
from sparsezc.expr.engines.protocol import Engine
from sparsezc.process import first_use

if TYPE_CHECKING:
    from sparsezc.expr.engines.wrapper import EngineWrapper

__all__ = ["WRAPPERS", "can", "capability", "get", "has_placements", "in_use", "needs_device", "register"]

#: For each engine the function that returns it, and starts it at its first call.
_known: dict[str, Callable[[], Engine]] = {
    name: first_use.provided(f"engine {name}") for name in ("cpu", "gpu", "distributed")
}
_OURS = frozenset({"cpu", "gpu"})  # not "distributed": a program may start another on other processes
_running: dict[str, Engine] = {}  # our engines that were started
_ON_DEVICE = frozenset({"gpu"})  # our engines that need a device, which may be lost; they have placements
#: This thread's wrappers, by the identity of the engine that each wraps.
WRAPPERS: ContextVar[Mapping[int, EngineWrapper]] = ContextVar("WRAPPERS", default=MappingProxyType({}))
_METHODS = [name for name in vars(Engine) if name[0] != "_"]


def register(name: str, engine: str | Engine) -> None:
    """Make another engine known to ``config.engine``, ``A.to(name)`` and ``v.to(name)``.

    Parameters
    ----------
    name : str
        The engine's name; it replaces an engine that was registered under it before.
    engine : Engine or str
        The engine, whose `name` is the same; or the name of a module with a function ``engine()``, which is called
        whenever the engine is needed.

    Raises
    ------
    InvalidValue
        The name is one of sparsezc's own engines, or differs from the engine's `name`.
    TypeError
        The engine lacks a method of :class:`Engine`.
    """
    if name in _OURS or name == "auto":
        raise InvalidValue(f"engine name {name!r} is taken: it is sparsezc's own")
    if not isinstance(engine, str):
        missing = [method for method in (*_METHODS, "name", "lock") if not hasattr(engine, method)]
        if missing:
            raise TypeError(f"engine {name!r} lacks {', '.join(missing)}; see sparsezc.expr.engines.Engine")
        if engine.name != name:
            raise InvalidValue(f"engine {name!r} calls itself {engine.name!r}; both must be the same")
    _known[name] = first_use.function(engine, "engine") if isinstance(engine, str) else lambda: engine
    Config.engines.add(name)


def get(name: str, asked: str | None = None) -> Engine:
    """Return the engine of this name, started at first use; errors name `asked`, the user's setting that needs it.

    Raises
    ------
    InvalidValue
        The name is unknown.
    DeviceUnavailable
        The engine is ``"gpu"`` and no GPU can be used; the message gives the reason.
    """
    if name not in _known:
        known = " or ".join(map(repr, _known))
        raise InvalidValue(f"engine={name!r} is not an engine; choose {known}")
    running = _running.get(name)
    if running is not None and (name not in _ON_DEVICE or cuda.reason() is None):
        return running
    try:
        engine = _known[name]()
    except DeviceUnavailable as error:
        if asked is None:
            raise
        raise DeviceUnavailable(f"{asked} needs a GPU, and there is {error}") from None
    if name in _OURS:
        _running[name] = engine
    return engine


def in_use(engine: Any) -> Any:
    """Return this thread's wrapper of an engine, or the engine itself."""
    return WRAPPERS.get().get(id(engine), engine)


def capability(engine: Engine, name: str) -> Callable[..., Any]:
    """Return an engine's method of :class:`~sparsezc.expr.engines.Capabilities`, or a function that returns None."""
    found: Callable[..., Any] = getattr(in_use(engine), name, _cannot)
    return found


def can(engine: Engine, name: str) -> bool:
    """Return whether an engine has a capability, which may still return None for a store."""
    return capability(engine, name) is not _cannot


def _cannot(*_: Any) -> None:
    pass


def needs_device(name: str) -> bool:
    """Return whether the named engine needs a device, without starting it; its matrices have placements."""
    return name in _ON_DEVICE


def has_placements(engine: Engine) -> bool:
    """Return whether an engine's matrices can be in memory other than host memory."""
    return capability(engine, "placements")() is not None
