"""Statements before they run: expressions, masks, outputs, and the dispatch to an engine."""
