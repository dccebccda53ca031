"""Centralities, distances of whole graphs, and matrices, by NetworkX's names."""
