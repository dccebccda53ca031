"""A user's engine: it records statements and passes them to the CPU engine."""

from __future__ import annotations

from typing import Any

import sparsezc as gb


class RecordingEngine:
    """An engine with the CPU engine's stores that records every statement before it runs."""

    name, lock = "recording", None

    def __init__(self) -> None:
        self.cpu: Any = gb.engines.get("cpu")
        self.seen: list[str] = []

    def run(self, expression: Any, out: Any, write: Any) -> None:
        self.seen.append(expression.operation)
        self.cpu.run(expression, out, write)

    def __getattr__(self, method: str) -> Any:
        if method in ("run_loop", "run_arrays"):  # without compiled loops every algorithm runs its statements
            raise AttributeError(method)
        return getattr(self.cpu, method)
