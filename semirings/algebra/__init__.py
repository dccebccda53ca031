"""Operators, monoids, semirings and aggregators: what they are, how they are typed and found by name."""
