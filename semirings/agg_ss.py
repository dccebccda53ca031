"""SuiteSparse's own aggregators, ``agg.ss`` in python-graphblas: the same objects as in ``agg``."""

from __future__ import annotations

from sparsezc.semirings.agg import argmax as argmax
from sparsezc.semirings.agg import argmin as argmin
from sparsezc.semirings.agg import first as first
from sparsezc.semirings.agg import first_index as first_index
from sparsezc.semirings.agg import last as last
from sparsezc.semirings.agg import last_index as last_index
