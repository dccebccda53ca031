"""Algorithms of the CPU engine beside networkit's, igraph's and SciPy's."""
