"""The CPU engine's use of python-graphblas: its operators, expressions and arrays; and loops in machine code."""
