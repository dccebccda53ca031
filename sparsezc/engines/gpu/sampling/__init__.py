"""Entries of rows that are picked by position, value or chance, and walks: the rules are in ``expr/sampling.py``."""
