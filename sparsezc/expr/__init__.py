"""Statements before they run: expressions, masks, what can be written to, and the dispatch to an engine."""
