"""SuiteSparse's own binary operators, ``binary.ss`` in python-graphblas: the same objects as in ``binary``."""

from __future__ import annotations

from sparsezc.semirings.binary import firsti as firsti
from sparsezc.semirings.binary import firsti1 as firsti1
from sparsezc.semirings.binary import firstj as firstj
from sparsezc.semirings.binary import firstj1 as firstj1
from sparsezc.semirings.binary import secondi as secondi
from sparsezc.semirings.binary import secondi1 as secondi1
from sparsezc.semirings.binary import secondj as secondj
from sparsezc.semirings.binary import secondj1 as secondj1
