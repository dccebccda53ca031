"""Layouts: other forms of a matrix's rows that make some products cheaper, and kept launches of repeated pulls."""
