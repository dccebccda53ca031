"""Graphs that are made: of tables and arrays, by rules, and of other graphs; a module a subject."""
