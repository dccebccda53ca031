"""The rule of tests, set by importing this file: algorithms run as statements, however long a process has worked.

Machine code of a loop takes numba a second and more; test_loops.py compares loops with statements. The file is a plugin
of pytest, too, for processes that run other programs' tests.
"""

from __future__ import annotations

from sparsezc.engines.cpu import compiled_loops

#: The package's own rule.
loops_pay = compiled_loops.pays

compiled_loops.pays = lambda _: False
compiled_loops._FEW = -1
