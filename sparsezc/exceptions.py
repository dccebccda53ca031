"""The errors of sparsezc under python-graphblas's name for the module: see :mod:`sparsezc.errors`."""

from sparsezc.errors import *  # noqa: F403
