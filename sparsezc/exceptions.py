"""The errors of sparsezc under python-graphblas's name for the module: see :mod:`sparsezc.errors`."""

from sparsezc.errors import *  # noqa: F403
from sparsezc.errors import __all__ as __all__


def __dir__() -> list[str]:
    return sorted(__all__)
