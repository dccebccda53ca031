"""Algorithms whose rounds need no host: searches, shortest paths, components, local PageRank, colours, flows."""
