"""Picks of entries by position, value or random numbers, and walks, by the rules of ``expr/sampling.py``."""
