"""Searches of whole graphs that are no products: colours, flows."""
