"""The types: see :mod:`sparsezc.dtypes`."""

from sparsezc.dtypes import *  # noqa: F403
from sparsezc.semirings.types.datatypes import DataType

__all__ = ["DataType"]
