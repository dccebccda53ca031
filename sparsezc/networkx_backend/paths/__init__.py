"""Searches, distances and paths, by NetworkX's names."""
