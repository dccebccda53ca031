"""Statements of the distributed engine: how each runs by parts, and those that every rank runs on the whole."""
