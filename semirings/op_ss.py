"""SuiteSparse's own operators, ``op.ss`` in python-graphblas: those of ``unary``, ``binary`` and ``semiring``."""

from __future__ import annotations

from sparsezc.semirings.binary_ss import *  # noqa: F403
from sparsezc.semirings.semiring_ss import *  # noqa: F403
from sparsezc.semirings.unary_ss import *  # noqa: F403
