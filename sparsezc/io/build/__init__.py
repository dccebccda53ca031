"""Matrices made from edges or a generator: sorted, merged and written into a placement, within memory limits."""
