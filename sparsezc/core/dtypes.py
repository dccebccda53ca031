"""The types: see :mod:`sparsezc.dtypes`."""

from sparsezc.dtypes import *  # noqa: F403
from sparsezc.dtypes import __all__ as __all__
