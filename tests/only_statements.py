"""The tests' rule, set by importing this file: algorithms run as statements, however long a process has worked.

numba takes a second and more to compile a loop; test_loops.py compares loops with statements. This file is also a
pytest plugin, for processes that run other programs' tests.
"""

from __future__ import annotations

from sparsezc.engines.cpu import compiled_loops

#: The package's own rule.
loops_pay = compiled_loops.pays

compiled_loops.pays = lambda _: False
compiled_loops._FEW = -1
