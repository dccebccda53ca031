"""NetworkX's log of the calls that it sent here, in one line each."""

from __future__ import annotations

import logging
import sys
from typing import Any, TextIO

__all__ = ["log_calls"]


class _Calls(logging.StreamHandler[Any]):
    """Writes what NetworkX's records say of this backend, but not the arguments, which may be whole graphs."""

    def emit(self, record: logging.LogRecord) -> None:
        given: Any = record.args
        if not isinstance(given, tuple) or len(given) < 2 or given[0] != "sparsezc" or _is_networkxs_own():
            return
        if record.msg.startswith("Using backend"):
            self.stream.write(f"{given[1]} was sent\n")
        elif record.msg.startswith("Backend"):
            reason = str(given[-1]).removeprefix(", because: ").removeprefix(f"{given[1]}: ")
            reason = reason.partition("; NetworkX itself computes")[0]
            self.stream.write(f"{given[1]} was not sent: {reason}\n")


def _is_networkxs_own() -> bool:
    """Return whether the call that is logged comes from another function of NetworkX."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        wraps = module.startswith(("logging", "networkx.utils", __name__)) or "argmap" in frame.f_code.co_filename
        if not wraps:
            return bool(module.startswith("networkx."))
        frame = frame.f_back
    return False


def log_calls(file: TextIO | None = None) -> None:
    """Write a line for each call of NetworkX's functions: that it is sent here, or why not.

    That is, of the calls that a program makes under ``nx.config.backend_priority``, or with ``backend="sparsezc"``.
    ``logging.getLogger("networkx").setLevel("WARNING")`` ends it.

    Parameters
    ----------
    file : text file, optional
        Where lines go, from this call on; standard error by default.

    Examples
    --------
    >>> import logging, sys
    >>> import networkx as nx
    >>> from sparsezc.networkx_backend import log_calls
    >>> log_calls(sys.stdout)
    >>> nx.number_of_isolates(nx.path_graph(3), backend="sparsezc")
    number_of_isolates was sent
    0
    >>> logging.getLogger("networkx").setLevel("WARNING")
    """
    logger = logging.getLogger("networkx")
    for each in [each for each in logger.handlers if isinstance(each, _Calls)]:
        logger.removeHandler(each)
    logger.addHandler(_Calls(file))
    logger.setLevel(logging.DEBUG)
