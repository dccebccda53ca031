"""Algorithms' loops on processors: each rank runs them over its rows, in machine code."""
