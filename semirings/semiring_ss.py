"""SuiteSparse's own semirings, ``semiring.ss`` in python-graphblas: the same objects as in ``semiring``."""

from __future__ import annotations

from sparsezc.semirings.semiring import any_firsti as any_firsti
from sparsezc.semirings.semiring import any_firsti1 as any_firsti1
from sparsezc.semirings.semiring import any_firstj as any_firstj
from sparsezc.semirings.semiring import any_firstj1 as any_firstj1
from sparsezc.semirings.semiring import any_secondi as any_secondi
from sparsezc.semirings.semiring import any_secondi1 as any_secondi1
from sparsezc.semirings.semiring import any_secondj as any_secondj
from sparsezc.semirings.semiring import any_secondj1 as any_secondj1
from sparsezc.semirings.semiring import max_firsti as max_firsti
from sparsezc.semirings.semiring import max_firsti1 as max_firsti1
from sparsezc.semirings.semiring import max_firstj as max_firstj
from sparsezc.semirings.semiring import max_firstj1 as max_firstj1
from sparsezc.semirings.semiring import max_secondi as max_secondi
from sparsezc.semirings.semiring import max_secondi1 as max_secondi1
from sparsezc.semirings.semiring import max_secondj as max_secondj
from sparsezc.semirings.semiring import max_secondj1 as max_secondj1
from sparsezc.semirings.semiring import min_firsti as min_firsti
from sparsezc.semirings.semiring import min_firsti1 as min_firsti1
from sparsezc.semirings.semiring import min_firstj as min_firstj
from sparsezc.semirings.semiring import min_firstj1 as min_firstj1
from sparsezc.semirings.semiring import min_secondi as min_secondi
from sparsezc.semirings.semiring import min_secondi1 as min_secondi1
from sparsezc.semirings.semiring import min_secondj as min_secondj
from sparsezc.semirings.semiring import min_secondj1 as min_secondj1
from sparsezc.semirings.semiring import plus_firsti as plus_firsti
from sparsezc.semirings.semiring import plus_firsti1 as plus_firsti1
from sparsezc.semirings.semiring import plus_firstj as plus_firstj
from sparsezc.semirings.semiring import plus_firstj1 as plus_firstj1
from sparsezc.semirings.semiring import plus_secondi as plus_secondi
from sparsezc.semirings.semiring import plus_secondi1 as plus_secondi1
from sparsezc.semirings.semiring import plus_secondj as plus_secondj
from sparsezc.semirings.semiring import plus_secondj1 as plus_secondj1
from sparsezc.semirings.semiring import times_firsti as times_firsti
from sparsezc.semirings.semiring import times_firsti1 as times_firsti1
from sparsezc.semirings.semiring import times_firstj as times_firstj
from sparsezc.semirings.semiring import times_firstj1 as times_firstj1
from sparsezc.semirings.semiring import times_secondi as times_secondi
from sparsezc.semirings.semiring import times_secondi1 as times_secondi1
from sparsezc.semirings.semiring import times_secondj as times_secondj
from sparsezc.semirings.semiring import times_secondj1 as times_secondj1
