"""SuiteSparse's own unary operators, ``unary.ss`` in python-graphblas: the same objects as in ``unary``."""

from __future__ import annotations

from sparsezc.semirings.unary import erf as erf
from sparsezc.semirings.unary import erfc as erfc
from sparsezc.semirings.unary import frexpe as frexpe
from sparsezc.semirings.unary import frexpx as frexpx
from sparsezc.semirings.unary import lgamma as lgamma
from sparsezc.semirings.unary import positioni as positioni
from sparsezc.semirings.unary import positioni1 as positioni1
from sparsezc.semirings.unary import positionj as positionj
from sparsezc.semirings.unary import positionj1 as positionj1
from sparsezc.semirings.unary import tgamma as tgamma
