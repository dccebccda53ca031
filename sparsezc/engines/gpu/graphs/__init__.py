"""Loops over whole graphs, launched as such: searches, shortest paths, components, local PageRank, colours, flows."""
