"""The engines, which run statements: their protocol is :mod:`sparsezc.expr.engines`."""
