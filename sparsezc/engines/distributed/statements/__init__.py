"""Statements of the distributed engine: those that run by parts, and those that every rank runs on the whole."""
