"""Objects of user-defined types on the GPU engine, whose content is in stores of the CPU engine.

Kernels support no such types. Every statement with them runs on the CPU engine, with the warning of a fallback.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sparsezc.expr import engines
from sparsezc.memory.csr import Csr


@dataclass(eq=False)
class HostStore:
    """A store of the CPU engine, kept by the GPU engine."""

    store: Any

    @classmethod
    def of_matrix(cls, csr: Csr) -> HostStore:
        """Return the store of a Csr in any placement."""
        return cls(engines.get("cpu").matrix_from_csr(csr.place("host")))

    def replace(self, store: Any) -> None:
        """Replace the content by another store of the CPU engine."""
        self.store = store


def host_engine() -> Any:
    """Return the engine that computes with these stores."""
    return engines.get("cpu")
