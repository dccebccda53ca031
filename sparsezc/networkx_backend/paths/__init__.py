"""Searches, distances and paths, with NetworkX's names."""
