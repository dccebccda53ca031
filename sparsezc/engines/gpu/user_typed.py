"""Objects of user-defined types on the GPU engine: their content stays where the CPU engine has it.

No kernel knows such types. Whatever is computed with them runs on the CPU engine, with the warning of every fallback.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sparsezc.expr import engines
from sparsezc.memory.csr import Csr


@dataclass(eq=False)
class HostStore:
    """A store of the CPU engine in the hands of the GPU engine."""

    store: Any

    @classmethod
    def of_matrix(cls, csr: Csr) -> HostStore:
        """From a Csr, wherever it lies."""
        return cls(engines.get("cpu").matrix_from_csr(csr.place("host")))


def host_engine() -> Any:
    """Who does the work."""
    return engines.get("cpu")
