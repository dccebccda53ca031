"""Operators, monoids, semirings and aggregators: their definitions, typing and lookup by name."""
