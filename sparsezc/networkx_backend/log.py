"""A log of NetworkX's calls, in one line each: sent to this backend, or not sent and why."""

from __future__ import annotations

import logging
import sys
from typing import Any, TextIO

__all__ = ["log_calls"]


#: The logger of all records about backends.
_LOGGER = logging.getLogger("networkx.utils.backends")


class _Calls(logging.Filter):
    """A logging filter that writes NetworkX's records about this backend, without arguments, which may be graphs.

    A logger's filter receives records before the program's handlers; it passes those that they received without it.
    """

    def __init__(self, file: TextIO | None, level: int) -> None:
        super().__init__()
        self.level = level  # the logger's level, to be restored
        self._file = file

    def filter(self, record: logging.LogRecord) -> bool:
        self._write(record)
        above = _LOGGER.parent or logging.root
        return record.levelno >= (self.level or above.getEffectiveLevel())

    def _write(self, record: logging.LogRecord) -> None:
        given: Any = record.args
        if not isinstance(given, tuple) or len(given) < 2:
            return
        if record.msg.startswith("Failed to convert") and isinstance(given[-1], Exception):  # the call named it
            given = given[1:]
        elif not record.msg.startswith(("Using backend", "Backend")):
            return
        if given[0] != "sparsezc" or _is_networkxs_own():
            return
        file = sys.stderr if self._file is None else self._file
        if record.msg.startswith("Using backend"):
            file.write(f"{given[1]} was sent\n")
            return
        reason = str(given[-1]).removeprefix(", because: ").removeprefix(f"{given[1]}: ").removeprefix("sparsezc: ")
        reason = reason.partition("; NetworkX itself computes")[0]
        file.write(f"{given[1]} was {'refused' if _was_called(*given[1:]) else 'not sent'}: {reason}\n")


def _was_called(name: str, reason: Any, *_: Any) -> bool:
    """Return whether the backend's function itself raised `reason`, not a condition or a conversion before it."""
    from sparsezc.networkx_backend.graphs.claims import CLAIMS

    at = getattr(reason, "__traceback__", None)
    while at is not None:
        if name in CLAIMS and at.tb_frame.f_code is getattr(CLAIMS[name].function, "__code__", None):
            return True
        at = at.tb_next
    return False


def _is_networkxs_own() -> bool:
    """Return whether another function of NetworkX made the logged call."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        wraps = module.startswith(("logging", "networkx.utils", __name__)) or "argmap" in frame.f_code.co_filename
        if not wraps:
            return bool(module.startswith("networkx."))
        frame = frame.f_back
    return False


def log_calls(file: TextIO | None = None, *, on: bool = True) -> None:
    """Write a line for each call of NetworkX's functions: that it was sent here, or the reason why not.

    The function may still refuse the graph of a sent call: then a second line gives the reason.

    Only calls that the program makes under ``nx.config.backend_priority``, or with ``backend="sparsezc"``, have lines.
    The program's other logs receive the same records of NetworkX as without this function.

    Parameters
    ----------
    file : text file, optional
        The file for all lines from this call on; standard error by default.
    on : bool, default True
        False stops writing, and restores NetworkX's logger.

    Examples
    --------
    >>> import sys
    >>> import networkx as nx
    >>> from sparsezc.networkx_backend import log_calls
    >>> log_calls(sys.stdout)
    >>> nx.number_of_isolates(nx.path_graph(3), backend="sparsezc")
    number_of_isolates was sent
    0
    >>> log_calls(on=False)
    """
    for kept in [each for each in _LOGGER.filters if isinstance(each, _Calls)]:
        _LOGGER.removeFilter(kept)
        _LOGGER.setLevel(kept.level)
    if on:
        _LOGGER.addFilter(_Calls(file, _LOGGER.level))
        _LOGGER.setLevel(logging.DEBUG)
