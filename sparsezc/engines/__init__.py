"""The engines, which run statements. Their protocol is :mod:`sparsezc.expr.engines`."""
