"""The CPU engine's dealings with python-graphblas: its operators, expressions and arrays; and machine code of loops."""
