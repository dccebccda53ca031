"""Centralities, distances of whole graphs, and matrices, with NetworkX's names."""
