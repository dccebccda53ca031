"""Where what operations make has room."""

from __future__ import annotations

from sparsezc.memory import budget


def fitting(placement: str, nbytes: int) -> str:
    """Where so many bytes of a result go: what does not fit the device goes to the host, whatever `placement` says."""
    return "hybrid" if placement == "device" and nbytes > budget.available() else placement
